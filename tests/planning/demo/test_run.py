"""The whole demo, twice with the same seed: for people and for programs, with other hashes each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest

from hooks.planning.demo import world
from hooks.planning.demo.run import PROMISED, UNTOLD
from hooks.planning.demo.story import BLOCKADE, BLOCKED, SUSPECT
from hooks.verdict.checks import judge
from hooks.verdict.history import replay
from hooks.verdict.questions import annotation, of_pool
from hooks.verdict.record import judge_record
from hooks.verdict.singletons import ready_endpoints
from tests.planning.demo.runs import LONGEST, Ran, run

pytestmark = pytest.mark.timeout(2 * LONGEST)
LINE = 80 - len("Sat 22:00:00 ") - len("  ") * 2
"""What a sentence may be long to stand in one line of the moving picture."""


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Ran, Ran]]:
    folder = tmp_path_factory.mktemp("demo")
    with ThreadPoolExecutor(2) as pool:
        text = pool.submit(run, folder / "text", chance="1")
        data = pool.submit(run, folder / "json", "--output", "json", chance="2")
        yield text.result(), data.result()


@pytest.fixture
def text(both: tuple[Ran, Ran]) -> Ran:
    return both[0]


@pytest.fixture
def data(both: tuple[Ran, Ran]) -> Ran:
    return both[1]


def test_it_passes(text: Ran, data: Ran) -> None:
    assert (text.status, text.stderr) == (0, "")
    assert (data.status, data.stderr) == (0, "")
    assert (data.said["verdict"], data.said["violations"]) == ("pass", [])


def test_only_what_operators_marked_would_be_held_against_it(data: Ran) -> None:
    unexplained = {one.check for one in judge(data.changes, world.POOL).violations}
    assert unexplained == {"cordoned_first", "marks_go_with_the_anchor", "nothing_left"}


def test_the_file_alone_is_enough_for_a_verdict(data: Ran) -> None:
    assert judge_record(data.history, world.POOL, also=PROMISED).is_pass


def test_the_same_seed_gives_the_same_bytes(text: Ran, data: Ran) -> None:
    assert text.history.read_bytes() == data.history.read_bytes()


def test_the_nodes_are_replaced_in_the_order_of_their_deadlines(data: Ran) -> None:
    begun = {
        one.name: datetime.fromisoformat(one.object["metadata"]["creationTimestamp"])
        for one in data.changes
        if one.kind == "NodeClaim" and one.type == "ADDED"
    }
    order = sorted(begun, key=lambda name: (begun[name], name))[: world.SIZE]
    suspect = order.pop(SUSPECT - 1)
    first = [one["nodeClaim"] for one in data.said["rotations"] if one["window"] == FIRST]
    second = [one["nodeClaim"] for one in data.said["rotations"] if one["window"] == SECOND]
    assert first == order[: len(first)]
    assert second == [suspect, *order[len(first) :]]
    assert min(len(first), len(second)) >= 5
    assert len(first) + len(second) == world.SIZE


FIRST, SECOND = (f"{window.start:%Y-%m-%dT%H:%M:%SZ}" for window in world.WINDOWS)


def test_each_rotation_is_told_with_its_times(data: Ran) -> None:
    for number, one in enumerate(data.said["rotations"], start=1):
        start, end = datetime.fromisoformat(one["start"]), datetime.fromisoformat(one["end"])
        assert abs((end - start).total_seconds() - one["totalSeconds"]) <= 1
        assert 0 < one["surgeSeconds"] < 180
        blocked = BLOCKADE if number == BLOCKED else timedelta(0)
        assert blocked <= timedelta(seconds=one["drainSeconds"]) < blocked + timedelta(minutes=3)
        assert one["node"].startswith(f"kwok-{one['nodeClaim']}-")
        assert one["successor"].startswith("shop-")


def test_the_singletons_pod_goes_when_its_successor_is_there(text: Ran) -> None:
    of_till = [line[15:] for line in text.stdout.splitlines() if "till" in line]
    told = [re.sub(r"till-\S+|shop-\S+", "…", line) for line in of_till]
    assert len(told) >= 4
    assert len(told) % 4 == 0
    for first in range(0, len(told), 4):
        assert told[first : first + 4] == [
            "The only Pod of till stays until its successor is Ready.",
            "Pod … is Ready on …",
            "Pod … has to leave …",
            "The rollout of till is over; nothing holds its Pods any more.",
        ]


def test_its_service_always_has_a_ready_endpoint(data: Ran) -> None:
    ready = [
        len(ready_endpoints(moment))
        for moment in replay(data.changes)
        if moment.change.kind == "EndpointSlice"
    ]
    first = next(number for number, count in enumerate(ready) if count)
    assert set(ready[first:]) == {1, 2}


def test_every_mishap_of_the_story_came(text: Ran) -> None:
    asides = [line.split(" * ", 1)[1] for line in text.stdout.splitlines() if " * " in line]
    words = [
        "will expire",
        "is installed",
        "operator cordons",
        "falls silent",
        "is back",
        "deletes the placeholder",
        "just came up",
        "release",
        "is over",
        "protects",
        "lets",
    ]
    assert len(asides) == len(words)
    assert [word for word, told in zip(words, asides, strict=True) if word not in told] == []


def test_every_sentence_has_room_in_a_narrow_terminal(text: Ran) -> None:
    told = [line for line in text.stdout.splitlines() if line[:3] in {"Sat", "Sun"}]
    start = len("Sat 22:00:00   ")
    assert [line for line in told if len(line[start:]) > LINE] == []
    assert len(told) > 100


def test_the_lines_are_in_the_order_of_time(text: Ran) -> None:
    told = [line[:12] for line in text.stdout.splitlines() if line[:3] in {"Sat", "Sun"}]
    assert told == sorted(told)


def test_the_report_comes_last(text: Ran) -> None:
    lines = text.stdout.splitlines()
    assert lines[-14].split() == [
        "node",
        "successor",
        "surge",
        "drain",
        "total",
        "began",
        "window",
    ]
    assert lines[-1].startswith("PASS: 12 nodes were replaced before their deadlines")


def test_the_operators_protections_stand_at_the_end(data: Ran) -> None:
    moment = list(replay(data.changes))[-1]
    kept = [
        node["metadata"]["labels"]["karpenter.sh/nodepool"]
        for node in of_pool(moment.world, "Node", world.POOL)
        if annotation(node, "karpenter.sh/do-not-disrupt") == "true"
    ]
    assert kept == [world.POOL] * 2


def test_no_secret_is_in_the_history(data: Ran) -> None:
    kinds = {change.kind for change in data.changes}
    assert kinds & UNTOLD == set()
    assert {"NodePool", "NodeClaim", "Node", "Pod", "RotationPolicy", "EndpointSlice"} <= kinds
