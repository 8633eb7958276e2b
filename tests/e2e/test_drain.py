"""The graceful drain on the real control plane: eviction server, hook server, Deployments, evictors.

Owns the order: all scenes of the catalogue at the same time, each a test that waits until its own is
over; then one by one those that stop a server; then what all of them together asked of the API server.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from hooks import names
from hooks.verdict.history import Change, write
from tests.e2e.api import GROUPS, Object
from tests.e2e.audit import HOOKS, asked, excesses, granted, idle
from tests.e2e.conftest import Say
from tests.e2e.control_plane import ControlPlane
from tests.e2e.drain.catalogue import SCENES, WITHOUT, Play, name_of
from tests.e2e.drain.scene import ADMITTED, DENIED, LONGEST, OPEN, PROTECTED, Scene, node_of, uid
from tests.e2e.drain.scenes.drains import one_graceful_rollout
from tests.e2e.drain.scenes.untouched import untouched
from tests.e2e.drain.server import GracefulDrain
from tests.e2e.history import Recorder, is_of
from tests.e2e.installation import Installation
from tests.e2e.played import FOLDER
from tests.e2e.processes import Child
from tests.support.waiting import wait_until

KINDS = (*GROUPS, "Deployment", "ReplicaSet", "EndpointSlice")
WEBHOOK_TIMEOUT = 5.0
"""Seconds for which the API server waits for an answer."""
OPT_IN = "example.com/graceful"


class Stages:
    """Makes the place of each scene, and clears it."""

    def __init__(self, plane: ControlPlane, history: Recorder, say: Say) -> None:
        """The namespaces are there already."""
        self._plane = plane
        self._history = history
        self._say = say

    def make(self, name: str, namespace: str = PROTECTED) -> Scene:
        """The place for one scene."""
        return Scene(name, self._plane, self._history, self._say, namespace)

    def singletons(self, *of: str) -> list[tuple[Scene, Object]]:
        """A place for each name, with two nodes and a singleton, and the Pod of that."""
        scenes = [self.make(one) for one in of]
        for scene in scenes:
            scene.nodes(2)
        return [(scene, scene.singleton()) for scene in scenes]

    def play(self, play: Play) -> None:
        """Play one; its line goes into ``scenes.log``, and its history where it is wanted."""
        name = name_of(play)
        scene = self.make(name, OPEN if play in WITHOUT else PROTECTED)
        begun, outcome = time.monotonic(), "passed"
        try:
            play(scene)
        except BaseException as error:
            outcome = f"failed ({error!r})"
            self._plane.keep_logs()
            raise
        finally:
            with (self._plane.logs / "scenes.log").open("a") as log:
                log.write(f"{name} {outcome} after {time.monotonic() - begun:.0f} s\n")
            folder = os.environ.get(FOLDER) or (self._plane.logs if outcome != "passed" else None)
            if folder:
                write(self._of(scene), Path(folder) / f"{name}.jsonl")

    def _of(self, scene: Scene) -> list[Change]:
        """All changes whose objects, or what they are about, are named after the scene."""
        return [one for one in self._history.changes if is_of(scene.name, one)]


class Plays:
    """All wanted scenes, begun at the same time."""

    def __init__(self, stages: Stages, wanted: set[Play]) -> None:
        """Begin all of them."""
        self._pool = ThreadPoolExecutor(len(SCENES))
        self._futures: dict[Play, Future[None]] = {
            one: self._pool.submit(stages.play, one) for one in SCENES if one in wanted
        }

    def outcome(self, play: Play) -> None:
        """Wait for one; raises what it raised."""
        self._futures[play].result()

    def close(self) -> None:
        """Wait for all."""
        self._pool.shutdown(cancel_futures=True)


@pytest.fixture(scope="module")
def drain(plane: ControlPlane, installation: Installation) -> Iterator[GracefulDrain]:
    """The graceful drain, installed; no server runs yet."""
    installed = GracefulDrain(plane, installation)
    installed.install()
    yield installed
    installed.remove()


@pytest.fixture(scope="module")
def drained(plane: ControlPlane) -> Iterator[Recorder]:
    """The history of all scenes."""
    with Recorder(plane.api, KINDS) as recorder:
        yield recorder


@pytest.fixture(scope="module")
def stages(plane: ControlPlane, drained: Recorder, say: Say) -> Iterator[Stages]:
    """Where scenes play; afterwards all of it is asked to go, and nothing waits for that."""
    api = plane.api
    for name in (PROTECTED, OPEN):
        api.apply_objects({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        # Without it no Pod may be created there.
        wait_until("there is an account", partial(_has_account, plane, name), LONGEST)
    yield Stages(plane, drained, say)
    for name in (PROTECTED, OPEN):
        api.delete("Namespace", name)
    for node in api.find("Node", labelSelector="scene"):
        api.delete("Node", node["metadata"]["name"])
    for play in SCENES:
        for kind in ("NodePool", "RotationPolicy"):
            api.delete(kind, name_of(play))


@pytest.fixture(scope="class")
def hooks(installation: Installation) -> Iterator[Child]:
    """The hook server."""
    with installation.hooks() as running:
        yield running


@pytest.fixture(scope="class")
def plays(
    request: pytest.FixtureRequest, drain: GracefulDrain, stages: Stages, hooks: Child
) -> Iterator[Plays]:
    """All scenes, with one eviction server that asks the API server for its certificate."""
    wanted = chosen(request)
    with drain.serving() as server:
        begun = Plays(stages, wanted)
        yield begun
        begun.close()
        server.require_running()
    hooks.require_running()


class TestAllAtOnce:
    """They share the servers, which are gone afterwards."""

    @pytest.mark.parametrize("play", SCENES, ids=name_of)
    def test_beside_others(self, play: Play, plays: Plays) -> None:
        plays.outcome(play)


@pytest.mark.usefixtures("hooks")
class TestOneAfterTheOther:
    """Each with an eviction server of its own, which may die."""

    def test_a_server_that_is_away_holds_nobody(self, drain: GracefulDrain, stages: Stages) -> None:
        """Hung, it costs the API server's patience; dead, nothing: the eviction is admitted."""
        (hung, held), (dead, left) = stages.singletons("the-server-hangs", "the-server-is-dead")
        with drain.serving(ask_for_a_certificate=False) as server:
            os.killpg(server.pid, signal.SIGSTOP)
            begun = time.monotonic()
            assert hung.evict(held).status == ADMITTED
            assert time.monotonic() - begun < WEBHOOK_TIMEOUT + 2
            server.kill()
            begun = time.monotonic()
            assert dead.evict(left).status == ADMITTED
            assert time.monotonic() - begun < WEBHOOK_TIMEOUT
            # Ends when the Pod is gone.
            dead.drain(node_of(left))
        for scene, pod in ((hung, held), (dead, left)):
            assert uid(scene.only_pod()) != uid(pod)
            untouched(scene.told())

    def test_only_who_asked_for_it_is_protected(self, drain: GracefulDrain, stages: Stages) -> None:
        (inside, kept), (outside, left) = stages.singletons("opted-in", "not-opted-in")
        inside.change({"metadata": {"annotations": {OPT_IN: "true"}}})
        with drain.serving(settings={"NODEROTATION_ENABLED_ANNOTATION": OPT_IN}):
            assert inside.evict(kept).status == DENIED
            assert outside.evict(left).status == ADMITTED
            one_graceful_rollout(inside.cleared(), uid(kept))
        untouched(outside.told())


