"""What Karpenter notes on each NodeClaim: Drifted, Consolidatable, consistent, the last Pod event.

Owns these marks; they are what disruption later goes by. Seen in
``pkg/controllers/nodeclaim/disruption``, ``nodeclaim/podevents`` and ``nodeclaim/consistency``.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, ClassVar, Final

from typing_extensions import override

from hooks.sandbox.apiport import Resource
from hooks.sandbox.karpenter import words
from hooks.sandbox.karpenter.conditions import Conditions, changed_at, is_true
from hooks.sandbox.karpenter.moments import moment_of, span_of
from hooks.sandbox.karpenter.offers import requirements_from
from hooks.sandbox.karpenter.pods import is_of_daemon_set
from hooks.sandbox.karpenter.reconciler import Reconciler
from hooks.sandbox.karpenter.template import (
    disruption_of,
    is_managed_claim,
    is_static,
    template_of,
)
from hooks.sandbox.karpenter.view import provider_id_of_claim
from hooks.sandbox.karpenter.world import World
from hooks.sandbox.objects import annotations_of, is_terminating, labels_of, name_of, uid_of
from hooks.sandbox.scheduling.affinity import requirement_holds
from hooks.sandbox.scheduling.layout import is_finished
from hooks.sandbox.store.identity import stamp
from hooks.sandbox.store.kinds import NODECLAIMS, NODEPOOLS, NODES, PODS

if TYPE_CHECKING:
    from hooks.sandbox.objects import Obj

POD_EVENTS_APART: Final = timedelta(seconds=10)


class Marks(Reconciler):
    """Keeps Drifted, Consolidatable and ConsistentStateFound up to date."""

    watches: ClassVar[frozenset[Resource]] = frozenset({NODECLAIMS, NODEPOOLS, NODES})

    @override
    def reconcile(self, now: datetime) -> None:
        for claim in self.world.view().claims:
            if is_managed_claim(claim) and not is_terminating(claim):
                self._mark(claim, now)

    def _mark(self, claim: Obj, now: datetime) -> None:
        pool = self.store.find(NODEPOOLS, "", labels_of(claim).get(words.POOL, ""))
        has_node = self.world.view().node_of(claim) is not None

        def note(conditions: Conditions) -> None:
            if has_node and not is_true(conditions.obj, words.CONSISTENT):
                conditions.set_true(words.CONSISTENT)
            if pool is None or not provider_id_of_claim(conditions.obj):
                return
            _note_drift(conditions, drift_of(pool, claim))
            if not is_static(pool):
                _note_consolidatable(conditions, settles_at(pool, claim), now)

        if provider_id_of_claim(claim):
            self.world.set_conditions(claim, note)
        if pool is not None:
            self.wake_at_next(now, [settles_at(pool, claim)])


class PodEvents(Reconciler):
    """Notes on a NodeClaim when Pods came to its Node or left it, at most every ten seconds."""

    watches: ClassVar[frozenset[Resource]] = frozenset({PODS})

    def __init__(self, world: World) -> None:
        """Begin as if every Pod that is there had just come."""
        super().__init__(world)
        self._states: dict[str, tuple[str, bool, bool]] = {}

    @override
    def reconcile(self, now: datetime) -> None:
        states: dict[str, tuple[str, bool, bool]] = {}
        view = self.world.view()
        stirred: list[str] = []
        for pod in view.pods:
            node_name: str = (pod.get("spec") or {}).get("nodeName") or ""
            state = (node_name, is_finished(pod), is_terminating(pod))
            states[uid_of(pod)] = state
            if not node_name or is_of_daemon_set(pod):
                continue
            if self._states.get(uid_of(pod)) != state:
                stirred.append(node_name)
        self._states = states
        for node_name in dict.fromkeys(stirred):
            self._note(node_name, now)

    def _note(self, node_name: str, now: datetime) -> None:
        node = self.store.find(NODES, "", node_name)
        claim = None if node is None else self.world.view().claim_of(node)
        if claim is None:
            return
        last: str | None = claim["status"].get("lastPodEventTime")
        if last is not None and now - moment_of(last) < POD_EVENTS_APART:
            return

        def note(obj: Obj) -> None:
            obj["status"]["lastPodEventTime"] = stamp(now)

        self.store.modify(NODECLAIMS, "", name_of(claim), note, "status")


def settles_at(pool: Obj, claim: Obj) -> datetime | None:
    """Return when a NodeClaim's consolidateAfter is over; None when it never counts."""
    after = span_of(disruption_of(pool).get("consolidateAfter", "0s"))
    initialized = changed_at(claim, words.INITIALIZED)
    if after is None or initialized is None or not is_true(claim, words.INITIALIZED):
        return None
    last: str | None = (claim.get("status") or {}).get("lastPodEventTime")
    return (initialized if last is None else moment_of(last)) + after


def is_settling(pool: Obj, claim: Obj, now: datetime) -> bool:
    """Tell whether Pods came or went so lately that consolidation leaves the machine alone."""
    settles = settles_at(pool, claim)
    return settles is not None and now < settles


def drift_of(pool: Obj, claim: Obj) -> str:
    """Return why a NodeClaim no longer is what its NodePool says, empty when it still is."""
    if not is_true(claim, words.LAUNCHED):
        return ""
    ours, theirs = annotations_of(pool), annotations_of(claim)
    keys = (words.HASH, words.HASH_VERSION)
    known = all(key in ours and key in theirs for key in keys)
    comparable = known and ours[words.HASH_VERSION] == theirs[words.HASH_VERSION]
    if comparable and ours[words.HASH] != theirs[words.HASH]:
        return "NodePoolDrifted"
    requirements = requirements_from(template_of(pool).get("requirements") or [])
    if not all(requirement_holds(one, labels_of(claim), "") for one in requirements):
        return "RequirementsDrifted"
    return ""


def _note_drift(conditions: Conditions, reason: str) -> None:
    if reason:
        conditions.set_true(words.DRIFTED, reason, reason)
    else:
        conditions.clear(words.DRIFTED)


def _note_consolidatable(conditions: Conditions, settles: datetime | None, now: datetime) -> None:
    if settles is None or now < settles:
        conditions.clear(words.CONSOLIDATABLE)
    else:
        conditions.set_true(words.CONSOLIDATABLE)
