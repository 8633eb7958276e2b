"""The promises of design/rotation.md section 6, in words of their own, judged as things happen.

Nothing here asks the software: a mistake in its predicates must not be repeated. Each function
looks at one thing that is about to be so, raises :class:`Broken`, or gives the state with what has
to be remembered of it.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final

from hooks import names
from hooks.rotation.writes import DeleteCandidate
from tests.search.hands import CLOCK, Hands
from tests.search.state import Flight, Job, State, find
from tests.search.things import Thing
from tests.support.live import Json

LIFE: Final = timedelta(hours=336)
T_ROT: Final = timedelta(minutes=9)
COMPLETED, EXPIRED, FAILED = "RotationCompleted", "RotationExpired", "RotationFailed"
MARKS: Final = (names.SURGE_FOR, names.DO_NOT_DISRUPT_OWNED, names.CORDONED)
FROZEN: Final = "2026-11-30T20:00:00Z"
"""The only freeze there is: for longer than the search lasts."""


class Broken(Exception):
    """A promise doesn't hold."""


def expect(*, holds: bool, promise: str) -> None:
    """A promise, and whether it holds."""
    if not holds:
        raise Broken(promise)


def is_open(state: State) -> bool:
    """Whether the one maintenance window is open."""
    return 18 <= datetime.fromisoformat(CLOCK[state.phase]).hour < 22


def _anchors(state: State, claim: Thing) -> bool:
    pool = state.pool
    return (
        pool is not None
        and pool.note(names.ACTIVE_ROTATION) == claim.name
        and pool.note(names.ACTIVE_ROTATION_UID) == claim.uid
    )


# --- S1, S2 ---


def deleted(state: State, job: Job, claim: Thing) -> State:
    """A claim is about to be deleted by us (``claim``: as it will be).

    A race of milliseconds is known and accepted (docs/decisions/0007): a pass that timed out
    deletes between the decision of a newer pass to take the mirror or the anchor back, and the
    landing of that. Each was right when it looked. What counts then may be no success: an expiry,
    if the claim is gone before the next pass, or nothing.
    """
    if not isinstance(job.write, DeleteCandidate):
        _reaped(state, claim)
        return state
    pool = state.pool
    expect(holds=pool is not None, promise="S1: deleted in a pool that is gone")
    assert pool is not None
    expect(holds=not pool.deleting, promise="S1: deleted in a pool that goes")
    expect(holds=_anchors(state, claim), promise="S1: deleted without its anchor")
    expect(
        holds=pool.note(names.ACTIVE_ROTATION_STATE) == "draining",
        promise="S1: deleted without the mirror",
    )
    expect(holds=claim.note(names.STATE) == "draining", promise="S1: deleted without being taken")
    expect(holds=pool.note(names.FREEZE) is None, promise="S1: deleted under a freeze")
    expect(holds=pool.note(names.ABORT) != claim.name, promise="S1: deleted though aborted")
    if pool.note(names.ROTATION_MODE) == "forceful-fallback":
        _falls_back(state, job.write, claim)
    else:
        _has_successor(state, claim)
    living = state.ours & {one.uid for one in state.claims}
    expect(holds=living <= {claim.uid}, promise="S2: two candidates that we deleted at once")
    raced = {claim.uid} if _taken_back(state) else set()
    return state._replace(ours=state.ours | {claim.uid}, raced=state.raced | raced)


def _taken_back(state: State) -> bool:
    """Whether a newer pass is about to take the mirror or the anchor back."""
    if state.flight is None or state.old is None:
        return False
    planned = dict(state.flight.plan.update)
    keys = (names.ACTIVE_ROTATION, names.ACTIVE_ROTATION_STATE)
    return any(key in planned and planned[key] is None for key in keys)


