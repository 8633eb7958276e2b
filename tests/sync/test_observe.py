from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TypeVar

from hooks.protocol.hook import SyncRequest, parse_sync
from hooks.rotation.model import Observation, Pod
from hooks.sync.observe import observe
from tests.protocol.recorded import body, syncs

T = TypeVar("T")
NOW = datetime(2026, 11, 29, 20, tzinfo=UTC)
NAMESPACE = "node-rotation-system"


def recorded() -> SyncRequest:
    """The recorded request that shows the most: six claims, two Nodes, one placeholder."""
    return parse_sync(
        body(max((one["request"] for one in syncs()), key=lambda one: len(str(one["related"]))))
    )


def seen(request: SyncRequest, *, suspended: bool = False) -> Observation:
    return observe(
        request,
        NOW,
        suspended=suspended,
        namespace=NAMESPACE,
        image="registry.example/pause:1",
        opted_out=frozenset({"uid-1"}),
    )


def test_everything_of_the_request_and_the_settings_is_there() -> None:
    request = recorded()
    observation = seen(request, suspended=True)
    assert observation == Observation(
        now=NOW,
        pool=request.pool,
        policies=request.policies,
        claims=tuple(sorted(request.claims, key=lambda claim: claim.name)),
        nodes=tuple(sorted(request.nodes, key=lambda node: node.name)),
        placeholders=request.placeholders,
        suspended=True,
        namespace=NAMESPACE,
        image="registry.example/pause:1",
        opted_out=frozenset({"uid-1"}),
    )
    assert (len(observation.claims), len(observation.nodes), len(observation.placeholders)) == (
        6,
        2,
        1,
    )


def turned(things: tuple[T, ...], first: int, step: int) -> tuple[T, ...]:
    """The same in another order."""
    first %= len(things)
    return (things[first:] + things[:first])[::step]


def test_the_order_of_the_request_means_nothing() -> None:
    request = recorded()
    (policy,) = request.policies
    (placeholder,) = request.placeholders
    request = replace(
        request,
        policies=(policy, replace(policy, name="another"), replace(policy, name="zzz")),
        placeholders=(placeholder, replace(placeholder, name="another")),
    )
    expected = seen(request)
    for first in range(len(request.claims)):
        for step in (1, -1):
            mixed = replace(
                request,
                policies=turned(request.policies, first, step),
                claims=turned(request.claims, first, step),
                nodes=turned(request.nodes, first, step),
                placeholders=turned(request.placeholders, first, step),
            )
            assert seen(mixed) == expected


def test_a_pod_of_another_namespace_is_no_placeholder() -> None:
    request = recorded()
    stranger = Pod(name=request.placeholders[0].name, namespace="default")
    observation = seen(replace(request, placeholders=(stranger, *request.placeholders)))
    assert observation.placeholders == request.placeholders