def test_both_servers_may_die_in_the_middle(
    drain: GracefulDrain, installation: Installation, stages: Stages
) -> None:
    """All that they need to go on is on the Deployment; and nobody waits for ever."""
    (scene, pod), (late, other) = stages.singletons("both-servers-die", "nobody-rolls")
    late.change({"metadata": {"annotations": {names.DRAIN_ROLLOUT_TIMEOUT: "3s"}}})
    with drain.serving(ask_for_a_certificate=False) as server:
        assert late.evict(other).status == DENIED
        late.wait_for("its Event is there", lambda told: told.reports() != [])
        assert scene.evict(pod).status == DENIED
        # Whoever rolls out tells of an Event that may be lost here.
        server.kill()
    with drain.serving():
        assert scene.evict(pod).status == DENIED
        # The hook server is away, so nobody has ended the tracking.
        assert late.insist(other)[-1].status == ADMITTED
        assert len(late.told().tracked()) == 1
    with installation.hooks() as hooks:
        scene.touch()
        scene.restarted()
        hooks.kill()
    with installation.hooks():
        scene.touch()
        late.touch()
        one_graceful_rollout(scene.cleared(), uid(pod))
        told = late.cleared()
    assert (told.templates(), told.last_pods()) == (0, [uid(other)])
    assert told.reports() == [names.DRAIN_TRIGGERED, names.DRAIN_TIMEOUT]


@pytest.mark.parametrize("account", [HOOKS, names.EVICTION_SERVER])
def test_the_rights_suffice(
    account: str, plane: ControlPlane, drain: GracefulDrain, installation: Installation
) -> None:
    """Nothing was refused, and nothing asked that isn't granted."""
    assert drain is not None
    made = asked(plane.audit_log, account)
    assert excesses(made, granted(installation.manifests(), account)) == []


@pytest.mark.parametrize("account", [HOOKS, names.EVICTION_SERVER])
def test_no_right_is_idle(
    account: str, plane: ControlPlane, drain: GracefulDrain, request: pytest.FixtureRequest
) -> None:
    """All scenes together use each right that the overlay grants."""
    unused = idle(asked(plane.audit_log, account), granted(drain.manifests(), account))
    # Only all of them need all.
    assert unused == set() or chosen(request) != set(SCENES)


def chosen(request: pytest.FixtureRequest) -> set[Play]:
    """The scenes that are tests of this run."""
    given = (getattr(item, "callspec", None) for item in request.session.items)
    played = (one.params.get("play") for one in given if one is not None)
    return {one for one in played if one in SCENES}


def _has_account(plane: ControlPlane, namespace: str) -> bool:
    return plane.api.find_one("ServiceAccount", "default", namespace) is not None
