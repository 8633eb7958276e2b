"""What the hook server told of one pool, in words that are the same on every cluster.

Owns what is left out (request ids, a scheduler's own words, how many nodes there were) and what
stands for a name, a moment and a span of time. Each Event and each line is one text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from hooks.verdict.history import Change
from hooks.verdict.questions import POOL_LABEL, label, node_of
from tests.scenarios.reports import OURS
from tests.scenarios.stage import Object
from tests.scenarios.superfluous import superfluous, without_claims

MOMENT = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"
SPAN = r"\b(\d+[dhms])+\b"
UNTOLD = frozenset({"ts", "level", "event", "request_id", "nodepool", "nodeclaim", "reason"})
"""Keys of a line that stand before its own, or are of no use here."""
NOT_OURS = frozenset({"message", "requests", "passed_over", "skipped"})
"""Keys whose values are the cluster's: a scheduler's words, sizes of machines, counts of Pods."""
POOL_LEVEL = "no candidate"
"""The line that tells of the pool's own level."""
COUNTED = ("noderotation_completed_total", "noderotation_forceful_fallback_total")
MEASURED = "noderotation_duration_seconds_count"


def words(changes: Sequence[Change], pool: str) -> Callable[[str], str]:
    """A function that puts roles for the names of a pool, and types for times, into a text.

    Claims are numbered as they come, but for those that a lost race has brought.
    """
    names: dict[str, str] = {}
    pods: set[str] = set()
    fair = without_claims(changes, superfluous(changes, pool).values())
    for change in sorted(fair, key=lambda one: one.revision):
        thing = change.object
        if change.kind == "NodeClaim" and label(thing, POOL_LABEL) == pool:
            number = sum(role.startswith("claim") for role in names.values()) + 1
            role = names.setdefault(change.name, f"claim {number}")
            node = node_of(thing)
            if node and node not in names:
                names[node] = role.replace("claim", "node")
        if change.kind == "Pod" and change.name.startswith(f"{pool}-"):
            pods.add(change.name)
    ordered = sorted(names, key=len, reverse=True)

    def put(text: str) -> str:
        # The placeholder's name has the claim's in it; the Pods' are like the claims'.
        for name in ordered:
            text = re.sub(rf"{re.escape(name)}(?![\w-])", names[name], text)
        for name in pods:
            text = re.sub(rf"{re.escape(name)}(?![\w-])", "POD", text)
        text = re.sub(rf"\b{re.escape(pool)}(?![\w-])", "POOL", text)
        return re.sub(SPAN, "SPAN", re.sub(MOMENT, "TIME", text))

    return put


def events(changes: Sequence[Change], pool: str) -> list[str]:
    """Each Event of ours about the pool and its claims, in the order in which they came."""
    put = words(changes, pool)
    told = []
    for change in sorted(changes, key=lambda one: one.revision):
        event = change.object
        if change.kind != "Event" or event.get("reportingComponent") != OURS:
            continue
        about = event["involvedObject"]
        if change.type != "ADDED":
            told.append(f"{change.type} {event['reason']}")
        elif about["name"] == pool or put(about["name"]).startswith("claim "):
            note = "..." if event["reason"] == "SurgeUnschedulable" else put(event["message"])
            told.append(f"{event['type']} {event['reason']} of {put(about['name'])}: {note}")
    return told


def lines(log: Iterable[Object], changes: Sequence[Change], pool: str) -> list[str]:
    """Each line about the pool; what only differs in the cluster's own words is told once.

    For the level of the pool itself that also holds across a rotation, which has lines of its own.
    """
    put = words(changes, pool)
    told: list[str] = []
    level = ""
    for line in log:
        if line.get("nodepool") != pool and line["level"] != "error":
            continue
        text = put(_line(line))
        if text in (level, *told[-1:]):
            continue
        told.append(text)
        if line["event"] == POOL_LEVEL:
            level = text
    return told


def _line(line: Object) -> str:
    own = [
        f"{key}={'...' if key in NOT_OURS else value}"
        for key, value in sorted(line.items())
        if key not in UNTOLD
    ]
    about = f" {line['nodeclaim']}" if line.get("nodeclaim") else ""
    parts = [f"{line['level']}: {line['event']}{about} ({line.get('reason')})", *own]
    return " ".join(parts)


def counts(metrics: Mapping[str, float], pool: str) -> dict[str, float]:
    """The counters of a pool, and how often each of its histograms was fed; only what isn't zero."""
    found = {}
    for sample, value in metrics.items():
        metric, _, labels = sample.partition("{")
        if value and metric in {*COUNTED, MEASURED} and f'nodepool="{pool}"' in labels:
            rest = re.findall(r'(?:outcome|phase)="(\w+)"', labels)
            found[" ".join([metric.removeprefix("noderotation_"), *rest])] = value
    return dict(sorted(found.items()))


GAUGES = (
    "candidates",
    "in_progress",
    "window_active",
    "policy_conflict",
    "short_lead_nodes",
    "drain_stuck",
    "retry_count",
)
"""The gauges that are compared at the moments of a story: those that don't go by the clock."""


def gauges(metrics: Mapping[str, float], pool: str) -> dict[str, str | float]:
    """Those that aren't zero, and the reason."""
    found: dict[str, str | float] = {}
    for gauge in GAUGES:
        value = metrics.get(f'noderotation_{gauge}{{nodepool="{pool}"}}', 0.0)
        if value:
            found[gauge] = value
    for sample in metrics:
        if sample.startswith(f'noderotation_reason{{nodepool="{pool}",'):
            (found["reason"],) = re.findall(r'reason="(\w+)"', sample)
    return found


def standing(policy: Object | None, pool: str) -> str:
    """A policy's status in one line: Ready, how many pools, the window, the pool's phase."""
    status = (policy or {}).get("status", {})
    ready = [
        f"{one['status']} {one['reason']}"
        for one in status.get("conditions", ())
        if one["type"] == "Ready"
    ]
    phases = [f"{one['phase']}" for one in status.get("pools", ()) if one["name"] == pool]
    window = {True: "open", False: "closed"}.get(status.get("windowOpen"), "unknown")
    counted = f"{status.get('matchedNodePools')}/{status.get('rotatingNodePools')}"
    return ", ".join([*ready, f"pools {counted}", f"window {window}", *phases])
