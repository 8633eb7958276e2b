"""Scenes in which somebody drains a node, and all goes well."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from hooks import names
from tests.e2e.audit import Call, asked
from tests.e2e.drain.scene import ADMITTED, DENIED, Scene, node_of, uid
from tests.e2e.drain.told import Told

SUCCESS = [names.DRAIN_TRIGGERED, names.DRAIN_COMPLETED]
CONFLICT = 409
EVICTORS = 8


def one_graceful_rollout(told: Told, pod: str) -> None:
    """What every drain of a singleton has to leave when all goes well; ``pod`` is a UID."""
    assert told.gaps() == [], "an endpoint was ready at every moment"
    assert (told.templates(), len(told.restarts())) == (1, 1)
    (begun, ended) = told.tracked()
    assert begun is not None
    assert ended is None
    assert told.last_pods() == [pod]
    assert told.marks() == {"last-pod-uid": pod, "rolled-for": begun}
    assert told.reports() == SUCCESS


def kubectl_drains_a_node(scene: Scene) -> None:
    """The only Pod gets its successor before kubectl drain gets it off the node."""
    scene.nodes(2)
    pod = scene.singleton()
    scene.drain(node_of(pod))
    one_graceful_rollout(scene.cleared(), uid(pod))
    assert node_of(scene.only_pod()) != node_of(pod)


def an_evictor_asks_again_and_again(scene: Scene) -> None:
    """It is told who denies, for which Deployment, and is let through when the successor is there."""
    scene.nodes(2)
    pod = scene.singleton(again="4s", minReadySeconds=6)
    given = scene.insist(pod)
    statuses = [one.status for one in given]
    denials = [one.message for one in given if one.status == DENIED]
    assert set(statuses) == {ADMITTED, DENIED}
    assert statuses == sorted(statuses, reverse=True), "never denied again"
    for message in denials:
        assert message.startswith(f'admission webhook "{names.WEBHOOK}" denied the request: ')
        assert f"{scene.namespace}/{scene.name}" in message
        assert "noderotation" in message
    one_graceful_rollout(scene.cleared(), uid(pod))


def a_dry_run(scene: Scene) -> None:
    """Neither kubectl's dry run nor one of the request's own writes anything, and both are admitted."""
    scene.nodes(2)
    pod = scene.singleton()
    printed = scene.drain(node_of(pod), "--dry-run=server")
    assert f"evicting pod {scene.namespace}/{pod['metadata']['name']} (server dry run)" in printed
    assert scene.evict(pod, dry_run=True).status == ADMITTED
    assert scene.evict(pod, {"preconditions": {"uid": "another"}}).status == CONFLICT
    assert _patches(scene) == []

    # So does one that is none, or this would show nothing.
    assert scene.evict(pod).status == DENIED
    assert len(_patches(scene)) == 1
    # One Event of each: the other evictions left none.
    one_graceful_rollout(scene.cleared(), uid(pod))


def _patches(scene: Scene) -> list[Call]:
    """What the eviction server has written to the scene's Deployment: the API server's own list."""
    made = (one.call for one in asked(scene.plane.audit_log, names.EVICTION_SERVER))
    return [one for one in made if one.writes and one.name == scene.name]


def many_evictors_at_once(scene: Scene) -> None:
    """They start one rollout, and so do two drains at the same time after them."""
    scene.nodes(2)
    pod = scene.singleton(again="6s")
    together = Barrier(EVICTORS)

    def evict(_: int) -> int:
        together.wait()
        return scene.evict(pod).status

    with ThreadPoolExecutor(EVICTORS) as evictors:
        assert list(evictors.map(evict, range(EVICTORS))) == [DENIED] * EVICTORS
        list(evictors.map(scene.drain, [node_of(pod)] * 2))
    one_graceful_rollout(scene.cleared(), uid(pod))


def a_second_drain_hits_the_successor(scene: Scene) -> None:
    """While both are ready the successor is held until the old one is gone; then it gets its own."""
    scene.nodes(3)
    # Ready long before it counts as available, which is when the old one is taken away.
    pod = scene.singleton(minReadySeconds=8)
    assert scene.evict(pod).status == DENIED
    told = scene.wait_for("both are ready", _has_two_ready)
    (successor,) = (one for one in scene.pods() if uid(one) != uid(pod))
    answers = [scene.evict(successor).status for _ in range(3)]
    assert scene.told().readiness()[-1].pods == told.readiness()[-1].pods, "both are still there"
    assert answers == [DENIED] * 3
    assert scene.evict(pod).status == ADMITTED
    one_graceful_rollout(scene.cleared(), uid(pod))

    scene.drain(node_of(successor))
    told = scene.cleared(times=2)
    assert told.gaps() == []
    assert len(told.restarts()) == 2
    assert told.last_pods() == [uid(pod), uid(successor)]
    assert told.reports() == SUCCESS * 2


def _has_two_ready(told: Told) -> bool:
    """By the endpoints, and by the status that the webhook goes by, which may come later."""
    status = told.deployment.get("status", {})
    return len(told.readiness()[-1].pods) == 2 and status.get("readyReplicas") == 2


def a_rollout_of_somebody_else(scene: Scene) -> None:
    """It is waited for, not started anew."""
    scene.nodes(2)
    pod = scene.singleton(again="5s")
    deployment = f"deployment/{scene.name}"
    scene.api.kubectl("rollout", "restart", deployment, f"--namespace={scene.namespace}")
    scene.restarted()
    scene.wait_for("a successor is made", lambda _: len(scene.pods()) == 2)
    statuses = {one.status for one in scene.insist(pod)}
    assert DENIED in statuses
    told = scene.cleared()
    assert told.gaps() == []
    assert (told.templates(), len(told.restarts())) == (1, 1)
    assert told.last_pods() == [uid(pod)]
