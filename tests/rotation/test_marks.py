"""Our marks on a Node, beside whatever an operator put there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hooks import names
from hooks.rotation.marks import NodeChange, freezing, marked_for, unfreezing
from hooks.rotation.model import Node

BARE = Node(name="n")
FROZEN = Node(
    name="n",
    surge_for="old",
    surge_for_label="old",
    do_not_disrupt="true",
    do_not_disrupt_owned=True,
)
CORDONED = replace(FROZEN, cordoned_by_us=True, unschedulable=True)

FREEZE = {
    names.SURGE_FOR: "old",
    names.DO_NOT_DISRUPT: "true",
    names.DO_NOT_DISRUPT_OWNED: "true",
}
LABEL = {names.SURGE_FOR: "old"}
OURS = dict.fromkeys(FREEZE)

FREEZING = [
    ("a bare Node", BARE, False, NodeChange(FREEZE, LABEL)),
    ("a bare Node, cordoned too", BARE, True,
     NodeChange(FREEZE | {names.CORDONED: "true"}, LABEL, unschedulable=True)),
    ("frozen already", FROZEN, False, None),
    ("frozen already, to be cordoned", FROZEN, True,
     NodeChange({names.CORDONED: "true"}, {}, unschedulable=True)),
    ("frozen and cordoned already", CORDONED, True, None),
    ("our cordon stays when none is asked for", CORDONED, False, None),
    ("an operator's do-not-disrupt is not adopted", replace(BARE, do_not_disrupt="true"), False,
     NodeChange({names.SURGE_FOR: "old"}, LABEL)),
    ("another value is no protection: overwritten and owned", replace(BARE, do_not_disrupt="false"),
     False, NodeChange(FREEZE, LABEL)),
    ("ours, changed by somebody: put back", replace(FROZEN, do_not_disrupt="false"), False,
     NodeChange({names.DO_NOT_DISRUPT: "true"})),
    ("ours, removed by somebody: put back", replace(FROZEN, do_not_disrupt=None), False,
     NodeChange({names.DO_NOT_DISRUPT: "true"})),
    ("an operator's cordon is not adopted", replace(FROZEN, unschedulable=True), True, None),
    ("our cordon, lifted by somebody: put back", replace(CORDONED, unschedulable=False), True,
     NodeChange({}, {}, unschedulable=True)),
    ("frozen for another claim: taken over", replace(FROZEN, surge_for="x", surge_for_label="x"),
     False, NodeChange({names.SURGE_FOR: "old"}, LABEL)),
]  # fmt: skip


@pytest.mark.parametrize(("cordon", "node", "change"),
                         [case[2:0:-1] + case[3:] for case in FREEZING],
                         ids=[case[0] for case in FREEZING])  # fmt: skip
def test_freezing(cordon: bool, node: Node, change: NodeChange | None) -> None:
    assert freezing(node, "old", cordon=cordon) == change


UNFREEZING = [
    ("a bare Node", BARE, None),
    ("an operator's protection", replace(BARE, do_not_disrupt="true", unschedulable=True), None),
    ("frozen", FROZEN, NodeChange(OURS, dict.fromkeys(LABEL))),
    ("frozen and cordoned", CORDONED,
     NodeChange(OURS | {names.CORDONED: None}, dict.fromkeys(LABEL), unschedulable=False)),
    ("an operator's do-not-disrupt stays", replace(FROZEN, do_not_disrupt_owned=False),
     NodeChange({names.SURGE_FOR: None}, dict.fromkeys(LABEL))),
    ("an operator's cordon stays", replace(FROZEN, unschedulable=True),
     NodeChange(OURS, dict.fromkeys(LABEL))),
    ("what somebody made of ours stays", replace(FROZEN, do_not_disrupt="48h"),
     NodeChange({names.SURGE_FOR: None, names.DO_NOT_DISRUPT_OWNED: None}, dict.fromkeys(LABEL))),
    ("a marker whose cordon was lifted", replace(CORDONED, unschedulable=False),
     NodeChange(OURS | {names.CORDONED: None}, dict.fromkeys(LABEL))),
    ("begun by the Go controller", replace(CORDONED, surge_for_label=None),
     NodeChange(OURS | {names.CORDONED: None}, {}, unschedulable=False)),
    ("the label alone", Node(name="n", surge_for_label="old"),
     NodeChange({}, dict.fromkeys(LABEL))),
]  # fmt: skip


@pytest.mark.parametrize(("node", "change"), [case[1:] for case in UNFREEZING],
                         ids=[case[0] for case in UNFREEZING])  # fmt: skip
def test_unfreezing(node: Node, change: NodeChange | None) -> None:
    assert unfreezing(node) == change


@pytest.mark.parametrize("cordon", [True, False])
@pytest.mark.parametrize("node", [
    BARE,
    replace(BARE, do_not_disrupt="true"),
    replace(BARE, unschedulable=True),
    replace(BARE, do_not_disrupt="true", unschedulable=True),
])  # fmt: skip
def test_what_is_frozen_and_unfrozen_is_as_before(node: Node, cordon: bool) -> None:
    frozen = _changed(node, freezing(node, "old", cordon=cordon))
    assert frozen != node
    assert _changed(frozen, unfreezing(frozen)) == node


def _changed(node: Node, change: NodeChange | None) -> Node:
    assert change is not None
    notes = change.annotations
    return replace(
        node,
        surge_for=notes.get(names.SURGE_FOR, node.surge_for),
        surge_for_label=change.labels.get(names.SURGE_FOR, node.surge_for_label),
        do_not_disrupt=notes.get(names.DO_NOT_DISRUPT, node.do_not_disrupt),
        do_not_disrupt_owned=bool(notes.get(names.DO_NOT_DISRUPT_OWNED, node.do_not_disrupt_owned)),
        cordoned_by_us=bool(notes.get(names.CORDONED, node.cordoned_by_us)),
        unschedulable=node.unschedulable if change.unschedulable is None else change.unschedulable,
    )


def test_marked_for_goes_by_the_full_name_first() -> None:
    assert marked_for(FROZEN, "old")
    assert not marked_for(replace(FROZEN, surge_for="x"), "old")
    assert marked_for(replace(FROZEN, surge_for=None), "old")
    assert not marked_for(BARE, "old")
    long = "x" * 64
    assert not marked_for(replace(FROZEN, surge_for=None, surge_for_label="x" * 63), long)
