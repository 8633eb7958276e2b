"""What must hold, live, before each dangerous step: each condition once false.

The fixtures show the same through the whole hook; here each guard stands alone, on values.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest

from hooks import names
from hooks.rotation.guards import (
    ROLLBACK,
    claim_guard,
    create_guard,
    delete_guard,
    fallback_ok,
    is_frozen,
    is_overdue,
    names_claim,
    surge_ready,
)
from hooks.rotation.model import (
    Budget,
    Claim,
    ClaimState,
    Exclusion,
    Malformed,
    Mode,
    Node,
    Pod,
    Policy,
    Pool,
    Selector,
    Stamp,
    Taint,
    Window,
)
from hooks.rotation.reasons import Reason
from hooks.rotation.writes import ClaimGuard, DeleteCandidate

NOW = datetime(2026, 11, 29, 20, 0, tzinfo=UTC)
STARTED = NOW - timedelta(minutes=20)
LATER = NOW + timedelta(hours=1)
POLICY = Policy(
    name="api",
    selector=Selector(),
    windows=(Window("UTC", frozenset(range(7)), 18 * 60, 22 * 60),),
    fallback=True,
)
OLD = Claim(
    name="old",
    uid="u-old",
    created=NOW - timedelta(hours=10),
    resource_version="7",
    node_name="node-old",
    pool="api",
    expire_after=timedelta(hours=10, minutes=5),
    state=ClaimState.DRAINING,
    started_at=STARTED,
    surge_claim="new",
)
NEW = Claim(name="new", uid="u-new", created=NOW - timedelta(minutes=10), node_name="node-new",
            pool="api", registered=True)  # fmt: skip
HOST = Node(name="node-new", owner_claim="new", labels={names.NODEPOOL_LABEL: "api"}, ready=True)
POD = Pod(name="noderotation-surge-old", phase="Running", node_name="node-new", surge_for="old")
POOL = Pool(name="api", uid="u-api", anchor="old", anchor_uid="u-old", mirror=True)


@dataclass(frozen=True)
class Live:
    """A reader of literal values."""

    the_pool: Pool | None = POOL
    claims: tuple[Claim, ...] = (OLD, NEW)
    nodes: tuple[Node, ...] = (HOST,)
    pods: tuple[Pod, ...] = (POD,)
    on_nodes: dict[str, tuple[Pod, ...]] = field(default_factory=dict)

    def pool(self, name: str) -> Pool | None:
        return self.the_pool if self.the_pool and self.the_pool.name == name else None

    def claim(self, name: str) -> Claim | None:
        return next((claim for claim in self.claims if claim.name == name), None)

    def node(self, name: str) -> Node | None:
        return next((node for node in self.nodes if node.name == name), None)

    def pods_on(self, node: str) -> tuple[Pod, ...]:
        return self.on_nodes.get(node, ())

    def placeholder(self, name: str) -> Pod | None:
        return next((pod for pod in self.pods if pod.name == name), None)

    def briefly(self) -> Live:
        return self

    def budgets(self) -> tuple[Budget, ...]:
        return ()


READY = Live()


@pytest.mark.parametrize(("freeze", "frozen"), [
    (None, False),
    (NOW, False),
    (NOW + timedelta(microseconds=1), True),
    (NOW - timedelta(days=1), False),
    (Malformed("soon"), True),
])  # fmt: skip
def test_a_freeze_holds_until_its_time_and_an_unreadable_one_for_good(
    freeze: Stamp, frozen: bool
) -> None:
    assert is_frozen(replace(POOL, freeze=freeze), NOW) is frozen


@pytest.mark.parametrize(("started", "overdue"), [
    (NOW - POLICY.ready_timeout, False),
    (NOW - POLICY.ready_timeout - timedelta(microseconds=1), True),
    (None, False),
    (Malformed("x"), False),
])  # fmt: skip
def test_an_attempt_is_overdue_when_it_is_older_than_ready_timeout(
    started: Stamp, overdue: bool
) -> None:
    assert is_overdue(POLICY, started, NOW) is overdue


@pytest.mark.parametrize(("anchor", "uid", "named"), [
    ("old", "u-old", True), ("old", None, True), ("old", "u-x", False), ("x", "u-old", False),
    (None, None, False),
])  # fmt: skip
def test_an_anchor_without_a_uid_goes_by_the_name(
    anchor: str | None, uid: str | None, named: bool
) -> None:
    assert names_claim(Pool("api", anchor=anchor, anchor_uid=uid), "old", "u-old") is named


UNREADY = [
    (replace(READY, pods=()), Reason.PLACEHOLDER_MISSING),
    (replace(READY, pods=(replace(POD, deleting=True),)), Reason.PLACEHOLDER_NOT_RUNNING),
    (replace(READY, pods=(replace(POD, phase="Pending"),)), Reason.PLACEHOLDER_NOT_RUNNING),
    (replace(READY, pods=(replace(POD, node_name=""),)), Reason.PLACEHOLDER_NOT_RUNNING),
    (replace(READY, pods=(replace(POD, node_name="node-old"),)), Reason.PLACEHOLDER_ON_CANDIDATE),
    (replace(READY, nodes=(replace(HOST, owner_claim="old"),)), Reason.PLACEHOLDER_ON_CANDIDATE),
    (replace(READY, nodes=()), Reason.HOST_LEAVING),
    (replace(READY, nodes=(replace(HOST, deleting=True),)), Reason.HOST_LEAVING),
    (replace(READY, nodes=(replace(HOST, owner_claim=None),)), Reason.HOST_LEAVING),
    (replace(READY, nodes=(replace(HOST, taints=(Taint(names.DISRUPTED_TAINT, "NoSchedule"),)),)),
     Reason.HOST_LEAVING),
    (replace(READY, claims=(OLD,)), Reason.HOST_LEAVING),
    (replace(READY, claims=(OLD, replace(NEW, deleting_since=NOW))), Reason.HOST_LEAVING),
    (replace(READY, nodes=(replace(HOST, labels={}),)), Reason.HOST_OF_ANOTHER_POOL),
    (replace(READY, nodes=(replace(HOST, unschedulable=True),)), Reason.HOST_UNSCHEDULABLE),
    (replace(READY, nodes=(replace(HOST, ready=False),)), Reason.HOST_NOT_READY),
]  # fmt: skip


def test_a_surge_is_ready() -> None:
    assert surge_ready(READY, "api", OLD) is None
    other_taint = replace(HOST, taints=(Taint("dedicated", "NoSchedule", "db"),))
    assert surge_ready(replace(READY, nodes=(other_taint,)), "api", OLD) is None


@pytest.mark.parametrize(("live", "why"), UNREADY)
def test_a_surge_is_not_ready(live: Live, why: Reason) -> None:
    assert surge_ready(live, "api", OLD) is why
    assert why in ROLLBACK


# --- the delete ---

DELETE = DeleteCandidate("api", "old", "u-old", Mode.SURGE, POLICY, suspended=False, now=NOW)
REFUSED = [
    (replace(READY, the_pool=None), Reason.POOL_GONE),
    *((replace(READY, the_pool=replace(POOL, **change)), why) for change, why in (
        ({"deleting": True}, Reason.POOL_DELETING),
        ({"anchor": "new"}, Reason.ANCHOR_ELSEWHERE),
        ({"anchor_uid": "u-x"}, Reason.ANCHOR_ELSEWHERE),
        ({"mode": Mode.FALLBACK}, Reason.MODE_CHANGED),
        ({"freeze": LATER}, Reason.FROZEN),
        ({"abort": "old"}, Reason.ABORTED),
        ({"mirror": False}, Reason.MIRROR_MISSING),
    )),
    (replace(READY, claims=(NEW,)), Reason.CLAIM_GONE),
    *((replace(READY, claims=(replace(OLD, **change), NEW)), why) for change, why in (
        ({"uid": "u-x"}, Reason.CLAIM_GONE),
        ({"deleting_since": NOW}, Reason.CLAIM_DELETING),
        ({"state": ClaimState.PENDING}, Reason.STATE_CHANGED),
        ({"state": None}, Reason.STATE_CHANGED),
    )),
    *UNREADY,
]  # fmt: skip


def test_a_delete_goes_ahead_with_the_claim_as_it_was_read() -> None:
    assert delete_guard(READY, DELETE) == (None, OLD)
    elsewhere = replace(READY, the_pool=replace(POOL, abort="new", freeze=NOW))
    assert delete_guard(elsewhere, DELETE) == (None, OLD)


@pytest.mark.parametrize(("live", "why"), REFUSED)
def test_a_delete_is_refused(live: Live, why: Reason) -> None:
    assert delete_guard(live, DELETE)[0] is why


def test_a_hold_goes_before_the_missing_mirror() -> None:
    """Row 7 restores a mirror only when everything else holds; else row 7b steps back."""
    live = replace(READY, the_pool=replace(POOL, mirror=False), pods=())
    assert delete_guard(live, DELETE)[0] is Reason.PLACEHOLDER_MISSING


BARE = replace(READY, the_pool=replace(POOL, mode=Mode.FALLBACK), pods=(), nodes=())
FALLBACK = replace(DELETE, mode=Mode.FALLBACK)


def test_a_fallback_needs_no_successor() -> None:
    assert delete_guard(BARE, FALLBACK) == (None, OLD)


@pytest.mark.parametrize("write", [
    replace(FALLBACK, suspended=True),
    replace(FALLBACK, policy=replace(POLICY, suspend=True)),
    replace(FALLBACK, policy=replace(POLICY, dry_run=True)),
    replace(FALLBACK, policy=replace(POLICY, fallback=False)),
    replace(FALLBACK, policy=replace(POLICY, exclusions=(Exclusion(NOW, LATER),))),
    replace(FALLBACK, now=NOW + timedelta(hours=2)),
    replace(FALLBACK, now=NOW - timedelta(hours=2)),
    replace(FALLBACK, policy=replace(POLICY, ready_timeout=timedelta(0)), now=NOW
            - timedelta(minutes=58)),
])  # fmt: skip
def test_a_fallback_that_is_no_longer_ok_is_refused(write: DeleteCandidate) -> None:
    assert delete_guard(BARE, write)[0] is Reason.FALLBACK_NOT_OK


def test_the_last_moment_for_a_surge() -> None:
    """Deadline 20:05, t_rot 15m + 1h + 2m: from 18:48 on a surge can't make it."""
    edge = NOW + timedelta(minutes=5) - timedelta(hours=1, minutes=17)
    assert not fallback_ok(POLICY, POOL, OLD, edge, suspended=False)
    after = edge + timedelta(microseconds=1)
    assert fallback_ok(POLICY, POOL, OLD, after, suspended=False)
    never = replace(OLD, expire_after=None)
    assert not fallback_ok(POLICY, POOL, never, after, suspended=False)


