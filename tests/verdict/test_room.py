"""Whether the placeholder held as much as the Pods of the old node need."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from hooks.verdict.case import Case
from hooks.verdict.checks import ROOM, judge
from hooks.verdict.history import Object
from hooks.verdict.room import parse_amount, room_held
from tests.verdict import tales
from tests.verdict.tales import GOOD, POOL, Step, Tale, also, told

ENOUGH = {"cpu": "1500m", "memory": "1Gi"}
GPU = "nvidia.com/gpu"


def asking(requests: Object) -> list[Object]:
    return [{"resources": {"requests": requests}}, {}]


def placed(
    name: str,
    requests: Object,
    *,
    owner: str = "ReplicaSet",
    phase: str = "Running",
    on: str = "old",
) -> Step:
    def step(tale: Tale) -> None:
        owners = [{"kind": owner, "name": "web", "controller": True}]
        metadata = {"namespace": "default", "ownerReferences": owners}
        spec = {"nodeName": on, "containers": asking(requests)}
        tale.put("Pod", name, metadata=metadata, spec=spec, status={"phase": phase})

    return step


def leaving(tale: Tale) -> None:
    tale.leave("Pod", "also")


def offers(amounts: Object) -> Step:
    def step(tale: Tale) -> None:
        tale.put("NodeClaim", "old", status={"nodeName": "old", "allocatable": amounts})

    return step


def held(requests: Object, *around: Step) -> list[str]:
    """What is said of a rotation whose placeholder asks for that much."""

    def sized(tale: Tale) -> None:
        spec = {"nodeName": "new", "containers": asking(requests)}
        tale.put("Pod", "noderotation-surge-old", spec=spec)

    steps = list(also(sized, before=tales.mirrored))
    steps[1:1] = [placed("web", ENOUGH), *around]
    return room_held(Case(told(*steps), POOL))


@pytest.mark.parametrize(
    "around",
    [
        pytest.param((), id="the one Pod"),
        pytest.param((placed("also", ENOUGH, owner="DaemonSet"),), id="a DaemonSet's"),
        pytest.param((placed("also", ENOUGH, owner="Node"),), id="a mirror Pod"),
        pytest.param((placed("also", ENOUGH, phase="Succeeded"),), id="a finished one"),
        pytest.param((placed("also", ENOUGH), leaving), id="one that leaves already"),
        pytest.param((placed("also", ENOUGH, on="other"),), id="one elsewhere"),
        pytest.param((placed("also", ENOUGH, on=""),), id="one that is nowhere yet"),
        pytest.param((offers({"cpu": "1", "memory": "8Gi"}),), id="more than a node has"),
    ],
)
def test_enough_room(around: tuple[Step, ...]) -> None:
    assert held({"cpu": "1.5", "memory": 2**30}, *around) == []


@pytest.mark.parametrize(
    ("requests", "around", "complaint"),
    [
        ({}, (), ["cpu 0, and its Pods need 1.5", "memory 0, and its Pods need 1073741824"]),
        ({"cpu": "1", "memory": "1Gi"}, (), ["cpu 1, and its Pods need 1.5"]),
        (ENOUGH, (placed("also", {"cpu": "0.1"}),), ["cpu 1.5, and its Pods need 1.6"]),
        (ENOUGH, (placed("also", {GPU: 1}),), [f"{GPU} 0, and its Pods need 1"]),
        (
            {"memory": "1Gi"},
            (offers({"cpu": "2"}), placed("also", {"cpu": "600m"}, owner="DaemonSet")),
            ["cpu 0, and its Pods need 1.4"],
        ),
        (ENOUGH | {"memory": "0"}, (offers({"memory": 0}),), []),
    ],
)
def test_too_little_room(requests: Object, around: tuple[Step, ...], complaint: list[str]) -> None:
    said = "old was deleted although its placeholder holds"
    assert held(requests, *around) == [f"{said} {one}" for one in complaint]


def test_without_a_placeholder_others_have_a_word_for_it() -> None:
    steps = list(tales.without(tales.placeholder_created, tales.placeholder_running))
    steps.remove(tales.placeholder_gone)
    steps[1:1] = [placed("web", ENOUGH)]
    assert room_held(Case(told(*steps), POOL)) == []


def test_it_is_judged_where_it_was_promised() -> None:
    steps = list(GOOD)
    steps[1:1] = [placed("web", ENOUGH)]
    assert {one.check for one in judge(told(*steps), POOL, also=ROOM).violations} == {"room_held"}


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("2", 2), (3, 3), ("1.", 1), (".5", Fraction(1, 2)), ("1500m", Fraction(3, 2)),
        ("100n", Fraction(1, 10**7)), ("5u", Fraction(1, 200_000)), ("1k", 1000), ("1E", 10**18),
        ("1.5Gi", 3 * 2**29), ("1e3", 1000), ("12E-1", Fraction(6, 5)),
    ],
)  # fmt: skip
def test_amounts(text: Any, amount: Any) -> None:
    assert parse_amount(text) == amount


@pytest.mark.parametrize(
    "text", ["", ".", "m", "-1", "1Kib", "1K", "1e", "1 Gi", "9" * 21, "1e100"]
)
def test_no_amounts(text: str) -> None:
    with pytest.raises(ValueError, match="is no amount"):
        parse_amount(text)


def test_a_placeholder_without_an_amount_is_no_history() -> None:
    verdict = judge(told(*GOOD, placed("web", {"cpu": "much"})), POOL)
    assert "'much' is no amount" in str(verdict.violations[0])
