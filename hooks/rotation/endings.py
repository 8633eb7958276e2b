"""The rows that end a rotation, or follow one that is draining: 0, 8, 9, 10, 11, 16, 17.

Each function is the answer of one row of design/rotation.md section 3.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from hooks import names
from hooks.rotation import outcomes
from hooks.rotation.announcements import RECENT, fell_back
from hooks.rotation.announcements import governance_lost as governance_lost_event
from hooks.rotation.decision import RESYNC, Decision, Report, Value, stop
from hooks.rotation.durations import ZERO, format_go, format_stamp, shifted
from hooks.rotation.governance import Kind
from hooks.rotation.model import ClaimState, Mode, Pool
from hooks.rotation.reasons import Reason
from hooks.rotation.schedule import BUFFER, UNSET_GRACE
from hooks.rotation.steps import (
    attempt_over,
    clear,
    frozen_writes,
    hold,
    look_again,
    patch,
    unfreeze,
)
from hooks.rotation.stuck import told_of_drain
from hooks.rotation.view import View
from hooks.rotation.writes import Announce, Write

NOT_GOVERNED: Final = {
    Kind.NONE: Reason.NO_POLICY,
    Kind.CONFLICT: Reason.POLICY_CONFLICT,
    Kind.INVALID: Reason.POLICY_INVALID,
}


def pool_is_going(view: View) -> Decision:
    """Row 0: nothing starts and nothing is deleted; the marks go."""
    return Decision("0", Reason.POOL_DELETING, claim=view.pool.anchor, writes=unfreeze(view))


def _outcome_changed(view: View) -> Reason | None:
    """The outcome guard of rows 9 and 10: live anchor, mirror and mode are those of the request."""
    live = view.reader.pool(view.pool.name)
    if live is None:
        return Reason.POOL_GONE
    same = _outcome(live) == _outcome(view.pool)
    return None if same else Reason.OUTCOME_CHANGED


def _outcome(pool: Pool) -> tuple[str | None, str | None, bool, Mode]:
    return pool.anchor, pool.anchor_uid, pool.mirror, pool.mode


def succeeded(view: View) -> Decision:
    """Row 9: the candidate is gone after our drain."""
    changed = _outcome_changed(view)
    if changed is not None:
        return stop(changed, view.pool.anchor)
    announce = outcomes.completed(view)
    report = Report("rotation complete", _durations(view, announce), once=announce.name)
    return Decision(
        "9",
        Reason.ROTATION_COMPLETED,
        claim=view.pool.anchor,
        writes=(*unfreeze(view), announce),
        annotations=clear(view.pool) | {names.LAST_ROTATION_AT: format_stamp(view.now)},
        reports=(report,),
        announcements=_without_successor(view),
    )


def _without_successor(view: View) -> tuple[Announce, ...]:
    """Told once more for a while: a claim may be gone before the pass after the one that died."""
    pool = view.pool
    since = pool.draining_at
    recent = isinstance(since, datetime) and view.now - since <= RECENT
    fallback = pool.mode is Mode.FALLBACK and pool.anchor_uid is not None
    return (fell_back(view),) if fallback and recent else ()


def _durations(view: View, announce: Announce) -> tuple[tuple[str, Value], ...]:
    fields: list[tuple[str, Value]] = [("mode", view.pool.mode.value)]
    fields += [(phase, format_go(span)) for phase, span in announce.durations]
    if outcomes.DRAIN in dict(announce.durations):
        total = sum((span for _, span in announce.durations), ZERO)
        fields.append(("total", format_go(total)))
    return tuple(fields)


def vanished(view: View) -> Decision:
    """Row 10: the candidate is gone and nothing was ever mirrored."""
    changed = _outcome_changed(view)
    if changed is not None:
        return stop(changed, view.pool.anchor)
    announce = outcomes.expired(view)
    return Decision(
        "10",
        Reason.ROTATION_EXPIRED,
        claim=view.pool.anchor,
        writes=(*unfreeze(view), announce),
        annotations=clear(view.pool),
        reports=(Report("rotation expired", once=announce.name, warning=True),),
    )


def draining(view: View) -> Decision:
    """Row 8: Karpenter drains; the gate stays held, however long it takes."""
    claim, pool = view.anchored, view.pool
    since = claim.deleting_since or view.now
    annotations: dict[str, str | None] = {}
    if not pool.mirror:
        annotations[names.ACTIVE_ROTATION_STATE] = names.DRAINING
        if names.DRAINING_AT not in pool.leftovers:
            annotations[names.DRAINING_AT] = format_stamp(since)
    grace = claim.termination_grace_period
    bound = (grace if isinstance(grace, timedelta) else UNSET_GRACE) + BUFFER
    stuck = view.now - since > bound
    lines, events = told_of_drain(view, since, stuck=stuck)
    if not view.surging and view.now - since <= RECENT:
        # The pass that deleted it may have died before it could say so.
        events = (fell_back(view), *events)
    return Decision(
        "8",
        Reason.DRAIN_STUCK if stuck else Reason.DRAINING,
        claim=claim.name,
        writes=_labelled_host(view),
        annotations=annotations,
        look_again=RESYNC if stuck else look_again(view.now, shifted(since, bound)),
        reports=lines,
        announcements=events,
    )


def _labelled_host(view: View) -> tuple[Write, ...]:
    """The successor's freeze, if no label relates it: a Go controller's rotation has none.

    Once the candidate is gone nothing else would lead to that Node any more.
    """
    host = view.seen(view.anchored.surge_claim)
    return frozen_writes(view, host.node_name, cordon=False) if host is not None else ()


def expiring(view: View) -> Decision:
    """Row 11: somebody else deletes the candidate before our drain; the Event comes first."""
    claim = view.anchored
    announce = outcomes.expired(view)
    over = patch(view, claim, attempt_over(ClaimState.EXPIRED, view.now))
    return Decision(
        "11",
        Reason.ROTATION_EXPIRED,
        claim=claim.name,
        writes=(hold(view), *unfreeze(view), announce, over),
        annotations=clear(view.pool),
        reports=(Report("rotation expired", once=announce.name, warning=True),),
    )


def expired(view: View) -> Decision:
    """Row 16: the terminal clean-up of row 11, taken up again; counts nothing."""
    return Decision(
        "16",
        Reason.ROTATION_EXPIRED,
        claim=view.pool.anchor,
        writes=unfreeze(view),
        annotations=clear(view.pool),
    )


def governance_lost(view: View) -> Decision:
    """Row 17: nobody governs the pool any more; rolled back, a failed claim keeps its backoff."""
    claim = view.anchored
    mine = claim.state in {ClaimState.PENDING, ClaimState.DRAINING} or _has_traces(view)
    over = patch(view, claim, attempt_over(None, view.now)) if mine else None
    why = NOT_GOVERNED[view.governance.kind]
    announce = governance_lost_event(view, claim, why)
    # The Event goes before the patch that takes away what it is named after.
    last = tuple(write for write in (announce, over) if write is not None)
    report = Report(
        "governance lost",
        (("why", why.value),),
        once=None if announce is None else announce.name,
        on_change=True,
        warning=True,
    )
    return Decision(
        "17",
        Reason.GOVERNANCE_LOST,
        detail=why.value,
        claim=claim.name,
        writes=(hold(view), *unfreeze(view), *last),
        annotations=clear(view.pool),
        reports=(report,),
    )


def _has_traces(view: View) -> bool:
    claim = view.anchored
    traces = claim.started_at is not None or claim.surge_claim is not None
    return claim.state is None and traces
