"""What goes on around a journey by itself: Karpenter, the scheduler and kubelets as simple rules.

Unlike the steps of :mod:`tests.support.environment`, which a walk picks at random, these answer to
what there is: the same world is followed by the same world, however many passes it took to get
there. Each rule acts once a round, if it has something to do.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from hooks import names
from tests.support.live import CLAIM, NODE, POD, POOL, Json
from tests.support.metamodel import PREFIX
from tests.support.stage import Stage
from tests.support.world import node, nodeclaim


class Surroundings:
    """The rules on one cluster; a journey may switch some off, and on again."""

    def __init__(self, cluster: Stage, *, ready: bool = True, at_once: bool = False) -> None:
        self.cluster = cluster
        self.ready = ready
        """Whether a new Node becomes ready."""
        self.at_once = at_once
        """Whether a node, its placeholder bound and running, is there between two passes."""
        self.brings = True
        self.drains = True
        self.born = 0

    def act(self) -> None:
        """One round."""
        rules: tuple[Callable[[], bool], ...] = (
            self._bury, self._run, self._bind, self._bring, self._finish, self._move,
        )  # fmt: skip
        for rule in reversed(rules) if self.at_once else rules:
            if rule() and not self.at_once:
                break
        self._pool_goes()

    def _placeholder(self, fits: Callable[[Json], bool]) -> Json | None:
        pods = self.cluster.objects[POD]
        return next((p for n, p in pods.items() if n.startswith(PREFIX) and fits(p)), None)

    def _bury(self) -> bool:
        pod = self._placeholder(lambda p: "deletionTimestamp" in p["metadata"])
        if pod is None:
            return False
        del self.cluster.objects[POD][PREFIX + pod["metadata"]["name"]]
        return True

    def _run(self) -> bool:
        pod = self._placeholder(
            lambda p: "nodeName" in p["spec"] and p["status"]["phase"] == "Pending"
        )
        if pod is None:
            return False
        pod["status"]["phase"] = "Running"
        self.cluster.touch(pod)
        return True

    def _free(self) -> list[str]:
        """Nodes that nobody lives on, to which a Pod may go."""
        lived_on = {
            pod["spec"].get("nodeName")
            for pod in self.cluster.objects[POD].values()
            if pod["metadata"]["namespace"] != names.NAMESPACE and not _of_daemon(pod)
        }
        return [
            name
            for name, host in sorted(self.cluster.objects[NODE].items())
            if name not in lived_on
            and name.startswith("node-new")
            and not host["spec"].get("unschedulable")
            and not host["spec"].get("taints")
        ]

    def _bind(self) -> bool:
        pod = self._placeholder(lambda p: "nodeName" not in p["spec"])
        free = self._free()
        if pod is None or not free:
            return False
        pod["spec"]["nodeName"] = free[0]
        pod["status"]["conditions"] = [{"type": "PodScheduled", "status": "True"}]
        self.cluster.touch(pod)
        return True

    def _bring(self) -> bool:
        waiting = self._placeholder(lambda p: "nodeName" not in p["spec"])
        if not self.brings or waiting is None or self._free():
            return False
        self.born += 1
        name = f"new-{self.born}"
        # Later than the attempt began, which may have been in this very second.
        now = later(self.cluster.now, 1)
        claim = nodeclaim(name, created=now)
        host = node(name, created=now, ready=self.ready)
        for kind, key, thing in ((CLAIM, name, claim), (NODE, f"node-{name}", host)):
            self.cluster.touch(thing)
            self.cluster.objects[kind][key] = thing
        return True

    def _leaving(self) -> list[Json]:
        claims = self.cluster.objects[CLAIM].values()
        return [c for c in claims if "deletionTimestamp" in c["metadata"]]

    def _finish(self) -> bool:
        """A drained claim is gone, with its Node."""
        for claim in self._leaving():
            if self.drains and not self._living(claim["status"]["nodeName"]):
                vanish(self.cluster, claim["metadata"]["name"])
                return True
        return False

    def _living(self, where: str) -> list[Json]:
        pods = self.cluster.objects[POD].values()
        return [pod for pod in pods if pod["spec"].get("nodeName") == where and not _of_daemon(pod)]

    def _move(self) -> bool:
        """The Pods of a draining Node go."""
        places = [claim["status"]["nodeName"] for claim in self._leaving()]
        return self.drains and any(self.move(place) for place in places)

    def move(self, where: str) -> bool:
        """The Pods of a Node go where there is room, or are made anew elsewhere."""
        moving = self._living(where)
        for pod in moving:
            if pod["metadata"]["namespace"] == names.NAMESPACE:
                self.cluster.remove_pod(PREFIX + pod["metadata"]["name"])
            else:
                pod["spec"]["nodeName"] = next(iter(self._free()), "node-young")
                self.cluster.touch(pod)
        return bool(moving)

    def _pool_goes(self) -> None:
        """A NodePool that is deleted goes once its Nodes bear no marks, with what it owns."""
        pool = self.cluster.pool
        marked = any(names.SURGE_FOR in self.cluster.notes(n)
                     for n in self.cluster.objects[NODE].values())  # fmt: skip
        if not pool or "deletionTimestamp" not in pool["metadata"] or marked:
            return
        del self.cluster.objects[POOL]["api"]
        for name in [n for n in self.cluster.objects[POD] if n.startswith(PREFIX)]:
            del self.cluster.objects[POD][name]


def later(now: str, seconds: float) -> str:
    """So many whole seconds after a stamp, at least one."""
    moment = datetime.fromisoformat(now) + timedelta(seconds=max(int(seconds), 1))
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def vanish(cluster: Stage, name: str) -> None:
    """Take a claim away, with its Node and the Pods there."""
    claim = cluster.objects[CLAIM].pop(name)
    where = claim["status"]["nodeName"]
    cluster.objects[NODE].pop(where, None)
    pods = cluster.objects[POD]
    for key in [n for n, p in pods.items() if p["spec"].get("nodeName") == where]:
        del pods[key]


def _of_daemon(pod: Json) -> bool:
    owners = pod["metadata"].get("ownerReferences", ())
    return any(owner["kind"] == "DaemonSet" for owner in owners)
