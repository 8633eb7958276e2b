"""What the checks say about histories written by hand; these need no cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e import tales
from tests.e2e.audit import Call, calls, excesses
from tests.e2e.checks import complaints
from tests.e2e.history import Change, replay
from tests.e2e.mutants import MUTANTS, Mutant, MutantError, Substitution, mutate
from tests.e2e.rotations import medians, rotations
from tests.e2e.tales import GOOD, POOL, Step, Tale, also, moved, told, without


def host_not_ready(tale: Tale) -> None:
    tale.put("Node", "new", status=tales.condition("Ready", true=False))


def host_cordoned(tale: Tale) -> None:
    tale.put("Node", "new", spec={"unschedulable": True})


def host_claim_leaves(tale: Tale) -> None:
    tale.leave("NodeClaim", "new")


def placeholder_terminates(tale: Tale) -> None:
    tale.leave("Pod", "noderotation-surge-old")


def placeholder_on_the_candidate(tale: Tale) -> None:
    running = {"phase": "Running"}
    tale.put("Pod", "noderotation-surge-old", spec={"nodeName": "old"}, status=running)


def uncordoned(tale: Tale) -> None:
    tale.put("Node", "old", spec={})


def another_anchor(tale: Tale) -> None:
    tale.annotate("NodePool", POOL, active_rotation="new")


def second_new_claim(tale: Tale) -> None:
    tales.machine(tale, "newer")


def both_pods_gone(tale: Tale) -> None:
    tale.gone("Pod", "work-1")
    tale.gone("Pod", "work-2")


def claim_state_stays(tale: Tale) -> None:
    tale.annotate("NodeClaim", "new", state="pending")


def long_wait(tale: Tale) -> None:
    for _ in range(60):
        tale.put("NodePool", "another")


def by(*checks: str) -> tuple[str, ...]:
    """The checks that are expected to complain, by the beginnings of their names."""
    return checks


UNPLACED = without(tales.placeholder_created, tales.placeholder_running, tales.placeholder_gone)
OVERDRAINED = tuple(both_pods_gone if step is tales.drained else step for step in GOOD)
SUCCESSOR, CORDON, ONE = "successor_first", "cordoned_first", "one_at_a_time"
NEW, STAYS, REPLACED = "one_new_node_each", "placeholder_leaves", "all_replaced"
MARKS, LEFT, BUDGET = "marks_go_with_the_anchor", "nothing_left", "budgets_kept"
CASES: tuple[tuple[str, tuple[Step, ...], tuple[str, ...]], ...] = (
    ("good", GOOD, by()),
    ("no placeholder", UNPLACED, by(SUCCESSOR)),
    ("placeholder pending", without(tales.placeholder_running), by(SUCCESSOR)),
    ("dropped early", moved(tales.placeholder_gone, before=tales.deleted), by(SUCCESSOR)),
    ("terminating", also(placeholder_terminates, before=tales.deleted), by(SUCCESSOR)),
    ("on the candidate", also(placeholder_on_the_candidate, before=tales.deleted), by(SUCCESSOR)),
    ("host not ready", also(host_not_ready, before=tales.deleted), by(SUCCESSOR)),
    ("host leaving", also(host_claim_leaves, before=tales.mirrored), by(SUCCESSOR, CORDON, ONE)),
    ("cordon late", moved(tales.cordoned, before=tales.host_there), by(CORDON)),
    ("no cordon", without(tales.cordoned), by(CORDON)),
    ("cordon undone", also(uncordoned, before=tales.deleted), by(CORDON)),
    ("anchor overwritten", also(another_anchor, before=tales.cordoned), by(ONE, REPLACED)),
    ("two deleted", also(host_claim_leaves, before=tales.claim_gone), by(SUCCESSOR, CORDON, ONE)),
    ("two new", also(second_new_claim, before=tales.drained), by(NEW, REPLACED)),
    ("placeholder kept", moved(tales.placeholder_gone, before=tales.unfrozen), by(STAYS)),
    ("placeholder kept long", also(long_wait, before=tales.placeholder_gone), by(STAYS)),
    ("host stays frozen", without(tales.unfrozen), by(MARKS, LEFT)),
    ("unfrozen too late", (*without(tales.unfrozen), tales.unfrozen), by(MARKS)),
    ("host stays cordoned", also(host_cordoned, before=tales.claim_gone), by(MARKS, LEFT)),
    ("state stays", also(claim_state_stays, before=tales.cleared), by(LEFT)),
    ("never cleared", without(tales.cleared), by(LEFT)),
    ("never gone", without(tales.claim_gone, tales.drained), by(MARKS, REPLACED, LEFT)),
    ("no rotation", (tales.beginning,), by(REPLACED)),
    ("budget broken", OVERDRAINED, by(BUDGET)),
)


@pytest.mark.parametrize(
    ("steps", "expected"), [case[1:] for case in CASES], ids=[c[0] for c in CASES]
)
def test_complaints(steps: tuple[Step, ...], expected: tuple[str, ...]) -> None:
    named = {one.split(":")[0] for one in complaints(told(*steps), POOL)}
    assert {check for check in named if not check.startswith(expected)} == set()
    assert [one for one in expected if not any(check.startswith(one) for check in named)] == []


def test_the_order_of_arrival_does_not_matter() -> None:
    changes = told(*GOOD)
    assert complaints(changes[::-1], POOL) == []
    assert [moment.change for moment in replay(changes[::-1])] == changes


def test_a_rotation_is_read_off_with_its_times() -> None:
    (found,) = rotations(told(*GOOD), POOL)
    begun = [found.anchored, found.cordoned, found.placeholder, found.ready]
    ended = [found.deleted, found.gone, found.cleared]
    assert [step and step.revision for step in begun + ended] == [7, 9, 10, 14, 17, 21, 23]
    assert (found.claim, found.node) == ("old", "old")


def test_medians() -> None:
    first, second = told(*GOOD), [later(change, 100) for change in told(*GOOD)]
    found = [*rotations(first, POOL), *rotations(second, POOL)]
    measured = medians(found)
    assert measured.whole == pytest.approx(1.6)
    assert measured.anchor_to_cordon == pytest.approx(0.2)
    assert measured.ready_to_delete == pytest.approx(0.3)
    assert measured.gone_to_next_anchor == pytest.approx(98.6)
    assert measured.karpenter == pytest.approx(0.5 + 0.4)
    assert measured.own == pytest.approx(99.1)


def later(change: Change, seconds: float) -> Change:
    return Change(change.at + seconds, change.revision, change.kind, change.type, change.object)


def test_an_unfinished_rotation_is_not_measured() -> None:
    with pytest.raises(ValueError, match="went through all its steps"):
        medians(rotations(told(*without(tales.cleared)), POOL))


def test_the_audit_log(tmp_path: Path) -> None:
    log = tmp_path / "audit.log"
    entry = '{"verb": "%s", "objectRef": {"resource": "%s", "name": "n"}, "responseStatus": {"code": %d}}\n'
    lines = (("patch", "nodes", 200), ("update", "nodepools", 200), ("get", "nodes", 403))
    log.write_text("".join(entry % line for line in lines) + '{"verb": "get"}\n')
    made = calls(log)
    assert made == [
        Call("patch", "nodes", "n", 200),
        Call("update", "nodepools", "n", 200),
        Call("get", "nodes", "n", 403),
    ]
    assert excesses(made) == made[1:]
    assert [one.writes for one in made] == [True, True, False]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name.replace(" ", "-"))
def test_each_mutant_can_be_made(mutant: Mutant, tmp_path: Path) -> None:
    copy = mutate(mutant, tmp_path) / "hooks"
    for file in {one.file for one in mutant.substitutions}:
        compile((copy / file).read_text(), file, "exec")
    assert all(one.new in (copy / one.file).read_text() for one in mutant.substitutions)


def test_a_mutant_without_its_text_fails_loudly(tmp_path: Path) -> None:
    stale = Mutant("stale", "nobody", (Substitution("names.py", "no such text", ""),))
    with pytest.raises(MutantError, match=r"stale: names\.py has 0 times 'no such text'"):
        mutate(stale, tmp_path)
