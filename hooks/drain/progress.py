"""What /sync/deployment does with a tracked Deployment: one table, the first row that matches.

Owns when a rollout is begun, over or given up. Leaves the reading and the patching to
:mod:`hooks.sync` and :mod:`hooks.cluster`. Source: design/drain.md *Settings*, seed 004; what they
leave open: docs/decisions/0009.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from hooks import names
from hooks.drain.consequences import impossible, triggered
from hooks.drain.facts import is_opted_out
from hooks.drain.model import Deployment, Terms, Unreadable
from hooks.drain.reasons import Outcome, Stage
from hooks.drain.rollout import is_complete, is_settled, obstacle
from hooks.drain.tracking import (
    State,
    Tracking,
    findings,
    format_span,
    format_stamp,
    timeout_of,
    tracking,
)
from hooks.drain.writes import Announcement, Finding, PatchDeployment, announcement, patch

RESYNC: Final = timedelta(seconds=10)
"""How soon a tracked Deployment is looked at again."""
SOON: Final = timedelta(seconds=2)
"""The same after a patch that was lost, and while somebody else's rollout is under way."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How tracking ended, for log and metrics.

    ``key`` is the same for the same end, however often it is answered; where there is an Event,
    it is that one's name, and who creates it counts. ``took`` is from the tracking value on.
    """

    outcome: Outcome
    key: str
    took: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """What one sync does.

    A ``patch`` or an ``ending`` is only a reason to read the Deployment live and ask :func:`confirm`.
    ``clear``: the answer removes ``restarted-at`` by null. ``look_again`` None: no resync needed.
    ``announcements`` follow the patch, or come with the clearing.
    """

    stage: Stage = Stage.NOT_TRACKED
    patch: PatchDeployment | None = None
    clear: bool = False
    look_again: timedelta | None = None
    ending: Ending | None = None
    announcements: tuple[Announcement, ...] = ()
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class View:
    """A Deployment and its tracking at one moment."""

    deployment: Deployment
    terms: Terms
    tracking: Tracking
    begun: bool
    """Whether this process remembers that it began a rollout for this tracking value."""

    @property
    def has_rolled(self) -> bool:
        """Whether the rollout for this tracking value was begun or adopted: never a second time."""
        return self.begun or self.deployment.rolled_for == self.tracking.since


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its stage, when it matches, and what follows."""

    stage: Stage
    matches: Callable[[View], bool]
    follows: Callable[[View], Step]


def _rests(_: View) -> Step:
    return Step()


def _waits(view: View) -> Step:
    return Step(look_again=min(RESYNC, _left(view)))


def _waits_shortly(view: View) -> Step:
    return Step(look_again=min(SOON, _left(view)))


def _left(view: View) -> timedelta:
    """Until the timeout, which is an edge of its own; the rows before have seen that it isn't over."""
    until = view.tracking.until
    return until - view.terms.now if until else RESYNC


def _clears(outcome: Outcome) -> Callable[[View], Step]:
    def cleared(view: View) -> Step:
        key = f"{view.deployment.uid} {_since(view) or _unusable(view)} {outcome}"
        return Step(clear=True, ending=Ending(outcome, key))

    return cleared


def _completes(view: View) -> Step:
    took = _took(view)
    note = f"the rollout that was requested at {_since(view)} is complete after {format_span(took)}"
    return _ends(view, Outcome.COMPLETED, names.DRAIN_COMPLETED, note, took)


def _times_out(view: View) -> Step:
    timeout = timeout_of(view.deployment, view.terms)
    note = (
        f"the rollout that was requested at {_since(view)} wasn't complete within {format_span(timeout)}:"
        " evictions aren't denied any longer"
    )
    return _ends(view, Outcome.TIMEOUT, names.DRAIN_TIMEOUT, note, _took(view))


def _gives_up(view: View) -> Step:
    note = impossible(view.deployment)
    return _ends(view, Outcome.IMPOSSIBLE, names.DRAIN_IMPOSSIBLE, note, None)


