"""Every combination of what the rows ask: the table against a telling of the design in other words.

The telling below narrows down by exclusion, as a person would read seed 004 and design/drain.md; it
knows neither the rows nor their order. A table with a row less, or with two rows the other way
round, must then give itself away somewhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import reduce
from itertools import combinations, product
from typing import Any, Final

import pytest

from hooks.drain import verdict as module
from hooks.drain.consequences import Verdict
from hooks.drain.model import Case, Owner, Remembered, Strategy, Unreadable
from hooks.drain.reasons import Answer, Reason
from hooks.drain.tracking import AHEAD
from hooks.drain.verdict import TABLE, Row
from tests.drain.things import (
    CASE,
    DEPLOYMENT,
    NOW,
    POD,
    REPLICA_SET,
    REVIEW,
    SILENCE,
    TERMS,
    TIMEOUT,
    decided,
    walked,
)

MICRO: Final = timedelta(microseconds=1)

# --- The domains: each value by what it is called in the telling. ---
Marks = frozenset[str]

REVIEWS: Final[dict[str, Any]] = {
    "eviction": REVIEW,
    "with the Pod's uid": replace(REVIEW, uid_wanted="pod-a"),
    "with another uid": replace(REVIEW, uid_wanted="pod-z"),
    "dry run": replace(REVIEW, dry_run=True),
    "something else": replace(REVIEW, is_eviction=False),
    "dry run of something else": replace(REVIEW, dry_run=True, is_eviction=False),
}
OF_PODS: Final[dict[str, Any]] = {
    "terminating": {"terminating": True},
    "finished": {"phase": "Succeeded"},
    "unready": {"ready": False},
    "of nobody": {"owners": ()},
}
SETS: Final[dict[str, Any]] = {
    "there": REPLICA_SET,
    "namesake": replace(REPLICA_SET, uid="set-9"),
    "of nobody": replace(REPLICA_SET, owners=(replace(REPLICA_SET.owners[0], kind="Rollout"),)),
    "gone": None,
    "silent": SILENCE,
}
OF_DEPLOYMENTS: Final[dict[str, Any]] = {
    "namesake": {"uid": "deployment-9"},
    "deleting": {"deleting": True},
    "opted out": {"annotations": {"drain": "false"}},
    "scaled": {"replicas": 2},
}
NOT_THERE: Final[dict[Marks, Any]] = {frozenset({"gone"}): None, frozenset({"silent"}): SILENCE}
TRACKINGS: Final[dict[str, Any]] = {
    "none": None,
    "unreadable": Unreadable("x"),
    "ahead": NOW + AHEAD + MICRO,
    "live": NOW - TIMEOUT + MICRO,
    "over": NOW - TIMEOUT,
}
OBSTACLES: Final[dict[str, Any]] = {
    "none": {},
    "paused": {"paused": True},
    "recreate": {"strategy": Strategy("Recreate")},
    "no surge": {"strategy": Strategy(max_surge="0%", max_unavailable=0)},
    "gap": {"strategy": Strategy(max_surge=1, max_unavailable="100%")},
}
REVISIONS: Final[dict[str, Any]] = {"current": 1, "older": 2, "unknown": None}
READY: Final[dict[str, Any]] = {
    "none": {"ready": 0},
    "one": {"ready": 1},
    "two": {"ready": 2, "total": 2},
    "two old ones": {"ready": 2, "total": 2, "updated": 0},
}
JUST, LONG = NOW - TIMEOUT + MICRO, NOW - TIMEOUT
MEMORIES: Final[dict[str, Any]] = {
    "nothing": Remembered(),
    "asked": Remembered(JUST, recorded=True),
    "denied for long": Remembered(LONG),
    "asked, denied for long": Remembered(LONG, recorded=True),
}
TEMPLATES: Final[dict[str, Any]] = {"new": {"spec": "new"}, "same": {}}
LAST: Final[dict[str, Any]] = {"this Pod": "pod-a", "another": "pod-0", "none": None}


def marked(thing: Any, marks: Marks, changes: dict[str, Any]) -> Any:
    """What has these marks."""
    if marks in NOT_THERE:
        return NOT_THERE[marks]
    return reduce(lambda found, mark: replace(found, **changes[mark]), sorted(marks), thing)


def every_set_of(changes: dict[str, Any]) -> tuple[Marks, ...]:
    """All combinations of these marks, and what isn't there."""
    sizes = range(len(changes) + 1)
    sets = (frozenset(marks) for size in sizes for marks in combinations(changes, size))
    return (*sets, *NOT_THERE)


