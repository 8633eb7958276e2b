"""``noderotation rotate``."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Run
from tests.cluster.interference import annotations_of, forbidding
from tests.cluster.standin import StandIn
from tests.cluster.things import CLAIMS, POOLS, claim, ours, pool

BEFORE = "2026-11-10T00:00:00Z"
POOL = f"{POOLS}/api"
CLAIM = f"{CLAIMS}/api-1"


@pytest.fixture(autouse=True)
def _world(server: StandIn) -> None:
    server.put(POOLS, pool("api", {"own/key": "1"}))
    server.put(
        CLAIMS,
        claim("api-2", created="2026-11-09T23:59:59Z"),
        claim("api-1", created="2026-11-01T00:00:00Z"),
        claim("api-3", created=BEFORE),
        claim("api-4", created="2026-11-01T00:00:00Z", deletionTimestamp=BEFORE),
    )


def test_a_pool(server: StandIn, run: Run) -> None:
    done = run("rotate", "api", "--created-before", BEFORE)
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout == (
        f"NodePool api: 2 of 4 nodes were created before {BEFORE} "
        "and are due in the coming windows\n"
    )
    assert annotations_of(server, POOL) == {"own/key": "1", **ours(due_before=BEFORE)}


def test_a_pool_as_json(run: Run) -> None:
    done = run("rotate", "api", "--created-before", BEFORE, "--output", "json")
    assert json.loads(done.stdout) == {
        "nodePool": "api",
        "createdBefore": BEFORE,
        "nodeClaims": ["api-1", "api-2"],
    }


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("2026-11-10T09:00:00+09:00", BEFORE),
        ("2026-11-10T00:00:00.000Z", BEFORE),
        # Rounding down would miss what was created in that very second.
        ("2026-11-10T00:00:00.5Z", "2026-11-10T00:00:01Z"),
    ],
)
def test_the_time_is_written_in_utc(server: StandIn, run: Run, given: str, written: str) -> None:
    assert run("rotate", "api", "--created-before", given).exit_code == 0
    assert annotations_of(server, POOL)["noderotation.io/due-before"] == written


def test_the_request_of_a_pool_is_taken_back(server: StandIn, run: Run) -> None:
    run("rotate", "api", "--created-before", BEFORE)
    done = run("rotate", "api", "--cancel")
    assert (done.exit_code, done.stdout) == (0, "NodePool api: the request is taken back\n")
    assert annotations_of(server, POOL) == {"own/key": "1"}
    again = run("rotate", "api", "--cancel", "--output", "json")
    assert (again.exit_code, json.loads(again.stdout)) == (
        0,
        {"nodePool": "api", "createdBefore": None, "nodeClaims": []},
    )


def test_one_claim(server: StandIn, run: Run) -> None:
    done = run("rotate", "--claim", "api-1")
    assert (done.exit_code, done.stdout) == (0, "NodeClaim api-1 is due in the coming windows\n")
    assert annotations_of(server, CLAIM) == ours(due="true")
    done = run("rotate", "--claim", "api-1", "--cancel", "--output", "json")
    assert json.loads(done.stdout) == {"nodeClaim": "api-1", "due": False}
    assert annotations_of(server, CLAIM) == {}
    assert run("rotate", "--claim", "api-1", "--cancel").stdout == (
        "NodeClaim api-1: the request is taken back\n"
    )


def test_a_claim_that_is_being_deleted(server: StandIn, run: Run) -> None:
    done = run("rotate", "--claim", "api-4")
    assert (done.exit_code, done.stderr) == (
        1,
        "Error: NodeClaim api-4 is being deleted already\n",
    )
    assert server.writes() == []
    assert run("rotate", "--claim", "api-4", "--cancel").exit_code == 0


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "name either a POOL or a --claim"),
        (["api", "--claim", "api-1"], "name either a POOL or a --claim"),
        (["api"], "give --created-before TIME, or --cancel"),
        (["api", "--cancel", "--created-before", BEFORE], "give --created-before TIME, or"),
        (["--claim", "api-1", "--created-before", BEFORE], "--created-before goes with a POOL"),
        (["api", "--created-before", "yesterday"], "is not an RFC 3339 time with its zone"),
        (["api", "--created-before", "2026-11-10T00:00:00"], "is not an RFC 3339 time"),
        (["api", "--created-before", "2026-11-10"], "is not an RFC 3339 time with its zone"),
        (["api", "--created-before", "2926-11-10T00:00:00Z"], "lies in the future"),
    ],
)
def test_wrong_use(server: StandIn, run: Run, words: list[str], says: str) -> None:
    done = run("rotate", *words)
    assert done.exit_code == 2
    assert says in done.stderr
    assert server.seen == []


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["nope", "--created-before", BEFORE], 'Error: nodepools "nope" not found\n'),
        (["nope", "--cancel"], 'Error: nodepools "nope" not found\n'),
        (["--claim", "nope"], 'Error: nodeclaims "nope" not found\n'),
    ],
)
def test_what_does_not_exist(run: Run, words: list[str], says: str) -> None:
    done = run("rotate", *words)
    assert (done.exit_code, done.stdout, done.stderr) == (1, "", says)


def test_a_missing_right_is_said(server: StandIn, run: Run) -> None:
    server.rules.append(forbidding("PATCH", POOL))
    done = run("rotate", "api", "--created-before", BEFORE)
    assert (done.exit_code, done.stderr) == (
        1,
        "Error: the API server refused it (403): no\n",
    )
