"""How names, labels and annotations may be spelt."""

from __future__ import annotations

import pytest

from hooks.sandbox.objects import Obj
from hooks.sandbox.store.kinds import NODES
from hooks.sandbox.store.refusals import RefusedError
from tests.sandbox.store.worlds import World, fields_of, node


@pytest.mark.parametrize(
    ("metadata", "field"),
    [
        ({}, "metadata.name"),
        ({"name": "Upper"}, "metadata.name"),
        ({"name": "a" * 254}, "metadata.name"),
        ({"name": "a", "labels": {"k": "v" * 64}}, "metadata.labels"),
        ({"name": "a", "labels": {"k": "-v"}}, "metadata.labels"),
        ({"name": "a", "labels": {"k" * 64: "v"}}, "metadata.labels"),
        ({"name": "a", "labels": {"a/b/c": "v"}}, "metadata.labels"),
        ({"name": "a", "annotations": {"a b": "v"}}, "metadata.annotations"),
        ({"name": "a", "annotations": {"k": "v" * 262144}}, "metadata.annotations"),
    ],
)
def test_what_can_not_be_is_invalid(world: World, metadata: Obj, field: str) -> None:
    with pytest.raises(RefusedError) as caught:
        world.store.create(NODES, {"metadata": metadata})
    assert caught.value.status == 422
    assert fields_of(caught.value) == [field]


def test_what_can_be_is_stored(world: World) -> None:
    labels = {"example.com/a_b.c": "", "k": "v" * 63}
    made = world.store.create(
        NODES, node("a.b-c", labels=labels, annotations={"EXAMPLE.com/x": " "})
    )
    assert made["metadata"]["labels"] == labels


def test_an_update_is_held_to_the_same(world: World) -> None:
    world.store.create(NODES, node("n1"))
    with pytest.raises(RefusedError) as caught:
        world.store.modify(NODES, "", "n1", lambda obj: obj["metadata"].update(labels={"a": "b c"}))
    assert caught.value.status == 422
