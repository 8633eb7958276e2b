"""A journey: one pool from a beginning to rest, by passes of the real hook, with what happens to it.

Owns the loop of passes, the happenings (a condition, and what is done once it holds), and the
mishaps that strike at one write of one pass. Leaves the rules of the surroundings to
:mod:`tests.support.surroundings` and the list of journeys to :mod:`tests.support.journeys`.
"""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Any, Final

from structlog.testing import capture_logs

from hooks.cluster.errors import ClusterError, Unavailable
from hooks.sync.nodepool import NodePoolSync
from hooks.telemetry.metrics import Metrics
from tests.support.folders import settings_from
from tests.support.live import Json
from tests.support.processes import Heard, counters, heading
from tests.support.stage import AFTER, ANSWER, BEFORE, CLIENT, Stage, quiet, wants
from tests.support.surroundings import Surroundings, later
from tests.support.world import NOW, World

LONGEST: Final = 150
"""Passes to rest; a journey that waits for a backoff takes about 60."""
QUIET: Final = 60
"""An answer that is back in so many seconds, and changed nothing, twice: at rest."""
EVENT: Final = CLIENT[3]


class Died(BaseException):
    """The process of the hook, or Metacontroller's, is gone in the middle of a pass."""


class Fault(Enum):
    """What can strike at a write."""

    DIES_BEFORE = "die before"
    DIES_AFTER = "die after"
    LOST = "answer lost"
    TWICE = "call duplicated"
    CONFLICT = "parent conflict"


@dataclass(frozen=True)
class Happening:
    """Once ``when`` holds between two passes, ``what`` is done; one after the other."""

    name: str
    when: Callable[[Stage], bool]
    what: Callable[[Run], None]


@dataclass(frozen=True)
class Strike:
    """A mishap that belongs to the journey itself: at the first write of that kind and name."""

    kind: str
    fault: Fault
    when: Callable[[Stage], bool] = lambda _stage: True


@dataclass(frozen=True)
class Journey:
    """A beginning, and what happens, in this order; a Strike waits for its write."""

    name: str
    begins: Callable[[], World]
    happens: tuple[Happening | Strike, ...] = ()
    ready: bool = True
    at_once: bool = False

    @property
    def faulty(self) -> bool:
        """Whether a mishap of its own is on it."""
        return any(isinstance(happening, Strike) for happening in self.happens)


class Run:
    """A journey under way."""

    def __init__(self, journey: Journey) -> None:
        world = journey.begins()
        policies = {p["metadata"]["name"]: p for p in world.policies}
        self.journey = journey
        self.cluster = Stage(world.live(), policies)
        self.cluster.now = NOW
        self.around = Surroundings(self.cluster, ready=journey.ready, at_once=journey.at_once)
        self.happened = 0
        self.forestalled: tuple[int, ...] = ()
        """Which of the journey's happenings never came."""
        self.passes = 0
        self.calm = 0
        self.told: Counter[str] = Counter()
        """The log lines of all processes."""
        self.banked: Counter[str] = Counter()
        """What the metrics of dead processes had counted."""
        self.untold: Counter[str] = Counter()
        """The Events, by reason, whose process died before it could count them."""
        self.retold: Counter[str] = Counter()
        """Those that were there already when their creation gave no answer: they count again."""
        self.hook = self.process(NodePoolSync)
        self.striking: Striking | None = None

    def process(self, kind: type[NodePoolSync], known: Heard | None = None) -> NodePoolSync:
        """Give a new process of the hook, or one that remembers the same."""
        announced = Heard(known)
        return kind(settings_from({}), self.cluster.within, self.clock, announced=announced)

    def numbers(self) -> Counter[str]:
        """What all processes' metrics have counted."""
        return self.banked + counters(self.hook.metrics)

    def fresh(self) -> None:
        """Let another replica, which remembers nothing, answer from now on."""
        self.banked = self.numbers()
        self.hook = self.process(type(self.hook))

    def dies(self, untold: Counter[str]) -> None:
        """The process dies here: what it would still count or write is nobody's."""
        self.untold += untold
        self.banked = self.numbers()
        self.hook.metrics = Metrics()

    def clock(self) -> datetime:
        """The time of the cluster."""
        return datetime.fromisoformat(self.cluster.now)

    def fork(self) -> Run:
        """Give the same once more, with a process of the hook that remembers the same Events."""
        other = copy.copy(self)
        other.cluster = self.cluster.fork()
        other.around = copy.copy(self.around)
        other.around.cluster = other.cluster
        other.told, other.banked = Counter(self.told), self.numbers()
        other.untold, other.retold = Counter(self.untold), Counter(self.retold)
        known = self.hook.announced
        other.hook = other.process(NodePoolSync, known if isinstance(known, Heard) else None)
        return other

    # --- one round ---

    @property
    def ended(self) -> bool:
        """Whether the pool is gone, or at rest with nothing more to come."""
        if not self.cluster.pool:
            return True
        return self.calm >= 2 and self.happened >= len(self.journey.happens)

    def round(self, strike: tuple[int, Fault] | None = None) -> None:
        """One pass, what happens after it, what goes on around, and the time to the next."""
        if self.passes == 0:
            self._happen()
        if self.calm >= 2:
            # What it waits for can't come any more: a mishap has taken another way.
            self.forestalled += (self.happened,)
            self.happened += 1
            self._happen()
        self.passes += 1
        assert self.passes < LONGEST, f"{self.journey.name} doesn't come to rest"
        before = self._version()
        back = self._pass(strike)
        self._happen()
        self.around.act()
        moved = self._version() != before
        self.calm = 0 if moved or back < QUIET else self.calm + 1
        self.cluster.now = later(self.cluster.now, 1 if moved else back)

    def to_the_end(self) -> None:
        """Rounds until rest."""
        while not self.ended:
            self.round()

    def _version(self) -> tuple[object, ...]:
        kinds = tuple(
            (kind, tuple((n, t["metadata"]["resourceVersion"]) for n, t in things.items()))
            for kind, things in self.cluster.objects.items()
        )
        return kinds, len(self.cluster.policies), self.happened

    def _happen(self) -> None:
        while self.happened < len(self.journey.happens):
            next_one = self.journey.happens[self.happened]
            if isinstance(next_one, Strike) or not next_one.when(self.cluster):
                return
            self.happened += 1
            next_one.what(self)

    # --- one pass ---

    def _pass(self, strike: tuple[int, Fault] | None) -> float:
        request = self.cluster.request()
        if request is None:
            return QUIET
        self.striking = Striking(self, request, strike)
        self.cluster.at = self.striking
        try:
            back = self.call(request)
        finally:
            self.cluster.at = quiet
        if self.striking.repeats:
            self.call(request)
        return back

    def call(self, request: Json) -> float:
        """Call the hook, and do with its answer what Metacontroller does."""
        back = 2.0
        try:
            body = self._called(request)
            back = float(wants(body)["resyncAfterSeconds"])
            at = self.cluster.at
            if not (isinstance(at, Striking) and at.silent):
                self.cluster.apply(request, body)
        except ClusterError:
            pass
        except Died:
            self.hook = self.process(type(self.hook))
        return back

    def _called(self, request: Json) -> bytes:
        lines: list[Any] = []
        try:
            with capture_logs() as lines:
                return self.hook(json.dumps(request).encode(), deadline=0.0)
        except Died:
            # All lines come last in a pass: a dead process has written none.
            lines.clear()
            raise
        finally:
            self.told.update(heading(line) for line in lines)


