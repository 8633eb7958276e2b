"""Cron schedules of disruption budgets."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from hooks.sandbox.karpenter.schedule import cron_from

SUNDAY = datetime(2026, 11, 29, 19, 52, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "hit"),
    [
        ("* * * * *", datetime(2026, 11, 29, 19, 53, tzinfo=UTC)),
        ("*/15 * * * *", datetime(2026, 11, 29, 20, 0, tzinfo=UTC)),
        ("0 9 * * mon-fri", datetime(2026, 11, 30, 9, 0, tzinfo=UTC)),
        ("30 2 1,15 * *", datetime(2026, 12, 1, 2, 30, tzinfo=UTC)),
        ("0 0 13 * fri", datetime(2026, 12, 4, 0, 0, tzinfo=UTC)),
        ("0 0 29 feb *", datetime(2028, 2, 29, 0, 0, tzinfo=UTC)),
        ("@daily", datetime(2026, 11, 30, 0, 0, tzinfo=UTC)),
        ("@weekly", datetime(2026, 12, 6, 0, 0, tzinfo=UTC)),
        ("5/20 20 * * *", datetime(2026, 11, 29, 20, 5, tzinfo=UTC)),
    ],
)
def test_a_schedule_hits_next(text: str, hit: datetime) -> None:
    assert cron_from(text).next_after(SUNDAY) == hit


def test_a_date_that_never_comes_has_no_hit() -> None:
    assert cron_from("0 0 31 feb *").next_after(SUNDAY) is None


@pytest.mark.parametrize(
    "text", ["", "* * * *", "60 * * * *", "* * 0 * *", "a * * * *", "*/0 * * * *"]
)
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        cron_from(text)
