"""RotationPolicies as scenarios need them.

Owns how they are spelt: without a word on it, one that lets its pool be rotated at any time, one
node right after the other.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from tests.scenarios.stage import Object

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
ALWAYS_OPEN: Object = {"timezone": "UTC", "days": list(DAYS), "start": "00:00", "end": "24:00"}
SURGE: Object = {"cooldownAfter": "0s", "readyTimeout": "5m", "failurePause": "0s"}


def policy(pool: str, *, name: str = "", surge: Object | None = None, **spec: object) -> Object:
    """A RotationPolicy for one pool; ``surge`` goes over the usual settings, ``spec`` beside them."""
    return {
        "apiVersion": "noderotation.io/v1alpha1",
        "kind": "RotationPolicy",
        "metadata": {"name": name or pool},
        "spec": {
            "nodePoolSelector": {"matchLabels": {"pool": pool}},
            "maintenanceWindows": [ALWAYS_OPEN],
            "surge": SURGE | (surge or {}),
            **spec,
        },
    }


def closed_window(now: datetime) -> Object:
    """A window that is shut now and for days to come."""
    return {**ALWAYS_OPEN, "days": [DAYS[(now.weekday() + 3) % 7]]}


def exclusion(now: datetime) -> Object:
    """An exclusion that holds now and for an hour to come."""
    return {"start": stamp(now - timedelta(minutes=1)), "end": stamp(now + timedelta(hours=1))}


def stamp(moment: datetime) -> str:
    """RFC 3339 in UTC, whole seconds."""
    return moment.replace(microsecond=0).isoformat().replace("+00:00", "Z")
