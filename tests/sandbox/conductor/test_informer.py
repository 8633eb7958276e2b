"""An informer keeps a copy and tells of changes in order."""

from __future__ import annotations

import pytest

from hooks.sandbox.apiport import WatchEvent
from hooks.sandbox.conductor.informer import Informer
from hooks.sandbox.objects import Obj
from tests.sandbox.conductor.world import NODES, PODS, node, pod

Told = list[tuple[Obj | None, Obj | None]]


def informer_of_nodes(*items: Obj) -> tuple[Informer, Told]:
    told: Told = []
    informer = Informer(NODES, lambda old, new: told.append((old, new)))
    informer.replace(items)
    informer.tell_pending()
    told.clear()
    return informer, told


def test_it_is_synced_by_its_first_list_and_tells_each_item_as_new() -> None:
    told: Told = []
    informer = Informer(NODES, lambda old, new: told.append((old, new)))
    assert not informer.synced.is_set()
    informer.replace([node("b"), node("a")])
    assert informer.synced.is_set()
    assert informer.tell_pending() == 2
    assert told == [(None, node("b")), (None, node("a"))]
    assert informer.all() == [node("a"), node("b")]


@pytest.mark.parametrize(
    ("event", "told", "copy"),
    [
        (WatchEvent("ADDED", node("b")), (None, node("b")), [node("a"), node("b")]),
        (
            WatchEvent("MODIFIED", node("a", x="1")),
            (node("a"), node("a", x="1")),
            [node("a", x="1")],
        ),
        (WatchEvent("ADDED", node("a", x="1")), (node("a"), node("a", x="1")), [node("a", x="1")]),
        (WatchEvent("DELETED", node("a", x="1")), (node("a"), None), []),
    ],
)
def test_an_event_changes_the_copy_and_is_told_with_old_and_new(
    event: WatchEvent, told: tuple[Obj | None, Obj | None], copy: list[Obj]
) -> None:
    informer, heard = informer_of_nodes(node("a"))
    informer.apply(event)
    assert informer.all() == copy, "the copy changes before anyone is told"
    assert heard == []
    informer.tell_pending()
    assert heard == [told]


@pytest.mark.parametrize(
    "event", [WatchEvent("BOOKMARK", node("a", x="9")), WatchEvent("DELETED", node("gone"))]
)
def test_bookmarks_and_deletions_of_the_unknown_are_told_to_nobody(event: WatchEvent) -> None:
    informer, heard = informer_of_nodes(node("a"))
    informer.apply(event)
    informer.tell_pending()
    assert (informer.all(), heard) == ([node("a")], [])


def test_a_new_list_is_compared_with_the_copy() -> None:
    informer, heard = informer_of_nodes(node("a"), node("b"))
    informer.replace([node("b", x="1"), node("c")])
    informer.tell_pending()
    assert heard == [(node("a"), None), (node("b"), node("b", x="1")), (None, node("c"))]
    assert informer.all() == [node("b", x="1"), node("c")]


def test_a_resync_tells_every_object_again() -> None:
    informer, heard = informer_of_nodes(node("a"), node("b"))
    informer.resync()
    informer.tell_pending()
    assert heard == [(node("a"), node("a")), (node("b"), node("b"))]


def test_objects_are_found_by_the_uid_of_their_controller_as_it_changes() -> None:
    def owned(name: str, uid: str) -> Obj:
        return pod(name, ownerReferences=[{"uid": "x"}, {"uid": uid, "controller": True}])

    informer = Informer(PODS, lambda _old, _new: None)
    informer.replace([owned("b", "u"), owned("a", "u"), owned("c", "v"), pod("d")])
    assert informer.owned_by("u") == [owned("a", "u"), owned("b", "u")]
    informer.apply(WatchEvent("MODIFIED", owned("a", "v")))
    informer.apply(WatchEvent("DELETED", owned("b", "u")))
    assert informer.owned_by("u") == []
    assert informer.owned_by("v") == [owned("a", "v"), owned("c", "v")]
    assert informer.owned_by("x") == []


def test_close_ends_the_telling_after_what_is_pending() -> None:
    informer, heard = informer_of_nodes()
    informer.apply(WatchEvent("ADDED", node("a")))
    informer.close()
    assert [informer.tell_next(), informer.tell_next()] == [True, False]
    assert heard == [(None, node("a"))]
