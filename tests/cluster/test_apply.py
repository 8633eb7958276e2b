"""Writes of a pass: in order, guarded, retried on conflict, and what becomes of an Event."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import ClassVar

import pytest
from typing_extensions import override

from hooks import names
from hooks.cluster.apply import Applier
from hooks.cluster.errors import ClusterError, Conflict, NotFound, OutOfTime, Refused, Unavailable
from hooks.cluster.herald import Announced, Herald, event_body
from hooks.cluster.reader import LiveReader
from hooks.rotation.model import ClaimState, Mode, Policy, Selector
from hooks.rotation.reasons import Reason
from hooks.rotation.writes import (
    Announce,
    ClaimGuard,
    DeleteCandidate,
    Freeze,
    PatchClaim,
    Reap,
    Unfreeze,
    Write,
)
from tests.support.live import CLAIM, NODE, Json, Live
from tests.support.scene import STARTED, draining, running, without_pods
from tests.support.shortly import short
from tests.support.world import World, uid_of

NOW = datetime(2026, 11, 29, 20, 0, tzinfo=UTC)
POLICY = Policy("api", Selector(), (), ready_timeout=timedelta(minutes=1))
GUARD = ClaimGuard("api", anchored=True, state=ClaimState.PENDING,
                   started_at=datetime.fromisoformat(STARTED), deleting=False)  # fmt: skip
TAKE = PatchClaim("old", uid_of("old"), ((names.STATE, "draining"),), GUARD)
DELETE = DeleteCandidate("api", "old", uid_of("old"), Mode.SURGE, POLICY, suspended=False, now=NOW)
WITHDRAWN = without_pods(running())
REAP = Reap("api", "old", uid_of("old"), POLICY, (), NOW)
ANNOUNCE = Announce("event-1", "RotationFailed", "failure", warning=True, kind="NodeClaim",
                    regarding="old", regarding_uid=uid_of("old"), note="why", at=NOW)  # fmt: skip


def _applied(live: Live, *writes: Write) -> tuple[Reason | None, list[str], set[str]]:
    herald = Herald(live, Announced())
    stopped = Applier(live, LiveReader(live, names.NAMESPACE), herald).apply(writes)
    return stopped, [short(write) for write in live.writes], herald.counted


def _live(world: World) -> Live:
    return Live(world.live())


def test_writes_go_out_in_order() -> None:
    stopped, written, counted = _applied(
        _live(running()), Unfreeze("node-old", "old"), TAKE, ANNOUNCE, Freeze("node-young", "old",
                                                                             cordon=True)
    )  # fmt: skip
    assert stopped is None
    assert [line.split(":")[0] for line in written] == [
        "node node-old", "claim old", "event RotationFailed NodeClaim", "node node-young",
    ]  # fmt: skip
    assert counted == {"event-1"}


def test_the_first_refusal_ends_the_pass() -> None:
    live = _live(running())
    live.objects["nodeclaims"]["old"]["metadata"]["annotations"][names.STATE] = "failed"
    stopped, written, counted = _applied(live, Unfreeze("node-new", "old"), TAKE, ANNOUNCE)
    assert (stopped, counted) == (Reason.STATE_CHANGED, set())
    assert [line.split(":")[0] for line in written] == ["node node-new"]


@pytest.mark.parametrize(("conflicts", "stopped"), [(1, None), (3, None), (4, Reason.CONFLICT)])
@pytest.mark.parametrize("write", [TAKE, Unfreeze("node-old", "old")])
def test_a_conflicting_patch_is_computed_again_three_times_at_most(
    write: Write, conflicts: int, stopped: Reason | None
) -> None:
    live, tries = _live(running()), 0

    def fault(verb: str, _name: str) -> None:
        nonlocal tries
        if verb.startswith("patch"):
            tries += 1
            if tries <= conflicts:
                raise Conflict("somebody was faster")

    live.fault = fault
    assert _applied(live, write)[0] is stopped
    assert tries == min(conflicts + 1, 4)
    assert len(live.writes) == (stopped is None)


def test_each_try_reads_anew() -> None:
    """What the write rested on may be gone by the second try."""
    live, tries = _live(running()), 0

    def fault(verb: str, _name: str) -> None:
        nonlocal tries
        if verb == "patch nodeclaims":
            tries += 1
            live.objects["nodeclaims"]["old"]["metadata"]["deletionTimestamp"] = STARTED
            raise Conflict("somebody was faster")

    live.fault = fault
    assert _applied(live, TAKE)[0] is Reason.CLAIM_DELETING
    assert tries == 1


class Watched(Live):
    """Keeps what patches and deletes rest on."""

    rests_on: ClassVar[list[object]] = []

    @override
    def patch_node(self, name: str, ops: Sequence[Json]) -> Json:
        self.rests_on.append(ops[0])
        return super().patch_node(name, ops)

    @override
    def delete_nodeclaim(self, name: str, *, uid: str, resource_version: str) -> None:
        self.rests_on.append((name, uid, resource_version))
        super().delete_nodeclaim(name, uid=uid, resource_version=resource_version)


def test_a_patch_rests_on_the_version_that_was_read() -> None:
    live = Watched(running().live())
    live.rests_on.clear()
    version = live.objects[NODE]["node-old"]["metadata"]["resourceVersion"]
    _applied(live, Unfreeze("node-old", "old"))
    assert live.rests_on == [{"op": "test", "path": "/metadata/resourceVersion", "value": version}]


@pytest.mark.parametrize("marked_for", ["another", None])
def test_marks_of_another_rotation_stay(marked_for: str | None) -> None:
    world = running()
    notes = world.nodes[0]["metadata"]["annotations"]
    if marked_for is None:
        del notes[names.SURGE_FOR]
    else:
        notes[names.SURGE_FOR] = marked_for
    stopped, written, _ = _applied(_live(world), Unfreeze("node-old", "old"))
    assert (stopped, len(written)) == (None, marked_for is None)


def test_a_node_that_is_gone_needs_nothing() -> None:
    live = _live(running())
    writes = (Freeze("nowhere", "old", cordon=True), Unfreeze("nowhere", "old"))
    assert _applied(live, *writes) == (None, [], set())


def test_a_delete_rests_on_uid_and_version_of_the_read() -> None:
    live = Watched(draining().live())
    live.rests_on.clear()
    version = live.objects[CLAIM]["old"]["metadata"]["resourceVersion"]
    assert _applied(live, DELETE) == (None, ["delete old"], set())
    assert live.rests_on == [("old", uid_of("old"), version)]


@pytest.mark.parametrize(("error", "stopped"), [
    (NotFound("gone"), Reason.CLAIM_GONE), (Conflict("changed"), Reason.CONFLICT),
])  # fmt: skip
def test_a_delete_that_comes_too_late_stops(error: ClusterError, stopped: Reason) -> None:
    live = _live(draining())
    live.fault = _raising("delete nodeclaims", error)
    assert _applied(live, DELETE, ANNOUNCE) == (stopped, [], set())


@pytest.mark.parametrize("error", [NotFound("gone"), Conflict("changed")])
def test_a_reap_never_ends_the_pass(error: ClusterError) -> None:
    live = _live(WITHDRAWN)
    live.fault = _raising("delete nodeclaims", error)
    assert _applied(live, REAP, ANNOUNCE) == (
        None, ["event RotationFailed NodeClaim"], {"event-1"},
    )  # fmt: skip


@pytest.mark.parametrize("write", [TAKE, Unfreeze("node-old", "old"), REAP])
def test_trouble_is_raised(write: Write) -> None:
    live = _live(WITHDRAWN)
    live.fault = _raising("delete" if write is REAP else "patch", Unavailable("503"))
    with pytest.raises(Unavailable):
        _applied(live, write)


def _raising(verb: str, error: ClusterError) -> Callable[[str, str], None]:
    def fault(called: str, _name: str) -> None:
        if called.startswith(verb):
            raise error

    return fault


# --- Events ---


def test_an_event_that_is_there_counts_nothing() -> None:
    live = _live(running())
    live.events["event-1"] = {}
    assert _applied(live, ANNOUNCE) == (None, [], set())


@pytest.mark.parametrize("error", [Unavailable("503"), Refused(403, "no"), NotFound("namespace")])
def test_a_failing_event_api_counts_and_fails_nothing(error: ClusterError) -> None:
    live = _live(running())
    live.fault = _raising("create events", error)
    assert _applied(live, ANNOUNCE) == (None, [], {"event-1"})


def test_an_event_out_of_time_ends_the_pass() -> None:
    live = _live(running())
    live.fault = _raising("create events", OutOfTime("late"))
    with pytest.raises(OutOfTime):
        _applied(live, ANNOUNCE)


def test_the_body_of_an_event() -> None:
    assert event_body(ANNOUNCE) == {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": "event-1", "namespace": "default"},
        "eventTime": "2026-11-29T20:00:00.000000Z",
        "reportingController": "noderotation.io/hooks",
        "reportingInstance": "node-rotation",
        "action": "Rotate",
        "reason": "RotationFailed",
        "type": "Warning",
        "regarding": {
            "apiVersion": "karpenter.sh/v1",
            "kind": "NodeClaim",
            "name": "old",
            "uid": uid_of("old"),
        },
        "note": "why",
    }


def test_an_event_without_a_uid_and_with_a_long_note() -> None:
    long = Announce("e", "r", "success", warning=False, kind="NodePool", regarding="api",
                    regarding_uid="", note="x" * 2000, at=NOW)  # fmt: skip
    body = event_body(long)
    assert body["type"] == "Normal"
    assert body["note"] == "x" * 1000
    assert body["regarding"] == {
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "name": "api",
    }  # fmt: skip
