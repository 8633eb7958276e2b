"""The placeholder that Kubernetes evicts from a Node which has only just registered.

Owns what counts as that race, and the history as if it had been won. A new Node carries the taint
``karpenter.sh/unregistered:NoExecute`` until Karpenter has registered it. The scheduler binds the
placeholder as soon as the taint is off; when the taint eviction of kube-controller-manager hears of
the Pod before it hears of that, it deletes the Pod by a taint that isn't there any more. The next
pass creates it again (row 3), and it is bound at once. Seen on a busy real plane (0006).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hooks.verdict.history import Change, Moment, Object, replay
from hooks.verdict.rotations import rotations

TAINT_MANAGER = "DeletionByTaintManager"
"""The reason of the condition DisruptionTarget that it sets before it deletes."""


def evicted(changes: Sequence[Change], pool: str) -> dict[int, list[Change]]:
    """Number of a rotation (from 0) to the changes by which its placeholder was told to go by mistake.

    Only those after which another one came, and was bound.
    """
    numbers = {
        f"noderotation-surge-{one.claim}": number
        for number, one in enumerate(rotations(changes, pool))
    }
    found: dict[int, list[Change]] = {}
    for moment in replay(changes):
        change = moment.change
        if (
            change.kind == "Pod"
            and change.name in numbers
            and _is_mistaken(moment)
            and _is_bound(_interlude(changes, change)[-1])
        ):
            found.setdefault(numbers[change.name], []).append(change)
    return found


def never_evicted(changes: Sequence[Change], pool: str) -> list[Change]:
    """The history as if each of those had stayed unbound until the next one was bound."""
    left_out = {
        one.revision
        for many in evicted(changes, pool).values()
        for gone in many
        for one in _interlude(changes, gone)[:-1]
    }
    return [one for one in changes if one.revision not in left_out or one.kind != "Pod"]


def _is_mistaken(moment: Moment) -> bool:
    """Whether a Pod is told to go just now, by a taint that its Node doesn't have."""
    pod, before = moment.change.object, moment.before
    if not _is_told_to_go(pod) or (before is not None and _is_told_to_go(before)):
        return False
    host = moment.world["Node"].get(("", pod["spec"].get("nodeName", "")))
    return host is not None and not _has_no_execute(host)


def _interlude(changes: Sequence[Change], gone: Change) -> list[Change]:
    """All of the Pod from its first binding on, and of the next one of its name to its first binding."""
    track = sorted(
        (one for one in changes if one.kind == "Pod" and one.name == gone.name),
        key=lambda one: one.revision,
    )
    there = track.index(gone)
    first, last = there, there
    while first and track[first - 1].type != "DELETED" and _is_bound(track[first - 1]):
        first -= 1
    while track[last].type != "DELETED" and last + 1 < len(track):
        last += 1
    while last + 1 < len(track):
        last += 1
        if _is_bound(track[last]):
            break
    return track[first : last + 1]


def _is_bound(change: Change) -> bool:
    return change.type != "DELETED" and bool(change.object["spec"].get("nodeName"))


def _is_told_to_go(pod: Object) -> bool:
    conditions: Sequence[Mapping[str, str]] = pod.get("status", {}).get("conditions") or ()
    return any(one.get("reason") == TAINT_MANAGER for one in conditions)


def _has_no_execute(node: Object) -> bool:
    taints: Sequence[Mapping[str, str]] = node["spec"].get("taints") or ()
    return any(one.get("effect") == "NoExecute" for one in taints)
