"""What a history tells of one Deployment; this needs no cluster."""

from __future__ import annotations

from itertools import count
from typing import Any

from hooks import names
from hooks.verdict.history import Change
from tests.e2e.drain.told import Ready, Told

WHERE = {"namespace": "here", "name": "app"}
TRACKED = "2026-11-30T10:00:00Z"


class Happening:
    """Makes changes, one each second."""

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self._revisions = count(1)

    def see(self, kind: str, thing: dict[str, Any], what: str = "MODIFIED") -> None:
        revision = next(self._revisions)
        self.changes.append(Change(float(revision), revision, kind, what, thing))

    def deployment(self, restarted: str | None = None, **annotations: str) -> None:
        template = {names.POD_TEMPLATE_RESTARTED_AT: restarted} if restarted else {}
        ours = {names.DRAIN_PREFIX + key.replace("_", "-"): one for key, one in annotations.items()}
        spec = {"template": {"metadata": {"annotations": template}}}
        self.see("Deployment", {"metadata": WHERE | {"annotations": ours}, "spec": spec})

    def slice(self, name: str, *pods: str, what: str = "MODIFIED", **others: bool | None) -> None:
        ready = dict.fromkeys(pods, True) | others
        endpoints = [
            {"conditions": {"ready": one}, "targetRef": {"name": pod}} for pod, one in ready.items()
        ]
        labels = {"kubernetes.io/service-name": "app"}
        metadata = {"namespace": "here", "name": name, "labels": labels}
        self.see("EndpointSlice", {"metadata": metadata, "endpoints": endpoints or None}, what)

    def event(self, reason: str, what: str = "ADDED", name: str = "app") -> None:
        about = {"kind": "Deployment", "name": name, "namespace": "here"}
        metadata = {"namespace": "here", "name": reason.lower()}
        self.see("Event", {"metadata": metadata, "involvedObject": about, "reason": reason}, what)

    def told(self) -> Told:
        """As if the watches had told them in any order."""
        return Told.of(reversed(self.changes), "here", "app")


def test_a_rollout() -> None:
    story = Happening()
    story.deployment()
    story.deployment(restarted_at=TRACKED, last_pod_uid="u")
    story.event(names.DRAIN_TRIGGERED)
    story.deployment(TRACKED, restarted_at=TRACKED, last_pod_uid="u", rolled_for=TRACKED)
    story.deployment(TRACKED, restarted_at=TRACKED, last_pod_uid="u", rolled_for=TRACKED)
    story.event(names.DRAIN_COMPLETED)
    story.event(names.DRAIN_COMPLETED, "DELETED")
    story.event("ScalingReplicaSet")
    story.deployment(TRACKED, last_pod_uid="u", rolled_for=TRACKED)
    told = story.told()
    assert (told.templates(), told.restarts()) == (1, [TRACKED])
    assert told.tracked() == [TRACKED, None]
    assert told.last_pods() == ["u"]
    assert told.marks() == {"last-pod-uid": "u", "rolled-for": TRACKED}
    assert told.reports() == [names.DRAIN_TRIGGERED, names.DRAIN_COMPLETED]


def test_a_restart_that_is_reverted_and_done_again() -> None:
    story = Happening()
    for restarted in (None, "1", None, "2"):
        story.deployment(restarted)
    assert (story.told().templates(), story.told().restarts()) == (3, ["1", "2"])


def test_nothing_has_happened() -> None:
    story = Happening()
    story.deployment()
    told = story.told()
    assert (told.templates(), told.restarts(), told.tracked(), told.last_pods()) == (0, [], [], [])
    assert (told.marks(), told.reports(), told.readiness(), told.gaps()) == ({}, [], [], [])


def test_endpoints_of_all_slices_count() -> None:
    story = Happening()
    story.slice("one", new=None)
    story.slice("one", "a", b=False)
    story.slice("two", "b")
    story.slice("one")
    story.slice("two", "b", c=False)
    told = story.told()
    assert told.readiness() == [
        Ready(2.0, 2, frozenset("a")),
        Ready(3.0, 3, frozenset("ab")),
        Ready(4.0, 4, frozenset("b")),
    ]
    assert told.gaps() == []


def test_gaps() -> None:
    story = Happening()
    story.slice("one", "a")
    story.slice("one", a=False)
    story.slice("two", "b")
    story.slice("two", "b", what="DELETED")
    story.deployment()
    story.deployment()
    told = story.told()
    assert told.gaps() == [1.0, 2.0]
    assert list(told.describe()) == [
        "   0.00 s  revision 1  ready: a",
        "   1.00 s  revision 2  ready: NONE",
        "   2.00 s  revision 3  ready: b",
        "   3.00 s  revision 4  ready: NONE",
    ]


def test_what_belongs_to_others() -> None:
    story = Happening()
    story.event(names.DRAIN_TRIGGERED, name="app-2")
    story.see("Pod", {"metadata": {"namespace": "here", "name": "p", "labels": {"app": "app-2"}}})
    story.see("Pod", {"metadata": {"namespace": "there", "name": "p", "labels": {"app": "app"}}})
    story.see("Deployment", {"metadata": {"namespace": "here", "name": "app-2"}})
    assert story.told().changes == ()
    story.see("Pod", {"metadata": {"namespace": "here", "name": "p", "labels": {"app": "app"}}})
    assert [one.kind for one in story.told().changes] == ["Pod"]
