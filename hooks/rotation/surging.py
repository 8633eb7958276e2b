"""The rows of a rotation in flight: 3 to 7b.

Each function is the answer of one row of design/rotation.md section 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from hooks import names
from hooks.rotation.announcements import RECENT, fell_back, of_attempt, started
from hooks.rotation.decision import SOON, Decision, Listing, Report, Value, stop
from hooks.rotation.durations import format_go, format_stamp, shifted
from hooks.rotation.model import Claim, ClaimState, Mode
from hooks.rotation.reasons import Reason
from hooks.rotation.schedule import deadline
from hooks.rotation.steps import (
    NOT_CREATED_AFTER,
    clear,
    creation,
    elapsed,
    frozen_writes,
    hold,
    host_freeze,
    listing,
    look_again,
    patch,
    refused_from,
    surge_claim_change,
    unfreeze,
    unmirror,
)
from hooks.rotation.view import View
from hooks.rotation.writes import Announce, Write


def selected(view: View, claim: Claim, mode: Mode, begins: Announce | None = None) -> Report:
    """The line that says which node's turn it is; with an Event that it begins, as often as that."""
    due = deadline(claim)
    fields: list[tuple[str, Value]] = [
        ("mode", mode.value),
        ("age", format_go(elapsed(claim.created, view.now))),
    ]
    if due is not None:
        fields.append(("deadline", format_stamp(due)))
    once = None if begins is None else begins.name
    return Report("candidate selected", tuple(fields), once=once)


def drain_started(view: View) -> tuple[Report, ...]:
    """The lines that are due when the candidate's delete has landed."""
    mode: tuple[str, Value] = ("mode", view.pool.mode.value)
    node: tuple[str, Value] = ("node", view.anchored.node_name)
    started = Report("drain started", (node, mode))
    if not view.surging:
        return (started,)
    wait: list[tuple[str, Value]] = [("node", view.host.name)] if view.host is not None else []
    if view.pool.surge_wait:
        wait.append(("wait", view.pool.surge_wait))
    return (Report("surge node ready", tuple(wait)), started)


def resumed_delete(view: View) -> Decision:
    """Row 7: a crash came between the two writes of row 5 (or 6); the delete is sent again."""
    claim, pool = view.anchored, view.pool
    if pool.mirror:
        return Decision(
            "7",
            Reason.DRAIN_STARTED,
            claim=claim.name,
            writes=(*host_freeze(view), view.deletion()),
            reports=drain_started(view),
            announcements=() if view.surging else (fell_back(view),),
        )
    return Decision(
        "7",
        Reason.MIRROR_RESTORED,
        claim=claim.name,
        annotations=_mirror(view),
        listing=Listing.KEEP if is_shown(view) else Listing.NONE,
        look_again=SOON,
    )


def is_shown(view: View) -> bool:
    """Whether the request shows the placeholder, and not terminating."""
    return view.pod is not None and not view.pod.deleting


def _mirror(view: View) -> dict[str, str | None]:
    mirror: dict[str, str | None] = {names.ACTIVE_ROTATION_STATE: names.DRAINING}
    if names.DRAINING_AT not in view.pool.leftovers:
        mirror[names.DRAINING_AT] = format_stamp(view.now)
    started = view.started_at
    if view.surging and started is not None and names.SURGE_WAIT not in view.pool.leftovers:
        mirror[names.SURGE_WAIT] = format_go(elapsed(started, view.now))
    return mirror


def step_back(view: View) -> Decision:
    """Row 7b: before the delete nothing drains, so what no longer holds takes the rotation back."""
    claim, pool = view.anchored, view.pool
    reason = view.refusal or Reason.STATE_CHANGED
    if view.surging:
        back = patch(view, claim, {names.STATE: ClaimState.PENDING})
        return _as_row_3(view, "7b", reason, (back,), unmirror(pool))
    cleared = patch(view, claim, {names.STATE: None})
    return Decision(
        "7b",
        Reason.FALLBACK_WITHDRAWN,
        detail=reason.value,
        claim=claim.name,
        writes=(cleared, *unfreeze(view)),
        annotations=clear(pool),
    )


def _as_row_3(
    view: View,
    row: str,
    reason: Reason,
    writes: tuple[Write, ...],
    annotations: Mapping[str, str | None],
) -> Decision:
    what, why = listing(view)
    return Decision(
        row,
        reason,
        detail=why.value,
        claim=view.anchored.name,
        writes=writes,
        annotations=annotations,
        listing=what,
        creation=creation(view) if what is Listing.CREATE else None,
        look_again=SOON,
    )


def fallback_delete(view: View) -> Decision:
    """Row 6, all well: the surge-less delete, in two guarded writes."""
    claim = view.anchored
    take = patch(view, claim, {names.STATE: ClaimState.DRAINING})
    return Decision(
        "6",
        Reason.FORCEFUL_FALLBACK,
        claim=claim.name,
        writes=(take, view.deletion()),
        reports=(selected(view, claim, Mode.FALLBACK), *drain_started(view)),
        announcements=(fell_back(view),),
    )


def fallback_withdrawn(view: View) -> Decision:
    """Row 6, no longer well: nothing was deleted, and nothing will be."""
    return Decision(
        "6",
        Reason.FALLBACK_WITHDRAWN,
        claim=view.anchored.name,
        writes=(hold(view), *unfreeze(view)),
        annotations=clear(view.pool),
    )


