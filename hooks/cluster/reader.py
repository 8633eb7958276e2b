"""The live reads that a decision may ask for, as values of the rotation's own vocabulary.

Owns nothing but the joining of :mod:`hooks.cluster.verbs` with the readings of
:mod:`hooks.protocol`. Reads nothing ahead and keeps nothing: a guard must see what is so now.
Source: design/rotation.md section 2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from hooks.cluster.answers import Json
from hooks.cluster.errors import Unreadable
from hooks.cluster.verbs import Api
from hooks.protocol.core import budget_of, node_of, pod_of
from hooks.protocol.errors import ShapeError
from hooks.protocol.karpenter import claim_of, pool_of
from hooks.rotation.model import Budget, Claim, Node, Pod, Pool

Value = TypeVar("Value")

MOMENT: Final = 2.0
"""Seconds for all reads of what is only told: the writes of the pass must still find their time."""


@dataclass(frozen=True, slots=True)
class LiveReader:
    """Implements :class:`hooks.rotation.model.Reader`; ``namespace`` holds the placeholders.

    Every method raises a :class:`hooks.cluster.errors.ClusterError` when the API doesn't answer.
    """

    api: Api
    namespace: str

    def briefly(self) -> LiveReader:
        """Give the same reads, which all together take a moment at most."""
        return replace(self, api=self.api.briefly(MOMENT))

    def pool(self, name: str) -> Pool | None:
        """Read the NodePool as it is now."""
        return _as(pool_of, f"NodePool {name}", self.api.get_nodepool(name))

    def claim(self, name: str) -> Claim | None:
        """Read the NodeClaim as it is now."""
        return _as(claim_of, f"NodeClaim {name}", self.api.get_nodeclaim(name))

    def node(self, name: str) -> Node | None:
        """Read the Node as it is now."""
        return _as(node_of, f"Node {name}", self.api.get_node(name))

    def pods_on(self, node: str) -> tuple[Pod, ...]:
        """Read all Pods that are bound to the Node, of every namespace."""
        return tuple(
            reading(pod_of, f"a Pod on Node {node}", pod) for pod in self.api.list_pods_on(node)
        )

    def placeholder(self, name: str) -> Pod | None:
        """Read the placeholder of that name in our namespace."""
        return _as(pod_of, f"Pod {name}", self.api.get_pod(self.namespace, name))

    def budgets(self) -> tuple[Budget, ...]:
        """Read all PodDisruptionBudgets, of every namespace."""
        return tuple(
            reading(budget_of, "a PodDisruptionBudget", budget)
            for budget in self.api.list_poddisruptionbudgets()
        )


def reading(read: Callable[[object], Value], what: str, live: Json) -> Value:
    """Read one live object; raises Unreadable, naming it, where the shape is wrong.

    A wrong shape in a request is the caller's fault; here it is the cluster that can't be used.
    """
    try:
        return read(live)
    except ShapeError as error:
        raise Unreadable(f"{what} can't be read: {error}") from error


def _as(read: Callable[[object], Value], what: str, live: Json | None) -> Value | None:
    return None if live is None else reading(read, what, live)
