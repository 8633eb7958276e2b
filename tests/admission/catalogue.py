"""Every eviction that the decision table, the evictors and odd input bring, and what must follow.

Written by people: nothing here comes from running the code. Source: seed 004, design/drain.md,
design/cases.md *Eviction webhook*.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from hooks import names
from hooks.drain.model import Deployment
from hooks.drain.writes import announcement
from tests.protocol.recorded_drain import reviews
from tests.support.cases import Trouble
from tests.support.live import Json
from tests.support.singleton import (
    NEW,
    NEW_POD,
    NEW_UID,
    NOW,
    OLD_UID,
    REMOVED,
    TRACKED,
    cluster,
    deployment,
    evicted,
    put,
    replica_set,
    review,
    rolled,
    rolling,
)
from tests.support.singletonfolders import DrainCase
from tests.support.singletonlive import DEPLOYMENT, REPLICASET

LONG_AGO: Final = "2026-11-29T19:45:00Z"
"""Older than the timeout of ten minutes."""
AHEAD: Final = "2026-11-29T20:07:00Z"
READ_ALL: Final = ("get pods", "get replicasets", "get deployments")
TRACKS: Final = (*READ_ALL, "patch", "event GracefulDrainTriggered")
ALLOWED: Final = ("eviction allowed",)
DENIED: Final = ("eviction denied",)
OF: Final = Deployment("default", "single", "41e252ec-e6c2-4541-ac0f-5508810172b3")


def event_name(reason: str, key: str) -> str:
    return announcement(OF, reason, key, "", datetime.fromisoformat(NOW)).name


def live(*, of: Json | None = None, pod: Json | None = None, owner: Json | None = None) -> Json:
    """The settled singleton, with some of its objects replaced."""
    return cluster(pod or evicted(), owner or replica_set(), of or deployment())


def without(live_objects: Json, kind: str) -> Json:
    return {**live_objects, kind: {}}


def owned_by(thing: Json, **changes: object) -> Json:
    """The same with another controller."""
    owner = {**thing["metadata"]["ownerReferences"][0], **changes}
    return put(thing, "metadata.ownerReferences", [owner])


def allow(name: str, why: str, reason: str, **more: Any) -> DrainCase:
    given: dict[str, Any] = {"request": review(), "log": ALLOWED, "live": live()}
    return DrainCase(name, why, tells=f"allow {reason}", **given | more)


def deny(name: str, why: str, reason: str, **more: Any) -> DrainCase:
    given: dict[str, Any] = {"request": review(), "log": DENIED, "live": live()}
    return DrainCase(name, why, tells=f"deny {reason}", **given | more)


def with_bounds(surge: int | str, unavailable: int | str) -> Json:
    bounds = {"maxSurge": surge, "maxUnavailable": unavailable}
    return deployment(spec__strategy__rollingUpdate=bounds)


def refused(name: str, why: str, request: Any) -> DrainCase:
    return DrainCase(name, why, request, "raises WrongShape", live=live())


DURING: Final = {"restarted-at": TRACKED, "rolled-for": TRACKED, "last-pod-uid": OLD_UID}
BOTH: Final = {"observedGeneration": 1, "replicas": 2, "updatedReplicas": 2, "readyReplicas": 2}
FIRST: Final = (
    allow("another-operation", "our rules ask for CREATE only; an operator changed them",
          "NotAnEviction", request=review(operation="UPDATE")),
    allow("another-subresource", "bindings are none of our business",
          "NotAnEviction", request=review(subResource="binding")),
    allow("another-resource", "an eviction is of a Pod",
          "NotAnEviction",
          request=review(resource={"group": "apps", "version": "v1", "resource": "deployments"})),
    allow("dry-run-in-the-delete-options",
          "kubectl drain --dry-run=server says so there alone (kubevirt 11532, recorded)",
          "DryRun", request=review(object__deleteOptions__dryRun=["All"])),
    allow("dry-run-of-the-request", "?dryRun=All sets the review's own (recorded)",
          "DryRun", request=review(dryRun=True)),
    allow("dry-run-that-says-nothing-is-none", "an empty list is no dry run, but this Pod is gone",
          "PodGone", request=review(object__deleteOptions__dryRun=[]), live=cluster(),
          calls=("get pods",)),
)  # fmt: skip
PODS: Final = (
    deny("pod-not-read", "the seed's one exception: the Pod may be the only one of its kind",
         "PodNotRead", calls=("get pods",), troubles=(Trouble("get pods", error="Unavailable"),)),
    deny("pods-are-not-served", "a 404 that doesn't name the Pod says nothing of the Pod",
         "PodNotRead", calls=("get pods",), troubles=(Trouble("get pods", error="NotServed"),)),
    allow("pod-gone", "nothing left to protect",
          "PodGone", calls=("get pods",), live=cluster()),
    allow("another-pod-of-that-name", "the precondition's UID isn't its: the API server refuses",
          "AnotherPod", calls=("get pods",),
          request=review(object__deleteOptions__preconditions__uid=NEW_UID)),
    allow("pod-terminating", "it goes already (kubernetes 91141)",
          "PodTerminating", calls=("get pods",),
          live=live(pod=evicted(metadata__deletionTimestamp=NOW))),
    allow("pod-succeeded", "it has finished (kubevirt 12451)",
          "PodFinished", calls=("get pods",), live=live(pod=evicted(status__phase="Succeeded"))),
    allow("pod-failed", "it has finished",
          "PodFinished", calls=("get pods",), live=live(pod=evicted(status__phase="Failed"))),
    allow("pod-not-ready", "a crash-looping Pod protects nothing (cyclops 34)",
          "PodNotReady", calls=("get pods",), live=live(pod=evicted(ready=False))),
    allow("pod-without-conditions", "one that hasn't started isn't ready",
          "PodNotReady", calls=("get pods",),
          live=live(pod=evicted(status={"phase": "Pending"}))),
    allow("pod-that-cannot-be-understood",
          "held for ever by a fault of ours it must not be: only a failing read holds it",
          "InternalError", calls=("get pods",), live=live(pod=evicted(metadata__uid=REMOVED)),
          unusual=frozenset({"uids"})),
    allow("pod-read-after-the-deadline", "nothing was sent: the deadline allows",
          "OutOfTime", calls=("get pods",), troubles=(Trouble("get pods", error="OutOfTime"),)),
)  # fmt: skip
OWNERS: Final = (
    allow("bare-pod", "out of scope",
          "NoDeployment", calls=("get pods",),
          live=live(pod=evicted(metadata__ownerReferences=REMOVED))),
    allow("pod-of-a-statefulset", "out of scope",
          "NoDeployment", calls=("get pods",),
          live=live(pod=owned_by(evicted(), kind="StatefulSet", name="db"))),
    allow("pod-of-another-replicaset-kind", "group and kind count, not the kind's name alone",
          "NoDeployment", calls=("get pods",),
          live=live(pod=owned_by(evicted(), apiVersion="example.com/v1"))),
    allow("pod-that-a-replicaset-owns-but-does-not-control", "an owner isn't the controller",
          "NoDeployment", calls=("get pods",), live=live(pod=owned_by(evicted(), controller=False)),
          unusual=frozenset({"owners"})),
    allow("bare-replicaset", "out of scope",
          "NoDeployment", calls=("get pods", "get replicasets"),
          live=live(owner=replica_set(metadata__ownerReferences=None))),
    allow("replicaset-of-an-argo-rollout", "a Rollout brings its own ways (argo 592)",
          "NoDeployment", calls=("get pods", "get replicasets"),
          live=live(owner=owned_by(replica_set(), apiVersion="argoproj.io/v1alpha1",
                                   kind="Rollout"))),
    allow("replicaset-gone", "garbage collection is on its way",
          "OwnerGone", calls=("get pods", "get replicasets"), live=without(live(), REPLICASET),
          unusual=frozenset({"owners"})),
    allow("replicaset-is-a-namesake", "a UID tells them apart",
          "OwnerGone", calls=("get pods", "get replicasets"),
          live=live(owner=replica_set(metadata__uid="another")),
          unusual=frozenset({"owners"})),
    allow("replicaset-not-read", "never block a drain because of a fault of ours",
          "OwnerNotRead", calls=("get pods", "get replicasets"),
          troubles=(Trouble("get replicasets", error="Unavailable"),)),
    allow("replicaset-that-cannot-be-understood", "as above",
          "OwnerNotRead", calls=("get pods", "get replicasets"),
          live=live(owner=replica_set(metadata__annotations=["odd"])),
          unusual=frozenset({"revisions"})),
    allow("replicaset-read-after-the-deadline", "the deadline allows",
          "OutOfTime", calls=("get pods", "get replicasets"),
          troubles=(Trouble("get replicasets", error="OutOfTime"),)),
    allow("deployment-gone", "the workload is going away",
          "OwnerGone", calls=READ_ALL, live=without(live(), DEPLOYMENT),
          unusual=frozenset({"owners"})),
    allow("deployment-is-a-namesake", "a UID tells them apart",
          "OwnerGone", calls=READ_ALL, live=live(of=deployment(metadata__uid="another")),
          unusual=frozenset({"owners"})),
    allow("deployment-not-read", "never block a drain because of a fault of ours",
          "OwnerNotRead", calls=READ_ALL, troubles=(Trouble("get deployments", error="Unavailable"),)),
    allow("deployment-that-cannot-be-understood", "as above",
          "OwnerNotRead", calls=READ_ALL, live=live(of=deployment(spec__replicas="one"))),
)  # fmt: skip
DEPLOYMENTS: Final = (
    allow("deployment-deleting", "the workload is going away anyway",
          "DeploymentDeleting", calls=READ_ALL,
          live=live(of=deployment(metadata__deletionTimestamp=NOW))),
    allow("opted-out", "the setting asks for an annotation that isn't there",
          "OptedOut", calls=READ_ALL,
          settings={"NODEROTATION_ENABLED_ANNOTATION": "example.com/drain"}),
    allow("opted-out-by-false", "the annotation is there and says no",
          "OptedOut", calls=READ_ALL, live=live(of=deployment({"example.com/drain": "false"})),
          settings={"NODEROTATION_ENABLED_ANNOTATION": "example.com/drain"}),
    deny("opted-in", "the annotation is there",
         "RolloutRequested", calls=TRACKS, live=live(of=deployment({"example.com/drain": ""})),
         settings={"NODEROTATION_ENABLED_ANNOTATION": "example.com/drain"}),
    allow("two-replicas", "a budget handles this correctly",
          "NotASingleton", calls=READ_ALL, live=live(of=deployment(spec__replicas=2))),
    allow("no-replicas", "nobody wants it",
          "NotASingleton", calls=READ_ALL, live=live(of=deployment(spec__replicas=0))),
    allow("scaled-to-two-while-tracked", "an HPA came in between: there is a budget's case now",
          "NotASingleton", calls=READ_ALL, live=live(of=rolling(DURING, spec__replicas=2))),
    allow("tracking-that-is-no-time", "what can't be read would never time out",
          "TrackingUnreadable", calls=READ_ALL,
          live=live(of=deployment({"restarted-at": "yesterday"}))),
    allow("tracking-that-lies-ahead", "more than five minutes ahead would hold too long",
          "TrackingUnreadable", calls=READ_ALL, live=live(of=deployment({"restarted-at": AHEAD}))),
    deny("tracking-a-little-ahead", "another machine's clock may be ahead of ours",
         "RolloutInProgress", calls=READ_ALL,
         live=live(of=deployment({"restarted-at": "2026-11-29T20:05:00Z"}))),
    deny("tracking-in-another-zone", "times are compared as instants, never as text",
         "RolloutInProgress", calls=READ_ALL,
         live=live(of=deployment({"restarted-at": "2026-11-29T21:00:49.5+01:00"}))),
    allow("timed-out", "the escape hatch",
          "RolloutTimedOut", calls=READ_ALL,
          live=live(of=rolling({**DURING, "restarted-at": LONG_AGO}))),
    allow("timed-out-to-the-second", "at the timeout itself nothing is denied any more",
          "RolloutTimedOut", calls=READ_ALL, now="2026-11-29T20:10:49Z",
          live=live(of=rolling(DURING))),
    deny("a-second-before-the-timeout", "until then it is",
         "RolloutInProgress", calls=READ_ALL, now="2026-11-29T20:10:48Z",
         live=live(of=rolling(DURING))),
    allow("timed-out-by-its-own-timeout", "the Deployment's own timeout counts",
          "RolloutTimedOut", calls=READ_ALL,
          live=live(of=rolling({**DURING, "rollout-timeout": "5s"}))),
    allow("timed-out-by-the-setting", "the operator's timeout counts",
          "RolloutTimedOut", calls=READ_ALL, live=live(of=rolling(DURING)),
          settings={"NODEROTATION_ROLLOUT_TIMEOUT": "5s"}),
    deny("own-timeout-that-is-none", "the setting counts, and the operator is told",
         "RolloutInProgress", calls=READ_ALL,
         live=live(of=rolling({**DURING, "rollout-timeout": "soon"}))),
    deny("own-timeout-that-is-too-long", "a day is the longest, and the operator is told",
         "RolloutInProgress", calls=READ_ALL,
         live=live(of=rolling({**DURING, "rollout-timeout": "9000h"}))),
    deny("own-timeout-that-is-a-book", "of what stands there only the beginning is repeated",
         "RolloutInProgress", calls=READ_ALL,
         live=live(of=rolling({**DURING, "rollout-timeout": "soon " * 200}))),
    deny("the-successor-while-both-are-ready", "the successor's node is drained, too (found in review)",
         "IsSuccessor", calls=READ_ALL, request=review(NEW_POD),
         live=cluster(evicted(NEW_POD), replica_set(NEW), rolling(DURING, ready=2))),
    allow("the-old-pod-while-both-are-ready", "the successor is up",
          "SuccessorReady", calls=READ_ALL, live=live(of=rolling(DURING, ready=2))),
    allow("the-old-pod-while-both-are-ready-and-no-revision-is-known",
          "its UID says that it is the one that goes",
          "SuccessorReady", calls=READ_ALL, live=live(
              of=rolling(DURING, ready=2), owner=replica_set(metadata__annotations=REMOVED)),
          unusual=frozenset({"revisions"})),
    deny("the-successor-while-both-are-ready-and-no-revision-is-known", "in doubt it stays",
         "IsSuccessor", calls=READ_ALL, request=review(NEW_POD),
         live=cluster(evicted(NEW_POD), replica_set(NEW, metadata__annotations=REMOVED),
                      rolling(DURING, ready=2)),
         unusual=frozenset({"revisions"})),
    deny("two-ready-as-of-before-it-was-scaled-down",
         "an autoscaler went from two to one: the other one may be about to go",
         "RolloutRequested", calls=TRACKS,
         live=live(of=deployment(metadata__generation=2, status=BOTH))),
    allow("two-ready-in-a-rollout-that-was-changed-again",
          "the status isn't of this spec, but its revision is older: it goes anyway",
          "SuccessorReady", calls=READ_ALL,
          live=live(of=put(rolling({}, ready=2), "metadata.generation", 4))),
    deny("two-ready-and-both-are-old",
         "somebody rolled out on top of it: the other one is about to go as well",
         "RolloutInProgress", calls=READ_ALL,
         live=live(of=put(rolling({**DURING, names.REVISION: "3"}, ready=2),
                          "status.updatedReplicas", 0))),
    allow("two-ready-and-nothing-tracked", "somebody's rollout is about to end",
          "SuccessorReady", calls=READ_ALL,
          live=live(of=rolling({}, ready=2))),
    allow("again-after-the-end",
          "tracking was cleared, and the evictor goes on with the old Pod (kubevirt 4557)",
          "AlreadyRolled", calls=READ_ALL,
          live=live(of=rolling({"rolled-for": TRACKED, "last-pod-uid": OLD_UID}))),
    allow("paused", "no successor could come first (kubernetes 115735)",
          "NoSuccessorFirst", calls=(*READ_ALL, "event GracefulDrainImpossible"),
          live=live(of=deployment(spec__paused=True))),
    allow("recreate", "the old Pod goes first",
          "NoSuccessorFirst", calls=(*READ_ALL, "event GracefulDrainImpossible"),
          live=live(of=deployment(spec__strategy={"type": "Recreate"}))),
    allow("no-surge", "kubernetes 97227",
          "NoSuccessorFirst", calls=(*READ_ALL, "event GracefulDrainImpossible"),
          live=live(of=with_bounds(0, 1))),
    allow("no-surge-in-percent", "rounded as the Deployment controller does",
          "NoSuccessorFirst", calls=(*READ_ALL, "event GracefulDrainImpossible"),
          live=live(of=with_bounds("0%", "1%"))),
    allow("one-may-be-unavailable", "the old Pod would go as soon as the new one is created",
          "NoSuccessorFirst", calls=(*READ_ALL, "event GracefulDrainImpossible"),
          live=live(of=with_bounds(1, 1))),
    allow("impossible-and-told-before", "the Event is there: it isn't told again",
          "NoSuccessorFirst", calls=(*READ_ALL, "event!there"),
          live=live(of=deployment(spec__paused=True)),
          events=(event_name("GracefulDrainImpossible", OLD_UID),)),
    allow("impossible-and-no-event-can-be-created", "telling is best effort",
          "NoSuccessorFirst", calls=(*READ_ALL, "event!Unavailable"),
          live=live(of=deployment(spec__paused=True)),
          troubles=(Trouble("create events", error="Unavailable"),)),
    deny("requested-and-not-begun", "the sync hook hasn't come to it yet",
         "RolloutInProgress", calls=READ_ALL,
         live=live(of=deployment({"restarted-at": TRACKED, "last-pod-uid": OLD_UID}))),
    deny("rolling", "the boot takes five minutes, the evictor asks every five seconds (karpenter 3013)",
         "RolloutInProgress", calls=READ_ALL, live=live(of=rolling(DURING))),
    deny("the-successor-that-is-the-last-one", "nothing is tracked any more: it is a singleton again",
         "RolloutRequested", calls=TRACKS, request=review(NEW_POD),
         live=cluster(evicted(NEW_POD), replica_set(NEW),
                      rolled({"rolled-for": TRACKED, "last-pod-uid": OLD_UID}))),
    deny("somebody-elses-rollout", "never a second one on top of it: it is adopted",
         "RolloutAdopted", calls=TRACKS, live=live(of=rolling({}))),
    deny("somebody-elses-rollout-not-numbered-yet", "its ReplicaSet is there before its revision",
         "RolloutAdopted", calls=TRACKS,
         live=live(of=deployment(metadata__generation=2,
                                 spec__template__metadata__annotations={
                                     names.POD_TEMPLATE_RESTARTED_AT: TRACKED}))),
    deny("somebody-elses-rollout-undone-and-not-observed-yet",
         "it replaces nothing any more, whatever the revisions say: that Pod stays the only one",
         "RolloutRequested", calls=TRACKS,
         live=live(of=put(put(rolling({}), "metadata.generation", 4),
                          "spec.template.metadata.annotations", REMOVED))),
    deny("somebody-elses-rollout-undone-while-it-was-read",
         "the ReplicaSet was read before it was renumbered; its template tells, which never changes",
         "RolloutRequested", calls=TRACKS, live=live(of=deployment({names.REVISION: "3"}))),
    deny("another-change-not-observed-yet", "the template is the same: nothing is rolled out",
         "RolloutRequested", calls=TRACKS, live=live(of=deployment(metadata__generation=2))),
    deny("ready-singleton", "the case that this is for",
         "RolloutRequested", calls=TRACKS),
    deny("ready-singleton-without-annotations", "the map isn't there yet",
         "RolloutRequested", calls=TRACKS,
         live=live(of=deployment(metadata__annotations=REMOVED)),
          unusual=frozenset({"revisions"})),
    allow("template-that-is-no-object", "never block a drain because of a fault of ours",
          "OwnerNotRead", calls=READ_ALL, live=live(of=deployment(spec__template="none"))),
    deny("no-strategy-is-the-default", "25% of one Pod is one up and none down",
         "RolloutRequested", calls=TRACKS, live=live(of=deployment(spec__strategy=REMOVED))),
    deny("requested-between-two-seconds", "tracking is kept in whole seconds",
         "RolloutRequested", calls=TRACKS, now="2026-11-29T20:01:00.987654Z"),
)  # fmt: skip
CHANGED: Final = deployment(metadata__resourceVersion="2170")
TAKEN: Final = deployment(
    {"restarted-at": TRACKED, "last-pod-uid": OLD_UID}, metadata__resourceVersion="2170"
)
LATER: Final = {DEPLOYMENT: {"default/single": CHANGED}}
WRITES: Final = (
    deny("two-evictions-at-once", "the loser reads again and finds what the winner wrote",
         "RolloutInProgress", calls=(*READ_ALL, "patch!Conflict", "get deployments"),
         troubles=(Trouble("patch deployments", change={DEPLOYMENT: {"default/single": TAKEN}}),)),
    deny("a-status-came-in-between", "the resourceVersion moved, nothing else: tried once more",
         "RolloutRequested",
         calls=(*READ_ALL, "patch!Conflict", "get deployments", "patch",
                "event GracefulDrainTriggered"),
         troubles=(Trouble("patch deployments", change=LATER),)),
    allow("lost-twice", "after four reads it is enough",
          "TrackingNotWritten",
          calls=(*READ_ALL, "patch!Conflict", "get deployments", "patch!Conflict"),
          troubles=(Trouble("patch deployments", nth=0, change=LATER),)),
    allow("lost-and-then-gone", "the Deployment was deleted in between",
          "OwnerGone", calls=(*READ_ALL, "patch!Conflict", "get deployments"),
          troubles=(Trouble("patch deployments", error="Conflict",
                            change={DEPLOYMENT: {"default/single": None}}),)),
    allow("lost-and-then-not-read", "never block a drain because of a fault of ours",
          "OwnerNotRead", calls=(*READ_ALL, "patch!Conflict", "get deployments"),
          troubles=(Trouble("patch deployments", change=LATER),
                    Trouble("get deployments", nth=2, error="Unavailable"))),
    allow("tracking-not-written", "the annotation patch failed: allow",
          "TrackingNotWritten", calls=(*READ_ALL, "patch!Unavailable"),
          troubles=(Trouble("patch deployments", error="Unavailable"),)),
    allow("deployment-gone-at-the-patch", "allow",
          "TrackingNotWritten", calls=(*READ_ALL, "patch!NotFound"),
          troubles=(Trouble("patch deployments", error="NotFound"),)),
    allow("no-time-left-for-the-patch", "the deadline allows",
          "OutOfTime", calls=(*READ_ALL, "patch!OutOfTime"),
          troubles=(Trouble("patch deployments", error="OutOfTime"),)),
    deny("no-event-can-be-created", "the patch has landed: it is denied, told or not",
         "RolloutRequested", calls=(*READ_ALL, "patch", "event!Unavailable"),
         troubles=(Trouble("create events", error="Unavailable"),)),
    deny("no-time-left-for-the-event", "the patch has landed: it is denied, told or not",
         "RolloutRequested", calls=(*READ_ALL, "patch", "event!OutOfTime"),
         troubles=(Trouble("create events", error="OutOfTime"),)),
)  # fmt: skip
BARE: Final = put(review(), "request", {"uid": "u1"})
ODD: Final = (
    refused("not-json", "there is no uid to answer to", "not json"),
    refused("empty-body", "there is no uid to answer to", ""),
    refused("bytes-that-are-no-text", "there is no uid to answer to", "\udcff\udcfe"),
    refused("a-list", "there is no uid to answer to", []),
    refused("no-request", "there is no uid to answer to", {"kind": "AdmissionReview"}),
    refused("request-is-null", "there is no uid to answer to", {"request": None}),
    refused("uid-is-empty", "there is no uid to answer to", review(uid="")),
    refused("uid-is-a-number", "there is no uid to answer to", review(uid=7)),
    refused("uid-is-missing", "there is no uid to answer to", review(uid=REMOVED)),
    refused("half-of-it", "a body that was cut has no uid that could be trusted",
            '{"request":{"uid":"u1",'),
    refused("nested-too-deep", "there is no uid to answer to", "[" * 100_000),
    allow("nothing-but-a-uid", "it can be answered, and that is all",
          "NotAnEviction", request=BARE),
    allow("object-is-a-list", "a uid is there",
          "MalformedReview", request=review(object=[])),
    allow("object-without-a-shape", "a uid is there",
          "MalformedReview", request=review(object__deleteOptions="now")),
    allow("precondition-is-a-number", "a uid is there",
          "MalformedReview", request=review(object__deleteOptions__preconditions__uid=7)),
    allow("name-is-nowhere", "no Pod can be meant",
          "MalformedReview", request=review(name=REMOVED, object__metadata__name=REMOVED)),
    allow("namespace-is-nowhere", "no Pod can be meant",
          "MalformedReview",
          request=review(namespace=REMOVED, object__metadata__namespace=REMOVED)),
    allow("two-names", "no Pod can be meant: the API server lets no such Eviction pass",
          "MalformedReview", request=review(object__metadata__name="another")),
    allow("two-namespaces", "as above",
          "MalformedReview", request=review(object__metadata__namespace="another")),
    allow("name-that-no-pod-has", "nobody's memory is filled by names that can't be",
          "MalformedReview", request=review(name="a" * 254, object__metadata__name=REMOVED)),
    allow("namespace-that-no-cluster-has", "as above",
          "MalformedReview",
          request=review(namespace="a" * 64, object__metadata__namespace=REMOVED)),
    allow("name-in-the-eviction-that-no-pod-has", "as above",
          "MalformedReview", request=review(name=REMOVED, object__metadata__name="a" * 254)),
    refused("uid-that-is-too-long", "it would be sent back whole", review(uid="u" * 129)),
    allow("a-lone-surrogate", "our parser takes no such JSON, but the uid can be found",
          "MalformedReview",
          request='{"request":{"uid":"u1","name":"\\ud800"}}'),
    deny("name-in-the-request-only", "an Eviction may leave it out",
         "RolloutRequested", calls=TRACKS,
         request=review(object__metadata__name=REMOVED, object__metadata__namespace=REMOVED)),
    deny("name-in-the-eviction-only", "a request may leave it out",
         "RolloutRequested", calls=TRACKS, request=review(name=REMOVED, namespace="")),
    deny("no-object", "the request names the Pod",
         "RolloutRequested", calls=TRACKS, request=review(object=None)),
    deny("no-metadata", "the request names the Pod",
         "RolloutRequested", calls=TRACKS, request=review(object__metadata=None)),
    deny("no-delete-options", "a client may send an Eviction without them",
         "RolloutRequested", calls=TRACKS, request=review(object__deleteOptions=None)),
    deny("no-preconditions", "kubectl sends none (recorded)",
         "RolloutRequested", calls=TRACKS, request=review(object__deleteOptions={})),
    deny("an-eviction-of-v1beta1", "it has the same fields",
         "RolloutRequested", calls=TRACKS,
         request=review(object__apiVersion="policy/v1beta1",
                        requestKind={"group": "policy", "version": "v1beta1", "kind": "Eviction"})),
    deny("a-review-of-v1beta1", "answered in its own version, or it wouldn't be understood",
         "RolloutRequested", calls=TRACKS,
         request=put(review(), "apiVersion", "admission.k8s.io/v1beta1")),
    deny("fields-of-tomorrow", "what isn't known is passed over",
         "RolloutRequested", calls=TRACKS,
         request=put(review(tomorrow=[1], object__tomorrow={}), "tomorrow", None)),
    allow("dry-run-that-is-no-bool", "in doubt a dry run: it must never write",
          "DryRun", request=review(dryRun="yes")),
)  # fmt: skip
WEB: Final = cluster(
    evicted(),
    replica_set(),
    deployment(),
    put(put(evicted(), "metadata.name", "web-5f844f584-wjbl9"), "metadata.uid", "0df9d642"),
)
RECORDED: Final = (
    ("drain-dry-run-server", "allow DryRun", ()),
    ("drain", "deny RolloutRequested", TRACKS),
    ("raw-dry-run-query", "allow DryRun", ()),
    ("raw-v1beta1", "deny RolloutRequested", TRACKS),
    ("karpenter", "deny RolloutRequested", TRACKS),
    # Its UID is that of another Pod than the one that stands there now.
    ("karpenter", "allow AnotherPod", ("get pods",)),
    ("karpenter-allow", "deny RolloutRequested", TRACKS),
)
"""The step of each recorded review, and what must follow on the settled singleton."""
REPLAYED: Final = tuple(
    DrainCase(
        f"recorded-{number}-{step}", "what a real API server sent, whole", one["request"], tells,
        calls, live=WEB, log=DENIED if tells.startswith("deny") else ALLOWED,
    )
    for number, (one, (step, tells, calls)) in enumerate(zip(reviews(), RECORDED, strict=True))
)  # fmt: skip
CASES: Final = (*FIRST, *PODS, *OWNERS, *DEPLOYMENTS, *WRITES, *ODD, *REPLAYED)
