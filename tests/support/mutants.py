"""The software with one fault each: what the checks must find.

Owns the faults, as text substitutions on a copy of the installed package. Each fails loudly when
the text isn't there exactly once, so that a change of the software can't turn a mutant into the
original. Source: issue 3, "Done when".
"""

from __future__ import annotations

import importlib.util
import shutil
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Substitution:
    """In ``file`` of the package, ``old`` becomes ``new``."""

    file: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Mutant:
    """One fault, and the check of :mod:`hooks.verdict` that has to complain of it.

    Some show only when the world is unkind: ``loses_the_successor``: the placeholder is removed
    between the two writes of row 5; ``takes_over``: the true software has begun the rotation;
    ``blocked``: a budget holds up the drain.
    """

    name: str
    found_by: str
    substitutions: tuple[Substitution, ...]
    loses_the_successor: bool = False
    takes_over: bool = False
    blocked: bool = False


class MutantError(RuntimeError):
    """The text that a mutant replaces isn't there exactly once."""


MUTANTS = (
    Mutant(
        "surge_ready is always true",
        "successor_first",
        (
            Substitution(
                "rotation/guards.py",
                "def surge_ready(reader: Reader, pool: str, claim: Claim) -> Reason | None:\n",
                "def surge_ready(reader: Reader, pool: str, claim: Claim) -> Reason | None:\n"
                "    return None\n\n\n"
                "def _never_called(reader: Reader, pool: str, claim: Claim) -> Reason | None:\n",
            ),
        ),
        loses_the_successor=True,
    ),
    Mutant(
        "the delete guard is off",
        "successor_first",
        (
            Substitution(
                "cluster/apply.py",
                "refusal, claim = delete_guard(self._reader, write)",
                "refusal, claim = None, self._reader.claim(write.claim)",
            ),
        ),
        loses_the_successor=True,
    ),
    Mutant(
        "row 9 unfreezes nothing",
        "marks_go_with_the_anchor",
        (
            Substitution(
                "rotation/endings.py",
                "        Reason.ROTATION_COMPLETED,\n"
                "        claim=view.pool.anchor,\n"
                "        writes=(*unfreeze(view), announce),\n",
                "        Reason.ROTATION_COMPLETED,\n"
                "        claim=view.pool.anchor,\n"
                "        writes=(announce,),\n",
            ),
        ),
    ),
    Mutant(
        "row 1 is tried first, despite an anchor",
        "one_at_a_time",
        (
            Substitution(
                "rotation/phases.py",
                "    for row in TABLE:\n",
                "    beginning = Start(view)\n"
                "    if beginning.chosen is not None:\n"
                "        return start(beginning, beginning.chosen)\n"
                "    for row in TABLE:\n",
            ),
            Substitution(
                "rotation/phases.py",
                "    beginning = Start(view)\n"
                "    chosen = beginning.chosen\n"
                "    return start(beginning, chosen) if chosen is not None else idle(beginning)\n",
                "    return idle(beginning)\n",
            ),
        ),
        takes_over=True,
    ),
    Mutant(
        "the cordon is left out",
        "cordoned_first",
        (
            Substitution(
                "rotation/surging.py",
                "frozen_writes(view, claim.node_name, cordon=True)",
                "frozen_writes(view, claim.node_name, cordon=False)",
            ),
        ),
    ),
    Mutant(
        "rows 5, 7 and 8 keep the placeholder",
        "one_new_node_each",
        (
            Substitution(
                "rotation/surging.py",
                '        "5",\n        Reason.DRAIN_STARTED,\n',
                '        "5",\n        Reason.DRAIN_STARTED,\n        listing=Listing.KEEP,\n',
            ),
            Substitution(
                "rotation/surging.py",
                '            "7",\n            Reason.DRAIN_STARTED,\n',
                '            "7",\n            Reason.DRAIN_STARTED,\n'
                "            listing=Listing.KEEP,\n",
            ),
            Substitution(
                "rotation/endings.py",
                "        Reason.DRAIN_STUCK if stuck else Reason.DRAINING,\n",
                "        Reason.DRAIN_STUCK if stuck else Reason.DRAINING,\n"
                "        listing=decision.Listing.KEEP,\n",
            ),
            Substitution(
                "rotation/endings.py",
                "from hooks.rotation import outcomes\n",
                "from hooks.rotation import decision, outcomes\n",
            ),
        ),
        blocked=True,
    ),
)
MORE_MUTANTS = (
    Mutant(
        "an operator's do-not-disrupt is overlooked",
        "forbidden_stay",
        (
            Substitution(
                "rotation/candidates.py",
                "    if node.opted_out:\n        return OPTED_OUT\n",
                "",
            ),
        ),
    ),
    Mutant(
        "an operator's do-not-disrupt is adopted",
        "operators_marks_kept",
        (
            Substitution(
                "rotation/marks.py",
                "    if node.do_not_disrupt != names.TRUE:\n"
                "        annotations[names.DO_NOT_DISRUPT] = names.TRUE\n",
                "    if node.do_not_disrupt != names.TRUE or not node.do_not_disrupt_owned:\n"
                "        annotations[names.DO_NOT_DISRUPT] = names.TRUE\n",
            ),
        ),
    ),
    Mutant(
        "the placeholder asks for nothing",
        "room_held",
        (
            Substitution(
                "rotation/placeholder.py",
                '"resources": _resources(requests),',
                '"resources": _resources({}),',
            ),
        ),
    ),
)
"""More faults, which only the history of the demo can show: its marks of operators, its Pods."""

DRAIN_MUTANTS = (
    Mutant(
        "every eviction is allowed",
        "ready_pod_remains",
        (
            Substitution(
                "drain/verdict.py",
                "_ALLOW, _DENY = Answer.ALLOW, Answer.DENY\n",
                "_ALLOW, _DENY = Answer.ALLOW, Answer.ALLOW\n",
            ),
        ),
    ),
    Mutant(
        "the webhook isn't registered",
        "ready_endpoint_remains",
        (
            Substitution(
                "planning/demo/installation.py",
                "        webhook(),\n",
                "",
            ),
        ),
    ),
)
"""Faults of the graceful drain; the second one is of the installation."""


def mutate(mutant: Mutant, folder: Path) -> Path:
    """Put a copy of the installed package with the fault into ``folder``; returns ``folder``.

    Raises :class:`MutantError` when a text to be replaced isn't found exactly once.
    """
    spec = importlib.util.find_spec("hooks")
    if spec is None or spec.origin is None:
        message = "the hooks package isn't installed"
        raise MutantError(message)
    package = folder / "hooks"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(spec.origin).parent, package, ignore=ignored)
    for one in mutant.substitutions:
        file = package / one.file
        text = file.read_text()
        if text.count(one.old) != 1:
            message = f"{mutant.name}: {one.file} has {text.count(one.old)} times {one.old!r}"
            raise MutantError(message)
        file.write_text(text.replace(one.old, one.new))
    return folder
