"""``noderotation abort``."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Run
from tests.cluster.interference import annotations_of, moving
from tests.cluster.standin import Seen, StandIn
from tests.cluster.things import CLAIMS, POOLS, claim, ours, pool

POOL = f"{POOLS}/api"
CLAIM = f"{CLAIMS}/api-1"
ANCHOR = ours(active_rotation="api-1", active_rotation_uid="uid-api-1")
DELETED = "2026-11-29T21:00:00Z"


@pytest.fixture(autouse=True)
def _world(server: StandIn) -> None:
    server.put(POOLS, pool("api", ANCHOR), pool("idle"))
    server.put(CLAIMS, claim("api-1", ours(state="pending")))


def test_a_surge_is_aborted(server: StandIn, run: Run) -> None:
    done = run("abort", "api")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout == "NodePool api: the rotation of NodeClaim api-1 will be rolled back\n"
    assert annotations_of(server, POOL) == {**ANCHOR, **ours(abort="api-1")}
    again = run("abort", "api", "--output", "json")
    assert (again.exit_code, json.loads(again.stdout)) == (
        0,
        {"nodePool": "api", "nodeClaim": "api-1"},
    )
    assert len(server.writes()) == 1


@pytest.mark.parametrize(
    "more", [{}, ours(active_rotation_state="draining"), ours(rotation_mode="forceful-fallback")]
)
@pytest.mark.parametrize("state", [{}, ours(state="pending"), ours(state="draining")])
def test_it_is_possible_until_the_delete(
    server: StandIn, run: Run, more: dict[str, str], state: dict[str, str]
) -> None:
    annotations_of(server, POOL).update(more)
    server.objects[CLAIM]["metadata"]["annotations"] = state
    assert run("abort", "api").exit_code == 0
    assert annotations_of(server, POOL)["noderotation.io/abort"] == "api-1"


def refused(server: StandIn, run: Run, pool_name: str = "api") -> str:
    """Run it, hold it to have changed nothing, and give what it says."""
    done = run("abort", pool_name)
    assert (done.exit_code, done.stdout) == (1, "")
    assert server.writes() == []
    return done.stderr


def test_nothing_is_in_flight(server: StandIn, run: Run) -> None:
    assert refused(server, run, "idle") == (
        "Error: NodePool idle: nothing to abort, no rotation is in flight\n"
    )


def test_the_pool_does_not_exist(server: StandIn, run: Run) -> None:
    assert refused(server, run, "nope") == 'Error: nodepools "nope" not found\n'


def test_the_pool_is_going(server: StandIn, run: Run) -> None:
    server.objects[POOL]["metadata"]["deletionTimestamp"] = DELETED
    assert refused(server, run) == ("Error: NodePool api: nothing to abort, it is being deleted\n")


def test_the_claim_is_being_deleted(server: StandIn, run: Run) -> None:
    server.objects[CLAIM]["metadata"]["deletionTimestamp"] = DELETED
    assert refused(server, run) == (
        "Error: NodePool api: NodeClaim api-1 is being deleted already, "
        "and a drain can't be rolled back\n"
    )


def test_the_claim_is_gone(server: StandIn, run: Run) -> None:
    gone = "Error: NodePool api: NodeClaim api-1 is gone already\n"
    server.objects[CLAIM]["metadata"]["uid"] = "of a namesake"
    assert refused(server, run) == gone
    del server.objects[CLAIM]
    assert refused(server, run) == gone


def test_the_delete_was_faster(server: StandIn, run: Run) -> None:
    def delete(seen: Seen) -> None:
        if seen.method == "PATCH":
            server.objects[CLAIM]["metadata"]["deletionTimestamp"] = DELETED

    server.rules.append(delete)
    done = run("abort", "api")
    assert (done.exit_code, done.stdout, done.stderr) == (
        1,
        "",
        "Error: the abort came too late: NodeClaim api-1 is being deleted\n",
    )


def test_the_rotation_that_is_aborted_is_the_one_that_was_seen(server: StandIn, run: Run) -> None:
    """Between read and patch the next rotation began: it is judged anew."""
    server.put(CLAIMS, claim("api-2", deletionTimestamp=DELETED))
    moved = moving(server, POOL, times=1)

    def next_one(seen: Seen) -> None:
        moved(seen)
        if seen.method == "PATCH":
            annotations_of(server, POOL).update(
                ours(active_rotation="api-2", active_rotation_uid="uid-api-2")
            )

    server.rules.append(next_one)
    done = run("abort", "api")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "NodeClaim api-2 is being deleted already" in done.stderr
    assert "noderotation.io/abort" not in annotations_of(server, POOL)


def test_wrong_use(run: Run) -> None:
    assert run("abort").exit_code == 2
    assert run("abort", "api", "--output", "yaml").exit_code == 2
