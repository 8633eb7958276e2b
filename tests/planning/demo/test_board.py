"""What the demo reads off the changes: states, times and sentences."""

from __future__ import annotations

from datetime import timedelta

from hooks.planning.demo import world
from hooks.planning.demo.board import Board
from hooks.planning.demo.rows import State
from hooks.verdict.history import Change, Object
from tests.planning.demo.tale import BEGIN, NEW, OLD, rotation, served

FIRST = OLD[0]


def board() -> Board:
    return Board(world.POOL, world.WINDOWS, BEGIN)


def told(*left_out: str) -> Board:
    """The board at the end of the tale, without the changes of some things."""
    shown = board()
    for change in rotation():
        if change.name not in left_out:
            shown.see(change)
    return shown


def test_a_node_goes_through_its_states_in_their_order() -> None:
    shown, seen = board(), []
    for change in rotation():
        shown.see(change)
        if FIRST in shown.rows and shown.rows[FIRST].state not in seen:
            seen.append(shown.rows[FIRST].state)
    assert seen == [
        State.WAITING,
        State.NEXT,
        State.CORDONED,
        State.COMING,
        State.READY,
        State.DRAINING,
        State.REPLACED,
    ]


def test_the_others_wait_or_are_kept_by_an_operator() -> None:
    rows = told().rows
    assert {claim: row.state for claim, row in rows.items()} == {
        OLD[0]: State.REPLACED,
        OLD[1]: State.WAITING,
        OLD[2]: State.KEPT,
    }
    assert rows[FIRST].successor == NEW
    assert rows[FIRST].zone == "test-zone-b"
    assert rows[FIRST].deadline == world.BEGIN + world.LIFETIME
    assert rows[FIRST].took == timedelta(seconds=180)


def test_what_happened_is_told_in_plain_sentences() -> None:
    assert [one.text for one in told().happenings] == [
        "The window opens; it closes at 24:00.",
        "shop-aaaaa is next; Karpenter would expire it Sun 08:00.",
        "shop-aaaaa is cordoned: nothing new goes there.",
        "A placeholder asks for room for the Pods of shop-aaaaa.",
        "Karpenter starts a new machine for NodeClaim shop-ddddd.",
        "shop-ddddd is up and Ready.",
        "The placeholder runs on shop-ddddd: the room is there.",
        "shop-aaaaa drains; its successor was there first.",
        "Pod web-1 is Ready on shop-aaaaa.",
        "Pod web-1 has to leave shop-aaaaa.",
        "Pod web-2 is Ready on shop-ddddd.",
        "shop-aaaaa is gone, 3m after its turn came.",
    ]


def last_sentence(change: Change) -> str:
    """What is said of a change after the tale."""
    shown = told()
    shown.see(change)
    return shown.happenings[-1].text


def later(kind: str, type_: str, **metadata: object) -> Change:
    return Change(500, 500, kind, type_, {"metadata": metadata})


def test_a_claim_that_goes_without_its_turn_is_told_of() -> None:
    labels = {"karpenter.sh/nodepool": world.POOL}
    leaving = later(
        "NodeClaim",
        "MODIFIED",
        name=OLD[1],
        labels=labels,
        deletionTimestamp="2026-06-07T07:00:00Z",
    )
    assert last_sentence(leaving) == "shop-bbbbb is deleted although its turn hasn't come."
    shown = told()
    shown.see(later("NodeClaim", "DELETED", name=OLD[1], labels=labels))
    assert shown.rows[OLD[1]].state is State.LOST
    assert shown.happenings[-1].text == "shop-bbbbb is gone."