@dataclass(frozen=True)
class Told:
    """One combination in words, and the case that it is."""

    review: str = "eviction"
    pod: Marks = frozenset()
    replica_set: str = "there"
    deployment: Marks = frozenset()
    tracking: str = "none"
    ready: str = "one"
    revision: str = "current"
    last: str = "none"
    obstacle: str = "none"
    memory: str = "nothing"
    observed: bool = True
    template: str = "new"

    @property
    def is_older(self) -> bool:
        return self.revision == "older" and self.template == "new"

    @property
    def is_replaced(self) -> bool:
        return self.is_older or (self.template == "new" and not self.observed)

    @property
    def case(self) -> Case:
        present = replace(
            DEPLOYMENT,
            annotations={"drain": "true"},
            restarted_at=TRACKINGS[self.tracking],
            revision=REVISIONS[self.revision],
            last_pod_uid=LAST[self.last],
            observed_generation=DEPLOYMENT.generation - (not self.observed),
            template=TEMPLATES[self.template],
            **READY[self.ready],
            **OBSTACLES[self.obstacle],
        )
        return replace(
            CASE,
            review=REVIEWS[self.review],
            terms=replace(TERMS, enabled_annotation="drain"),
            pod=marked(POD, self.pod, OF_PODS),
            replica_set=SETS[self.replica_set],
            deployment=marked(present, self.deployment, OF_DEPLOYMENTS),
            remembered=MEMORIES[self.memory],
        )


def outer() -> Iterator[Told]:
    """All that may be found on the way to the Deployment."""
    for review, pod in product(REVIEWS, every_set_of(OF_PODS)):
        yield Told(review, pod)
    for replica_set, deployment in product(SETS, every_set_of(OF_DEPLOYMENTS)):
        yield Told(replica_set=replica_set, deployment=deployment)
    for review, memory in product(("eviction", "dry run"), MEMORIES):
        yield Told(review, frozenset({"silent"}), memory=memory)


def inner() -> Iterator[Told]:
    """All that a Deployment may be, and the same out of scope, for a Pod that is worth protecting."""
    for marks in ((), ("deleting",), ("opted out",), ("scaled",)):
        for words in product(TRACKINGS, READY, REVISIONS, LAST, OBSTACLES):
            yield Told("eviction", frozenset(), "there", frozenset(marks), *words)
    for words in product(TRACKINGS, READY, REVISIONS, LAST, OBSTACLES):
        for memory, observed, template in product(MEMORIES, (True, False), TEMPLATES):
            yield replace(
                Told("eviction", frozenset(), "there", frozenset(), *words),
                memory=memory,
                observed=observed,
                template=template,
            )


def told_reason(it: Told) -> str:
    """The design, told by exclusion."""
    if "something else" in it.review:
        return "NotAnEviction"
    if it.review == "dry run":
        return "DryRun"
    unprotected = _no_ready_pod(it) or _no_deployment(it)
    return unprotected or _of_a_singleton(it)


def first(marks: Marks, words: dict[str, str]) -> str:
    """The word for the first of these marks that is there, or none."""
    return next((word for mark, word in words.items() if mark in marks), "")


def _no_ready_pod(it: Told) -> str:
    if it.review == "with another uid" and it.pod not in NOT_THERE:
        return "AnotherPod"
    words = {
        "silent": "PodNotRead",
        "gone": "PodGone",
        "terminating": "PodTerminating",
        "finished": "PodFinished",
        "unready": "PodNotReady",
        "of nobody": "NoDeployment",
    }
    return first(it.pod, words)


def _no_deployment(it: Told) -> str:
    found = {"silent": "OwnerNotRead", "gone": "OwnerGone", "namesake": "OwnerGone"}
    if it.replica_set != "there":
        return found.get(it.replica_set, "NoDeployment")
    out_of_scope = {
        "deleting": "DeploymentDeleting",
        "opted out": "OptedOut",
        "scaled": "NotASingleton",
    }
    return first(it.deployment, found | out_of_scope)


def _of_a_singleton(it: Told) -> str:
    unusable = {"unreadable": "TrackingUnreadable", "ahead": "TrackingUnreadable"}
    if it.tracking not in {"none", "live"}:
        return unusable.get(it.tracking, "RolloutTimedOut")
    is_tracked = it.tracking == "live"
    is_held = is_tracked or it.is_replaced
    is_over = is_held and "long" in it.memory
    if it.ready.startswith("two"):
        known = it.is_older or (it.revision != "current" and it.last == "this Pod")
        if is_tracked and not is_over and (not known or it.last == "another"):
            return "IsSuccessor"
        if it.ready == "two" if it.is_older else it.observed:
            return "SuccessorReady"
    was_asked = "asked" in it.memory and not it.is_replaced
    if not is_tracked and (was_asked or it.last == "this Pod"):
        return "AlreadyRolled"
    if it.obstacle != "none":
        return "NoSuccessorFirst"
    begins = "RolloutAdopted" if it.is_replaced else "RolloutRequested"
    waits = "RolloutInProgress" if is_tracked else begins
    return "RolloutTimedOut" if is_over else waits


