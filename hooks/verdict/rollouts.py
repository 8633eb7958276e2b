"""Whether the software's own rollouts stayed within bounds: one for each Pod, and none for ever.

Owns the reading of the annotations with which they are marked. Leaves whether a successor came first to
:mod:`.singletons`. Source: seed 004; design/drain.md.
"""

from __future__ import annotations

from hooks.verdict.case import Case
from hooks.verdict.history import Moment
from hooks.verdict.questions import annotation

PREFIX = "graceful-drain.stonal.com/"
TRACKED, ROLLED_FOR = f"{PREFIX}restarted-at", f"{PREFIX}rolled-for"
LAST_POD_UID = f"{PREFIX}last-pod-uid"


def one_rollout_each(case: Case) -> list[str]:
    """A Deployment is rolled out once at most for each of its Pods."""
    found: list[str] = []
    rolled: dict[tuple[str, str, str], set[str]] = {}
    for moment in case.moments():
        thing = moment.change.object
        if moment.change.kind != "Deployment":
            continue
        marker, uid = annotation(thing, ROLLED_FOR), annotation(thing, LAST_POD_UID)
        if marker is None or uid is None or marker == annotation(moment.before, ROLLED_FOR):
            continue
        for_it = rolled.setdefault((*_key(moment), uid), set())
        for_it.add(marker)
        if len(for_it) > 1:
            place, name = _key(moment)
            found.append(f"Deployment {place}/{name} was rolled out again for Pod {uid}")
    return found


def tracking_ends(case: Case) -> list[str]:
    """In the end no Deployment is tracked any more."""
    tracked: dict[tuple[str, str], bool] = {}
    for moment in case.moments():
        if moment.change.kind == "Deployment":
            is_there = moment.change.type != "DELETED"
            mark = annotation(moment.change.object, TRACKED)
            tracked[_key(moment)] = is_there and mark is not None
    return [
        f"at the end: Deployment {place}/{name} is still tracked"
        for (place, name), is_tracked in tracked.items()
        if is_tracked
    ]


def _key(moment: Moment) -> tuple[str, str]:
    return moment.change.object["metadata"].get("namespace", ""), moment.change.name