def _ends(view: View, outcome: Outcome, reason: str, note: str, took: timedelta | None) -> Step:
    event = announcement(view.deployment, reason, _since(view), note, view.terms.now)
    return Step(clear=True, ending=Ending(outcome, event.name, took), announcements=(event,))


def _rolls(view: View) -> Step:
    """Template and marker in one patch; the value is the tracking value's, so a repeat is the same."""
    since, deployment = _since(view), view.deployment
    marker = (names.DRAIN_ROLLED_FOR, since)
    note = "a rollout begins, so that a successor comes before the only Pod goes"
    return Step(
        patch=patch(deployment, marker, restarted_at=since),
        look_again=min(RESYNC, _left(view)),
        announcements=(triggered(deployment, since, note, view.terms.now),),
    )


def _since(view: View) -> str:
    since = view.tracking.since
    return format_stamp(since) if since else ""


def _unusable(view: View) -> str:
    """A short word for a value that is no use: another one later is another end."""
    value = view.deployment.restarted_at
    if isinstance(value, Unreadable):
        return hashlib.sha256(value.text.encode(errors="surrogatepass")).hexdigest()[:16]
    return format_stamp(value) if value else ""


def _took(view: View) -> timedelta:
    since = view.tracking.since or view.terms.now
    return max(view.terms.now - since, timedelta(0))


TABLE: Final[tuple[Row, ...]] = (
    Row(Stage.NOT_TRACKED, lambda v: v.tracking.state is State.NONE, _rests),
    Row(
        Stage.TRACKING_UNREADABLE,
        lambda v: v.tracking.state is State.UNUSABLE,
        _clears(Outcome.UNREADABLE),
    ),
    Row(Stage.DELETING, lambda v: v.deployment.deleting, _clears(Outcome.DELETED)),
    Row(
        Stage.OPTED_OUT,
        lambda v: is_opted_out(v.deployment, v.terms),
        _clears(Outcome.OPTED_OUT),
    ),
    Row(
        Stage.NOT_A_SINGLETON,
        lambda v: v.deployment.replicas != 1,
        _clears(Outcome.SCALED),
    ),
    Row(
        Stage.COMPLETED,
        lambda v: v.has_rolled and is_complete(v.deployment),
        _completes,
    ),
    Row(Stage.TIMED_OUT, lambda v: v.tracking.state is State.TIMED_OUT, _times_out),
    Row(
        Stage.NO_SUCCESSOR_FIRST,
        lambda v: obstacle(v.deployment) is not None,
        _gives_up,
    ),
    Row(Stage.ROLLING, lambda v: v.has_rolled, _waits),
    # Where nothing is ready, the Pod that it was asked for isn't, either: nobody needs it now.
    Row(
        Stage.NOT_SETTLED,
        lambda v: not is_settled(v.deployment) or not v.deployment.ready,
        _waits_shortly,
    ),
    Row(Stage.ROLLS, lambda _: True, _rolls),
)
"""All rows. The last one takes whatever is left: a rollout that was asked for and hasn't begun."""


def progress(deployment: Deployment, terms: Terms, *, begun: bool = False) -> Step:
    """The step for a Deployment as a request shows it. Pure and total.

    ``begun``: this process remembers a rollout for this tracking value, whatever became of the marker.
    """
    view = View(deployment, terms, tracking(deployment, terms), begun)
    row = next(row for row in TABLE if row.matches(view))
    return replace(row.follows(view), stage=row.stage, findings=findings(deployment, terms))


def confirm(live: Deployment | None, terms: Terms, *, begun: bool = False) -> Step:
    """The step for a Deployment that was read live because the request's asked for a patch or an end.

    The live view's own counts: its patch is guarded by its resourceVersion, and an end that only the
    request shows, from a cache that is behind, isn't told.
    """
    step = progress(live, terms, begun=begun) if live is not None else Step()
    if step.patch is not None or step.ending is not None:
        return step
    return Step(step.stage, look_again=SOON, findings=step.findings)
