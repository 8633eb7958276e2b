"""Events, which have two doors."""

from __future__ import annotations

import pytest

from hooks.sandbox.objects import Obj
from hooks.sandbox.store.doors import NEW_EVENTS
from hooks.sandbox.store.kinds import EVENTS
from hooks.sandbox.store.port import StorePort
from hooks.sandbox.store.refusals import RefusedError
from tests.sandbox.store.worlds import World, fields_of

NEW: Obj = {
    "metadata": {"name": "e", "namespace": "default"},
    "eventTime": "2026-11-01T12:00:00.000000Z",
    "reportingController": "noderotation.io/hooks",
    "reportingInstance": "hooks-1",
    "action": "Rotate",
    "reason": "RotationStarted",
    "type": "Normal",
    "note": "it starts",
    "regarding": {"kind": "NodePool", "name": "api"},
}


def test_an_event_shows_through_both_doors(world: World) -> None:
    port = StorePort(world.store)
    through_new = port.create(NEW_EVENTS, NEW)
    through_old = port.get(EVENTS, "default", "e")
    shared = {
        key: NEW[key] for key in ("eventTime", "reportingInstance", "action", "reason", "type")
    }
    metadata = through_old["metadata"]
    assert through_old == {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": metadata,
        "reportingComponent": "noderotation.io/hooks",
        "message": "it starts",
        "involvedObject": {"kind": "NodePool", "name": "api"},
        **shared,
    }
    assert through_new == NEW | {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": metadata,
    }
    assert port.list_all(NEW_EVENTS).items == [through_new]


@pytest.mark.parametrize(
    "missing", ["eventTime", "reportingController", "reportingInstance", "action", "reason", "type"]
)
def test_the_new_door_wants_every_part(world: World, missing: str) -> None:
    event = {key: value for key, value in NEW.items() if key != missing}
    with pytest.raises(RefusedError) as caught:
        StorePort(world.store).create(NEW_EVENTS, event)
    assert (caught.value.status, fields_of(caught.value)) == (422, [missing])


def test_an_event_from_the_old_door_is_updated_through_the_new_one(world: World) -> None:
    old: Obj = {
        "metadata": {"name": "e"},
        "involvedObject": {"kind": "Node", "name": "n"},
        "firstTimestamp": "2026-11-01T12:00:00Z",
    }
    world.store.create(EVENTS, old)
    port = StorePort(world.store)
    counted = port.update(NEW_EVENTS, port.get(NEW_EVENTS, "default", "e") | {"deprecatedCount": 2})
    assert world.store.get(EVENTS, "default", "e")["count"] == 2
    assert counted["regarding"] == {"kind": "Node", "name": "n"}


@pytest.mark.parametrize(
    ("about", "lives_in", "accepted"),
    [
        ({}, "default", True),
        ({}, "shop", False),
        ({"namespace": "shop"}, "shop", True),
        ({"namespace": "shop"}, "default", False),
    ],
)
def test_an_event_lives_where_what_it_is_about_lives(
    world: World, about: Obj, lives_in: str, accepted: bool
) -> None:
    event: Obj = {"metadata": {"name": "e", "namespace": lives_in}, "involvedObject": about}
    if accepted:
        world.store.create(EVENTS, event)
        return
    with pytest.raises(RefusedError) as caught:
        world.store.create(EVENTS, event)
    assert fields_of(caught.value) == ["involvedObject.namespace"]