def _falls_back(state: State, write: DeleteCandidate, claim: Thing) -> None:
    expect(holds=is_open(state), promise="S1: a fallback outside the window")
    policy = write.policy
    allowed = policy.fallback and not policy.suspend and not policy.dry_run
    expect(holds=allowed, promise="S1: a fallback that its policy doesn't allow")
    created = datetime.fromisoformat(claim.obj["metadata"]["creationTimestamp"])
    left = created + LIFE - datetime.fromisoformat(CLOCK[state.phase])
    expect(holds=left < T_ROT, promise="S1: a needless fallback")


def _has_successor(state: State, claim: Thing) -> None:
    pod = find(state.pods, names.PLACEHOLDER_PREFIX + claim.name)
    expect(holds=pod is not None, promise="S1: no placeholder")
    assert pod is not None
    running = pod.obj["status"]["phase"] == "Running" and not pod.deleting
    expect(holds=running, promise="S1: the placeholder doesn't run")
    host = find(state.nodes, pod.obj["spec"]["nodeName"])
    expect(holds=host is not None, promise="S1: the host is gone")
    assert host is not None
    owner = find(state.claims, host.obj["metadata"]["ownerReferences"][0]["name"])
    expect(holds=owner is not None, promise="S1: the host's claim is gone")
    assert owner is not None
    expect(holds=host.name != claim.obj["status"]["nodeName"], promise="S1: on the candidate")
    expect(holds=ready(host), promise="S1: the host isn't ready")
    spec: Json = host.obj["spec"]
    expect(holds=not spec.get("unschedulable"), promise="S1: the host is cordoned")
    expect(holds=not spec.get("taints"), promise="S1: the host is disrupted")
    expect(holds=not owner.deleting and not host.deleting, promise="S1: the host goes")


def ready(host: Thing) -> bool:
    """Whether a Node is ready."""
    conditions: list[Any] = host.obj["status"]["conditions"]
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)


def _reaped(state: State, victim: Thing) -> None:
    anchor = state.pool.note(names.ACTIVE_ROTATION) if state.pool is not None else None
    candidate = find(state.claims, anchor)
    expect(holds=candidate is not None, promise="reaped without a candidate")
    assert candidate is not None
    expect(holds=victim.name != candidate.name, promise="reaped the candidate")
    stamp = candidate.note(names.STARTED_AT) or "9"
    born = victim.obj["metadata"]["creationTimestamp"]
    expect(holds=born > stamp, promise="reaped an older node")
    own = names.PLACEHOLDER_PREFIX + candidate.name
    living = [
        pod
        for pod in Hands(state).residents(victim.obj["status"]["nodeName"])
        if pod.name != own and pod.obj["metadata"]["ownerReferences"][0]["kind"] != "DaemonSet"
    ]
    expect(holds=not living, promise="reaped a node on which somebody lives")


# --- S3 ---


def protected(state: State, host: Thing) -> None:
    """What operators put on a Node is still there."""
    for name, mark in state.planted:
        if name == host.name:
            there = (
                host.note(names.DO_NOT_DISRUPT) == "true"
                if mark == "protect"
                else bool(host.obj["spec"].get("unschedulable"))
            )
            expect(holds=there, promise=f"S3: an operator's {mark} is undone")


# --- S4, starts ---


def may_create(state: State, pod: Thing) -> bool:
    """Whether a placeholder may be created as things are."""
    claim = find(state.claims, pod.note(names.SURGE_FOR))
    return claim is not None and _anchors(state, claim) and not claim.deleting


def created(state: State, flight: Flight, pod: Thing) -> None:
    """A placeholder is created.

    The race of milliseconds between the create guard and this is known: it is enough that the
    promise held at either end.
    """
    expect(
        holds=flight.held or may_create(state, pod),
        promise="S4: a placeholder without its anchor, or for a claim that goes",
    )


