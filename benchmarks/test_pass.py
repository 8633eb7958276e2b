"""A pass over a pool of 1,000 claims, measured against json.loads of the same bytes.

The request is made from a recorded one, managedFields included, and is as large as what a real
Metacontroller sends for such a pool (5.4 MB, design/cluster.md). A pass is everything between the
bytes of the request and those of the answer: parse, observe, decide, write, answer; its live reads
are answered from memory. The bound is that of issue 3: at most 0.6 of json.loads, parsing 0.42.
Processor time is compared, the median of ratios, so that a busy machine changes little.
"""

from __future__ import annotations

import copy
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from statistics import median
from time import monotonic, process_time
from typing import Any

import pytest
import structlog

from hooks import names
from hooks.protocol.hook import parse_sync
from hooks.settings import read_settings
from hooks.sync.nodepool import NodePoolSync
from hooks.telemetry.log import configure
from tests.protocol.recorded import body, exchanges, lines, syncs
from tests.support.live import CLAIM, NODE, POD, POOL, Live

Json = dict[str, Any]

CLAIMS = 1000
ROUNDS = 15
PARSE_BOUND = 0.42
PASS_BOUND = 0.6
NOW = datetime(2026, 11, 29, 20, tzinfo=UTC)
OLDEST = NOW - timedelta(minutes=50)


@dataclass(frozen=True)
class Scene:
    """One request of a large pool with the live objects beside it."""

    request: bytes
    live: Live

    def pass_over(self, raw: bytes) -> bytes:
        """Everything between two byte strings, on a cluster that is as before each time."""
        hook = NodePoolSync(
            read_settings({"NODEROTATION_TOKEN_FILE": "/dev/null"}), self.live.within, lambda: NOW
        )
        return hook(raw, deadline=monotonic() + 60)


def crowd(request: Json) -> None:
    """Fill the pool up to 1,000 claims with copies of those that take no part in the rotation."""
    group = request["related"][names.NODECLAIM_GROUP]
    originals = [
        one for one in group.values() if names.STATE not in one["metadata"].get("annotations", {})
    ]
    for number in range(CLAIMS - len(group)):
        original = originals[number % len(originals)]
        old, new = original["metadata"]["name"], f"api-{number:05d}"
        twin = json.loads(json.dumps(original).replace(old, new))
        created = OLDEST + timedelta(seconds=2 * number)
        twin["metadata"] |= {
            "uid": f"00000000-0000-4000-8000-{number:012d}",
            "creationTimestamp": created.strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
        group[new] = twin


def scene(step: str, age_threshold: str) -> Scene:
    """A recorded step in a crowd; ``age_threshold`` decides how many of it are due."""
    request = copy.deepcopy([one for one in syncs() if one["step"] == step][-1]["request"])
    crowd(request)
    (policy,) = request["related"][names.ROTATIONPOLICY_GROUP].values()
    policy["spec"]["ageThreshold"] = age_threshold
    return Scene(body(request), Live(around(request)))


def around(request: Json) -> dict[str, dict[str, Json]]:
    """What a pass may read live: all that is recorded, and the oldest claims with their Nodes.

    Not the whole crowd: a heap full of the benchmark's own objects slows json.loads down (by the
    garbage collector) and would flatter the hooks.
    """
    related = request["related"]
    oldest = sorted(
        related[names.NODECLAIM_GROUP].values(),
        key=lambda one: one["metadata"]["creationTimestamp"],
    )[:20]
    claims = {one["metadata"]["name"]: one for one in oldest}
    claims |= {name: one for name, one in related[names.NODECLAIM_GROUP].items() if "0" not in name}
    nodes = dict(related[names.NODE_GROUP])
    template = next(
        node
        for one in syncs()
        for node in (one["request"]["related"][names.NODE_GROUP] or {}).values()
    )
    for one in claims.values():
        name = one["status"].get("nodeName")
        if name and name not in nodes:
            nodes[name] = copy.deepcopy(template)
            nodes[name]["metadata"] |= {"name": name, "annotations": {}, "labels": {}}
    return {
        POOL: {"api": request["object"]},
        CLAIM: claims,
        NODE: nodes,
        POD: request["attachments"][names.POD_GROUP],
    }


SCENES = {
    "idle, nothing due": ("1-idle-sync", "90m", ["attachments"]),
    "idle, all due": ("1-idle-sync", "1m", ["annotations", "attachments"]),
    "waiting for the successor": ("3-surge-sync", "90m", ["attachments"]),
    "draining": ("6-draining-sync", "90m", ["attachments"]),
}
"""Recorded step, ageThreshold, and what the answer holds: a stop or an error costs little, too."""


def milliseconds(call: Callable[[bytes], object], raw: bytes) -> float:
    """Of the processor."""
    start = process_time()
    call(raw)
    return (process_time() - start) * 1000


@pytest.fixture(autouse=True)
def _log_to_memory() -> Iterator[None]:
    configure("info", io.StringIO())
    yield
    structlog.reset_defaults()


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", SCENES)
def test_a_pass_costs_less_than_reading_the_request_with_json(name: str) -> None:
    """Prints the medians; fails above the bounds."""
    step, age_threshold, holds = SCENES[name]
    made = scene(step, age_threshold)
    assert sorted(json.loads(made.pass_over(made.request))) == [*holds, "resyncAfterSeconds"]
    exchanges.cache_clear()
    lines.cache_clear()
    rounds = [
        (
            milliseconds(json.loads, made.request),
            milliseconds(parse_sync, made.request),
            milliseconds(made.pass_over, made.request),
        )
        for _ in range(ROUNDS)
    ]
    parse = median(parse / loads for loads, parse, _ in rounds)
    whole = median(whole / loads for loads, _, whole in rounds)
    print(
        f"\n{name}: {len(made.request) / 1e6:.2f} MB,"
        f" json.loads {median(one for one, _, _ in rounds):.0f} ms,"
        f" parse {median(one for _, one, _ in rounds):.0f} ms ({parse:.2f} of it),"
        f" pass {median(one for _, _, one in rounds):.0f} ms ({whole:.2f} of it)"
    )
    assert parse <= PARSE_BOUND
    assert whole <= PASS_BOUND
