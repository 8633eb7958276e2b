"""What a process remembers: it bounds a denial when the annotations don't, and nothing else."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from hooks import names
from hooks.admission import memory as module
from hooks.admission.eviction import EvictionReview
from hooks.admission.memory import Memory
from hooks.cluster.errors import Refused, Unavailable
from hooks.drain.consequences import Verdict
from hooks.drain.model import Case, Remembered, Review, Terms, Trouble
from hooks.drain.reasons import Answer, Reason
from hooks.settings import read_settings
from tests.drain.things import CASE, POD, decided
from tests.protocol.recorded import body
from tests.support.live import POD as PODS
from tests.support.live import Json
from tests.support.singleton import (
    OLD,
    cluster,
    deployment,
    evicted,
    put,
    replica_set,
    review,
    rolling,
)
from tests.support.singletonlive import DEPLOYMENT as DEPLOYMENTS
from tests.support.singletonlive import REPLICASET, SingletonLive

START = datetime(2026, 11, 29, 20, tzinfo=UTC)
TIMEOUT = timedelta(minutes=10)
SECOND = timedelta(seconds=1)
NOTHING = Remembered()
DENIED = Verdict(Answer.DENY, Reason.ROLLOUT_IN_PROGRESS, counts=True)
ASKED = replace(decided(CASE), counts=True)


def of(pod: str = "web-1", at: timedelta = timedelta(0)) -> Case:
    """A Pod that couldn't be read."""
    return Case(Review("shop", pod), Terms(START + at, TIMEOUT), Trouble("no answer"))


def read(at: timedelta = timedelta(0)) -> Case:
    """A Pod that could."""
    return replace(CASE, terms=Terms(START + at, TIMEOUT))


def test_the_first_denial_counts() -> None:
    memory = Memory(TIMEOUT)
    assert memory.recall(read()) == read()
    memory.note(read(), DENIED)
    memory.note(read(SECOND), DENIED)
    later = memory.recall(read(2 * SECOND))
    assert later.remembered == Remembered(START)
    other = replace(read(), pod=replace(POD, uid="pod-b"))
    assert memory.recall(other).remembered == NOTHING


def test_time_begins_when_tracking_does_once() -> None:
    memory = Memory(TIMEOUT)
    memory.note(read(), DENIED)
    memory.note(read(SECOND), ASKED)
    assert memory.recall(read(SECOND)).remembered == Remembered(START + SECOND, recorded=True)
    memory.note(read(2 * SECOND), ASKED)
    memory.note(read(3 * SECOND), DENIED)
    assert memory.recall(read(3 * SECOND)).remembered == Remembered(START + SECOND, recorded=True)


def test_an_answer_that_is_not_for_its_own_sake_is_not_noted() -> None:
    memory = Memory(TIMEOUT)
    memory.note(read(), replace(DENIED, counts=False))
    memory.note(read(), Verdict(Answer.ALLOW, Reason.SUCCESSOR_READY))
    assert memory.recall(read()).remembered == NOTHING


def test_a_pod_that_cannot_be_read_is_known_by_its_name_until_it_can() -> None:
    memory = Memory(TIMEOUT)
    memory.note(of(), DENIED)
    assert memory.recall(of()).remembered == Remembered(START)
    assert memory.recall(of("web-2")).remembered == NOTHING
    for found in (POD, None):
        memory.note(of(), DENIED)
        assert memory.recall(replace(of(), pod=found)).remembered == NOTHING
        assert memory.recall(of()).remembered == NOTHING


@pytest.mark.parametrize(
    ("timeout", "lasts"),
    [(4 * SECOND, timedelta(hours=1)), (timedelta(hours=1), timedelta(hours=2))],
)
def test_it_is_kept_until_nobody_has_asked_for_long(timeout: timedelta, lasts: timedelta) -> None:
    memory = Memory(timeout)
    memory.note(read(), DENIED)
    assert memory.recall(read(lasts)).remembered == Remembered(START)
    assert memory.recall(read(2 * lasts)).remembered == Remembered(START)
    assert memory.recall(read(3 * lasts + SECOND)).remembered == NOTHING
    memory.note(read(3 * lasts + SECOND), DENIED)
    kept = memory.recall(read(3 * lasts + SECOND)).remembered
    assert kept == Remembered(START + 3 * lasts + SECOND)


