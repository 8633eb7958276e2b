"""Scenes in which Karpenter drains a node: its NodeClaim is deleted, by somebody or by a rotation."""

from __future__ import annotations

from datetime import UTC, datetime

from hooks.verdict.case import Case
from hooks.verdict.checks import SINGLETONS, complaints, violations
from hooks.verdict.history import Change
from hooks.verdict.questions import ANCHOR, POOL_LABEL, annotation
from hooks.verdict.singletons import ready_endpoint_remains, ready_pod_remains
from tests.e2e.drain.scene import LONGEST, Scene, node_of, uid
from tests.e2e.drain.scenes.drains import one_graceful_rollout
from tests.e2e.drain.shapes import pace, service, template, workload
from tests.e2e.drain.told import Told
from tests.e2e.history import is_of
from tests.scenarios.manifests import REQUESTS_OF_A_WORKLOAD_POD, Shape, node_class, node_pool
from tests.scenarios.policies import policy, stamp
from tests.support.waiting import wait_until

BOOT = 20
"""Seconds from a Pod's start to its readiness: in the rotations each Pod takes so long."""
ROTATION = 180.0
"""Seconds for one wait of a rotation: far more than it takes."""


def karpenter_deletes_a_claim(scene: Scene) -> None:
    """The successor comes to a node that is made for it, and Karpenter waits for that."""
    pod = _settle(scene, "6s")
    (claim,) = _claims(scene)
    scene.api.delete("NodeClaim", claim)
    wait_until(f"{claim} is gone", lambda: claim not in _claims(scene), ROTATION, every=1)
    one_graceful_rollout(scene.cleared(), pod)


def a_rotation_with_the_webhook(scene: Scene) -> None:
    """With 20 s to readiness, an endpoint is ready at every moment of the rotation of its node."""
    pod = _settle(scene, f"{BOOT}s")
    told = _rotate(scene)
    scene.say(_timeline("with the webhook", told))
    assert told.gaps() == []
    assert complaints(_history(scene), scene.name, SINGLETONS) == []
    one_graceful_rollout(scene.cleared(), pod)


def a_rotation_without_the_webhook(scene: Scene) -> None:
    """The same without it: nothing is ready for as long as the successor takes to get so."""
    _settle(scene, f"{BOOT}s")
    told = _rotate(scene)
    scene.say(_timeline("without the webhook", told))
    (gap,) = told.gaps()
    assert gap > BOOT - 2
    assert (told.tracked(), told.reports()) == ([], [])
    broken = violations(Case(_history(scene), scene.name), SINGLETONS)
    assert {one.check for one in broken} == {
        ready_pod_remains.__name__,
        ready_endpoint_remains.__name__,
    }


def _settle(scene: Scene, boot: str) -> str:
    """Make a pool of one node with a singleton on it, and return the UID of its Pod."""
    # A node has room for two such Pods. While the old one waits, Karpenter counts it among those that
    # need a new place: where the successor leaves it none, one more node is made that nobody needs.
    name, shape = scene.name, Shape(stateful=0, stateless=1, cpu="8")
    pods = template(name, {"pool": name}, pace(ready=boot), REQUESTS_OF_A_WORKLOAD_POD)
    scene.api.apply_objects(
        node_class(name),
        node_pool(name, shape),
        service(name, scene.namespace),
        workload("Deployment", name, scene.namespace, pods, replicas=1),
    )
    pod = scene.only_pod()
    wait_until("its node has a claim", lambda: len(_claims(scene)) == 1, LONGEST)
    # Its Service sees it a moment later.
    scene.wait_for("its endpoint is ready", lambda told: told.readiness() != [])
    return uid(pod)


def _rotate(scene: Scene) -> Told:
    """Have the node rotated, and return the whole story."""
    (claim,) = _claims(scene)
    left = node_of(scene.only_pod())
    scene.api.apply_objects(policy(scene.name))
    due = {"noderotation.io/due-before": stamp(datetime.now(UTC))}
    scene.api.patch("NodePool", scene.name, {"metadata": {"annotations": due}})

    def is_over() -> bool:
        pool = scene.api.get("NodePool", scene.name)
        return claim not in _claims(scene) and annotation(pool, ANCHOR) is None

    wait_until(f"{claim} is rotated", is_over, ROTATION, every=1)
    assert node_of(scene.only_pod()) != left
    assert complaints(_history(scene), scene.name) == []
    return scene.told()


def _history(scene: Scene) -> list[Change]:
    return [one for one in scene.history.changes if is_of(scene.name, one)]


def _claims(scene: Scene) -> list[str]:
    found = scene.api.find("NodeClaim", labelSelector=f"{POOL_LABEL}={scene.name}")
    return sorted(one["metadata"]["name"] for one in found)


def _timeline(what: str, told: Told) -> str:
    gaps = ", ".join(f"{gap:.1f} s" for gap in told.gaps()) or "none"
    lines = [f"a rotation {what}, {BOOT} s to readiness; gaps: {gaps}", *told.describe()]
    return "\n  ".join(lines)