def updated(state: State, flight: Flight, new: Thing) -> State:
    """The NodePool is updated by an answer."""
    pool, uid = state.pool, new.note(names.ACTIVE_ROTATION_UID) or ""
    assert pool is not None
    before, anchor = pool.note(names.ACTIVE_ROTATION), new.note(names.ACTIVE_ROTATION)
    if anchor is not None and anchor != before:
        expect(holds=before is None, promise="a rotation took the place of another")
        expect(holds=is_open(state), promise="started outside the window")
        expect(holds=pool.note(names.FREEZE) is None, promise="started under a freeze")
        expect(holds=not pool.deleting, promise="started in a pool that goes")
        known = flight.plan.obs.policies
        expect(holds=bool(known), promise="started without a policy")
        suspended = any(getattr(policy, "suspend", False) for policy in known)
        expect(holds=not suspended, promise="started while suspended")
        if new.note(names.ROTATION_MODE) is not None:
            state = _tried(state, uid)
    if new.note(names.ACTIVE_ROTATION_STATE) == "draining":
        state = state._replace(mirrored=state.mirrored | {uid})
    return state


# --- C1 ---


def begun(state: State, claim: Thing) -> State:
    """A claim is patched: a fresh started-at is one more attempt."""
    was, fresh = find(state.claims, claim.name), claim.note(names.STARTED_AT)
    if fresh is None or (was is not None and was.note(names.STARTED_AT) == fresh):
        return state
    return _tried(state, claim.uid)


def _tried(state: State, uid: str) -> State:
    tries = dict(state.tries)
    tries[uid] = tries.get(uid, 0) + 1
    return state._replace(tries=tuple(sorted(tries.items())))


def counted(state: State, flight: Flight, event: tuple[str, str]) -> State:
    """An Event is created, and with it an outcome is counted.

    One that counts nothing changes nothing of what may follow, so the state doesn't remember it:
    that each is told once is for tests/rotation/test_crash_points.py.
    """
    name, outcome = event
    if outcome not in {COMPLETED, EXPIRED, FAILED}:
        return state
    uid = flight.plan.obs.pool.anchor_uid or ""
    claim = next((one for one in state.claims if one.uid == uid), None)
    if outcome == COMPLETED:
        ours = uid in state.ours | state.mirrored
        expect(holds=ours, promise="C1: a success that wasn't ours")
        expect(holds=claim is None, promise="C1: a success of a claim that is there")
    elif outcome == EXPIRED:
        ours = uid in state.ours - state.raced
        expect(holds=not ours, promise="C1: our own delete counted as expiry")
        gone = claim is None or claim.deleting
        expect(holds=gone, promise="C1: an expiry of a claim that stays")
    else:
        expect(holds=uid not in state.ours, promise="C1: a failure of a claim that we deleted")
        failures = sum(1 for _, what, whose in state.events if (what, whose) == (outcome, uid))
        attempts = dict(state.tries).get(uid, 0)
        expect(holds=failures < attempts, promise="C1: more failures than attempts")
    terminal = sum(1 for _, what, whose in state.events if whose == uid and what != FAILED)
    expect(holds=outcome == FAILED or not terminal, promise="C1: two outcomes of one claim")
    return state._replace(events=state.events | {(name, outcome, uid)})


# --- L1 ---


def left(state: State) -> list[str]:
    """What of a rotation is still there, apart from what only Karpenter can end."""
    pool = state.pool
    going = pool is None or pool.deleting
    found: list[str] = []
    if pool is not None and not going:
        found += [key for key in names.CLEARED_AT_THE_END if pool.note(key) is not None]
        found += [pod.name for pod in state.pods if not pod.deleting]
    for host in state.nodes:
        found += [f"Node {host.name}: {mark}" for mark in MARKS if host.note(mark) is not None]
        found += [f"Node {host.name}: label"] if host.labelled else []
    for claim in state.claims:
        flying = claim.note(names.STATE) in {"pending", "draining"}
        if flying and not claim.deleting and not going:
            found.append(f"{claim.name}: {claim.note(names.STATE)}")
    if not going:
        there = {one.uid for one in state.claims}
        told = {uid for _, what, uid in state.events if what == COMPLETED}
        found += [f"{uid}: not counted" for uid in state.ours - state.raced - there - told]
    return found
