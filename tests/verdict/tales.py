"""Histories written by hand, to show what the checks say about them.

Owns a good rotation step by step; a test leaves steps out, swaps them, or puts its own between. It
is told on Saturday 2026-01-03, from 01:00 UTC on, an hour into the window.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from hooks.verdict.history import Change, Object

POOL = "alpha"
PREFIX = "noderotation.io/"
PROTECTED = "karpenter.sh/do-not-disrupt"
SURGE_FOR = f"{PREFIX}surge-for"
FROZEN = {"surge_for": "old", "do_not_disrupt": "true", "do_not_disrupt_owned": "true"}
"""What a Node in rotation carries."""
BEGIN = datetime(2026, 1, 3, 1, 0, tzinfo=UTC)
"""When the clock of the tale shows nought; a Saturday."""


def condition(kind: str, *, true: bool = True) -> Object:
    """The status of something with one condition."""
    return {"conditions": [{"type": kind, "status": "True" if true else "False"}]}


@dataclass(slots=True)
class Tale:
    """Changes in the making, a tenth of a second and one revision apart."""

    changes: list[Change] = field(default_factory=list)
    objects: dict[tuple[str, str], Object] = field(default_factory=dict)

    def put(self, kind: str, name: str, **parts: Object) -> None:
        """Create an object, or replace parts of it (``metadata`` is merged)."""
        key = (kind, name)
        known = key in self.objects
        thing = copy.deepcopy(self.objects.get(key, {"metadata": {"name": name}, "spec": {}}))
        if not known:
            thing["metadata"]["creationTimestamp"] = self.stamp()
        thing["metadata"] |= parts.pop("metadata", {})
        self.objects[key] = thing | parts
        self._tell(kind, "MODIFIED" if known else "ADDED", self.objects[key])

    def annotate(self, kind: str, name: str, **annotations: str | None) -> None:
        """Set (or with None remove) annotations of ours, or ``do_not_disrupt``.

        ``surge_for`` means ``surge-for``.
        """
        now = dict(self.objects[kind, name]["metadata"].get("annotations", {}))
        for key, value in annotations.items():
            full = PROTECTED if key == "do_not_disrupt" else PREFIX + key.replace("_", "-")
            now.pop(full, None)
            if value is not None:
                now[full] = value
        self.put(kind, name, metadata={"annotations": now})

    def leave(self, kind: str, name: str) -> None:
        """Ask for its deletion."""
        self.put(kind, name, metadata={"deletionTimestamp": self.stamp()})

    def gone(self, kind: str, name: str) -> None:
        """It is there no more."""
        self._tell(kind, "DELETED", self.objects.pop((kind, name)))

    def stamp(self) -> str:
        """The time of the next change, in the whole seconds of Kubernetes."""
        at = BEGIN + timedelta(seconds=(len(self.changes) + 1) / 10)
        return at.replace(microsecond=0).isoformat().replace("+00:00", "Z")

    def _tell(self, kind: str, what: str, thing: Object) -> None:
        revision = len(self.changes) + 1
        told = copy.deepcopy(thing)
        self.changes.append(Change(revision / 10, revision, kind, what, told))


def machine(tale: Tale, name: str) -> None:
    """A NodeClaim, and its Ready Node of the same name."""
    labels = {"karpenter.sh/nodepool": POOL}
    spec, status = {"expireAfter": "24h"}, {"nodeName": name}
    tale.put("NodeClaim", name, metadata={"labels": labels}, spec=spec, status=status)
    tale.put("Node", name, metadata={"labels": labels}, status=condition("Ready"))


def beginning(tale: Tale) -> None:
    """A pool of one node with one Pod under a budget that lets one of two go, and an open window."""
    pool = {"pool": POOL}
    tale.put("NodePool", POOL, metadata={"labels": pool})
    window = {"timezone": "UTC", "days": ["Sat"], "start": "00:00", "end": "04:00"}
    governed = {
        "nodePoolSelector": {"matchLabels": pool},
        "maintenanceWindows": [window],
        "surge": {"cooldownAfter": "1m"},
    }
    tale.put("RotationPolicy", "weekend", spec=governed)
    machine(tale, "old")
    labels = {"app": "work"}
    spec = {"minAvailable": 1, "selector": {"matchLabels": labels}}
    tale.put("PodDisruptionBudget", POOL, metadata={"namespace": "default"}, spec=spec)
    for name in ("work-1", "work-2"):
        metadata = {"namespace": "default", "labels": labels}
        tale.put("Pod", name, metadata=metadata, status=condition("Ready"))


def anchored(tale: Tale) -> None:
    tale.annotate("NodePool", POOL, active_rotation="old")


def cordoned(tale: Tale) -> None:
    tale.put("Node", "old", spec={"unschedulable": True})
    tale.annotate("Node", "old", **FROZEN, cordoned="true")


def placeholder_created(tale: Tale) -> None:
    metadata = {"namespace": "node-rotation-system", "labels": {SURGE_FOR: "old"}}
    tale.put("Pod", "noderotation-surge-old", metadata=metadata, status={"phase": "Pending"})


def host_there(tale: Tale) -> None:
    machine(tale, "new")
    tale.annotate("Node", "new", **FROZEN)


def placeholder_running(tale: Tale) -> None:
    spec = {"nodeName": "new"}
    tale.put("Pod", "noderotation-surge-old", spec=spec, status={"phase": "Running"})


def mirrored(tale: Tale) -> None:
    tale.annotate("NodePool", POOL, active_rotation_state="draining")


def deleted(tale: Tale) -> None:
    tale.annotate("NodeClaim", "old", state="draining")
    tale.leave("NodeClaim", "old")


def placeholder_gone(tale: Tale) -> None:
    tale.gone("Pod", "noderotation-surge-old")


def drained(tale: Tale) -> None:
    tale.gone("Pod", "work-1")


def claim_gone(tale: Tale) -> None:
    tale.gone("Node", "old")
    tale.gone("NodeClaim", "old")


def unfrozen(tale: Tale) -> None:
    tale.annotate("Node", "new", **dict.fromkeys(FROZEN))


def cleared(tale: Tale) -> None:
    marks = dict.fromkeys(("active_rotation", "active_rotation_state"))
    tale.annotate("NodePool", POOL, last_rotation_at="now", **marks)


Step = Callable[[Tale], None]
GOOD: tuple[Step, ...] = (
    beginning,
    anchored,
    cordoned,
    placeholder_created,
    host_there,
    placeholder_running,
    mirrored,
    deleted,
    placeholder_gone,
    drained,
    claim_gone,
    unfrozen,
    cleared,
)
"""A rotation as it should be."""


def told(*steps: Step) -> list[Change]:
    """The changes of these steps."""
    tale = Tale()
    for step in steps:
        step(tale)
    return tale.changes


def without(*left_out: Step) -> tuple[Step, ...]:
    """The good rotation without some of its steps."""
    return tuple(step for step in GOOD if step not in left_out)


def moved(step: Step, *, before: Step) -> tuple[Step, ...]:
    """The good rotation with one step at another place."""
    rest = without(step)
    place = rest.index(before)
    return (*rest[:place], step, *rest[place:])


def also(extra: Step, *, before: Step) -> tuple[Step, ...]:
    """The good rotation with something else in between."""
    place = GOOD.index(before)
    return (*GOOD[:place], extra, *GOOD[place:])
