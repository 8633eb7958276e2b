"""What happens around the hook: Karpenter, the scheduler, kubelets, operators and the clock.

Each step is a function of the cluster and a small number that picks among what there is; one that
has nothing to do does nothing. `OPERATORS` remembers what an operator did, so that it can be
checked that nobody undoes it.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TypeAlias

from hooks import names
from tests.support.live import CLAIM, NODE, POD, Json
from tests.support.metamodel import PREFIX, Cluster
from tests.support.world import node, nodeclaim, policy, workload

TAINT = {"key": names.DISRUPTED_TAINT, "effect": "NoSchedule"}


class Around:
    """The steps, on one cluster; ``planted`` are (node, mark) pairs that operators put there."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.planted: set[tuple[str, str]] = set()
        self.born = 0

    # --- helpers ---

    def _pick(self, kind: str, at: int, fits: Callable[[Json], bool]) -> Json | None:
        found = [t for _, t in sorted(self.cluster.objects[kind].items()) if fits(t)]
        return found[at % len(found)] if found else None

    def _pod(self, fits: Callable[[Json], bool]) -> Json | None:
        return self._pick(POD, 0, lambda p: p["metadata"]["namespace"] == names.NAMESPACE
                          and fits(p))  # fmt: skip

    def _touch(self, thing: Json) -> None:
        self.cluster.touch(thing)

    # --- Karpenter ---

    def bring(self, at: int) -> None:
        """A new claim with its Node, for a placeholder that waits."""
        if self._pod(lambda p: "nodeName" not in p["spec"]) is None:
            return
        self.born += 1
        name = f"new-{self.born}"
        claim = nodeclaim(name, created=self.cluster.now, registered=at % 4 != 3)
        self._touch(claim)
        self.cluster.objects[CLAIM][name] = claim
        if at % 4 != 3:
            host = node(name, created=self.cluster.now, ready=at % 4 != 2)
            self._touch(host)
            self.cluster.objects[NODE][f"node-{name}"] = host

    def register(self, at: int) -> None:
        """A claim without a Node gets one."""
        claim = self._pick(CLAIM, at, lambda c: not c["status"]["nodeName"])
        if claim is None or "deletionTimestamp" in claim["metadata"]:
            return
        name = claim["metadata"]["name"]
        whole = nodeclaim(name, created=claim["metadata"]["creationTimestamp"])
        claim["status"] = whole["status"]
        self._touch(claim)
        host = node(name, created=self.cluster.now)
        self._touch(host)
        self.cluster.objects[NODE][f"node-{name}"] = host

    def expire(self, at: int) -> None:
        """Karpenter, or somebody, deletes a claim."""
        claim = self._pick(CLAIM, at, lambda c: "deletionTimestamp" not in c["metadata"])
        if claim is not None:
            claim["metadata"]["deletionTimestamp"] = self.cluster.now
            self._touch(claim)

    def finish(self, at: int) -> None:
        """A deleted claim is gone, with its Node and the Pods there."""
        claim = self._pick(CLAIM, at, lambda c: "deletionTimestamp" in c["metadata"])
        if claim is None:
            return
        del self.cluster.objects[CLAIM][claim["metadata"]["name"]]
        self._lose(claim["status"]["nodeName"])

    def _lose(self, where: str) -> None:
        self.cluster.objects[NODE].pop(where, None)
        self.planted = {(name, mark) for name, mark in self.planted if name != where}
        pods = self.cluster.objects[POD]
        for name in [n for n, p in pods.items() if p["spec"].get("nodeName") == where]:
            # A placeholder on a dead host may terminate for ever; here it does, until `reap`.
            if name.startswith(PREFIX):
                self.cluster.remove_pod(name)
            else:
                del pods[name]

    def disrupt(self, at: int) -> None:
        """Karpenter taints a Node."""
        host = self._pick(NODE, at, lambda _: True)
        if host is not None:
            host["spec"]["taints"] = [] if host["spec"].get("taints") else [TAINT]
            self._touch(host)

    def namesake(self, _at: int) -> None:
        """A claim of the anchor's name comes back with another UID."""
        name = self.cluster.notes().get(names.ACTIVE_ROTATION)
        if name and name not in self.cluster.objects[CLAIM]:
            self.born += 1
            twin = nodeclaim(name, created=self.cluster.now, registered=False)
            twin["metadata"]["uid"] = f"twin-{self.born}"
            self._touch(twin)
            self.cluster.objects[CLAIM][name] = twin

    # --- scheduler and kubelets ---

    def bind(self, at: int) -> None:
        """The scheduler finds a place for the placeholder."""
        pod = self._pod(lambda p: "nodeName" not in p["spec"])
        host = self._pick(NODE, -1 - at, lambda n: not n["spec"].get("unschedulable")
                          and not n["spec"].get("taints"))  # fmt: skip
        if pod is not None and host is not None:
            pod["spec"]["nodeName"] = host["metadata"]["name"]
            self._touch(pod)

    def start(self, at: int) -> None:
        """The placeholder runs (or, now and then, fails)."""
        pod = self._pod(lambda p: p["status"]["phase"] == "Pending" and "nodeName" in p["spec"])
        if pod is not None:
            pod["status"]["phase"] = "Failed" if at == 7 else "Running"
            self._touch(pod)

    def land(self, at: int) -> None:
        """A Pod of some workload comes to live on a Node."""
        host = self._pick(NODE, at, lambda n: not n["spec"].get("unschedulable"))
        if host is not None:
            self.born += 1
            pod = workload(f"late-{self.born}", "x")
            pod["spec"]["nodeName"] = host["metadata"]["name"]
            self.cluster.objects[POD][f"default/late-{self.born}"] = pod

    def preempt(self, _at: int) -> None:
        """The placeholder has to make room."""
        pod = self._pod(lambda _: True)
        if pod is not None:
            self.cluster.remove_pod(PREFIX + pod["metadata"]["name"])

    def bury(self, _at: int) -> None:
        """A terminating placeholder is gone."""
        pod = self._pod(lambda p: "deletionTimestamp" in p["metadata"])
        if pod is not None:
            del self.cluster.objects[POD][PREFIX + pod["metadata"]["name"]]

    def flap(self, at: int) -> None:
        """A Node becomes ready or not."""
        host = self._pick(NODE, at, lambda _: True)
        if host is not None:
            ready = host["status"]["conditions"][-1]
            ready = next(c for c in host["status"]["conditions"] if c["type"] == "Ready") or ready
            ready["status"] = "False" if ready["status"] == "True" else "True"
            self._touch(host)

    # --- operators ---

    def protect(self, at: int) -> None:
        """An operator's do-not-disrupt, where none of ours stands."""
        host = self._pick(NODE, at, lambda n: names.DO_NOT_DISRUPT not in self.cluster.notes(n))
        if host is not None:
            self.cluster.notes(host)[names.DO_NOT_DISRUPT] = "true"
            self.planted.add((host["metadata"]["name"], "protect"))
            self._touch(host)

    def cordon(self, at: int) -> None:
        """An operator's cordon, where none of ours stands."""
        host = self._pick(NODE, at, lambda n: not n["spec"].get("unschedulable")
                          and names.CORDONED not in self.cluster.notes(n))  # fmt: skip
        if host is not None:
            host["spec"]["unschedulable"] = True
            self.planted.add((host["metadata"]["name"], "cordon"))
            self._touch(host)

    def freeze(self, at: int) -> None:
        """A freeze of some length, an unreadable one, or none."""
        notes = self.cluster.notes()
        notes.pop(names.FREEZE, None)
        if at % 4 == 3:
            notes[names.FREEZE] = "when it suits"
        elif at % 2:
            until = datetime.fromisoformat(self.cluster.now) + timedelta(minutes=at)
            notes[names.FREEZE] = until.strftime("%Y-%m-%dT%H:%M:%SZ")
        self._touched_pool()

    def abort(self, at: int) -> None:
        """Somebody aborts the rotation in flight, or one that isn't."""
        anchor = self.cluster.notes().get(names.ACTIVE_ROTATION, "none")
        self.cluster.notes()[names.ABORT] = anchor if at % 4 else "another"
        self._touched_pool()

    def _touched_pool(self) -> None:
        if self.cluster.pool:
            self._touch(self.cluster.pool)

    def edit(self, at: int) -> None:
        """The policy is edited, deleted, or back."""
        if at % 4 == 0:
            self.cluster.policies.clear()
            return
        enabled = {"enabled": at % 2 == 1}
        edited = policy(suspend=at == 6, dryRun=at == 5, forcefulFallback=enabled)
        self._touch(edited)
        self.cluster.policies["api"] = edited

    # --- the clock ---

    def tick(self, at: int) -> None:
        """Time passes: from a second to a day."""
        spans = (1, 5, 31, 60, 301, 660, 2400, 72_000)
        later = datetime.fromisoformat(self.cluster.now) + timedelta(seconds=spans[at % 8])
        self.cluster.now = later.strftime("%Y-%m-%dT%H:%M:%SZ")


Step: TypeAlias = Callable[[Around, int], None]
HELPFUL: tuple[Step, ...] = (
    Around.bring, Around.bind, Around.start, Around.register, Around.bury, Around.finish,
)  # fmt: skip
HARMFUL: tuple[Step, ...] = (
    Around.expire, Around.disrupt, Around.namesake, Around.preempt, Around.flap, Around.protect,
    Around.cordon, Around.land, Around.freeze, Around.abort, Around.edit, Around.tick,
)  # fmt: skip
