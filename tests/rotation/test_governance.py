"""Who governs a pool: the most specific selector; ties refuse; a broken winner stays the winner."""

from __future__ import annotations

from itertools import permutations

import pytest

from hooks.rotation.governance import Governance, Kind, govern, matches, specificity
from hooks.rotation.model import BrokenPolicy, Policy, Requirement, Selector

LABELS = {"workload": "api", "tier": "gold", "empty": ""}


def labels(**wanted: str) -> Selector:
    return Selector(match_labels=tuple(sorted(wanted.items())))


def expression(key: str, operator: str, *values: str) -> Selector:
    return Selector(match_expressions=(Requirement(key, operator, values),))


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        (Selector(), True),
        (labels(workload="api"), True),
        (labels(workload="api", tier="gold"), True),
        (labels(workload="api", tier="silver"), False),
        (labels(absent=""), False),
        (labels(empty=""), True),
        (expression("workload", "In", "web", "api"), True),
        (expression("workload", "In", "web"), False),
        (expression("absent", "In", "web"), False),
        (expression("workload", "NotIn", "web"), True),
        (expression("workload", "NotIn", "web", "api"), False),
        (expression("absent", "NotIn", "web"), True),
        (expression("workload", "Exists"), True),
        (expression("empty", "Exists"), True),
        (expression("absent", "Exists"), False),
        (expression("workload", "DoesNotExist"), False),
        (expression("absent", "DoesNotExist"), True),
        (expression("workload", "Gt", "1"), False),
        (
            Selector(
                match_labels=(("workload", "api"),),
                match_expressions=(Requirement("tier", "DoesNotExist"),),
            ),
            False,
        ),
    ],
)
def test_matches(selector: Selector, *, expected: bool) -> None:
    assert matches(selector, LABELS) == expected


def test_specificity_counts_constraints_of_both_kinds() -> None:
    both = Selector((("a", "1"), ("b", "2")), (Requirement("a", "Exists"),))
    assert (specificity(Selector()), specificity(both)) == (0, 3)


def policy(name: str, selector: Selector) -> Policy:
    return Policy(name, selector, ())


PROBLEMS = (("spec.maintenanceWindows[1].start", "must be HH:MM"),)
CATCH_ALL = policy("catch-all", Selector())
API = policy("api", labels(workload="api"))
GOLD = policy("gold", expression("tier", "In", "gold"))
BOTH = policy("both", labels(workload="api", tier="gold"))
WEB = policy("web", labels(workload="web", tier="gold", empty=""))
BROKEN = BrokenPolicy("broken", PROBLEMS, labels(workload="api", tier="gold"))
BROKEN_CATCH_ALL = BrokenPolicy("broken-catch-all", PROBLEMS, Selector())
UNREADABLE = BrokenPolicy("unreadable", PROBLEMS, None)


@pytest.mark.parametrize(
    ("policies", "expected"),
    [
        ((), Governance(Kind.NONE)),
        ((WEB,), Governance(Kind.NONE)),
        ((UNREADABLE,), Governance(Kind.NONE)),
        ((CATCH_ALL,), Governance(Kind.GOVERNED, CATCH_ALL, ("catch-all",))),
        ((CATCH_ALL, API, WEB), Governance(Kind.GOVERNED, API, ("api",))),
        ((CATCH_ALL, API, GOLD, BOTH), Governance(Kind.GOVERNED, BOTH, ("both",))),
        ((API, GOLD, CATCH_ALL), Governance(Kind.CONFLICT, names=("api", "gold"))),
        ((API, BROKEN), Governance(Kind.INVALID, names=("broken",), problems=PROBLEMS)),
        ((BOTH, BROKEN), Governance(Kind.CONFLICT, names=("both", "broken"))),
        ((API, BROKEN_CATCH_ALL, UNREADABLE), Governance(Kind.GOVERNED, API, ("api",))),
    ],
)
def test_govern_whatever_the_order(
    policies: tuple[Policy | BrokenPolicy, ...], expected: Governance
) -> None:
    for shuffled in permutations(policies):
        assert govern(shuffled, LABELS) == expected
