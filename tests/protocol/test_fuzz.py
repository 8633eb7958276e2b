"""Whatever stands in a request: it is read, or it is a ShapeError, and nothing else ever."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hooks.protocol.core import budget_of, node_of, pod_of
from hooks.protocol.errors import ShapeError
from hooks.protocol.hook import SyncRequest, parse_customize, parse_sync
from hooks.protocol.karpenter import claim_of, pool_of
from hooks.protocol.policy import policy_of
from hooks.rotation.model import BrokenPolicy, Budget, Claim, Node, Pod, Policy, Pool
from tests.protocol.recorded import Json, body, syncs

REQUESTS = [syncs()[at]["request"] for at in (0, 5, 12, -10, -1)]
"""From the idle pool to the claim that is gone."""

SCALARS: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.just(10**400),
    st.floats(),
    st.text(st.characters(codec="utf-8"), max_size=20),
    st.sampled_from(["", "Never", "1e999999999", "0", "-1h", "draining", "2026-11-29T20:00:00Z"]),
)
VALUES: st.SearchStrategy[Any] = st.one_of(
    SCALARS,
    st.lists(SCALARS, max_size=3),
    st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=8), SCALARS, max_size=3),
)
GONE = object()
SMALL = REQUESTS[1] | {"controller": None}


def places(value: object, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Every place below ``value`` but those inside managedFields, which are the most by far."""
    if isinstance(value, (dict, list)):
        inner = value.items() if isinstance(value, dict) else enumerate(value)
        for key, part in inner:
            yield (*at, key)
            if key != "managedFields":
                yield from places(part, (*at, key))


PLACES = [list(places(request)) for request in REQUESTS]


def changed(request: Json, at: tuple[str | int, ...], value: object) -> bytes:
    """The request as it is sent with one place changed; the request itself stays as it is."""
    holder: Any = request
    for step in at[:-1]:
        holder = holder[step]
    before = copy.copy(holder)
    if value is GONE:
        del holder[at[-1]]
    else:
        holder[at[-1]] = value
    raw = body(request)
    holder.clear()
    holder.update(before) if isinstance(holder, dict) else holder.extend(before)
    return raw


def lean(value: object) -> object:
    """The same without managedFields, so that trying every place takes less time."""
    if isinstance(value, dict):
        return {key: lean(part) for key, part in value.items() if key != "managedFields"}
    return [lean(part) for part in value] if isinstance(value, list) else value


def read_or_refused(raw: bytes) -> None:
    refusal = None
    try:
        assert isinstance(parse_sync(raw), SyncRequest)
    except ShapeError as error:
        refusal = error
    if refusal is not None:
        assert refusal.field
        assert refusal.message


@given(st.data())
def test_one_place_holds_something_else(data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(REQUESTS) - 1))
    place = data.draw(st.sampled_from(PLACES[at]))
    value = data.draw(st.one_of(st.just(GONE), VALUES))
    read_or_refused(changed(REQUESTS[at], place, value))


@pytest.mark.parametrize("value", [GONE, None, 0, []], ids=["gone", "null", "0", "[]"])
def test_each_place_holds_something_else(value: object) -> None:
    request = cast("Json", lean(SMALL))
    for place in places(lean(SMALL)):
        read_or_refused(changed(request, place, value))


@given(st.integers(0, 10**9), st.binary(min_size=1, max_size=4))
def test_some_bytes_are_others(at: int, others: bytes) -> None:
    raw = body(REQUESTS[2])
    at %= len(raw)
    read_or_refused(raw[:at] + others + raw[at + len(others) :])


@given(st.integers(0, 10**9))
def test_the_body_is_cut_off(at: int) -> None:
    raw = body(REQUESTS[0])
    with pytest.raises(ShapeError):
        parse_sync(raw[: at % len(raw)])


@given(st.one_of(st.binary(max_size=200), VALUES.map(lambda value: body({"parent": value}))))
def test_anything_at_all(raw: bytes) -> None:
    read_or_refused(raw)
    with suppress(ShapeError):
        assert isinstance(parse_customize(raw), str)


NESTED = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=2),
        st.dictionaries(
            st.sampled_from(
                ["metadata", "spec", "status", "name", "uid", "conditions", "type", "surge", "x"]
            ),
            inner,
            max_size=3,
        ),
    ),
    max_leaves=8,
)


@given(NESTED)
def test_an_object_that_was_read_live_may_be_anything(value: object) -> None:
    readings = (
        (pool_of, Pool),
        (claim_of, Claim),
        (node_of, Node),
        (pod_of, Pod),
        (budget_of, Budget),
    )
    for read, kind in readings:
        with suppress(ShapeError):
            assert isinstance(read(value), kind)


@given(st.dictionaries(st.sampled_from(["metadata", "spec", "kind", "x"]), NESTED, max_size=4))
def test_a_policy_of_a_file_may_be_anything(value: Json) -> None:
    assert isinstance(policy_of(value), (Policy, BrokenPolicy))
