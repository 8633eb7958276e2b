"""Which requirements of a node its successor has to meet."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hooks.rotation.model import Claim, Requirement
from hooks.rotation.requirements import given_up, resolve

ZONE = "topology.kubernetes.io/zone"
ARCH = "kubernetes.io/arch"
TYPE = "karpenter.sh/capacity-type"
CPU = "karpenter.k8s.aws/instance-cpu"
RACK = "example.com/rack"
LARGEST = str(2**63 - 1)


def req(key: str, operator: str, *values: str) -> Requirement:
    return Requirement(key, operator, values)


def claim(*requirements: Requirement) -> Claim:
    return Claim("claim-a", "uid-a", datetime(2026, 11, 29, tzinfo=UTC), requirements=requirements)


Row = tuple[str, list[Requirement], dict[str, str], list[Requirement], list[Requirement]]

KEPT: list[Row] = [
    # name, the claim's, the Node's labels, the pool's, what comes of it for the key RACK
    ("known to neither", [], {}, [], []),
    ("known to neither, but to the pool", [], {}, [req(RACK, "In", "a", "b")], []),
    ("a label", [], {RACK: "a"}, [], [req(RACK, "In", "a")]),
    ("an empty label", [], {RACK: ""}, [], [req(RACK, "In", "")]),
    (
        "a label wins over the claim",
        [req(RACK, "In", "b")],
        {RACK: "a"},
        [],
        [req(RACK, "In", "a")],
    ),
    (
        "a label wins over the claim's bound",
        [req(RACK, "Gt", "8")],
        {RACK: "4"},
        [],
        [req(RACK, "In", "4")],
    ),
    ("the claim's values", [req(RACK, "In", "b", "a")], {}, [], [req(RACK, "In", "b", "a")]),
    ("another key's values", [req(ZONE, "In", "b")], {ZONE: "b"}, [], []),
    (
        "values that the claim names twice",
        [req(RACK, "In", "a", "b", "a")],
        {},
        [],
        [req(RACK, "In", "a", "b")],
    ),
    (
        "the claim's values meet the claim's other requirements",
        [
            req(RACK, "Exists"),
            req(RACK, "In", "2", "8", "16"),
            req(RACK, "Gt", "2"),
            req(RACK, "NotIn", "16"),
        ],
        {},
        [],
        [req(RACK, "In", "8")],
    ),
    (
        "two lists of the claim",
        [req(RACK, "In", "a", "b"), req(RACK, "In", "b", "c")],
        {},
        [],
        [req(RACK, "In", "b")],
    ),
    ("the claim only says that it exists", [req(RACK, "Exists")], {}, [], []),
    ("the claim only says what it isn't", [req(RACK, "NotIn", "a")], {}, [], []),
    ("the claim only says that it doesn't exist", [req(RACK, "DoesNotExist")], {}, [], []),
    # The pool's word.
    ("pool: In", [], {RACK: "a"}, [req(RACK, "In", "a", "b")], [req(RACK, "In", "a")]),
    (
        "pool: In cuts the claim's values",
        [req(RACK, "In", "a", "b", "c")],
        {},
        [req(RACK, "In", "c", "b", "d")],
        [req(RACK, "In", "b", "c")],
    ),
    ("pool: NotIn another", [], {RACK: "a"}, [req(RACK, "NotIn", "b")], [req(RACK, "In", "a")]),
    ("pool: Exists", [], {RACK: "a"}, [req(RACK, "Exists")], [req(RACK, "In", "a")]),
    ("pool: Gt", [], {RACK: "6"}, [req(RACK, "Gt", "5")], [req(RACK, "In", "6")]),
    ("pool: Gte", [], {RACK: "5"}, [req(RACK, "Gte", "5")], [req(RACK, "In", "5")]),
    ("pool: Lt", [], {RACK: "7"}, [req(RACK, "Lt", "8")], [req(RACK, "In", "7")]),
    ("pool: Lte", [], {RACK: "8"}, [req(RACK, "Lte", "8")], [req(RACK, "In", "8")]),
    (
        "numbers compare as numbers",
        [],
        {RACK: "16"},
        [req(RACK, "Gt", "8")],
        [req(RACK, "In", "16")],
    ),
    (
        "pool: several at once",
        [req(RACK, "In", "2", "4", "8", "16", "32")],
        {},
        [
            req(RACK, "Gt", "2"),
            req(RACK, "Lte", "16"),
            req(RACK, "NotIn", "8"),
            req(RACK, "Exists"),
        ],
        [req(RACK, "In", "4", "16")],
    ),
    (
        "a requirement of another key",
        [],
        {RACK: "a"},
        [req(ZONE, "In", "b")],
        [req(RACK, "In", "a")],
    ),
    # Numeric bounds of the claim, in the operators that Pods know.
    ("Gt stays Gt", [req(RACK, "Gt", "4")], {}, [], [req(RACK, "Gt", "4")]),
    ("Gte becomes Gt", [req(RACK, "Gte", "4")], {}, [], [req(RACK, "Gt", "3")]),
    ("Lt stays Lt", [req(RACK, "Lt", "4")], {}, [], [req(RACK, "Lt", "4")]),
    ("Lte becomes Lt", [req(RACK, "Lte", "4")], {}, [], [req(RACK, "Lt", "5")]),
    (
        "both bounds, the tightest of claim and pool",
        [req(RACK, "Gt", "4"), req(RACK, "Gt", "2"), req(RACK, "Lt", "64"), req(RACK, "Lte", "80")],
        {},
        [req(RACK, "Gte", "8"), req(RACK, "Lte", "32"), req(RACK, "Gte", "3")],
        [req(RACK, "Gt", "7"), req(RACK, "Lt", "33")],
    ),
    (
        "a bound and the pool's list",
        [req(RACK, "Gt", "4")],
        {},
        [req(RACK, "In", "2", "8", "16")],
        [req(RACK, "In", "8", "16")],
    ),
    (
        "a bound and the pool's NotIn",
        [req(RACK, "Lt", "9")],
        {},
        [req(RACK, "NotIn", "8", "4")],
        [req(RACK, "Lt", "9"), req(RACK, "NotIn", "4", "8")],
    ),
    (
        "a bound and the pool's Exists",
        [req(RACK, "Lt", "9")],
        {},
        [req(RACK, "Exists")],
        [req(RACK, "Lt", "9")],
    ),
    # Gt -1 would be no valid label value; being a number at all must not get lost.
    ("at least zero", [req(RACK, "Gte", "0")], {}, [], [req(RACK, "Lt", LARGEST)]),
    (
        "at least zero, with an upper bound",
        [req(RACK, "Gte", "0"), req(RACK, "Lt", "5")],
        {},
        [],
        [req(RACK, "Lt", "5")],
    ),
    (
        "at most the largest number",
        [req(RACK, "Gt", "3"), req(RACK, "Lte", LARGEST)],
        {},
        [],
        [req(RACK, "Gt", "3")],
    ),
]


@pytest.mark.parametrize(
    ("of_claim", "labels", "of_pool", "expected"),
    [row[1:] for row in KEPT],
    ids=[r[0] for r in KEPT],
)
def test_a_key_is_replicated_or_unknown(
    of_claim: list[Requirement],
    labels: dict[str, str],
    of_pool: list[Requirement],
    expected: list[Requirement],
) -> None:
    assert resolve((RACK,), claim(*of_claim), labels, of_pool) == tuple(expected)
    assert given_up((RACK,), claim(*of_claim), labels, of_pool) == ()


GIVEN_UP: list[tuple[str, list[Requirement], dict[str, str], list[Requirement]]] = [
    ("In others", [], {RACK: "a"}, [req(RACK, "In", "b")]),
    ("NotIn", [], {RACK: "a"}, [req(RACK, "NotIn", "a")]),
    ("DoesNotExist", [], {RACK: "a"}, [req(RACK, "DoesNotExist")]),
    ("Gt", [], {RACK: "5"}, [req(RACK, "Gt", "5")]),
    ("Gte", [], {RACK: "4"}, [req(RACK, "Gte", "5")]),
    ("Lt", [], {RACK: "8"}, [req(RACK, "Lt", "8")]),
    ("Lte", [], {RACK: "9"}, [req(RACK, "Lte", "8")]),
    ("numbers don't compare as text", [], {RACK: "8"}, [req(RACK, "Gt", "16")]),
    ("outside a bracket", [], {RACK: "9"}, [req(RACK, "Gt", "5"), req(RACK, "Lt", "8")]),
    ("no number, but a bound", [], {RACK: "large"}, [req(RACK, "Gt", "5")]),
    ("a number beyond 64 bits", [], {RACK: "9" * 20}, [req(RACK, "Gt", "5")]),
    ("a bound without a value", [], {RACK: "6"}, [req(RACK, "Gt")]),
    ("a bound with two values", [], {RACK: "6"}, [req(RACK, "Gt", "5", "7")]),
    ("a bound that is no number", [], {RACK: "6"}, [req(RACK, "Lt", "many")]),
    ("an operator that nobody knows yet", [], {RACK: "6"}, [req(RACK, "Like", "6")]),
    ("the claim's values", [req(RACK, "In", "a", "b")], {}, [req(RACK, "In", "c")]),
    ("the claim's bounds", [req(RACK, "Gt", "8")], {}, [req(RACK, "Lte", "8")]),
    ("below zero", [req(RACK, "Lt", "0")], {}, []),
    ("above the largest number", [req(RACK, "Gt", LARGEST)], {}, []),
]


@pytest.mark.parametrize(
    ("of_claim", "labels", "of_pool"), [row[1:] for row in GIVEN_UP], ids=[r[0] for r in GIVEN_UP]
)
def test_a_key_that_the_pool_no_longer_allows_is_left_out_and_named(
    of_claim: list[Requirement], labels: dict[str, str], of_pool: list[Requirement]
) -> None:
    assert resolve((RACK,), claim(*of_claim), labels, of_pool) == ()
    assert given_up((RACK,), claim(*of_claim), labels, of_pool) == (RACK,)


def test_keys_come_in_their_order_each_once() -> None:
    labels = {ZONE: "a", ARCH: "arm64", TYPE: "spot", CPU: "4"}
    pool = (req(CPU, "Gt", "8"), req(ARCH, "In", "arm64", "amd64"))
    keys = (ZONE, CPU, ARCH, RACK, TYPE, ZONE)
    assert resolve(keys, claim(), labels, pool) == (
        req(ZONE, "In", "a"),
        req(ARCH, "In", "arm64"),
        req(TYPE, "In", "spot"),
    )
    assert given_up(keys, claim(), labels, pool) == (CPU,)


RESTRICTED = [
    "kubernetes.io/hostname",
    "karpenter.sh/initialized",
    "karpenter.sh/registered",
    "x.karpenter.sh/y",
]
UNRESTRICTED = [
    "karpenter.sh/nodepool",
    "karpenter.sh/capacity-type",
    "karpenter.k8s.aws/instance-family",
    "notkarpenter.sh/x",
    "team",
]


@pytest.mark.parametrize("key", RESTRICTED)
def test_a_label_that_karpenter_lets_no_pod_ask_for_is_given_up(key: str) -> None:
    assert resolve((key,), claim(), {key: "v"}, ()) == ()
    assert given_up((key,), claim(), {key: "v"}, ()) == (key,)
    assert given_up((key,), claim(), {}, ()) == ()


@pytest.mark.parametrize("key", UNRESTRICTED)
def test_any_other_label_is_replicated(key: str) -> None:
    assert resolve((key,), claim(), {key: "v"}, ()) == (req(key, "In", "v"),)
    assert given_up((key,), claim(), {key: "v"}, ()) == ()


VALUES = ["0", "1", "2", "3", "4", "5", "16", "a", "b"]


def meets(value: str, requirement: Requirement) -> bool:
    """Karpenter's meaning of one requirement, written out anew."""
    number = int(value) if value.isdigit() else None
    bound = int(requirement.values[0]) if requirement.operator[0] in "GL" else 0
    return {
        "In": value in requirement.values,
        "NotIn": value not in requirement.values,
        "Exists": True,
        "DoesNotExist": False,
        "Gt": number is not None and number > bound,
        "Gte": number is not None and number >= bound,
        "Lt": number is not None and number < bound,
        "Lte": number is not None and number <= bound,
    }[requirement.operator]