def drain(view: View) -> Decision:
    """Row 5: the successor stands; the candidate is taken and deleted, the placeholder goes."""
    claim = view.anchored
    take = patch(view, claim, {names.STATE: ClaimState.DRAINING})
    return Decision(
        "5",
        Reason.DRAIN_STARTED,
        claim=claim.name,
        writes=(*host_freeze(view), take, view.deletion()),
        reports=drain_started(view),
    )


def not_yet(view: View) -> Decision:
    """Row 5b: mirrored, but no longer fit to drain; back to waiting, if the claim still waits."""
    live = view.reader.claim(view.anchored.name)
    if live is None or live.uid != view.anchored.uid or live.state is not ClaimState.PENDING:
        return stop(Reason.STATE_CHANGED, view.anchored.name)
    return _as_row_3(view, "5b", _why_not(view), (), unmirror(view.pool))


def _why_not(view: View) -> Reason:
    if view.frozen:
        return Reason.FROZEN
    if view.aborted:
        return Reason.ABORTED
    return view.unready or Reason.STATE_CHANGED


def begins_again(view: View) -> Decision:
    """Row 5c: governance was lost and came back while the mirror stood."""
    live = view.reader.claim(view.anchored.name)
    if live is None or live.uid != view.anchored.uid or live.state is not None or live.deleting:
        return stop(Reason.STATE_CHANGED, view.anchored.name)
    return _as_row_3(view, "5c", Reason.RETRYING, (), unmirror(view.pool))


def mirror(view: View) -> Decision:
    """Row 4: the successor is up; the mirror is persisted first, the delete takes a pass more."""
    claim = view.anchored
    change = surge_claim_change(view)
    writes: tuple[Write, ...] = (patch(view, claim, change),) if change else ()
    began = view.started_at
    begins, lines = _beginning(view, began) if began is not None else ((), ())
    return Decision(
        "4",
        Reason.SURGE_READY,
        claim=claim.name,
        writes=writes + host_freeze(view),
        annotations=_mirror(view),
        listing=Listing.KEEP,
        reports=lines,
        announcements=begins,
    )


def wait(view: View) -> Decision:
    """Row 3: the surge; state, freeze and cordon re-asserted, the placeholder created or kept."""
    claim, now = view.anchored, view.now
    changes: dict[str, str | None] = {}
    if claim.state is None:
        changes[names.STATE] = ClaimState.PENDING
    if view.started_at is None:
        changes[names.STARTED_AT] = format_stamp(now)
    if claim.state is not None:
        # One that takes over a placeholder names its successor a pass after its beginning is told.
        changes |= surge_claim_change(view)
    writes: tuple[Write, ...] = (patch(view, claim, changes),) if changes else ()
    writes += frozen_writes(view, claim.node_name, cordon=True)
    writes += host_freeze(view)
    what, why = listing(view)
    if view.frozen and view.runs:
        # The successor is up, and what holds the drain back is the freeze alone.
        why = Reason.FROZEN
    began = view.started_at or now
    freeze = view.pool.freeze if isinstance(view.pool.freeze, datetime) else None
    begins, lines = _beginning(view, began)
    troubles, warnings = _troubles(view, why, began)
    return Decision(
        "3",
        why,
        claim=claim.name,
        writes=writes,
        listing=what,
        creation=creation(view) if what is Listing.CREATE else None,
        look_again=look_again(now, _after_timeout(view, began), refused_from(view), freeze),
        reports=lines + troubles,
        announcements=begins + warnings,
    )


def _beginning(view: View, at: datetime) -> tuple[tuple[Announce, ...], tuple[Report, ...]]:
    """That the attempt began: until its successor is named, a pass may have died before it said so."""
    claim = view.anchored
    since_long = view.started_at is None and view.pod is not None
    under_way = claim.state is not None and (claim.surge_claim is not None or since_long)
    if under_way or view.now - at > RECENT:
        return (), ()
    begins = started(view, claim, at)
    return (begins,), (selected(view, claim, Mode.SURGE, begins),)


def _after_timeout(view: View, started: datetime) -> datetime:
    # Strictly older than readyTimeout counts, hence the second.
    return shifted(started, view.governing.ready_timeout + timedelta(seconds=1))


def _troubles(
    view: View, why: Reason, began: datetime
) -> tuple[tuple[Report, ...], tuple[Announce, ...]]:
    """Why the placeholder is in the way of things: a line on change, an Event once an attempt."""
    pool, claim, now = view.pool, replace(view.anchored, started_at=began), view.now
    # Each attempt has its own, as each has an Event of its own.
    attempt = f"{claim.uid} {format_stamp(began)}"
    if why is Reason.SURGE_NOT_CREATED:
        text = "see the SyncError Events of the NodePool (quota, LimitRange, admission)"
        line = Report(
            "placeholder not created",
            (("hint", text),),
            on_change=True,
            about=attempt,
            warning=True,
        )
        note = f"no placeholder {format_go(NOT_CREATED_AFTER)} after it was asked for: {text}"
        return (line,), (of_attempt(pool, claim, why, note, now),)
    if why is not Reason.SURGE_UNSCHEDULABLE or view.pod is None:
        return (), ()
    message = next((m for kind, _, m in view.pod.conditions if kind == "PodScheduled"), "")
    line = Report(
        "placeholder unschedulable",
        (("message", message),),
        on_change=True,
        about=attempt,
        level=why.value,
        warning=True,
    )
    return (line,), (of_attempt(pool, claim, why, message or "no node has room for it", now),)
