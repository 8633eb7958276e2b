"""Every sync of a tracked Deployment, and what must follow; written by people.

Source: seed 004, design/drain.md, design/cases.md *Eviction webhook*.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from hooks import names
from hooks.drain.model import Deployment
from hooks.drain.writes import announcement
from tests.protocol.recorded_drain import rollout
from tests.support.cases import Trouble
from tests.support.live import Json
from tests.support.singleton import (
    NEW_UID,
    NOW,
    OLD_UID,
    REMOVED,
    TRACKED,
    cluster,
    deployment,
    put,
    rolled,
    rolling,
    sync_request,
)
from tests.support.singletonfolders import DrainCase
from tests.support.singletonlive import DEPLOYMENT

LONG_AGO: Final = "2026-11-29T19:45:00Z"
REQUESTED: Final = {"restarted-at": TRACKED, "last-pod-uid": OLD_UID}
DURING: Final = {**REQUESTED, "rolled-for": TRACKED}
LATE: Final = {"restarted-at": LONG_AGO, "rolled-for": LONG_AGO, "last-pod-uid": OLD_UID}
READ: Final = ("get deployments",)
ROLLS: Final = (*READ, "patch", "event GracefulDrainTriggered")
STARTED: Final = ("rollout started",)
OF: Final = Deployment("default", "single", "41e252ec-e6c2-4541-ac0f-5508810172b3")


def event_name(reason: str, key: str) -> str:
    return announcement(OF, reason, key, "", datetime.fromisoformat(NOW)).name


def case(name: str, why: str, parent: Json, tells: str, **more: Any) -> DrainCase:
    """A sync whose parent is live as the request shows it, unless ``live`` says otherwise."""
    given: dict[str, Any] = {"live": cluster(parent)}
    return DrainCase(name, why, sync_request(parent), tells, **given | more)


def refused(name: str, why: str, request: Any) -> DrainCase:
    return DrainCase(name, why, request, "raises WrongShape")


ASKED: Final = deployment(REQUESTED)
LATER: Final = deployment(REQUESTED, metadata__resourceVersion="2170")
STEADY: Final = (
    case("not-tracked", "tracking was cleared, and the cache shows it at last",
         deployment({"rolled-for": TRACKED, "last-pod-uid": OLD_UID}), "nothing"),
    case("rolling", "steady: no call, no write", rolling(DURING), "again 10"),
    case("both-are-ready", "the old Pod is about to go", rolling(DURING, ready=2), "again 10"),
    case("status-lags-behind-the-patch", "what the status says is of the template before",
         rolling(DURING, status={"observedGeneration": 2, "replicas": 1, "updatedReplicas": 1,
                                 "readyReplicas": 1}), "again 10"),
    case("gitops-took-restartedat-back", "the marker says that it was sent: one rollout (flux2 2526)",
         put(rolling(DURING), "spec.template.metadata.annotations", {}), "again 10"),
    case("the-timeout-comes-sooner", "it is an edge of its own", rolling(DURING), "again 4",
         now="2026-11-29T20:10:45Z"),
    case("somebody-elses-rollout-came-in-between", "never a second one on top of it",
         rolling(REQUESTED), "again 2"),
    case("its-pod-is-gone-before-it-began",
         "evicted all the same (the answer of the tracking patch was lost): its successor is starting",
         deployment(REQUESTED, status={"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1,
                                       "unavailableReplicas": 1}), "again 2"),
    case("spec-not-observed-yet", "what the status says isn't of this spec",
         deployment(REQUESTED, metadata__generation=2), "again 2"),
)  # fmt: skip
PATCHES: Final = (
    case("rolls", "the one patch: template and marker together", ASKED, "again 10",
         calls=ROLLS, log=STARTED),
    case("rolls-again-for-another-pod", "an older marker isn't this one's",
         put(rolled({**REQUESTED, "rolled-for": LONG_AGO, "last-pod-uid": NEW_UID}),
             "spec.template.metadata.annotations", {names.POD_TEMPLATE_RESTARTED_AT: LONG_AGO}),
         "again 10", calls=ROLLS, log=STARTED),
    case("rolls-a-template-without-annotations", "their map comes first",
         put(ASKED, "spec.template.metadata.annotations", REMOVED), "again 10",
         calls=ROLLS, log=STARTED),
    case("rolls-and-is-told-already", "the webhook has created the Event", ASKED, "again 10",
         calls=(*READ, "patch", "event!there"), log=STARTED,
         events=(event_name(names.DRAIN_TRIGGERED, TRACKED),)),
    case("rolls-and-no-event-can-be-created", "telling is best effort", ASKED, "again 10",
         calls=(*READ, "patch", "event!Unavailable"), log=STARTED,
         troubles=(Trouble("create events", error="Unavailable"),)),
    case("rolls-and-no-time-is-left-to-tell", "the patch has landed", ASKED, "again 10",
         calls=(*READ, "patch", "event!OutOfTime"), log=STARTED,
         troubles=(Trouble("create events", error="OutOfTime"),)),
    case("the-cache-is-behind-the-marker", "the patch was sent already: never twice",
         ASKED, "again 2", calls=READ, live=cluster(rolling(DURING))),
    case("the-cache-is-behind-the-end", "tracking is gone already",
         ASKED, "again 2", calls=READ, live=cluster(rolled({"rolled-for": TRACKED}))),
    case("the-cache-is-behind-a-status", "the live resourceVersion guards it",
         ASKED, "again 10", calls=ROLLS, log=STARTED, live=cluster(LATER)),
    case("scaled-up-in-between", "what the live one asks for counts", ASKED, "clear", calls=READ,
         log=("tracking cleared",), live=cluster(deployment(REQUESTED, spec__replicas=2))),
    case("gone-in-between", "nothing to roll out", ASKED, "again 2", calls=READ, live=cluster()),
    case("a-namesake-in-between", "a UID tells them apart",
         ASKED, "again 2", calls=READ, live=cluster(deployment(REQUESTED, metadata__uid="another"))),
    case("changed-between-read-and-patch", "the patch is lost: looked at again soon",
         ASKED, "again 2", calls=(*READ, "patch!Conflict"),
         troubles=(Trouble("patch deployments", change={DEPLOYMENT: {"default/single": LATER}}),)),
    case("gone-between-read-and-patch", "nothing to roll out",
         ASKED, "again 2", calls=(*READ, "patch!NotFound"),
         troubles=(Trouble("patch deployments", error="NotFound"),)),
    case("live-read-fails", "never a partial answer", ASKED, "raises Unavailable", calls=READ,
         troubles=(Trouble("get deployments", error="Unavailable"),)),
    case("live-read-cannot-be-understood", "never a partial answer", ASKED, "raises Unreadable",
         calls=READ, live=cluster(put(ASKED, "spec.replicas", "one"))),
    case("live-template-is-no-object", "nothing can be written on it", ASKED, "raises Unreadable",
         calls=READ, live=cluster(put(ASKED, "spec.template", "none"))),
    case("patch-fails", "it may have landed or not: the next sync sees",
         ASKED, "raises Unavailable", calls=(*READ, "patch!Unavailable"),
         troubles=(Trouble("patch deployments", error="Unavailable"),)),
    case("patch-lands-and-its-answer-is-lost", "the marker keeps the next sync from a second one",
         ASKED, "raises ClusterError", calls=(*READ, "patch"),
         troubles=(Trouble("patch deployments", error="Lost"),)),
)  # fmt: skip
COMPLETE: Final = rolled(DURING)
COMPLETED: Final = event_name(names.DRAIN_COMPLETED, TRACKED)
ENDS: Final = (
    case("completed", "counted by its Event, cleared by null", COMPLETE, "clear",
         calls=(*READ, "event GracefulDrainCompleted"), log=("rollout complete",)),
    case("completed-and-counted", "another replica or pass has told it: not counted again",
         COMPLETE, "clear", calls=(*READ, "event!there"), events=(COMPLETED,)),
    case("completed-and-no-event-can-be-created", "it counts all the same, once in each process",
         COMPLETE, "clear", calls=(*READ, "event!Unavailable"), log=("rollout complete",),
         troubles=(Trouble("create events", error="Unavailable"),)),
    case("completed-and-no-time-is-left-to-tell", "not cleared before it is told",
         COMPLETE, "raises OutOfTime", calls=(*READ, "event!OutOfTime"),
         troubles=(Trouble("create events", error="OutOfTime"),)),
    case("completed-just-after-the-timeout", "complete is complete",
         rolled(LATE), "clear", calls=(*READ, "event GracefulDrainCompleted"), log=("rollout complete",)),
    case("the-old-pod-is-still-terminating", "it serves nobody: the rollout is complete (recorded)",
         rolled(DURING, status__terminatingReplicas=1), "clear",
         calls=(*READ, "event GracefulDrainCompleted"), log=("rollout complete",)),
    case("an-adopted-rollout-completed", "the webhook wrote the marker when it adopted it",
         rolled({**DURING, "last-pod-uid": OLD_UID}), "clear",
         calls=(*READ, "event GracefulDrainCompleted"), log=("rollout complete",)),
    case("timed-out", "the successor never got ready", rolling(LATE), "clear",
         calls=(*READ, "event GracefulDrainTimeout"), log=("rollout timed out",)),
    case("timed-out-before-it-began", "the hook server was away: too late to roll",
         deployment({"restarted-at": LONG_AGO}), "clear",
         calls=(*READ, "event GracefulDrainTimeout"), log=("rollout timed out",)),
    case("timed-out-by-its-own-timeout", "the Deployment's own timeout counts",
         rolling({**DURING, "rollout-timeout": "5s"}), "clear",
         calls=(*READ, "event GracefulDrainTimeout"), log=("rollout timed out",)),
    case("timed-out-by-the-setting", "the operator's counts", rolling(DURING), "clear",
         calls=(*READ, "event GracefulDrainTimeout"), log=("rollout timed out",),
         settings={"NODEROTATION_ROLLOUT_TIMEOUT": "5s"}),
    case("own-timeout-that-is-none", "the setting counts, and the operator is told",
         rolling({**DURING, "rollout-timeout": "-1m"}), "again 10", log=("annotation unusable",)),
    case("own-timeout-that-is-too-long", "a day is the longest: this one is over",
         deployment({"restarted-at": "2026-11-28T20:00:00Z", "rollout-timeout": "9000h"}), "clear",
         calls=(*READ, "event GracefulDrainTimeout"), log=("annotation unusable", "rollout timed out")),
    case("paused-after-it-was-asked-for", "no successor could come first any more",
         deployment(REQUESTED, spec__paused=True), "clear",
         calls=(*READ, "event GracefulDrainImpossible"), log=("tracking cleared",)),
    case("scaled-to-two", "an HPA: a budget's case now", rolling(DURING, spec__replicas=2),
         "clear", calls=READ, log=("tracking cleared",)),
    case("scaled-to-nothing", "nobody wants it", deployment(REQUESTED, spec__replicas=0),
         "clear", calls=READ, log=("tracking cleared",)),
    case("opted-out", "the operator took the annotation away", ASKED, "clear",
         calls=READ, log=("tracking cleared",),
         settings={"NODEROTATION_ENABLED_ANNOTATION": "example.com/on"}),
    case("deleting", "the workload goes",
         deployment(REQUESTED, metadata__deletionTimestamp=NOW), "clear",
         calls=READ, log=("tracking cleared",)),
    case("tracking-that-is-no-time", "removed and told", deployment({"restarted-at": "soon"}),
         "clear", calls=READ, log=("annotation unusable", "tracking cleared")),
    case("tracking-that-lies-ahead", "removed and told",
         deployment({"restarted-at": "2026-11-29T20:07:00Z"}), "clear", calls=READ,
         log=("annotation unusable", "tracking cleared")),
    case("the-cache-is-behind-the-successor",
         "one tracking has one end: the request still rolls at the timeout, the live one is complete",
         rolling(LATE), "clear", calls=(*READ, "event GracefulDrainCompleted"),
         log=("rollout complete",), live=cluster(rolled(LATE))),
    case("the-cache-is-behind-another-tracking", "what ended was cleared, and another one has begun",
         rolling(LATE), "again 2", calls=READ, live=cluster(rolling(DURING))),
    case("the-cache-is-behind-its-own-answer", "it was cleared already, and is told once",
         rolled(DURING), "again 2", calls=READ,
         live=cluster(rolled({"rolled-for": TRACKED, "last-pod-uid": OLD_UID}))),
    case("the-cache-is-behind-a-resumption", "paused for a moment only: not impossible",
         deployment(DURING, spec__paused=True), "again 2", calls=READ, live=cluster(rolling(DURING))),
    case("gone-before-its-end-was-told", "nobody is left to be told of",
         COMPLETE, "again 2", calls=READ, live=cluster()),
    case("an-end-that-cannot-be-confirmed", "never a partial answer", COMPLETE, "raises Unavailable",
         calls=READ, troubles=(Trouble("get deployments", error="Unavailable"),)),
)  # fmt: skip
ODD: Final = (
    refused("not-json", "nothing can be decided on it", "not json"),
    refused("no-object", "nothing can be decided on it", {"controller": {}}),
    refused("object-without-a-uid", "nothing can be decided on it",
            put(sync_request(ASKED), "object.metadata.uid", REMOVED)),
    refused("replicas-that-are-no-number", "nothing can be decided on it",
            put(sync_request(ASKED), "object.spec.replicas", "1")),
    refused("template-that-is-no-object", "nothing can be written on it",
            put(sync_request(ASKED), "object.spec.template", [])),
    case("fields-of-tomorrow", "what isn't known is passed over",
         put(rolling(DURING), "spec.tomorrow", [1]), "again 10"),
)  # fmt: skip
AFTER: Final = "2026-11-29T20:01:03Z"
"""As the recording ends."""
RECORDED: Final = (
    ("spec-not-observed", "again 2", "again 2"),
    ("tracked", "again 10", "again 2"),
    ("template-patched", "again 2", "again 10"),
    ("new-revision", "again 2", "again 10"),
    ("surged", "again 2", "again 10"),
    ("both-ready", "again 2", "again 10"),
    ("one-left", "again 10", "clear"),
    ("spec-changed-meanwhile", "again 2", "again 10"),
)
"""What each recorded request is of, and what must follow: as it was sent, by a stub that wrote no
marker, and with the marker that goes with our patch."""


def _replayed(number: int, *, marked: bool) -> DrainCase:
    of, bare, ours = RECORDED[number]
    request = rollout()[number]["request"]
    if marked:
        request = {**request, "object": _marked(request["object"])}
    rolls = not marked and bare == "again 10"
    ends = marked and ours == "clear"
    calls = ROLLS if rolls else (*READ, "event GracefulDrainCompleted") if ends else ()
    return DrainCase(
        f"recorded-{number}-{of}{'-marked' if marked else ''}",
        "what a real Metacontroller sent, whole",
        request,
        ours if marked else bare,
        calls,
        live=cluster(request["object"]),
        log=STARTED if rolls else ("rollout complete",) if ends else (),
        now=AFTER,
    )


def _marked(parent: Json) -> Json:
    notes = {**parent["metadata"]["annotations"], names.DRAIN_ROLLED_FOR: TRACKED}
    return put(parent, "metadata.annotations", notes)


REPLAYED: Final = (
    *(_replayed(number, marked=False) for number in range(8)),
    *(_replayed(number, marked=True) for number in range(2, 8)),
)
CASES: Final = (*STEADY, *PATCHES, *ENDS, *ODD, *REPLAYED)