requirements = st.lists(
    st.one_of(
        st.builds(
            Requirement,
            st.just(RACK),
            st.sampled_from(["In", "NotIn"]),
            st.lists(st.sampled_from(VALUES), min_size=1, max_size=6).map(tuple),
        ),
        st.builds(
            Requirement,
            st.just(RACK),
            st.sampled_from(["Gt", "Gte", "Lt", "Lte"]),
            st.sampled_from(VALUES[:7]).map(lambda value: (value,)),
        ),
        st.just(req(RACK, "Exists")),
    ),
    max_size=4,
)


@given(requirements, requirements, st.none() | st.sampled_from(VALUES))
def test_exactly_what_node_and_pool_allow_is_admitted(
    of_claim: list[Requirement], of_pool: list[Requirement], label: str | None
) -> None:
    labels = {} if label is None else {RACK: label}
    resolved = resolve((RACK,), claim(*of_claim), labels, of_pool)
    of_node = [req(RACK, "In", label)] if label is not None else of_claim
    says_a_value = any(each.operator not in {"NotIn", "Exists"} for each in of_node)
    expected = {
        value for value in VALUES if all(meets(value, each) for each in (*of_node, *of_pool))
    }
    if not says_a_value:
        assert resolved == ()
    elif resolved:
        assert {v for v in VALUES if all(meets(v, each) for each in resolved)} == expected
        assert {each.operator for each in resolved} <= {"In", "NotIn", "Gt", "Lt"}
    else:
        assert expected == set()
        assert given_up((RACK,), claim(*of_claim), labels, of_pool) == (RACK,)
