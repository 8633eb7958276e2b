"""The one memory of bounded size."""

from __future__ import annotations

import pickle

from hooks.recent import Recent


def noted(*keys: str, most: int = 2) -> Recent[str, int]:
    made: Recent[str, int] = Recent(most)
    for number, key in enumerate(keys):
        made.note(key, number)
    return made


def test_what_was_noted_last_is_known() -> None:
    recent = noted("a", "b", "a")
    assert (recent.get("a"), recent.get("b"), recent.get("c")) == (2, 1, None)


def test_noting_returns_what_was_there_before() -> None:
    recent = noted("a")
    assert (recent.note("a", 7), recent.note("b", 8), recent.get("a")) == (0, None, 7)


def test_the_oldest_is_forgotten_first() -> None:
    recent = noted("a", "b", "c")
    assert (recent.get("a"), recent.get("b"), recent.get("c")) == (None, 1, 2)


def test_what_is_asked_about_stays_in_mind() -> None:
    recent = noted("a", "b")
    assert recent.get("a") == 0
    recent.note("c", 2)
    assert (recent.get("a"), recent.get("b")) == (0, None)


def test_what_is_forgotten_was_never_there() -> None:
    recent = noted("a")
    recent.forget("a")
    recent.forget("never noted")
    assert (recent.get("a"), recent.note("a", 3)) == (None, None)


def test_a_flood_leaves_no_more_than_the_bound() -> None:
    recent = noted(*(str(number) for number in range(10_000)), most=100)
    assert len(pickle.dumps(vars(recent)["_kept"])) < 5_000