EVERY: Final = (*outer(), *inner())
CASES: Final = tuple((it.case, told_reason(it)) for it in EVERY)
"""Each with its reason."""
DENIED: Final = {
    "PodNotRead",
    "IsSuccessor",
    "RolloutInProgress",
    "RolloutAdopted",
    "RolloutRequested",
}


def is_denied(case: Case, reason: str) -> bool:
    """Whether that reason denies; a Pod that can't be read for long is let through for the same."""
    return reason in DENIED and not (
        reason == "PodNotRead" and case.remembered.denied_since == LONG
    )


def judged(case: Case) -> Verdict:
    """The verdict, by live reads; what is remembered comes with the Pod."""
    return walked(case)[1]


def disagrees() -> bool:
    """Whether the present table answers a case otherwise than the telling, or not at all."""
    try:
        return any(
            (found.reason.value, found.answer is Answer.DENY) != (reason, is_denied(case, reason))
            for case, reason in CASES
            for found in [judged(case)]
        )
    except (LookupError, AttributeError, RuntimeError):
        return True


def test_the_table_says_what_the_design_tells() -> None:
    for (case, expected), it in zip(CASES, EVERY, strict=True):
        verdict = decided(case)
        assert verdict.reason.value == expected, it
        assert (verdict.answer is Answer.DENY) == is_denied(case, expected), it


def test_every_row_is_reached() -> None:
    assert len(CASES) == 6 * 18 + 5 * 18 + 2 * 4 + (4 + 4 * 4) * 5 * 4 * 3 * 3 * 5
    reached = Counter(expected for _, expected in CASES)
    assert set(reached) == {row.reason.value for row in TABLE}


def test_only_a_beginning_writes_and_only_denials_have_a_message() -> None:
    for case, expected in CASES:
        verdict = decided(case)
        assert (verdict.patch is not None) == (expected in {"RolloutAdopted", "RolloutRequested"})
        assert bool(verdict.message) == (verdict.answer is Answer.DENY)
        assert not (verdict.warnings and verdict.answer is Answer.DENY)


@pytest.mark.parametrize("at", range(len(TABLE)), ids=lambda at: f"{at}-{TABLE[at].reason}")
def test_a_table_without_a_row_gives_itself_away(at: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TABLE", (*TABLE[:at], *TABLE[at + 1 :]))
    assert disagrees()


@pytest.mark.parametrize("at", range(len(TABLE)), ids=lambda at: f"{at}-{TABLE[at].reason}")
def test_a_row_that_never_matches_gives_itself_away(
    at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    deaf = replace(TABLE[at], matches=lambda _: False)
    monkeypatch.setattr(module, "TABLE", (*TABLE[:at], deaf, *TABLE[at + 1 :]))
    assert disagrees()


EXCLUSIVE: Final = {
    # Two neighbours that no case can match both: their order says nothing.
    (Reason.POD_NOT_READ, Reason.POD_GONE),
    (Reason.TRACKING_UNREADABLE, Reason.ROLLOUT_TIMED_OUT),
    (Reason.ROLLOUT_TIMED_OUT, Reason.IS_SUCCESSOR),
}


def swapped(at: int) -> tuple[Row, ...]:
    return (*TABLE[:at], TABLE[at + 1], TABLE[at], *TABLE[at + 2 :])


@pytest.mark.parametrize("at", range(len(TABLE) - 1), ids=lambda at: f"{at}-{TABLE[at].reason}")
def test_two_rows_the_other_way_round_give_themselves_away(
    at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = (TABLE[at].reason, TABLE[at + 1].reason)
    monkeypatch.setattr(module, "TABLE", swapped(at))
    assert disagrees() is (pair not in EXCLUSIVE), pair


def test_an_owner_of_another_group_is_nobody_in_every_combination() -> None:
    argo = Owner("argoproj.io/v1alpha1", "ReplicaSet", "web-1", "set-1", controller=True)
    for it in inner():
        case = replace(it.case, pod=replace(POD, owners=(argo,)))
        assert decided(case).reason is Reason.NO_DEPLOYMENT
