"""Events about parents and controllers, as Metacontroller's recorder writes them.

Owns their shape, that a repeated one is counted up instead of written again, and the limit of 25
new ones an object (one more each 5 minutes). An Event that can't be written never fails a sync.
"""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from hooks.sandbox.apiport import Resource
from hooks.sandbox.failures import ApiError
from hooks.sandbox.objects import Obj, name_of, namespace_of, resource_version_of, uid_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from hooks.sandbox.apiport import ApiPort

EVENTS: Final = Resource("v1", "events", "Event", namespaced=True)
_COMPONENT: Final = "metacontroller"
_BURST: Final = 25.0
_REFILL_SECONDS: Final = 300.0

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Allowance:
    tokens: float
    filled_at: datetime

    def take(self, now: datetime) -> bool:
        refilled = self.tokens + (now - self.filled_at).total_seconds() / _REFILL_SECONDS
        self.tokens = min(refilled, _BURST)
        self.filled_at = now
        if self.tokens < 1:
            return False
        self.tokens -= 1
        return True


class EventRecorder:
    """Writes Events; safe to use from several threads."""

    def __init__(self, api: ApiPort, now: Callable[[], datetime]) -> None:
        self._api = api
        self._now = now
        self._lock = threading.Lock()
        self._written: dict[tuple[str, str, str], Obj] = {}
        self._allowances: dict[str, _Allowance] = {}
        self._latest = 0

    def warn(self, about: Obj, reason: str, message: str) -> None:
        """Write a Warning Event about an object, or count up the one that says the same."""
        now = self._now()
        key = (uid_of(about), reason, message)
        with self._lock:
            allowance = self._allowances.setdefault(uid_of(about), _Allowance(_BURST, now))
            if not allowance.take(now):
                return
            known = self._written.get(key)
            try:
                self._written[key] = self._write(known, about, reason, message, now)
            except ApiError as error:
                self._written.pop(key, None)
                _log.warning("can't write Event %s about %s: %s", reason, name_of(about), error)

    def _write(
        self, known: Obj | None, about: Obj, reason: str, message: str, now: datetime
    ) -> Obj:
        stamp = now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        if known is not None:
            counted = known | {"count": known["count"] + 1, "lastTimestamp": stamp}
            try:
                return self._api.update(EVENTS, counted)
            except ApiError as error:
                # Expired, or changed by someone: it is written anew.
                if not (error.is_not_found or error.is_conflict):
                    raise
        # On a clock that stands still two Events must have two names all the same.
        self._latest = max(int(now.timestamp() * 1_000_000) * 1000, self._latest + 1)
        return self._api.create(EVENTS, _event(about, reason, message, self._latest, stamp))


def _event(about: Obj, reason: str, message: str, nanoseconds: int, stamp: str) -> Obj:
    namespace = namespace_of(about)
    involved = {
        "apiVersion": about["apiVersion"],
        "kind": about["kind"],
        "name": name_of(about),
        "uid": uid_of(about),
        "resourceVersion": resource_version_of(about),
    }
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {
            "name": f"{name_of(about)}.{nanoseconds:x}",
            "namespace": namespace or "default",
        },
        "involvedObject": involved | ({"namespace": namespace} if namespace else {}),
        "reason": reason,
        "message": message,
        "source": {"component": _COMPONENT},
        "firstTimestamp": stamp,
        "lastTimestamp": stamp,
        "count": 1,
        "type": "Warning",
        "eventTime": None,
        "reportingComponent": _COMPONENT,
        "reportingInstance": "",
    }