class Striking:
    """Counts the writes of one pass, and strikes at one of them; also carries out a Strike."""

    def __init__(self, run: Run, request: Json, strike: tuple[int, Fault] | None) -> None:
        self.run = run
        self.request = request
        self.strike = strike
        self.count = -1
        self.silent = False
        """Whether the answer of this pass is lost, since its call was given up."""
        self.repeats = False
        """Whether the same request comes once more when its answer has been applied."""
        self.struck = False
        self.seen: list[tuple[str, str]] = []
        self.made: list[str] = []
        """The Events that this pass created, by name."""
        self.there = False
        """Whether the Event that it creates now is there already."""

    def __call__(self, moment: str, kind: str, name: str) -> None:
        if moment == BEFORE:
            self.count += 1
            self.seen.append((kind, name))
        elif kind == EVENT and not self.there:
            self.made.append(name)
        fault = self._due(kind, moment)
        if fault is not None:
            self._carry_out(fault, kind, name)
        self.there = kind == EVENT and moment == BEFORE and name in self.run.cluster.events

    def _due(self, kind: str, moment: str) -> Fault | None:
        if self.strike is not None and self.strike[0] == self.count and not self.struck:
            return self.strike[1] if moment == _moment(self.strike[1]) else None
        run = self.run
        happens = run.journey.happens
        if run.happened >= len(happens):
            return None
        own = happens[run.happened]
        if not isinstance(own, Strike) or own.kind != kind or not own.when(run.cluster):
            return None
        if moment == _moment(own.fault):
            run.happened += 1
            return own.fault
        return None

    def _carry_out(self, fault: Fault, kind: str, name: str) -> None:
        self.struck = True
        events = self.run.cluster.events
        match fault:
            case Fault.DIES_BEFORE | Fault.DIES_AFTER:
                # What a pass told of is counted before its answer is applied.
                made = [] if kind in ANSWER else self.made
                self.run.dies(Counter(str(events[event]["reason"]) for event in made))
                raise Died
            case Fault.LOST:
                if self.there:
                    self.run.retold[str(events[name]["reason"])] += 1
                raise Unavailable("the answer was lost")
            case Fault.CONFLICT:
                if self.run.cluster.pool:
                    self.run.cluster.touch(self.run.cluster.pool)
            case Fault.TWICE:
                self._again(kind)

    def _again(self, kind: str) -> None:
        """The same request once more.

        Either while the first call is still at its writes: given up by Metacontroller, its answer
        is lost. Or, where an answer is being applied, after that: one sync at a time.
        """
        if kind in ANSWER:
            self.repeats = True
            return
        at = self.run.cluster.at
        self.run.cluster.at = quiet
        self.run.call(self.request)
        self.run.cluster.at = at
        self.silent = True


def _moment(fault: Fault) -> str:
    return AFTER if fault in {Fault.DIES_AFTER, Fault.LOST} else BEFORE