def test_a_claim_that_karpenter_expires_is_told_of_also_before_the_first_rotation() -> None:
    shown = board()
    before = rotation()[:10]
    for change in before:
        shown.see(change)
    policy: Object = {"metadata": {"name": "nightly"}, "spec": {}}
    shown.see(Change(310, 12, "RotationPolicy", "ADDED", policy))
    claim = [one.object for one in before if (one.kind, one.name) == ("NodeClaim", OLD[0])][-1]
    leaving = {**claim, "metadata": claim["metadata"] | {"deletionTimestamp": "x"}}
    after = (world.BEGIN + world.LIFETIME - BEGIN).total_seconds()
    shown.see(Change(after, 13, "NodeClaim", "MODIFIED", leaving))
    assert shown.happenings[-1].text == "Karpenter expires shop-aaaaa: nobody replaced it in time."
    shown.see(Change(after + 60, 14, "NodeClaim", "DELETED", leaving))
    assert shown.happenings[-1].text == "shop-aaaaa is gone."
    assert (shown.rows[OLD[0]].state, shown.replaced) == (State.LOST, 0)


def test_a_node_whose_successor_was_missing_was_not_replaced() -> None:
    shown = told("noderotation-surge-shop-aaaaa")
    said = [one.text for one in shown.happenings]
    assert "shop-aaaaa drains although there is no placeholder." in said
    assert "shop-aaaaa drains; its successor was there first." not in said
    assert (shown.rows[FIRST].state, shown.replaced) == (State.LOST, 0)


def test_hooks_that_fail_are_told_of_once_for_each_message() -> None:
    shown = told()
    failed = {"metadata": {"name": "shop.1"}, "reason": "SyncError", "message": "m", "count": 1}
    shown.see(Change(500, 500, "Event", "ADDED", failed))
    shown.see(Change(510, 510, "Event", "MODIFIED", failed | {"count": 2}))
    said = [one.text for one in shown.happenings]
    assert said.count("The hooks fail: nothing is decided until they answer again.") == 1
    assert len(said) == len(told().happenings) + 1


def test_a_rotation_that_goes_back_or_ends_in_vain_is_told_of() -> None:
    shown = told()
    draining = {"noderotation.io/active-rotation": OLD[1]}
    state = {"noderotation.io/active-rotation-state": "draining"}
    for step in (draining, draining | state, draining, {}):
        stays = {"noderotation.io/last-rotation-at": "now"}
        shown.see(later("NodePool", "MODIFIED", name=world.POOL, annotations=step | stays))
    assert [one.text for one in shown.happenings[-3:]] == [
        "shop-bbbbb is next; Karpenter would expire it Sun 09:00.",
        "The successor isn't sure any more: shop-bbbbb isn't touched.",
        "The rotation of shop-bbbbb ended without success.",
    ]


def test_windows_open_and_close_while_nothing_changes() -> None:
    shown = told()
    assert (shown.open_window, shown.next_window) == world.WINDOWS
    shown.move_to(world.WINDOWS[0].end)
    assert (shown.open_window, shown.next_window) == (None, world.WINDOWS[1])
    shown.move_to(world.WINDOWS[1].end + timedelta(days=1))
    assert (shown.open_window, shown.next_window) == (None, None)
    assert [(one.at, one.text) for one in shown.happenings[-3:]] == [
        (world.WINDOWS[0].end, "The window closes; 2 old nodes are left."),
        (world.WINDOWS[1].start, "The window opens; it closes at 06:00."),
        (world.WINDOWS[1].end, "The window closes; 2 old nodes are left."),
    ]


def test_nothing_is_said_before_the_installation() -> None:
    shown = board()
    for change in rotation()[:10]:
        shown.see(change)
    shown.note("An aside.", aside=True)
    assert [(one.text, one.aside) for one in shown.happenings] == [
        ("The window opens; it closes at 24:00.", False),
        ("An aside.", True),
    ]


def test_a_singleton_that_stays_and_a_service_that_is_down_are_told() -> None:
    shown, ready = board(), []
    for change in served():
        shown.see(change)
        ready.append(shown.services.get("till"))
    assert ready == [None, None, 0, 1, 1, 2, 2, 1, 0, 1]
    assert [one.text for one in shown.happenings if "opens" not in one.text] == [
        "Service till is up: one of its Pods is Ready.",
        "The only Pod of till stays until its successor is Ready.",
        "The rollout of till is over; nothing holds its Pods any more.",
        "Service till is DOWN: none of its Pods is Ready.",
        "Service till is up: one of its Pods is Ready.",
    ]
