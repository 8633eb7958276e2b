"""The webhook of the graceful drain on the real API server: 50 evictions a second for a minute.

The Pods of 1,000 Deployments are evicted in turn, three times: the first time a Deployment is tracked
(three reads, a patch, an Event), the others find its rollout under way (three reads); no controller
rolls anything out, so every answer must be our 429. That is measured twice. Of the webhook alone, by
reviews that the client posts itself, as the API server does; beside it stand the three reads that each
review makes, and the three reads with a patch, by the same client on the same machine at the same rate.
And of whole evictions through the API server, as an evictor waits for them. Latencies count from when
a call was due (open loop). Held are p50 and p99 of the webhook, each below three times that of the
reads, and p99 of the whole evictions in milliseconds. Whatever else the machine does in that minute
lengthens the tails: a run above the bounds is repeated twice on new planes, and the median run counts.
Source: issue 6, *Done when*.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final
from uuid import uuid4

import pytest

from benchmarks.load import Latencies, Timed, run
from benchmarks.plane import BarePlane
from benchmarks.singletons import NAMESPACE, PODS, Singleton, create
from hooks import names
from hooks.cluster.connection import Connection
from hooks.cluster.drain import DrainVerbs
from hooks.cluster.errors import ClusterError
from tests.e2e.programs import programs
from tests.support.singleton import review
from tests.support.waiting import wait_until

DEPLOYMENTS: Final = 1000
A_SECOND: Final = 50
EVICTIONS: Final = 60 * A_SECOND
TIMES_THE_BASELINE: Final = 3.0
MILLISECONDS: Final = 250.0
BUILDING: Final = 3600
"""Seconds for all, the first build of all programs included; warm, it takes two minutes."""

EVICTED: Final = "evicted"
DENIED: Final = (
    "the API server is not available (429): "
    f'admission webhook "{names.WEBHOOK}" denied the request: '
)
"""How the client words a 429 of ours."""


def evict(connection: Connection, one: Singleton, **options: object) -> str:
    """Ask once for the eviction of a Pod, and return what the answer says."""
    body = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": one.pod, "namespace": NAMESPACE},
        "deleteOptions": options,
    }
    try:
        connection.create(f"{PODS.one(one.pod, NAMESPACE)}/eviction", body)
    except ClusterError as error:
        return str(error)
    return EVICTED


def ask(post: Callable[[bytes], bytes], one: Singleton) -> str:
    """Ask the webhook itself about the eviction of a Pod, and return what the answer says."""
    about = {"name": one.pod, "namespace": NAMESPACE}
    asked = review(**about, uid=str(uuid4()), object__metadata=about, object__deleteOptions={})
    answer = json.loads(post(json.dumps(asked).encode()))["response"]
    return EVICTED if answer["allowed"] else DENIED + str(answer["status"]["message"])


def read(connection: Connection, one: Singleton) -> str:
    """Read what a review of this Pod reads; returns the Deployment's resourceVersion."""
    api = DrainVerbs(connection)
    assert api.get_pod(NAMESPACE, one.pod) is not None
    assert api.get_replicaset(NAMESPACE, one.replicaset) is not None
    deployment = api.get_deployment(NAMESPACE, one.deployment)
    assert deployment is not None
    return str(deployment["metadata"]["resourceVersion"])


def read_and_patch(connection: Connection, one: Singleton) -> str:
    """Read the same, and write one annotation if the Deployment is still as it was read."""
    version = {"op": "test", "path": "/metadata/resourceVersion", "value": read(connection, one)}
    change = {"op": "add", "path": "/metadata/annotations/benchmark", "value": "patched"}
    patched = DrainVerbs(connection).patch_deployment(NAMESPACE, one.deployment, [version, change])
    return str(patched["metadata"]["resourceVersion"])


def in_turn(
    call: Callable[[Singleton], str], singletons: Sequence[Singleton], count: int
) -> list[Timed[str]]:
    """Call it for one after the other, so many times in all, at the rate of the benchmark."""
    chosen = (singletons[number % len(singletons)] for number in range(count))
    return run([partial(call, one) for one in chosen], A_SECOND)


def is_ours(one: Singleton, answer: str) -> bool:
    """Whether this is a denial by our webhook, that names the Deployment."""
    return answer.startswith(DENIED) and f"{NAMESPACE}/{one.deployment}" in answer


def is_asked(plane: BarePlane, connection: Connection, one: Singleton) -> bool:
    """Whether the API server calls the webhook by now; a dry run, which leaves nothing behind."""
    return evict(connection, one, dryRun=["All"]) == EVICTED and plane.reviews()["+Inf"] > 0