def test_the_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST_MEMORY", 2)
    memory = Memory(TIMEOUT)
    for pod in ("web-1", "web-2", "web-1", "web-3"):
        memory.note(of(pod), DENIED)
    kept = [memory.recall(of(pod)).remembered for pod in ("web-1", "web-2", "web-3")]
    assert kept == [Remembered(START), NOTHING, Remembered(START)]


class Asked:
    """One process of the webhook, and a clock."""

    def __init__(self, timeout: str = "10m") -> None:
        self.live = SingletonLive(cluster(evicted(), replica_set(), deployment()))
        self.now = START
        environment = {
            "NODEROTATION_TOKEN_FILE": "token",
            "NODEROTATION_ROLLOUT_TIMEOUT": timeout,
        }
        self.hook = EvictionReview(read_settings(environment), self.live.within, lambda: self.now)

    def ask(self, **changes: Any) -> Json:
        answer: Json = json.loads(self.hook(body(review(**changes)), deadline=0.0))["response"]
        return answer

    def first_allowed(self, every: int, seconds: int = 3600) -> int | None:
        """After how many seconds an evictor gets it through that asks so often."""
        for at in range(0, seconds, every):
            if self.ask()["allowed"]:
                return at
            self.now += timedelta(seconds=every)
        return None

    def forbid(self) -> None:
        def forbidden(verb: str, _name: str) -> None:
            if verb == "get pods":
                raise Refused(403, "pods is forbidden")

        self.live.fault = forbidden

    def become(self, made: Json) -> None:
        self.live.objects[DEPLOYMENTS]["default/single"] = made

    def trackings(self) -> int:
        return sum("ops" in write for write in self.live.writes)


@pytest.mark.parametrize(
    ("timeout", "every", "allowed"),
    [("10m", 10, 600), ("4s", 5, 5), ("5m", 310, 310), ("10m", 1790, 1790)],
)
def test_a_right_that_is_missing_for_good_wedges_no_drain(
    timeout: str, every: int, allowed: int
) -> None:
    asked = Asked(timeout)
    asked.forbid()
    assert asked.first_allowed(every) == allowed
    (warning,) = asked.ask()["warnings"]
    assert warning.endswith("(403): pods is forbidden, for too long; not protected")
    asked.live.fault = lambda _verb, _name: None
    assert asked.ask()["allowed"] is False


def test_a_dry_run_in_between_says_nothing_of_the_pod() -> None:
    asked = Asked()
    asked.forbid()
    assert asked.first_allowed(10, 590) is None
    assert asked.ask(dryRun=True)["allowed"] is True
    assert asked.first_allowed(10) == 10


def test_who_takes_the_annotations_away_holds_no_drain_and_gets_one_rollout() -> None:
    """GitOps that prunes what it doesn't know, every time before the evictor asks."""
    asked = Asked()
    assert asked.ask()["allowed"] is False
    asked.become(deployment())
    asked.now += 30 * SECOND
    (warning,) = asked.ask()["warnings"]
    assert "was requested for this Pod before, and is over; not protected again" in warning
    assert asked.trackings() == 1


def test_a_deployment_that_is_made_anew_over_the_same_pod_gets_none() -> None:
    """``kubectl delete --cascade=orphan`` and a create, as a forced replace does it."""
    asked = Asked()
    assert asked.ask()["allowed"] is False
    asked.become(deployment(metadata__uid="another"))
    owner = put(
        replica_set(),
        "metadata.ownerReferences",
        [{**replica_set()["metadata"]["ownerReferences"][0], "uid": "another"}],
    )
    asked.live.objects[REPLICASET][f"default/single-{OLD}"] = owner
    assert asked.ask()["allowed"] is True
    assert asked.trackings() == 1


