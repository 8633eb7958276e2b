"""The pieces that rows share, where a fixture's clock of whole seconds can't show them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from hooks.rotation.steps import elapsed, look_again

THEN = datetime(2026, 11, 29, 20, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("ahead", "told"),
    [(0.0, 0), (0.999999, 0), (1.0, 1), (6.297, 6), (-0.5, 0), (-3600.0, 0), (86_400.5, 86_400)],
)
def test_durations_between_stamps_have_whole_seconds(ahead: float, told: int) -> None:
    assert elapsed(THEN, THEN + timedelta(seconds=ahead)) == timedelta(seconds=told)


@pytest.mark.parametrize(
    ("edges", "seconds"),
    [((), 60.0), ((0.25,), 1.0), ((-5.0, 30.5), 30.5), ((3600.0,), 60.0), ((None, 7.0), 7.0)],
)
def test_the_next_look_is_at_the_nearest_edge_ahead(
    edges: tuple[float | None, ...], seconds: float
) -> None:
    times = [None if edge is None else THEN + timedelta(seconds=edge) for edge in edges]
    assert look_again(THEN, *times) == timedelta(seconds=seconds)
