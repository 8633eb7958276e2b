"""What happens to the demo's cluster while its nodes are replaced; nothing of it may do any harm.

Owns the mishaps and what operators do, each at its moment, and remembers which marks are an
operator's. Some faults of the software show only then, as runs without the happening showed: a successor
that isn't looked at again before the delete (the placeholder that is lost between two writes), an
operator's ban that is overlooked (the node that is looked into), and an operator's mark that is taken for
ours (the protected host). The silent kubelet and the budget that blocks are for the onlooker: the mutants
of ``tests/support`` are found without either.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias

from hooks import names
from hooks.planning.demo import world
from hooks.sandbox.objects import (
    Obj,
    annotations_of,
    is_terminating,
    labels_of,
    metadata_of,
    name_of,
)
from hooks.sandbox.store.kinds import NODECLAIMS, NODEPOOLS, NODES, PODDISRUPTIONBUDGETS, PODS
from hooks.verdict.case import CORDON, DO_NOT_DISRUPT, OperatorMark

if TYPE_CHECKING:
    from hooks.sandbox.store.store import ObjectStore, StoreEvent

Later: TypeAlias = Callable[[datetime, Callable[[], None]], None]
"""Lets something happen at a moment."""

SILENT, LOST, HOSTED, BLOCKED, SUSPECT = 1, 2, 3, 4, 5
"""Whose turn it is when the kubelet falls silent, the placeholder is lost, an operator protects its
host, and the budget blocks; and which node, in the order of deadlines, an operator looks into."""
SILENCE: Final = timedelta(seconds=30)
"""Shorter than a successor takes: of a machine that is still silent then, Karpenter's KWOK provider
says that it is gone, and no Pod would be moved."""
BLOCKADE: Final = timedelta(minutes=6)
"""Shorter than the terminationGracePeriod of the pool."""
LOOKED_INTO: Final = world.WINDOWS[0].start - timedelta(minutes=15)
LET_GO: Final = world.WINDOWS[1].start - timedelta(minutes=30)
KEPT: Final = world.WINDOWS[0].end + timedelta(hours=2)
"""When an operator protects one of the new nodes, for good."""


class Story:
    """The mishaps of one demo; ``say`` is told of each in a sentence."""

    def __init__(self, store: ObjectStore, later: Later, say: Callable[[str], None]) -> None:
        """Nothing happens before the store tells of changes and :meth:`begin` is called."""
        self.marks: list[OperatorMark] = []
        self._store = store
        self._later = later
        self._say = say
        self._turns: list[str] = []
        self._lost = False
        self._hosted = False
        self._suspect = ""
        self._budget: Obj | None = None

    def begin(self) -> None:
        """Plan what operators will do."""
        self._later(LOOKED_INTO, self._look_into)
        self._later(LET_GO, self._let_go)
        self._later(KEPT, self._keep)

    def on_event(self, event: StoreEvent) -> None:
        """Look at a change, before whoever made it hears that it was made."""
        if event.resource == NODEPOOLS and event.type == "MODIFIED":
            self._on_pool(event)
        elif event.resource == NODECLAIMS and name_of(event.obj) in self._turns:
            self._on_candidate(event)
        elif event.resource == NODES and event.type == "ADDED" and len(self._turns) == HOSTED:
            self._on_new_node(event)

    # --- When it is a node's turn ---

    def _on_pool(self, event: StoreEvent) -> None:
        anchor = annotations_of(event.obj).get(names.ACTIVE_ROTATION)
        if anchor is None or anchor in self._turns:
            return
        self._turns.append(anchor)
        # At this moment still, but once the write is over.
        if len(self._turns) == SILENT:
            self._later(event.at, partial(self._silence, anchor))
        elif len(self._turns) == BLOCKED:
            self._later(event.at, partial(self._block, anchor))

    def _on_candidate(self, event: StoreEvent) -> None:
        claim = name_of(event.obj)
        turn = self._turns.index(claim) + 1
        state = annotations_of(event.obj).get(names.STATE)
        if turn >= LOST and state == names.DRAINING and not self._lost:
            self._lost = True
            self._lose(claim)
        if turn == BLOCKED and is_terminating(event.obj) and self._budget is not None:
            self._later(event.at + BLOCKADE, self._unblock)

    def _on_new_node(self, event: StoreEvent) -> None:
        """Whoever comes up now will be the host; soon it would carry our own mark."""
        if self._hosted or labels_of(event.obj).get(names.NODEPOOL_LABEL) != world.POOL:
            return
        self._hosted = True
        self._later(event.at, partial(self._protect, name_of(event.obj)))

    def _silence(self, claim: str) -> None:
        node = self._node_of(claim)
        self._say(f"The kubelet of {claim} falls silent: its Node isn't Ready.")
        self._report(node, "Unknown")
        self._later(self._store.now() + SILENCE, partial(self._speak, claim, node))

    def _speak(self, claim: str, node: str) -> None:
        if self._store.find(NODES, "", node) is not None:
            self._report(node, "True")
            self._say(f"The kubelet of {claim} is back: its Node is Ready again.")

    def _report(self, node: str, status: str) -> None:
        def change(obj: Obj) -> None:
            for condition in obj["status"]["conditions"]:
                if condition["type"] == "Ready":
                    condition["status"] = status
                    condition["lastTransitionTime"] = f"{self._store.now():%Y-%m-%dT%H:%M:%SZ}"

        self._store.modify(NODES, "", node, change, "status")

    def _lose(self, claim: str) -> None:
        name = names.PLACEHOLDER_PREFIX + claim
        if self._store.find(PODS, names.NAMESPACE, name) is None:
            return
        self._say(f"Somebody deletes the placeholder of {claim} too early.")
        self._store.delete(PODS, names.NAMESPACE, name, grace_seconds=0)

    def _block(self, claim: str) -> None:
        node = self._node_of(claim)
        apps = {workload.name for workload in world.WORKLOADS}
        for pod in self._store.all(PODS, world.NAMESPACE):
            app = labels_of(pod).get("app", "")
            if pod["spec"].get("nodeName") == node and app in apps:
                self._budget = self._store.get(PODDISRUPTIONBUDGETS, world.NAMESPACE, app)
                self._say(f"A release of {app} begins: its budget lets no Pod go.")
                self._set_budget(app, {"maxUnavailable": 0})
                return

    def _unblock(self) -> None:
        if self._budget is not None:
            app, before, self._budget = name_of(self._budget), self._budget, None
            self._set_budget(app, before["spec"])
            self._say(f"The release of {app} is over: its budget is as before.")

    def _set_budget(self, app: str, spec: Obj) -> None:
        def change(obj: Obj) -> None:
            selector = obj["spec"]["selector"]
            obj["spec"] = {"selector": selector} | spec

        self._store.modify(PODDISRUPTIONBUDGETS, world.NAMESPACE, app, change)

    # --- What operators do ---

    def _look_into(self) -> None:
        claim = self._claims()[SUSPECT - 1]
        node = self._node_of(claim)
        self._say(f"An operator cordons {claim} and forbids to disrupt it.")
        self._suspect = node
        self._mark(node, CORDON)
        self._mark(node, DO_NOT_DISRUPT)

    def _let_go(self) -> None:
        for index, mark in enumerate(self.marks):
            if mark.what == DO_NOT_DISRUPT and mark.node == self._suspect:
                self._let_go_of(index, mark)
                return

    def _let_go_of(self, index: int, mark: OperatorMark) -> None:
        def change(obj: Obj) -> None:
            annotations_of(obj).pop(names.DO_NOT_DISRUPT, None)

        if self._store.find(NODES, "", mark.node) is None:
            self._say("The node that the operator wants to let go isn't there any more.")
        elif self._store.modify(NODES, "", mark.node, change):
            self.marks[index] = replace(mark, until=self._revision_of(mark.node))
            claim = self._claim_of(mark.node)
            self._say(f"The operator lets {claim} go, and leaves the cordon.")

    def _keep(self) -> None:
        fresh = [claim for claim in self._claims() if claim not in self._turns]
        fresh = [claim for claim in fresh if self._is_new(claim)]
        if fresh:
            self._say(f"An operator protects the new node {fresh[0]} for good.")
            self._mark(self._node_of(fresh[0]), DO_NOT_DISRUPT)

    def _protect(self, node: str) -> None:
        self._say("An operator protects the machine that just came up, for good.")
        self._mark(node, DO_NOT_DISRUPT)

    def _mark(self, node: str, what: str) -> None:
        def change(obj: Obj) -> None:
            if what == CORDON:
                obj["spec"]["unschedulable"] = True
            else:
                metadata_of(obj).setdefault("annotations", {})[names.DO_NOT_DISRUPT] = names.TRUE

        if self._store.modify(NODES, "", node, change):
            self.marks.append(OperatorMark(node, what, self._revision_of(node)))

    # --- Reading ---

    def _claims(self) -> list[str]:
        """The pool's claims, those with the nearest deadline first."""
        claims = self._store.all(NODECLAIMS)
        claims.sort(key=lambda claim: (metadata_of(claim)["creationTimestamp"], name_of(claim)))
        return [name_of(claim) for claim in claims]

    def _is_new(self, claim: str) -> bool:
        created = metadata_of(self._store.get(NODECLAIMS, "", claim))["creationTimestamp"]
        return datetime.fromisoformat(created) >= world.INSTALLED

    def _node_of(self, claim: str) -> str:
        found = self._store.find(NODECLAIMS, "", claim) or {}
        node: str = found.get("status", {}).get("nodeName", "")
        return node

    def _claim_of(self, node: str) -> str:
        return next((claim for claim in self._claims() if self._node_of(claim) == node), node)

    def _revision_of(self, node: str) -> int:
        return int(metadata_of(self._store.get(NODES, "", node))["resourceVersion"])