@dataclass(frozen=True, slots=True)
class Measured:
    """One run: the webhook, whole evictions, and the same reads, without and with a patch, alone."""

    reviews: Sequence[Timed[str]]
    evictions: Sequence[Timed[str]]
    reads: Sequence[Timed[str]]
    patches: Sequence[Timed[str]]
    spent: Mapping[str, float]
    """Seconds of the processors that each program had during the evictions."""

    @property
    def times_the_p50(self) -> float:
        """How many times as long as the reads alone half of the reviews take at most."""
        return Latencies.of(self.reviews).p50 / Latencies.of(self.reads).p50

    @property
    def times_the_p99(self) -> float:
        """The same of all but one in a hundred."""
        return Latencies.of(self.reviews).p99 / Latencies.of(self.reads).p99

    @property
    def is_within_bounds(self) -> bool:
        """What issue 6 asks for."""
        return (
            self.times_the_p50 < TIMES_THE_BASELINE
            and self.times_the_p99 < TIMES_THE_BASELINE
            and Latencies.of(self.evictions).p99 < MILLISECONDS
        )

    def report(self) -> str:
        """A table for people."""
        of_each = ", ".join(
            f"{name} {1000 * seconds / len(self.evictions):.1f} ms"
            for name, seconds in self.spent.items()
        )
        lines = {
            "reads": self.reads,
            "reads and patch": self.patches,
            "webhook": self.reviews,
            " that also patches": self.reviews[:DEPLOYMENTS],
            " that only reads": self.reviews[DEPLOYMENTS:],
            "whole evictions": self.evictions,
            " that also patch": self.evictions[:DEPLOYMENTS],
            " that only read": self.evictions[DEPLOYMENTS:],
        }
        table = [f"{name:20} {Latencies.of(timed)}" for name, timed in lines.items()]
        whole = Latencies.of(self.evictions).p99 / Latencies.of(self.reads).p99
        ratios = f"p50 {self.times_the_p50:.1f}, p99 {self.times_the_p99:.1f}"
        ratios += f"; whole evictions: p99 {whole:.1f}"
        return "\n".join(
            [
                *table,
                f"the webhook takes so many times the reads: {ratios}",
                f"of the processors, for each eviction: {of_each}",
            ]
        )


def measure(plane: BarePlane) -> Measured:
    """Install, fill, and run all four loads; half of the Deployments are for the reviews."""
    with (
        plane.serving(),
        plane.as_administrator() as admin,
        plane.as_eviction_server() as reader,
        plane.as_api_server() as post,
    ):
        singletons = create(admin, 2 * DEPLOYMENTS)
        evicted, reviewed = singletons[:DEPLOYMENTS], singletons[DEPLOYMENTS:]
        wait_until("the webhook is called", lambda: is_asked(plane, admin, evicted[0]), 30)
        print(f"\nload average before: {os.getloadavg()[0]:.1f}")
        reads = in_turn(partial(read, reader), evicted, DEPLOYMENTS)
        reviews = in_turn(partial(ask, post), reviewed, EVICTIONS)
        start = plane.processor_seconds()
        evictions = in_turn(partial(evict, admin), evicted, EVICTIONS)
        end = plane.processor_seconds()
        patches = in_turn(partial(read_and_patch, reader), evicted, DEPLOYMENTS)
    spent = {name: end[name] - start[name] for name in end}
    return Measured(reviews, evictions, reads, patches, spent)


def run_once() -> Measured:
    """One run on a plane of its own; fails for any answer that isn't ours."""
    with BarePlane(programs()) as plane:
        measured = measure(plane)
        waited = plane.reviews()
    print(measured.report())
    print(f"reviews by the API server's own histogram (seconds): {waited}")
    for first, answers in ((0, measured.evictions), (DEPLOYMENTS, measured.reviews)):
        asked = [Singleton.numbered(first + turn % DEPLOYMENTS) for turn in range(len(answers))]
        assert not [
            answer.answer
            for one, answer in zip(asked, answers, strict=True)
            if not is_ours(one, answer.answer)
        ]
    return measured


@pytest.mark.timeout(BUILDING)
def test_evictions_in_their_time() -> None:
    """Prints the quantiles; fails above the bounds."""
    runs = [run_once()]
    if not runs[0].is_within_bounds:
        runs += [run_once(), run_once()]
    assert sorted(runs, key=lambda run: run.times_the_p99)[len(runs) // 2].is_within_bounds
