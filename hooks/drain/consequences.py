"""What follows from a row of the decision table: the tracking patch, the Event, words for people.

Owns what is written on the Deployment and said to whom. Leaves when to
:mod:`hooks.drain.verdict`. Source: design/drain.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from hooks import names
from hooks.drain.facts import Facts
from hooks.drain.model import Deployment, Trouble
from hooks.drain.reasons import Answer, Reason
from hooks.drain.rollout import ADVICE, obstacle
from hooks.drain.tracking import findings, format_span, format_stamp, timeout_of
from hooks.drain.writes import Announcement, Finding, PatchDeployment, announcement, patch

SOFTWARE: Final = "noderotation graceful-drain"
_SECOND: Final = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Consequences:
    """What a row asks for beside its answer."""

    message: str = ""
    """For the evictor, when it is denied."""
    warnings: tuple[str, ...] = ()
    """For the evictor, when it is allowed (AdmissionReview's warnings)."""
    patch: PatchDeployment | None = None
    announcements: tuple[Announcement, ...] = ()
    counts: bool = False
    """Whether a denial is for this Pod's own sake, so that its time runs (:class:`Remembered`)."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer to an eviction, and all that comes with it.

    ``patch`` must have landed before the answer is given; ``announcements`` follow it.
    """

    answer: Answer
    reason: Reason
    message: str = ""
    warnings: tuple[str, ...] = ()
    patch: PatchDeployment | None = None
    announcements: tuple[Announcement, ...] = ()
    findings: tuple[Finding, ...] = ()
    deployment: str = ""
    """namespace/name, for the log; empty when it came to none."""
    counts: bool = False
    """See :class:`Consequences`."""


def verdict(facts: Facts, answer: Answer, reason: Reason, what: Consequences) -> Verdict:
    """Put a row and what follows from it together."""
    there = facts.case.deployment
    deployment = there if isinstance(there, Deployment) else None
    return Verdict(
        answer=answer,
        reason=reason,
        message=what.message,
        warnings=what.warnings,
        patch=what.patch,
        announcements=what.announcements,
        findings=findings(deployment, facts.terms) if deployment else (),
        deployment=_name(deployment) if deployment else "",
        counts=what.counts,
    )


def nothing(_: Facts) -> Consequences:
    """An answer that speaks for itself."""
    return Consequences()


def pod_not_read(facts: Facts) -> Consequences:
    """The seed's one exception to "when in doubt, allow"."""
    review = facts.review
    return Consequences(
        f"{SOFTWARE}: Pod {review.namespace}/{review.pod} can't be read"
        f" ({_trouble(facts.case.pod)}); try again",
        counts=True,
    )


def pod_not_read_for_long(facts: Facts) -> Consequences:
    """What fails for good must hold no drain for ever."""
    return _warn(f"{_trouble(facts.case.pod)}, for too long; not protected")


def owner_not_read(facts: Facts) -> Consequences:
    """A drain is never held by what we can't find out."""
    why = _trouble(facts.case.deployment) or _trouble(facts.case.replica_set)
    return _warn(f"the owner of the Pod can't be read ({why}); not protected")


def timed_out(facts: Facts) -> Consequences:
    """The escape hatch."""
    since = _since(facts)
    return _warn(
        f"the rollout of Deployment {_name(facts.deployment)} that was requested at {since}"
        f" wasn't ready within {format_span(timeout_of(facts.deployment, facts.terms))};"
        " not protected"
    )


def has_had_its_time(facts: Facts) -> Consequences:
    """The same, by what is remembered: tracking was taken away, or begun anew."""
    pod, since = facts.pod, facts.case.remembered.denied_since or facts.terms.now
    return _warn(
        f"Pod {pod.namespace}/{pod.name} has waited for a rollout of Deployment"
        f" {_name(facts.deployment)} since {format_stamp(since.replace(microsecond=0))}, longer than"
        f" {format_span(timeout_of(facts.deployment, facts.terms))}; not protected"
    )


def is_successor(facts: Facts) -> Consequences:
    """The Deployment controller is about to remove the other one."""
    return _deny(facts, "this Pod is the successor of one that goes first", _since(facts))


def already_rolled(facts: Facts) -> Consequences:
    """Never twice for one Pod."""
    return _warn(
        f"a rollout of Deployment {_name(facts.deployment)} was requested for this Pod before, and"
        " is over; not protected again"
    )


def no_successor_first(facts: Facts) -> Consequences:
    """The operator is told which field to change, once for each Pod."""
    deployment = facts.deployment
    note = impossible(deployment)
    event = announcement(deployment, names.DRAIN_IMPOSSIBLE, facts.pod.uid, note, facts.terms.now)
    return Consequences(warnings=(f"{SOFTWARE}: {note}",), announcements=(event,))


def impossible(deployment: Deployment) -> str:
    """Say which field keeps a successor from coming first, and what to change."""
    field = obstacle(deployment)
    advice = f"{field.value} stands against it: {ADVICE[field]}" if field else ""
    return f"Deployment {_name(deployment)} can't get a ready successor first; {advice}"


def in_progress(facts: Facts) -> Consequences:
    """A rollout that was asked for before."""
    return _deny(facts, "its successor isn't ready yet", _since(facts))


def adopted(facts: Facts) -> Consequences:
    """Tracking begins, and the marker says that there is nothing to roll."""
    since = _begins(facts)
    note = f"the eviction of Pod {facts.pod.name} waits for the rollout that is under way"
    return _track(facts, note, since, rolled_for=since)


def requested(facts: Facts) -> Consequences:
    """Tracking begins; a marker of an earlier rollout goes, so that it can't be taken for this one's."""
    note = (
        f"the eviction of Pod {facts.pod.name} asked for a rollout, so that a successor comes first"
    )
    return _track(facts, note, _begins(facts), rolled_for=None)


def _track(facts: Facts, note: str, since: str, *, rolled_for: str | None) -> Consequences:
    deployment = facts.deployment
    denial = _deny(facts, note, since)
    return Consequences(
        message=denial.message,
        counts=True,
        patch=patch(
            deployment,
            (names.DRAIN_RESTARTED_AT, since),
            (names.DRAIN_ROLLED_FOR, rolled_for),
            (names.DRAIN_LAST_POD_UID, facts.pod.uid),
        ),
        announcements=(triggered(deployment, since, note, facts.terms.now),),
    )


def triggered(deployment: Deployment, since: str, note: str, now: datetime) -> Announcement:
    """The Event of a tracking that began; the sync tells it too, in case the webhook couldn't."""
    return announcement(deployment, names.DRAIN_TRIGGERED, since, note, now)


def _deny(facts: Facts, why: str, since: str) -> Consequences:
    deployment, terms = facts.deployment, facts.terms
    until = facts.tracking.until or _start(facts) + timeout_of(deployment, terms)
    return Consequences(
        f"{SOFTWARE}: {why} (Deployment {_name(deployment)}, since {since},"
        f" until {format_stamp(until)} at most)",
        counts=not facts.is_for_another_pod,
    )


def _warn(text: str) -> Consequences:
    return Consequences(warnings=(f"{SOFTWARE}: {text}",))


def _name(deployment: Deployment) -> str:
    return f"{deployment.namespace}/{deployment.name}"


def _since(facts: Facts) -> str:
    since = facts.tracking.since
    return format_stamp(since) if since else ""


def _begins(facts: Facts) -> str:
    return format_stamp(_start(facts))


def _start(facts: Facts) -> datetime:
    """Tracking is kept in whole seconds, as kubectl writes its own restarts.

    Two within one second must differ all the same: the Pod template would otherwise stay as it is.
    """
    start = facts.terms.now.replace(microsecond=0)
    return start + _SECOND if facts.deployment.rolled_for == start else start


def _trouble(thing: object) -> str:
    return thing.text if isinstance(thing, Trouble) else ""
