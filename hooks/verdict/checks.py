"""The verdict on a history: every breach of what was promised, by the name of the promise.

Owns the list of all checks and which of them hold for whom. Leaves each promise to its own module.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from typing_extensions import override

from hooks.verdict.budgets import budgets_kept, budgets_there
from hooks.verdict.case import Case, Check, OperatorMark
from hooks.verdict.course import (
    all_replaced,
    cordoned_first,
    marks_go_with_the_anchor,
    nothing_left,
    one_at_a_time,
    one_new_node_each,
    placeholder_leaves_with_the_delete,
    successor_first,
)
from hooks.verdict.deadlines import before_the_deadline
from hooks.verdict.history import Change
from hooks.verdict.operators import forbidden_stay, operators_marks_kept
from hooks.verdict.order import cooldown_kept, earliest_first
from hooks.verdict.protection import protected_meanwhile
from hooks.verdict.rollouts import one_rollout_each, tracking_ends
from hooks.verdict.room import room_held
from hooks.verdict.rotations import Rotation
from hooks.verdict.shapes import readable
from hooks.verdict.singletons import ready_endpoint_remains, ready_pod_remains, singletons_there
from hooks.verdict.windows import inside_the_windows

ALWAYS: tuple[Check, ...] = (
    successor_first,
    cordoned_first,
    one_at_a_time,
    one_new_node_each,
    placeholder_leaves_with_the_delete,
    marks_go_with_the_anchor,
    budgets_kept,
)
"""What holds at every moment, so also for a history that isn't complete."""
AT_THE_END: tuple[Check, ...] = (all_replaced, nothing_left)
"""What holds once the last rotation is over."""
IN_THEIR_TIME: tuple[Check, ...] = (
    before_the_deadline,
    inside_the_windows,
    cooldown_kept,
    earliest_first,
    protected_meanwhile,
    operators_marks_kept,
    forbidden_stay,
)
"""What needs a history with its policies, its NodeClaims' true ages and its operators' marks."""

SUPPOSED: tuple[Check, ...] = (budgets_there,)
"""What must have been there for a pass to mean anything, where somebody says that it was."""
ROOM: tuple[Check, ...] = (room_held,)
"""What holds where nothing comes to a node any more once it is cordoned."""
SINGLETONS: tuple[Check, ...] = (
    ready_pod_remains,
    ready_endpoint_remains,
    one_rollout_each,
    tracking_ends,
    singletons_there,
)
"""What holds where the graceful drain is installed from the beginning, and had something to do."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One breach: the name of the check, and a sentence."""

    check: str
    text: str

    @override
    def __str__(self) -> str:
        return f"{self.check}: {self.text}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is to be said of a history; without violations it is a pass."""

    violations: tuple[Violation, ...]
    rotations: tuple[Rotation, ...]

    @property
    def is_pass(self) -> bool:
        """Whether everything that was promised was kept."""
        return not self.violations


def judge(
    changes: Sequence[Change],
    pool: str,
    operator: Sequence[OperatorMark] = (),
    *,
    also: Sequence[Check] = (),
) -> Verdict:
    """Judge a whole history of a pool; whatever it is made of, there is a verdict.

    ``operator`` are the marks that operators set themselves, which are to be left alone; ``also`` is
    what was promised besides (:data:`SUPPOSED`: that there was something to judge by;
    :data:`ROOM`, :data:`SINGLETONS`).
    """
    understood, problems = readable(changes)
    case = Case(understood, pool, tuple(operator))
    unread = [Violation(readable.__name__, problem) for problem in problems]
    found = violations(case, (*ALWAYS, *AT_THE_END, *IN_THEIR_TIME, *also))
    return Verdict((*unread, *found), tuple(case.rotations))


def violations(case: Case, checks: Sequence[Check]) -> list[Violation]:
    """All breaches that the checks find, in the order of the checks."""
    return [Violation(check.__name__, text) for check in checks for text in check(case)]


def complaints(
    changes: Sequence[Change], pool: str, checks: Sequence[Check] = (*ALWAYS, *AT_THE_END)
) -> list[str]:
    """The breaches as text, of a history that is known to be readable; tests want none."""
    return [str(one) for one in violations(Case(changes, pool), checks)]
