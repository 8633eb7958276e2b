"""Successors that don't come up, or don't stay up."""

from __future__ import annotations

from hooks.verdict.course import all_replaced, one_new_node_each
from tests.scenarios.manifests import NAMESPACE, Shape
from tests.scenarios.registry import scenario
from tests.scenarios.stage import Object, Stage
from tests.scenarios.story import PLACEHOLDERS, begin

ONE_NODE = Shape(stateful=0)
NEVER = "60m"
HUGE = Shape(stateful=0, cpu="64", extra={"cpu": "60"})
ROOM = "59"
"""CPUs for all placeholders: far more than those of all others ask for, and one too few for a huge one."""


@scenario(takes=110)
def a_surge_never_gets_ready(stage: Stage) -> None:
    """A successor that doesn't come up is reaped, all is undone, and it is tried again later."""
    story = begin(stage, ONE_NODE)
    (claim,) = story.originals
    story.world.register_after(NEVER)
    story.govern(surge={"readyTimeout": "40s", "retryBackoff": "1h"})
    story.ask()
    story.failed(claim)
    (reaped,) = story.brought()
    story.gone(reaped)
    assert story.no_placeholder()
    assert not story.world.node_of(claim)["spec"].get("unschedulable")
    story.world.register_after("0s")
    story.amend(surge={"retryBackoff": "1s"})
    story.finish()

    assert story.complaints(excused=[f"{reaped} was deleted"]) == []
    assert story.states(claim) == ["pending", "failed", "pending", "draining"]
    assert story.reports() == [("RotationFailed", claim), ("RotationCompleted", claim)]


@scenario(takes=80)
def a_quota_refuses_the_placeholder(stage: Stage) -> None:
    """A placeholder that the API server refuses is told as such, and the attempt fails in time."""
    story = begin(stage, HUGE)
    (claim,) = story.originals
    stage.api.apply_objects(_quota(stage.name))
    try:
        stage.wait_until("the quota is in force", lambda: _is_in_force(stage))
        story.govern(surge={"readyTimeout": "35s", "retryBackoff": "1h"})
        story.ask()
        failed = story.failed(claim)
        refused = stage.wait_for(
            "the refusal is told of the NodePool",
            lambda c: (
                c.kind == "Event"
                and c.object["reason"] == "SyncError"
                and c.object["involvedObject"]["name"] == story.pool
                and "exceeded quota" in c.object["message"]
            ),
        )
    finally:
        stage.api.delete("ResourceQuota", stage.name, PLACEHOLDERS)
    story.amend(surge={"retryBackoff": "1s"})
    story.finish()

    assert refused.revision < failed.revision
    assert story.complaints() == []
    assert story.states(claim) == ["pending", "failed", "pending", "draining"]
    assert story.reports() == [("RotationFailed", claim), ("RotationCompleted", claim)]


@scenario()
def a_placeholder_is_preempted(stage: Stage) -> None:
    """Work that needs the successor takes it, and the next placeholder brings another one."""
    story = begin(stage, ONE_NODE)
    (claim,) = story.originals
    host = story.hold_with_a_successor()
    stage.api.apply_objects(_intruder(stage.name, host))
    stage.wait_until("the placeholder is preempted", story.no_placeholder)
    story.stays("the candidate is kept", story.kept(claim))
    story.thaw()
    story.finish()

    assert story.complaints(without=[one_new_node_each, all_replaced]) == []
    assert len(story.brought()) >= 2
    assert story.reports() == [("RotationCompleted", claim)]


@scenario()
def a_placeholder_fails(stage: Stage) -> None:
    """A placeholder that ends as Failed is replaced, and the rotation goes on."""
    story = begin(stage, ONE_NODE)
    story.world.register_after("8s")
    story.govern()
    story.ask()
    first = story.placeholder()
    failed = {"status": {"phase": "Failed"}}
    stage.api.patch("Pod", first.name, failed, PLACEHOLDERS, "status")
    second = story.placeholder("Running", after=first.revision)
    story.finish()

    assert second.object["metadata"]["uid"] != first.object["metadata"]["uid"]
    assert story.complaints() == []
    assert story.reports() == [("RotationCompleted", claim) for claim in story.originals]


@scenario()
def a_successor_is_lost_at_the_last_moment(stage: Stage) -> None:
    """Between the two writes of the pass that deletes the placeholder goes: nothing is deleted."""
    story = begin(stage)
    first, second = story.in_turn()
    placeholder = f"noderotation-surge-{first}"
    lost = story.patch(
        '"draining"', first, after=lambda _: stage.api.delete("Pod", placeholder, PLACEHOLDERS)
    )
    story.govern()
    with stage.intercept(lost):
        story.ask()
        story.finish()

    assert story.complaints() == []
    assert story.states(first) == ["pending", "draining", "pending", "draining"]
    assert story.states(second) == ["pending", "draining"]


@scenario()
def a_host_leaves(stage: Stage) -> None:
    """A successor that somebody deletes is no successor: another one comes before the delete."""
    story = begin(stage, ONE_NODE)
    (claim,) = story.originals
    host = story.hold_with_a_successor()
    (brought,) = story.brought()
    stage.api.delete("NodeClaim", brought)
    stage.wait_until("the placeholder leaves that host", story.no_placeholder)
    story.stays("the candidate is kept", story.kept(claim))
    story.thaw()
    story.finish()

    assert host not in story.world.ready_nodes()
    by_hand = [f"{brought} was deleted", f"{brought} went without an anchor"]
    assert story.complaints(without=[one_new_node_each], excused=by_hand) == []
    assert story.reports() == [("RotationCompleted", claim)]


@scenario(takes=90)
def a_candidates_node_goes(stage: Stage) -> None:
    """Somebody deletes the candidate's Node while its successor comes up: that is an expiry."""
    story = begin(stage, ONE_NODE)
    (claim,) = story.originals
    story.world.register_after("30s")
    story.govern()
    story.ask()
    story.launched()
    stage.api.delete("Node", story.world.node_of(claim)["metadata"]["name"])
    story.reported("RotationExpired", claim)
    story.finish()

    assert story.complaints(without=[all_replaced], excused=[f"{claim} was deleted"]) == []
    assert story.states(claim) == ["pending", "expired"]
    assert story.reports() == [("RotationExpired", claim)]


def _quota(name: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": name, "namespace": PLACEHOLDERS},
        "spec": {"hard": {"requests.cpu": ROOM}},
    }


def _is_in_force(stage: Stage) -> bool:
    found = stage.api.find_one("ResourceQuota", stage.name, PLACEHOLDERS)
    return bool(found and found.get("status", {}).get("hard"))


def _intruder(name: str, host: str) -> Object:
    """A Pod of ordinary priority that fits nowhere but on the successor."""
    fields = [{"key": "metadata.name", "operator": "In", "values": [host]}]
    required = {"nodeSelectorTerms": [{"matchFields": fields}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    resources = {"requests": {"cpu": "2500m"}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"{name}-intruder", "namespace": NAMESPACE, "labels": {"pool": name}},
        "spec": {
            "affinity": affinity,
            "terminationGracePeriodSeconds": 1,
            "containers": [{"name": "work", "image": "work", "resources": resources}],
        },
    }
