"""The history of an embedded cluster, in the form in which the verdict reads it.

Owns the translation of the store's log; nothing can be missing from it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hooks.verdict.history import Change

if TYPE_CHECKING:
    from datetime import datetime

    from hooks.sandbox.store.store import ObjectStore


def changes_of(store: ObjectStore, start: datetime, after: int = 0) -> list[Change]:
    """All changes after a revision; ``at`` counts virtual seconds from ``start``."""
    return [
        Change(
            (event.at - start).total_seconds(),
            event.revision,
            event.resource.kind,
            event.type,
            event.obj,
        )
        for event in store.events_after(after)
    ]
