"""``noderotation windows``: is a policy's window open, when next, and each occurrence to come.

Source: design/product.md (Commands), design/rotation.md section 5.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

import click
from typing_extensions import override

from hooks.cli.access import show
from hooks.cli.inputs import input_flags, moment, read_inputs
from hooks.rotation.chances import merged
from hooks.rotation.due import is_excluded
from hooks.rotation.durations import (
    ZERO,
    format_people,
    format_stamp,
    parse_flag_duration,
    shifted,
)
from hooks.rotation.model import BrokenPolicy, Policy
from hooks.rotation.windows import (
    Occurrence,
    next_opening,
    occurrences,
    open_occurrence,
    window_figures,
)
from hooks.rotation.zones import zone

_LONGEST: Final = timedelta(days=3660)
_SECOND: Final = timedelta(seconds=1)
_MINUTE: Final = timedelta(minutes=1)


class _Span(click.ParamType[timedelta]):
    name = "duration"

    @override
    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> timedelta:
        """Read a positive duration of ten years at most."""
        if isinstance(value, timedelta):
            return value
        try:
            span = parse_flag_duration(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)
        if not ZERO < span <= _LONGEST:
            self.fail("must be more than nothing and at most ten years", param, ctx)
        return span


@click.command(name="windows")
@input_flags
@click.option(
    "--for",
    "ahead",
    type=_Span(),
    default=timedelta(days=30),
    metavar="DURATION",
    help="How far to look ahead, as in 30d, the default.",
)
def command(
    *,
    files: tuple[str, ...],
    more: tuple[str, ...],
    at: str | None,
    ahead: timedelta,
    kubeconfig: str | None,
    context: str | None,
    output: str,
) -> None:
    """Show when the windows of RotationPolicies are open."""
    now = moment(at)
    policies = read_inputs(files, more, kubeconfig, context).policies
    readable = [policy for policy in policies if isinstance(policy, Policy)]
    text = "\n\n".join(_told(policy, now, ahead) for policy in readable)
    show(output, {"policies": [_as_json(policy, now, ahead) for policy in readable]}, text)
    broken = [policy for policy in policies if isinstance(policy, BrokenPolicy)]
    for policy in broken:
        for field, problem in policy.problems:
            click.echo(f"policy {policy.name} is invalid: {field} {problem}", err=True)
    if broken:
        raise click.exceptions.Exit(1)


def _as_json(policy: Policy, now: datetime, ahead: timedelta) -> dict[str, object]:
    current = open_occurrence(policy.windows, now)
    opens = next_opening(policy.windows, now)
    figures = window_figures(policy.windows, now)
    closes = None if current is None or figures.continuous else format_stamp(current.end)
    return {
        "name": policy.name,
        "open": current is not None,
        "opensAt": None if opens is None else format_stamp(opens),
        "closesAt": closes,
        "periodSeconds": figures.period // _SECOND,
        "occurrences": [
            {"start": format_stamp(entry.start), "end": format_stamp(entry.end)}
            for entry in _coming(policy, now, ahead)
        ],
    }


def _coming(policy: Policy, now: datetime, ahead: timedelta) -> tuple[Occurrence, ...]:
    """What is open between now and then; a union that never closes has no edges of its own."""
    until = shifted(now, ahead)
    if window_figures(policy.windows, now).continuous:
        return (Occurrence(now, until),)
    return occurrences(policy.windows, now, until)


def _told(policy: Policy, now: datetime, ahead: timedelta) -> str:
    lines = [f"policy {policy.name}: {_state(policy, now)}"]
    if policy.suspend:
        lines.append("  suspended (spec.suspend): nothing starts, open or not")
    if policy.dry_run:
        lines.append("  dry run (spec.dryRun): nothing starts, open or not")
    figures = window_figures(policy.windows, now)
    what = "it never closes" if figures.continuous else "longest time from one opening to the next"
    lines.append(f"  P {format_people(figures.period)} ({what})")
    lines += [_line(policy, entry) for entry in _coming(policy, now, ahead)]
    return "\n".join(lines)


def _state(policy: Policy, now: datetime) -> str:
    current = open_occurrence(policy.windows, now)
    if current is None:
        opens = next_opening(policy.windows, now)
        if opens is None:
            return "CLOSED"
        excluded = "" if is_excluded(policy, opens) is None else ", excluded"
        return f"CLOSED, opens {_moment(policy, opens, now)}{excluded}"
    exclusion = is_excluded(policy, now)
    if exclusion is not None:
        why = f" ({exclusion.reason})" if exclusion.reason else ""
        return f"OPEN, but excluded until {_moment(policy, exclusion.end, now)}{why}"
    if window_figures(policy.windows, now).continuous:
        return "OPEN, never closes"
    return f"OPEN until {_moment(policy, current.end, now)}"


def _moment(policy: Policy, at: datetime, now: datetime) -> str:
    local = at.astimezone(zone(policy.windows[0].timezone))
    # Seconds matter only when it is about to happen.
    unit = _MINUTE if at - now >= _MINUTE else _SECOND
    wait = format_people((at - now) // unit * unit)
    return f"{local:%a %Y-%m-%d %H:%M} {policy.windows[0].timezone} (in {wait})"


def _line(policy: Policy, entry: Occurrence) -> str:
    """One occurrence in the time of each zone of the policy, and in UTC."""
    zones = dict.fromkeys(window.timezone for window in policy.windows)
    spans = [f"{_span(entry, name)} {name}" for name in zones if name != "UTC"]
    spans.append(f"{_span(entry, 'UTC')} UTC")
    taken = [
        span
        for span in merged(policy.exclusions)
        if span.start < entry.end and span.end > entry.start
    ]
    if not taken:
        return "  " + "  =  ".join(spans)
    whole = any(span.start <= entry.start and entry.end <= span.end for span in taken)
    return "  " + "  =  ".join(spans) + ("  EXCLUDED" if whole else "  partly excluded")


def _span(entry: Occurrence, name: str) -> str:
    place = UTC if name == "UTC" else zone(name)
    start, end = entry.start.astimezone(place), entry.end.astimezone(place)
    until = f"{end:%H:%M}" if start.date() == end.date() else f"{end:%a %Y-%m-%d %H:%M}"
    return f"{start:%a %Y-%m-%d %H:%M}-{until}"
