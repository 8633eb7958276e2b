"""The loop of the embedded cluster."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from hooks.sandbox import embedded
from hooks.sandbox.embedded import EmbeddedCluster, RestlessError
from hooks.sandbox.objects import name_of
from hooks.sandbox.store import kinds
from hooks.sandbox.store.store import ObjectStore
from tests.scenarios.manifests import Shape, budget, node_class, node_pool, workloads

START = datetime(2026, 11, 30, 2, tzinfo=UTC)
KINDS = {kind.kind: kind for kind in kinds.SERVED if kind != kinds.EVENTS}
LONG = timedelta(minutes=10)


@dataclass
class Restless:
    """A controller that changes a label for ever."""

    store: ObjectStore
    changes: int = 0

    def step(self) -> bool:
        self.changes += 1
        (node, *_) = self.store.all(kinds.NODES)
        labels = {"metadata": {"labels": {"changes": str(self.changes)}}}
        self.store.patch(kinds.NODES, "", name_of(node), labels, "application/merge-patch+json")
        return True

    def next_due(self) -> None:
        return None


def never() -> bool:
    return False


def populated(seed: int) -> EmbeddedCluster:
    """A pool of two nodes, from nothing to its rest."""
    cluster = EmbeddedCluster(START, seed=seed)
    shape = Shape()
    for obj in (
        node_class("p"), node_pool("p", shape), budget("p", 1), *workloads("p", shape),
    ):  # fmt: skip
        cluster.store.create(KINDS[obj["kind"]], obj)
    cluster.run(never, LONG)
    return cluster


def test_a_pool_comes_up_and_comes_to_rest() -> None:
    cluster = populated(seed=1)
    nodes = cluster.store.all(kinds.NODES)
    pods = cluster.store.all(kinds.PODS)
    assert len(nodes) == 2
    assert sorted(pod["status"]["phase"] for pod in pods) == ["Running"] * 4
    revision = cluster.store.revision
    cluster.run(never, timedelta(hours=1))
    told = {event.resource.kind for event in cluster.store.events_after(revision)}
    assert told <= {"Lease"}, "a world at rest writes nothing"


def test_the_same_seed_gives_the_same_history_and_another_one_another() -> None:
    one, same, other = populated(seed=1), populated(seed=1), populated(seed=2)
    assert one.store.events_after(0) == same.store.events_after(0)
    assert one.store.events_after(0) != other.store.events_after(0)


def test_it_runs_until_a_condition_holds_and_no_further() -> None:
    cluster = populated(seed=1)
    store = cluster.store
    store.delete(kinds.PODS, "default", "p-0")
    assert cluster.run(lambda: len(store.all(kinds.PODS)) < 4, LONG)
    before = cluster.clock.now()
    assert cluster.run(lambda: True, LONG)
    assert cluster.clock.now() == before


def test_it_gives_up_exactly_at_its_limit() -> None:
    cluster = EmbeddedCluster(START)
    assert not cluster.run(never, timedelta(seconds=90.5))
    assert cluster.clock.now() == START + timedelta(seconds=90.5)


def test_what_is_planned_happens_at_its_moment_in_the_order_of_its_planning() -> None:
    cluster = EmbeddedCluster(START)
    seen: list[tuple[str, datetime]] = []
    later = START + timedelta(minutes=2)

    def remember(name: str) -> None:
        seen.append((name, cluster.clock.now()))

    for name, moment in (("second", later), ("third", later), ("first", START)):
        cluster.at(moment, partial(remember, name))
    cluster.run(never, LONG)
    assert seen == [("first", START), ("second", later), ("third", later)]


def test_parts_that_undo_each_other_for_ever_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "MOST_AT_ONCE", 200)
    cluster = populated(seed=1)
    cluster.add(Restless(cluster.store))
    with pytest.raises(RestlessError, match="no rest at 2026-11-30T02"):
        cluster.run(never, LONG)
