"""Scenes in which a rollout can't do what it is for, or somebody undoes it."""

from __future__ import annotations

import time

from hooks import names
from hooks.verdict.questions import annotation
from tests.e2e.api import Object
from tests.e2e.drain.scene import ADMITTED, DENIED, NEVER, Scene, node_of, restarted_at, uid
from tests.e2e.drain.told import Told

TIMEOUT = 8.0
"""Seconds of the rolloutTimeout in these scenes."""
FAILURE = [names.DRAIN_TRIGGERED, names.DRAIN_TIMEOUT]
SETTLING = 3.0
"""Seconds that are watched after the end, for whatever shouldn't happen any more."""


def given_up(told: Told, pod: str) -> None:
    """What a rollout leaves that never got ready."""
    assert (told.templates(), len(told.restarts())) == (1, 1)
    (begun, ended) = told.tracked()
    assert begun is not None
    assert ended is None
    assert told.last_pods() == [pod]
    assert told.marks()["last-pod-uid"] == pod
    assert told.reports() == FAILURE


def a_rollout_that_never_gets_ready(scene: Scene) -> None:
    """After the timeout the drain goes on, and isn't denied again."""
    scene.nodes(2)
    pod = scene.singleton(again=NEVER, dies="4s", timeout=f"{TIMEOUT:.0f}s")
    given = scene.insist(pod, every=0.5)
    denied = [one for one in given if one.status == DENIED]
    admitted = [one for one in given if one.status == ADMITTED]
    assert len(denied) + len(admitted) == len(given)
    # Tracking is kept in whole seconds. How long an answer takes doesn't count.
    assert denied[-1].at - denied[0].asked >= TIMEOUT / 2
    assert denied[-1].asked - denied[0].at <= TIMEOUT + 1
    assert admitted[0].at > denied[-1].at
    given_up(scene.cleared(), uid(pod))


def kubectl_after_the_timeout(scene: Scene) -> None:
    """The drain ends well; the next eviction of the same Pod, tracking being gone, starts nothing."""
    scene.nodes(2)
    pod = scene.singleton(again=NEVER, dies="6s", timeout=f"{TIMEOUT:.0f}s")
    assert scene.evict(pod).status == DENIED
    scene.cleared()
    scene.drain(node_of(pod))
    time.sleep(SETTLING)
    told = scene.told()
    given_up(told, uid(pod))
    assert len(told.tracked()) == 2


def gitops_reverts_the_restart(scene: Scene) -> None:
    """There is one rollout, and no loop: who wants the template as it was gets it so."""
    scene.nodes(2)
    pod = scene.singleton(again="6s")
    assert scene.evict(pod).status == DENIED
    scene.at_once(scene.name, lambda one: restarted_at(one) is not None)
    for _ in range(5):
        annotations = {names.POD_TEMPLATE_RESTARTED_AT: None}
        template = {"metadata": {"annotations": annotations}}
        scene.change({"spec": {"template": template}})
        time.sleep(1)
    told = scene.cleared()
    assert (told.templates(), len(told.restarts())) == (2, 1)
    assert told.last_pods() == [uid(pod)]
    scene.drain(node_of(pod))
    time.sleep(SETTLING)
    told = scene.told()
    assert (told.templates(), len(told.restarts())) == (2, 1)
    assert len(told.tracked()) == 2
    assert told.last_pods() == [uid(pod)]


def an_autoscaler_scales_up_and_back(scene: Scene) -> None:
    """With two replicas a budget's work is a budget's; with one again the Pod is protected again."""
    scene.nodes(2)
    pod = scene.singleton(again="5s")
    assert scene.evict(pod).status == DENIED
    scene.restarted()
    scene.change({"spec": {"replicas": 2}})
    assert scene.evict(pod).status == ADMITTED
    told = scene.cleared()
    assert len(told.restarts()) == 1
    assert names.DRAIN_TIMEOUT not in told.reports()

    scene.wait_for("both replicas are new", lambda one: _is_whole(one.deployment, 2))
    scene.change({"spec": {"replicas": 1}})
    # As long as its status tells of two, one of them may go.
    scene.wait_for("one is left", lambda one: _is_whole(one.deployment, 1))
    left = scene.only_pod()
    assert scene.evict(left).status == DENIED
    told = scene.cleared(times=2)
    assert told.last_pods() == [uid(pod), uid(left)]
    assert len(told.restarts()) == 2
    assert told.reports()[-2:] == [names.DRAIN_TRIGGERED, names.DRAIN_COMPLETED]


def _is_whole(deployment: Object, replicas: int) -> bool:
    status = deployment.get("status", {})
    counts = [status.get(f"{one}eplicas") for one in ("r", "updatedR", "readyR")]
    caught_up = status.get("observedGeneration") == deployment["metadata"]["generation"]
    return caught_up and counts == [replicas] * 3


def a_tracking_that_nobody_can_read(scene: Scene) -> None:
    """It is taken away, and the eviction goes on."""
    scene.nodes(2)
    pod = scene.singleton()
    scene.change({"metadata": {"annotations": {names.DRAIN_RESTARTED_AT: "yesterday"}}})
    told = scene.cleared()
    assert annotation(told.deployment, names.DRAIN_RESTARTED_AT) is None
    assert (told.templates(), told.reports()) == (0, [])
    assert uid(scene.only_pod()) == uid(pod)