# --- other writes ---

TAKEN = ClaimGuard("api", anchored=True, state=ClaimState.DRAINING, started_at=STARTED,
                   deleting=False)  # fmt: skip
STRAY = replace(TAKEN, anchored=False)


@pytest.mark.parametrize(("guard", "pool", "claim", "why"), [
    (TAKEN, POOL, OLD, None),
    (TAKEN, None, OLD, Reason.POOL_GONE),
    (TAKEN, replace(POOL, anchor=None), OLD, Reason.ANCHOR_ELSEWHERE),
    (TAKEN, replace(POOL, anchor_uid="u-x"), OLD, Reason.ANCHOR_ELSEWHERE),
    (TAKEN, POOL, None, Reason.CLAIM_GONE),
    (TAKEN, POOL, replace(OLD, uid="u-x"), Reason.CLAIM_GONE),
    (TAKEN, POOL, replace(OLD, deleting_since=NOW), Reason.CLAIM_DELETING),
    (TAKEN, POOL, replace(OLD, state=ClaimState.PENDING), Reason.STATE_CHANGED),
    (TAKEN, POOL, replace(OLD, state=Malformed("x")), Reason.STATE_CHANGED),
    (TAKEN, POOL, replace(OLD, started_at=None), Reason.STATE_CHANGED),
    (TAKEN, POOL, replace(OLD, retry_count=3, surge_claim=None), None),
    (replace(TAKEN, deleting=True), POOL, replace(OLD, deleting_since=NOW), None),
    (replace(TAKEN, started_at=Malformed("x")), POOL, replace(OLD, started_at=Malformed("x")),
     None),
    (STRAY, POOL, OLD, Reason.ANCHOR_ELSEWHERE),
    (STRAY, replace(POOL, anchor="new", anchor_uid="u-new"), OLD, None),
    (STRAY, replace(POOL, anchor_uid="u-x"), OLD, None),
])  # fmt: skip
def test_the_claim_guard(
    guard: ClaimGuard, pool: Pool | None, claim: Claim | None, why: Reason | None
) -> None:
    assert claim_guard(guard, "old", "u-old", pool, claim) is why


@pytest.mark.parametrize(("pool", "claim", "why"), [
    (POOL, OLD, None),
    (None, OLD, Reason.POOL_GONE),
    (replace(POOL, deleting=True), OLD, Reason.POOL_GONE),
    (replace(POOL, anchor=None), OLD, Reason.ANCHOR_ELSEWHERE),
    (POOL, None, Reason.CLAIM_GONE),
    (POOL, replace(OLD, uid="u-x"), Reason.CLAIM_GONE),
    (POOL, replace(OLD, deleting_since=NOW), Reason.CLAIM_DELETING),
])  # fmt: skip
def test_the_create_guard(pool: Pool | None, claim: Claim | None, why: Reason | None) -> None:
    assert create_guard(pool, claim, "old", "u-old") is why
