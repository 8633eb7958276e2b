"""What one process remembers of the Pods that it has denied: the second line behind the annotations.

The state of a drain is on the Deployment. Whoever takes it away again (GitOps that prunes, a
replace, a Deployment that is made anew), or keeps us from reading it (a right that is missing), must
not hold a drain for ever, or restart a workload again and again. Owns what is kept, and for how
long; it begins anew with the process. Leaves what follows from it to :mod:`hooks.drain.verdict`.
Source: seed 004, docs/decisions/0010.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from threading import Lock
from typing import Final, TypeAlias

from hooks.drain.consequences import Verdict
from hooks.drain.model import Case, Pod, Remembered, Trouble
from hooks.recent import Recent

LONGEST_MEMORY: Final = 10_000
"""How many Pods are remembered; those that nobody asked about for longest go first."""
SHORTEST: Final = timedelta(hours=1)
"""Evictors ask every few seconds, and jobs that try again do within that."""
Key: TypeAlias = tuple[str, ...]
"""The Pod's UID; where it can't be read, its namespace and name."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What is remembered, and when somebody asked last."""

    what: Remembered
    asked: datetime


class Memory:
    """Keeps a Pod until nobody has asked for twice the ``timeout``, or an hour if that is longer."""

    def __init__(self, timeout: timedelta) -> None:
        self._lasts = max(2 * timeout, SHORTEST)
        self._kept: Recent[Key, Kept] = Recent(LONGEST_MEMORY)
        # For what is read, thought over and noted again.
        self._lock = Lock()

    def recall(self, case: Case) -> Case:
        """Put what is remembered into a case whose Pod has just been read, or couldn't be."""
        key, now = _key(case), case.terms.now
        with self._lock:
            if not isinstance(case.pod, Trouble):
                self._kept.forget((case.review.namespace, case.review.pod))
            what = self._of(key, now)
            if what != Remembered():
                self._kept.note(key, Kept(what, now))
        return replace(case, remembered=what)

    def note(self, case: Case, verdict: Verdict) -> None:
        """Note an answer that is about to be given; its patch, if it has one, has landed."""
        if not verdict.counts:
            return
        key, now = _key(case), case.terms.now
        with self._lock:
            was = self._of(key, now)
            is_first = was.denied_since is None or (verdict.patch is not None and not was.recorded)
            self._kept.note(
                key,
                Kept(
                    Remembered(
                        now if is_first else was.denied_since,
                        recorded=was.recorded or verdict.patch is not None,
                    ),
                    now,
                ),
            )

    def _of(self, key: Key, now: datetime) -> Remembered:
        kept = self._kept.get(key)
        return Remembered() if kept is None or now - kept.asked > self._lasts else kept.what


def _key(case: Case) -> Key:
    if isinstance(case.pod, Pod):
        return (case.pod.uid,)
    return (case.review.namespace, case.review.pod)
