"""A walk: passes of the real hook and steps of its environment, with the promises watched.

The promises are those of design/rotation.md section 6, judged here in words of their own, so that
a mistake in the software's predicates is not repeated by the test.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from structlog.testing import capture_logs

from hooks import names
from hooks.cluster.errors import ClusterError, Unavailable
from hooks.sync.nodepool import NodePoolSync
from tests.support.environment import HARMFUL, HELPFUL, Around
from tests.support.folders import settings_from
from tests.support.live import CLAIM, NODE, POD, Json
from tests.support.metamodel import GROUPS, NOTHING, PREFIX, Cluster

MARKS: Final = (names.SURGE_FOR, names.DO_NOT_DISRUPT_OWNED, names.CORDONED)
PATCHES: Final = ("patch", "create")
"""Before these something may happen; between a delete's guard and the delete that race is known."""
WRITES: Final = (*PATCHES, "delete")
T_ROT: Final = timedelta(minutes=9)


class Died(BaseException):
    """The process of the hook is gone in the middle of a pass."""


class Walk:
    """One cluster, one hook at a time, and what has been seen so far."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.around = Around(cluster)
        self.hook = self._process()
        self.deleted: dict[str, str] = {}
        """UIDs of the candidates that we deleted, with their names."""
        self.mirrored: set[str] = set()
        self.told: Counter[tuple[str, str, str]] = Counter()
        self.requests: list[Json] = []
        cluster.watch = self._watch

    def _process(self) -> NodePoolSync:
        return NodePoolSync(settings_from({}), self.cluster.within, self._now)

    def _now(self) -> datetime:
        return datetime.fromisoformat(self.cluster.now)

    # --- passes ---

    def fresh(self, _at: int = 0) -> None:
        """A pass on what is so."""
        self._pass()

    def stale(self, at: int) -> None:
        """A pass on a request of which some groups are one change old, or a few."""
        depth = 1 + at // 32
        self.lag({group: depth for bit, group in enumerate(GROUPS) if at >> bit & 1})

    def lag(self, stale: Mapping[str, int]) -> None:
        """A pass on a request whose groups are some changes old."""
        self._pass(stale)

    def lost(self, _at: int) -> None:
        """A pass whose answer is lost."""
        self._pass(deliver=False)

    def repeated(self, at: int) -> None:
        """A request of some time ago once more: duplicated, or long under way."""
        recent = self.requests[-5:]
        if recent:
            self._answer(recent[at % len(recent)], deliver=True)

    def dies(self, at: int) -> None:
        """The process dies before or after one of its writes, and another takes over."""

        def die() -> str | None:
            if at & 1:
                raise Died
            return "after"

        self._disturbed(at >> 1, die, WRITES)
        self.hook = self._process()

    def fails(self, at: int) -> None:
        """A write fails, having landed or not."""

        def fail() -> str | None:
            if at & 1:
                raise Unavailable("down")
            return "after"

        self._disturbed(at >> 1, fail, WRITES)

    def meanwhile(self, at: int) -> None:
        """Something happens between the writes of a pass."""
        step = HARMFUL[at % len(HARMFUL)]
        self._disturbed(at >> 2, lambda: step(self.around, at), PATCHES)

    def overlapped(self, at: int) -> None:
        """A pass timed out and goes on beside the next ones; its answer is lost."""

        def others() -> None:
            for _ in range(1 + at // 8):
                self.fresh()
                for step in HELPFUL if at & 4 else ():
                    step(self.around, at)

        self._disturbed(at & 1, others, PATCHES, deliver=bool(at & 2))

    def _disturbed(
        self, nth: int, what: Callable[[], Any], verbs: tuple[str, ...], *, deliver: bool = True
    ) -> None:
        count = 0

        def fault(verb: str, _name: str) -> str | None:
            nonlocal count
            self.cluster.remember()
            count += verb.startswith(verbs)
            if count != nth + 1 or not verb.startswith(verbs):
                return None
            self.cluster.fault = _nothing
            result = what()
            return result if isinstance(result, str) else None

        self.cluster.fault = fault
        try:
            self._pass(deliver=deliver)
        finally:
            self.cluster.fault = _nothing

    def _pass(self, stale: Mapping[str, int] = NOTHING, *, deliver: bool = True) -> None:
        request = self.cluster.request(stale)
        if request is not None:
            self.requests.append(request)
            self._answer(request, deliver=deliver)

    def _answer(self, request: Json, *, deliver: bool) -> None:
        with capture_logs() as lines:
            try:
                body = self.hook(json.dumps(request).encode(), deadline=0.0)
            except (ClusterError, Died):
                body = None
        self._count(request, lines)
        anchored = self.cluster.notes().get(names.ACTIVE_ROTATION)
        if body is not None and deliver:
            self.cluster.apply(request, body)
        self._look(request, anchored)

    # --- promises ---

    def _watch(self, event: str, thing: Json) -> None:
        pool, notes = self.cluster.pool, self.cluster.notes()
        claim = thing if event == "delete" else None
        if claim is None:
            name = thing["metadata"]["annotations"][names.SURGE_FOR]
            there = self.cluster.objects[CLAIM][name]
            assert notes[names.ACTIVE_ROTATION] == name, "S4: a placeholder without its anchor"
            assert "deletionTimestamp" not in there["metadata"], "S4: for a claim that goes"
            return
        meta = claim["metadata"]
        if meta["uid"] != notes.get(names.ACTIVE_ROTATION_UID):
            self._reaped(claim)
            return
        marks = self.cluster.notes(claim)
        assert "deletionTimestamp" not in pool["metadata"], "S1: in a pool that goes"
        assert notes[names.ACTIVE_ROTATION] == meta["name"], "S1: without its anchor"
        assert notes[names.ACTIVE_ROTATION_STATE] == "draining", "S1: without the mirror"
        assert marks[names.STATE] == "draining", "S1: not taken"
        assert not self._frozen(), "S1: under a freeze"
        assert notes.get(names.ABORT) != meta["name"], "S1: aborted"
        if notes.get(names.ROTATION_MODE) == "forceful-fallback":
            self._falls_back(claim)
        else:
            self._has_successor(claim)
        living = set(self.deleted) & {_uid(c) for c in self.cluster.objects[CLAIM].values()}
        assert living <= {meta["uid"]}, "S2: two at once"
        self.deleted[meta["uid"]] = meta["name"]

    def _has_successor(self, claim: Json) -> None:
        pods, nodes = self.cluster.objects[POD], self.cluster.objects[NODE]
        pod = pods[PREFIX + names.PLACEHOLDER_PREFIX + claim["metadata"]["name"]]
        assert pod["status"]["phase"] == "Running", "S1: the placeholder doesn't run"
        assert "deletionTimestamp" not in pod["metadata"], "S1: the placeholder goes"
        host = nodes[pod["spec"]["nodeName"]]
        owner = self.cluster.objects[CLAIM][host["metadata"]["ownerReferences"][0]["name"]]
        ready = {c["type"]: c["status"] for c in host["status"]["conditions"]}["Ready"]
        assert host["metadata"]["name"] != claim["status"]["nodeName"], "S1: on the candidate"
        assert ready == "True", "S1: the host isn't ready"
        assert not host["spec"].get("unschedulable"), "S1: the host is cordoned"
        assert not host["spec"].get("taints"), "S1: the host is disrupted"
        assert "deletionTimestamp" not in owner["metadata"], "S1: the host goes"

    def _falls_back(self, claim: Json) -> None:
        assert self._open(), "S1: a fallback outside the window"
        created = datetime.fromisoformat(claim["metadata"]["creationTimestamp"])
        assert created + timedelta(hours=336) - self._now() < T_ROT, "S1: a needless fallback"

    def _reaped(self, claim: Json) -> None:
        where = claim["status"]["nodeName"]
        living = [
            pod
            for pod in self.cluster.objects[POD].values()
            if pod["spec"].get("nodeName") == where and pod["metadata"]["namespace"] == "default"
        ]
        kinds = {pod["metadata"]["ownerReferences"][0]["kind"] for pod in living}
        assert kinds <= {"DaemonSet"}, "a node with workload was reaped"
        started = self.cluster.objects[CLAIM][self.cluster.notes()[names.ACTIVE_ROTATION]]
        stamp = self.cluster.notes(started)[names.STARTED_AT]
        assert claim["metadata"]["creationTimestamp"] > stamp, "an older node was reaped"

    def _open(self) -> bool:
        return 18 <= self._now().hour < 22

    def _frozen(self) -> bool:
        text = self.cluster.notes().get(names.FREEZE)
        if text is None:
            return False
        return not text.startswith("20") or datetime.fromisoformat(text) > self._now()

    def _look(self, request: Json, anchored: str | None) -> None:
        notes = self.cluster.notes()
        anchor = notes.get(names.ACTIVE_ROTATION)
        if anchor is not None and anchor != anchored:
            policies = request["related"][names.ROTATIONPOLICY_GROUP]
            assert anchored is None, "a rotation took the place of another"
            assert self._open(), "started outside the window"
            assert not self._frozen(), "started under a freeze"
            assert "deletionTimestamp" not in self.cluster.pool["metadata"], "in a pool that goes"
            assert policies, "started without a policy"
            assert not policies["api"]["spec"].get("suspend"), "started while suspended"
            assert not policies["api"]["spec"].get("dryRun"), "started in a dry run"
        if notes.get(names.ACTIVE_ROTATION_STATE) == "draining":
            self.mirrored.add(notes.get(names.ACTIVE_ROTATION_UID, ""))
        self.protected()

    def protected(self) -> None:
        """S3: what operators put on Nodes is still there."""
        for name, mark in self.around.planted:
            host = self.cluster.objects[NODE][name]
            if mark == "protect":
                assert self.cluster.notes(host).get(names.DO_NOT_DISRUPT) == "true", "S3"
            else:
                assert host["spec"].get("unschedulable"), "S3: an operator's cordon was lifted"

    def _count(self, request: Json, lines: list[Any]) -> None:
        uid = self.cluster.notes(request["object"]).get(names.ACTIVE_ROTATION_UID, "")
        for line in lines:
            event = line["event"]
            if event in {"rotation complete", "rotation expired"}:
                self.told[uid, "terminal", ""] += 1
                ours = uid in self.mirrored
                assert ours if event == "rotation complete" else uid not in self.deleted, "C1"
            if event == "attempt failed":
                self.told[uid, "failure", str(line["retry"])] += 1
        assert not [key for key, count in self.told.items() if count > 1], "C1: counted twice"

    # --- the end ---

    def left(self) -> list[str]:
        """What of a rotation is still on the cluster, apart from what only Karpenter can end."""
        found: list[str] = [key for key in names.CLEARED_AT_THE_END if key in self.cluster.notes()]
        for name, host in self.cluster.objects[NODE].items():
            notes = self.cluster.notes(host)
            found += [f"Node {name}: {mark}" for mark in MARKS if mark in notes]
            found += (
                [f"Node {name}: label"] if names.SURGE_FOR in host["metadata"]["labels"] else []
            )
        for name, pod in self.cluster.objects[POD].items():
            if name.startswith(PREFIX) and "deletionTimestamp" not in pod["metadata"]:
                found.append(name)
        for name, claim in self.cluster.objects[CLAIM].items():
            state = self.cluster.notes(claim).get(names.STATE)
            if state in {"pending", "draining"} and "deletionTimestamp" not in claim["metadata"]:
                found.append(f"{name}: {state}")
        return found

    def settle(self, rounds: int, *, helped: bool) -> None:
        """Passes with nothing in their way, while time goes on; drains come to their end."""
        for _ in range(rounds):
            self.fresh()
            for step in HELPFUL if helped else (Around.finish,):
                step(self.around, 0)
            self.cluster.now = (self._now() + timedelta(seconds=20)).strftime("%Y-%m-%dT%H:%M:%SZ")


def _nothing(_verb: str, _name: str) -> None:
    return None


def _uid(thing: Json) -> str:
    uid: str = thing["metadata"]["uid"]
    return uid
