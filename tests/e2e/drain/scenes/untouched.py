"""Scenes in which evictions are admitted at once, and nothing is started."""

from __future__ import annotations

import time
from typing import Any

from hooks import names
from hooks.verdict.questions import is_ready
from tests.e2e.drain.scene import ADMITTED, LONGEST, NEVER, Scene, node_of
from tests.e2e.drain.shapes import SCENE, pace, rolling, template, workload
from tests.e2e.drain.told import Told
from tests.support.waiting import wait_until

LONG = "15s"
"""A Go duration: a Pod that is deleted is there long enough to be evicted."""
SETTLING = 2.0
"""Seconds that are watched after the end, for whatever shouldn't happen any more."""


def untouched(told: Told) -> None:
    """Nobody has written a word to the Deployment."""
    assert (told.templates(), told.tracked(), told.marks(), told.reports()) == (0, [], {}, [])


def pods_that_protect_nothing(scene: Scene) -> None:
    """One that isn't ready yet or any more, one that has finished, and one that is terminating."""
    scene.nodes(1)
    young, broken, finished, leaving = (
        f"{scene.name}-{name}" for name in ("young", "broken", "finished", "leaving")
    )
    scene.deploy(young, pace(ready=NEVER))
    for app in (broken, finished):
        scene.deploy(app)
    scene.deploy(leaving, pace(dies=LONG))
    wait_until("one is bound", lambda: _is_bound(scene, young), LONGEST)
    pods = {young: scene.pods(young)[0]}
    pods |= {app: scene.only_pod(app) for app in (broken, finished, leaving)}
    scene.set_status(pods[broken], {"conditions": [{"type": "Ready", "status": "False"}]})
    scene.set_status(pods[finished], {"phase": "Failed"})
    scene.api.delete("Pod", pods[leaving]["metadata"]["name"], scene.namespace)
    for app, pod in pods.items():
        assert scene.evict(pod).status == ADMITTED, app
    time.sleep(SETTLING)
    for app in pods:
        untouched(scene.told(app))


def pods_of_others(scene: Scene) -> None:
    """Of a StatefulSet, a DaemonSet, a bare ReplicaSet, two replicas, and one that nobody owns."""
    (node,) = scene.nodes(1)
    apps = {
        kind: f"{scene.name}-{kind.lower()}"
        for kind in ("StatefulSet", "DaemonSet", "ReplicaSet", "Deployment", "Pod")
    }
    for kind in ("StatefulSet", "DaemonSet", "ReplicaSet", "Deployment"):
        spec: dict[str, Any] = {} if kind == "DaemonSet" else {"replicas": 1}
        if kind == "StatefulSet":
            spec["serviceName"] = apps[kind]
        if kind == "Deployment":
            spec["replicas"] = 2
        pods = template(apps[kind], {SCENE: scene.name})
        scene.api.apply_objects(workload(kind, apps[kind], scene.namespace, pods, **spec))
    bare = template(apps["Pod"], {SCENE: scene.name})
    bare["metadata"] |= {"name": apps["Pod"], "namespace": scene.namespace}
    scene.api.apply_objects({"apiVersion": "v1", "kind": "Pod", **bare})
    wait_until(
        "all are ready", lambda: all(_are_ready(scene, app) for app in apps.values()), LONGEST
    )
    for kind, app in apps.items():
        pod = scene.pods(app)[0]
        assert node_of(pod) == node
        assert scene.evict(pod).status == ADMITTED, kind
    time.sleep(SETTLING)
    untouched(scene.told(apps["Deployment"]))
    for kind, app in apps.items():
        thing = scene.api.find_one(kind, app, scene.namespace)
        found = (thing or {}).get("metadata", {}).get("annotations", {})
        assert [key for key in found if key.startswith(names.DRAIN_PREFIX)] == [], kind


def deployments_without_a_successor(scene: Scene) -> None:
    """Where none can come first it is admitted, and an Event names the field to change."""
    scene.nodes(1)
    wanted: dict[str, tuple[dict[str, Any], str]] = {
        "paused": ({"paused": True}, "paused"),
        "recreate": ({"strategy": {"type": "Recreate"}}, "strategy"),
        "no-surge": ({"strategy": rolling(0, 1)}, "maxSurge"),
        "no-patience": ({"strategy": rolling(1, 1)}, "maxUnavailable"),
        "zero-percent": ({"strategy": rolling("0%", "100%")}, "maxSurge"),
    }
    pods = {}
    for name, (spec, _) in wanted.items():
        app = f"{scene.name}-{name}"
        # One that is paused from the beginning never gets a Pod.
        scene.deploy(app, **{key: value for key, value in spec.items() if key != "paused"})
        pods[name] = scene.only_pod(app)
        if name == "paused":
            scene.change({"spec": spec}, app)
    for name, (_, field) in wanted.items():
        app = f"{scene.name}-{name}"
        assert scene.evict(pods[name]).status == ADMITTED, name
        told = scene.wait_for("an Event tells", lambda one: one.reports() != [], app)
        (event,) = told.events()
        assert event.object["reason"] == names.DRAIN_IMPOSSIBLE
        assert event.object["type"] == "Warning"
        assert field in event.object["message"]
        assert (told.templates(), told.tracked()) == (0, [])


def _is_bound(scene: Scene, app: str) -> bool:
    pods = scene.pods(app)
    return len(pods) == 1 and "nodeName" in pods[0]["spec"]


def _are_ready(scene: Scene, app: str) -> bool:
    pods = scene.pods(app)
    return bool(pods) and all(map(is_ready, pods))
