"""Whatever a history is made of, there is a verdict, and garbage is no pass."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hooks.verdict.checks import judge
from hooks.verdict.history import Change, read, write
from hooks.verdict.shapes import readable
from tests.verdict.tales import GOOD, POOL, told

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=8), inner, max_size=2)
    ),
    max_leaves=4,
)
KINDS = st.sampled_from(["Pod", "Node", "NodeClaim", "NodePool", "RotationPolicy", "Lease"])
GOOD_CHANGES = told(*GOOD)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a JSON value that something else could stand at."""
    inside = value.items() if isinstance(value, dict) else enumerate(value)
    found = [(*path, key) for key, _ in inside]
    for key in [path_[-1] for path_ in found]:
        if isinstance(value[key], dict | list):
            found += places(value[key], (*path, key))
    return found


EVERY_PLACE = [
    (number, place) for number, change in enumerate(GOOD_CHANGES) for place in places(change.object)
]


@given(st.sampled_from(EVERY_PLACE), ANYTHING)
def test_garbage_anywhere_is_judged(where: tuple[int, tuple[Any, ...]], garbage: Any) -> None:
    number, place = where
    changes = copy.deepcopy(GOOD_CHANGES)
    inner: Any = changes[number].object
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = garbage
    judge(changes, POOL)


@given(st.lists(st.builds(Change, ANYTHING, ANYTHING, KINDS | ANYTHING, ANYTHING, ANYTHING)))
def test_nothing_but_garbage_is_no_pass(changes: list[Change]) -> None:
    assert not judge(changes, POOL).is_pass


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("at", float("nan"), "its time is nan"),
        ("at", None, "its time is None"),
        ("at", 1e300, "its time is 1e+300"),
        ("revision", "7", "its revision is '7'"),
        ("type", "BOOKMARK", "revision 4 is 'BOOKMARK' of 'Node'"),
        ("kind", ["Node"], "revision 4 is 'ADDED' of ['Node']"),
        ("object", None, "revision 4, Node: the object: Input should be a valid dictionary"),
        ("object", {}, "revision 4, Node: metadata: Field required"),
    ],
)
def test_what_is_wrong_is_said(field: str, value: Any, problem: str) -> None:
    given = {name: getattr(GOOD_CHANGES[3], name) for name in Change.__slots__}
    understood, problems = readable([Change(**{**given, field: value})])
    assert (understood, problems) == ([], [f"a change can't be read: {problem}"])


METADATA = {"name": "a", "creationTimestamp": "2026-01-03T01:00:00Z"}


def broken(kind: str, **parts: Any) -> str:
    (problem,) = readable([Change(0, 1, kind, "ADDED", {"metadata": METADATA, **parts})])[1]
    return problem.removeprefix(f"a change can't be read: revision 1, {kind}: ")


@pytest.mark.parametrize(
    ("kind", "spec", "problem"),
    [
        (
            "NodeClaim",
            {"expireAfter": "soon"},
            "spec.expireAfter: Value error, 'soon' is no duration",
        ),
        ("PodDisruptionBudget", {"minAvailable": "x"}, "spec.minAvailable."),
        (
            "RotationPolicy",
            {"surge": {"cooldownAfter": "soon"}},
            "spec.surge.cooldownAfter: Value error, 'soon' is no duration",
        ),
        ("Deployment", {"replicas": -1}, "spec.replicas: Input should be greater than"),
        (
            "RotationPolicy",
            {"maintenanceWindows": [{}]},
            "spec.maintenanceWindows.0.timezone: Field",
        ),
    ],
)
def test_what_is_wrong_in_a_spec_is_said(kind: str, spec: Any, problem: str) -> None:
    assert broken(kind, spec=spec).startswith(problem)


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("timezone", "Atlantis", "'Atlantis' is no time zone"),
        ("timezone", "../x", "'../x' is no time zone"),
        ("start", "9", "'9' is no time of day"),
        ("days", ["Someday"], "'Someday' is no day"),
    ],
)
def test_a_window_that_is_none_is_said(key: str, value: Any, problem: str) -> None:
    window = {"timezone": "UTC", "days": ["Sat"], "start": "01:00", "end": "05:00", key: value}
    assert broken("RotationPolicy", spec={"maintenanceWindows": [window]}).endswith(problem)


def test_a_history_comes_back_from_its_file(tmp_path: Path) -> None:
    changes = copy.deepcopy(GOOD_CHANGES)
    for change in changes:
        change.object["metadata"]["resourceVersion"] = str(change.revision)
    write(changes, tmp_path / "history.jsonl")
    assert read(tmp_path / "history.jsonl") == tuple(changes)
    first = json.loads((tmp_path / "history.jsonl").read_text().partition("\n")[0])
    assert sorted(first) == ["at", "kind", "object", "type"]
