"""The one door of the core to what is so now: live reads that a decision may ask for.

Owns the port. :mod:`hooks.cluster.reader` answers it on a real API server. Source:
design/rotation.md sections 2 and 3.
"""

from __future__ import annotations

from typing import Protocol

from hooks.rotation.model import Budget, Claim, Node, Pod, Pool


class Unanswered(Exception):
    """A live read gave no answer: what it asked for is unknown."""


class Reader(Protocol):
    """Live reads, one object each, of which a decision may ask. None means: not there (404).

    Each raises :class:`Unanswered` when it gets no answer.
    """

    def briefly(self) -> Reader:
        """The same reads, given up after a moment: for what is told, and decides nothing."""

    def pool(self, name: str) -> Pool | None:
        """The NodePool as it is now."""

    def claim(self, name: str) -> Claim | None:
        """The NodeClaim as it is now."""

    def node(self, name: str) -> Node | None:
        """The Node as it is now."""

    def pods_on(self, node: str) -> tuple[Pod, ...]:
        """All Pods bound to one Node, of every namespace."""

    def placeholder(self, name: str) -> Pod | None:
        """The placeholder Pod of that name in our namespace."""

    def budgets(self) -> tuple[Budget, ...]:
        """All PodDisruptionBudgets, of every namespace."""
