"""The story of signals on the real control plane, and each call of it once more."""

from __future__ import annotations

from concurrent.futures import Future


def test_a_story_leaves_its_signals_and_repeating_it_leaves_no_others(
    signals: Future[None],
) -> None:
    signals.result()
