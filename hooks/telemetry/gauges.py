"""A pool's figures as the numbers of its gauges: seconds, Unix times, 0 and 1.

Source: design/observability.md *Metrics*.
"""

from __future__ import annotations

from datetime import datetime
from math import inf

from hooks import names
from hooks.names import Metric
from hooks.rotation.decision import Figures
from hooks.rotation.model import Malformed, Stamp


def gauges(figures: Figures) -> dict[Metric, float]:
    """The value of each of :data:`hooks.names.POOL_GAUGES`."""
    return {
        names.CANDIDATES: figures.candidates,
        names.IN_PROGRESS: figures.in_progress,
        names.WINDOW_ACTIVE: figures.window_active,
        names.CONFLICT: figures.conflict,
        names.FREEZE_UNTIL: _unix(figures.freeze_until),
        names.AGE_THRESHOLD: figures.age_threshold.total_seconds(),
        names.CHANCES: figures.chances,
        names.CAPACITY: figures.capacity,
        names.T_ROT_ESTIMATE: figures.t_rot_est.total_seconds(),
        names.T_ROT_BOUND: figures.t_rot.total_seconds(),
        names.WINDOW_PERIOD: figures.period.total_seconds(),
        names.SHORT_LEAD: figures.short_lead,
        names.DRAIN_STUCK: figures.drain_stuck,
        names.MOST_RETRIES: figures.retry_count,
        names.NEXT_WINDOW: _unix(figures.next_window),
        names.DEADLINE_SLACK: figures.slack.total_seconds(),
    }


def _unix(stamp: Stamp) -> float:
    """Seconds of the Unix time; 0 for none, and endless for a time that can't be read: it holds."""
    if isinstance(stamp, Malformed):
        return inf
    return stamp.timestamp() if isinstance(stamp, datetime) else 0.0
