"""How the judgement of ``noderotation check`` looks: JSON for programs, a page for people.

Source: design/product.md (Commands).
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from hooks.cli.judge import Figures, Judgement, Row
from hooks.rotation.durations import ZERO, format_people

_SECOND: Final = timedelta(seconds=1)
_SIGNS: Final = {"fatal": "FATAL  ", "warning": "warning"}


def judgement_as_json(judgement: Judgement) -> dict[str, object]:
    """The judgement in the shape that programs rely on; durations are whole seconds."""
    return {
        "findings": [
            {
                "severity": row.finding.severity,
                "code": row.finding.code,
                "policy": row.policy,
                "nodePool": row.pool,
                "message": row.finding.message,
            }
            for row in judgement.rows
        ],
        "pools": [
            {
                "nodePool": entry.pool,
                "policy": entry.policy,
                "periodSeconds": entry.schedule.period // _SECOND,
                "tRotSeconds": entry.schedule.t_rot // _SECOND,
                "ageThresholdSeconds": _seconds(entry.schedule.age_threshold),
                "chances": entry.schedule.chances,
                "capacity": entry.schedule.capacity,
            }
            for entry in judgement.figures
        ],
    }


def judgement_for_people(judgement: Judgement) -> str:
    """The judgement for somebody who is tired: each pool's figures, what is wrong, and the sum."""
    blocks = [_pool(entry, judgement.rows) for entry in judgement.figures]
    shown = {entry.pool for entry in judgement.figures}
    blocks += [
        [_about(row), _finding(row)]
        for row in judgement.rows
        if row.pool not in shown or not row.pool
    ]
    blocks += [[f"note: {note}"] for note in judgement.notes]
    blocks.append([_sum(judgement)])
    return "\n".join(line for block in blocks for line in block)


def _pool(entry: Figures, rows: list[Row]) -> list[str]:
    mine = [_finding(row) for row in rows if row.pool == entry.pool]
    return [f"NodePool {entry.pool}, policy {entry.policy}", *_figures(entry), *mine]


def _figures(entry: Figures) -> list[str]:
    schedule = entry.schedule
    age = "none" if schedule.age_threshold is None else format_people(schedule.age_threshold)
    chances = "none" if schedule.chances is None else str(schedule.chances)
    figures = (
        f"P {format_people(schedule.period)}, t_rot {format_people(schedule.t_rot)}, A {age}, "
        f"C {schedule.capacity}, G {chances}"
    )
    return [f"  {figures}", f"  {_meaning(entry)}"]


def _meaning(entry: Figures) -> str:
    schedule = entry.schedule
    age, lifetime = schedule.age_threshold, schedule.expire_after
    if age is None:
        return "nodes without expireAfter come due only by an explicit ageThreshold or a request"
    if age <= ZERO:
        return "no age is early enough: see below"
    span = "24h" if schedule.continuous else "window"
    due = f"a node comes due at age {format_people(age)}"
    if lifetime is not None:
        sure = f"is sure of {_count(max(schedule.chances or 0, 0), 'window')}"
        finds = "finds the window always open" if schedule.continuous else sure
        due += f", {finds}, and expires at {format_people(lifetime)}"
    return f"{due}; {_count(schedule.capacity, 'rotation')} can start in each {span}"


def _about(row: Row) -> str:
    return f"NodePool {row.pool}" if row.pool else f"policy {row.policy}"


def _finding(row: Row) -> str:
    return f"  {_SIGNS[row.finding.severity]} {row.finding.code}: {row.finding.message}"


def _seconds(span: timedelta | None) -> int | None:
    return None if span is None else span // _SECOND


def _sum(judgement: Judgement) -> str:
    fatal = sum(row.finding.severity == "fatal" for row in judgement.rows)
    warnings = len(judgement.rows) - fatal
    if not judgement.rows:
        return "nothing to object to"
    return f"{_count(fatal, 'fatal finding')}, {_count(warnings, 'warning')}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
