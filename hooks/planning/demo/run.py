"""The demo itself: cluster, hook server, world and story on one virtual clock, until all is over.

Owns the order of things, the end, and the history. The clock is slowed down where there is something
to see; what is slowed down is the onlooker's time, never the cluster's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from hooks import names
from hooks.planning.demo import world
from hooks.planning.demo.board import Board
from hooks.planning.demo.installation import SERVICE, installation
from hooks.planning.demo.pace import Pacer
from hooks.planning.demo.report import Report, report
from hooks.planning.demo.rows import State
from hooks.planning.demo.story import Story
from hooks.planning.hookserver import EvictionServer, HookServer
from hooks.planning.recording import changes_of
from hooks.sandbox.controller import Pace
from hooks.sandbox.embedded import EmbeddedCluster
from hooks.sandbox.objects import Obj, annotations_of
from hooks.sandbox.store.kinds import NODEPOOLS, SERVED
from hooks.verdict.case import OperatorMark
from hooks.verdict.checks import ROOM, SINGLETONS, SUPPOSED, judge
from hooks.verdict.history import Change

if TYPE_CHECKING:
    from hooks.planning.demo.view import Screen

MACHINES: Final = Pace(
    launch=timedelta(seconds=4),
    register=timedelta(seconds=30),
    node_ready=timedelta(seconds=10),
    pod_start=timedelta(seconds=12),
    pod_stop=timedelta(seconds=15),
    instance_stop=timedelta(seconds=20),
)
AFTERMATH: Final = timedelta(minutes=5)
"""How long the cluster is watched after the end, for whatever shouldn't happen any more."""
AT_THE_LATEST: Final = world.LAST_DEADLINE + timedelta(minutes=45)
UNTOLD: Final = frozenset({"Secret", "DecoratorController", "CompositeController"})
"""Kinds that stay out of the history: a token has no place in a file, nor has this run's port."""
PROMISED: Final = (*SUPPOSED, *ROOM, *SINGLETONS)
"""What the verdict is to look at besides what always holds."""
SETTINGS: Final = {"NODEROTATION_ROLLOUT_TIMEOUT": "5m"}
"""Of both servers: an eviction waits for less than the pool's terminationGracePeriod."""
_KINDS: Final = {resource.kind: resource for resource in SERVED}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is left of a demo: its report, and the history that the verdict was given on."""

    report: Report
    history: list[Change] = field(repr=False)
    marks: tuple[OperatorMark, ...] = ()


class Demo:
    """One run; the same seed gives the same history."""

    def __init__(self, seed: int, screen: Screen, pace: float) -> None:
        """Make the cluster; ``pace`` is how many times slower than usual it goes, 0 at once."""
        self._cluster = EmbeddedCluster(world.BEGIN, seed=seed, pace=MACHINES)
        self._seed = seed
        self._screen = screen
        self._board = Board(world.POOL, world.WINDOWS, world.BEGIN)
        self._history: list[Change] = []
        self._revision = 0
        self._pacer = Pacer(self._board, screen, pace)
        self._story = Story(self._cluster.store, self._cluster.at, self._say)
        self._over_since: datetime | None = None

    def run(self) -> Outcome:
        """Run it to its end."""
        cluster = self._cluster
        cluster.store.listeners.append(self._story.on_event)
        with self._hooks() as server:
            cluster.at(world.BEGIN, self._build)
            for number, grown in enumerate(world.GROWTH[1:], start=2):
                cluster.at(world.BEGIN + grown, partial(self._grow, number))
            install = partial(self._install, server)
            cluster.at(world.INSTALLED, install)
            self._story.begin()
            with self._screen:
                self._go_on(self._is_over)
        history, marks = self.history, self.marks
        verdict = judge(history, world.POOL, marks, also=PROMISED)
        return Outcome(report(verdict, world.BEGIN, world.WINDOWS, history), history, marks)

    @property
    def history(self) -> list[Change]:
        """Every change until now."""
        return list(self._history)

    @property
    def marks(self) -> tuple[OperatorMark, ...]:
        """What operators have marked until now."""
        return tuple(self._story.marks)

    # --- Going on ---

    def _go_on(self, until: Callable[[], bool]) -> None:
        while not until():
            if self._cluster.step():
                continue
            self._look()
            before = self._cluster.clock.now()
            self._cluster.jump(AT_THE_LATEST)
            self._pacer.pass_from(before, self._cluster.clock.now())
        self._look()

    def _look(self) -> None:
        for change in changes_of(self._cluster.store, world.BEGIN, self._revision):
            self._revision = change.revision
            self._board.see(change)
            if change.kind not in UNTOLD:
                self._history.append(change)
        self._board.move_to(self._cluster.clock.now())
        self._screen.show(self._board)

    def _say(self, text: str) -> None:
        self._look()
        self._board.note(text, aside=True)

    def _is_over(self) -> bool:
        now = self._cluster.clock.now()
        rows = self._board.rows.values()
        done = bool(rows) and all(row.state in {State.REPLACED, State.LOST} for row in rows)
        pool = self._cluster.store.find(NODEPOOLS, "", world.POOL)
        if not done or names.ACTIVE_ROTATION in annotations_of(pool or {}):
            self._over_since = None
            return now >= AT_THE_LATEST
        self._over_since = self._over_since or now
        return now >= self._over_since + AFTERMATH

    # --- Building ---

    @contextmanager
    def _hooks(self) -> Iterator[HookServer]:
        # Of the seed, so that the same seed gives the same objects. It opens nothing but this demo.
        token = sha256(f"noderotation demo {self._seed}".encode()).hexdigest()
        cluster, now = self._cluster, self._cluster.clock.now
        with cluster.door() as face, cluster.door() as other_face:
            server = HookServer(face, now, token=token, settings=SETTINGS)
            try:
                with server, EvictionServer(other_face, now, settings=SETTINGS) as webhook:
                    cluster.services[SERVICE] = webhook.url
                    yield server
            finally:
                cluster.close()

    def _build(self) -> None:
        self._create(
            world.namespace(world.NAMESPACE),
            world.node_class(),
            world.node_pool(),
            world.agent(),
            *map(world.budget, world.WORKLOADS),
            *(world.workload_object(workload, 1) for workload in world.WORKLOADS),
        )

    def _grow(self, replicas: int) -> None:
        def change(obj: Obj) -> None:
            obj["spec"]["replicas"] = replicas

        for workload in world.WORKLOADS:
            kind = _KINDS[workload.kind]
            self._cluster.store.modify(kind, world.NAMESPACE, workload.name, change)
        if replicas == len(world.GROWTH):
            self._create(*world.singleton())

    def _install(self, server: HookServer) -> None:
        self._create(world.policy(), *installation(server.url, server.token))
        hours = ", ".join(f"{start}-{end}" for start, end in world.HOURS)
        first = world.BEGIN + world.LIFETIME
        self._say(f"{world.SIZE} nodes will expire from {first:%a %H:%M} on, if nobody acts.")
        self._say(f"noderotation is installed; windows {hours}.")

    def _create(self, *objects: Obj) -> None:
        for one in objects:
            self._cluster.store.create(_KINDS[one["kind"]], one)