def test_tracking_that_is_taken_away_in_the_middle_is_begun_anew_but_not_its_time() -> None:
    """The Pod is being replaced already: the rollout is waited for, until its first timeout."""
    asked = Asked()
    assert asked.ask()["allowed"] is False
    answers = []
    for _ in range(60):
        asked.become(rolling({}))
        asked.now += 10 * SECOND
        answers.append(asked.ask()["allowed"])
    assert answers == [False] * 59 + [True]
    (warning,) = asked.ask()["warnings"]
    assert warning == (
        "noderotation graceful-drain: Pod default/single-6d6cd94fd5-sjv82 has waited for a rollout of"
        " Deployment default/single since 2026-11-29T20:00:00Z, longer than 10m0s; not protected"
    )


def test_tracking_that_somebody_renews_for_ever_ends_all_the_same() -> None:
    asked = Asked()
    answers = []
    for _ in range(61):
        since = asked.now.isoformat().replace("+00:00", "Z")
        asked.become(rolling({"restarted-at": since, "rolled-for": since}))
        answers.append(asked.ask()["allowed"])
        asked.now += 10 * SECOND
    assert answers == [False] * 60 + [True]


def test_two_processes_ask_twice_at_most() -> None:
    first, second = Asked(), Asked()
    second.live = first.live
    second.hook.within = first.live.within
    allowed = []
    for _ in range(4):
        for process in (first, second):
            first.become(deployment())
            allowed.append(process.ask()["allowed"])
    assert allowed == [False, False, *[True] * 6]
    assert first.trackings() == 2


def test_two_reviews_at_once_in_one_process_ask_once() -> None:
    """The other one lands first, and what it wrote is taken away before ours is looked at again."""
    asked = Asked()
    others: list[bool] = []

    def meanwhile(verb: str, _name: str) -> None:
        if verb == "patch deployments" and not others:
            others.append(True)
            others.append(asked.ask()["allowed"])
            asked.become(deployment(metadata__resourceVersion="9999"))

    asked.live.fault = meanwhile
    assert asked.ask()["allowed"] is True
    assert others == [True, False]


def test_a_patch_that_failed_was_not_recorded() -> None:
    asked = Asked()

    def refused(verb: str, _name: str) -> None:
        if verb == "patch deployments":
            raise Refused(403, "deployments is forbidden")

    asked.live.fault = refused
    assert asked.ask()["allowed"] is True
    asked.live.fault = lambda _verb, _name: None
    assert asked.ask()["allowed"] is False
    marks = asked.live.objects[DEPLOYMENTS]["default/single"]["metadata"]["annotations"]
    assert names.DRAIN_RESTARTED_AT in marks


def test_an_event_that_failed_is_told_by_the_next_eviction_and_then_no_more() -> None:
    asked = Asked()
    asked.become(deployment(spec__paused=True))

    def unavailable(verb: str, _name: str) -> None:
        if verb == "create events":
            raise Unavailable("no answer in time")

    asked.live.fault = unavailable
    assert asked.ask()["allowed"] is True
    assert list(asked.live.events) == []
    asked.live.fault = lambda _verb, _name: None
    for _ in range(2):
        assert asked.ask()["allowed"] is True
    (event,) = asked.live.events.values()
    assert event["reason"] == names.DRAIN_IMPOSSIBLE
    assert len([write for write in asked.live.writes if "event" in write]) == 2


def test_a_pod_that_comes_after_it_is_another_one() -> None:
    asked = Asked()
    assert asked.ask()["allowed"] is False
    asked.become(deployment())
    asked.live.objects[PODS] = {
        key: put(pod, "metadata.uid", "another") for key, pod in asked.live.objects[PODS].items()
    }
    assert asked.ask(object__deleteOptions=None)["allowed"] is False
    assert asked.trackings() == 2


def test_what_is_forgotten_is_not_in_the_way() -> None:
    asked = Asked()
    assert asked.ask()["allowed"] is False
    asked.become(deployment())
    asked.now += timedelta(hours=1, seconds=1)
    assert asked.ask()["allowed"] is False
