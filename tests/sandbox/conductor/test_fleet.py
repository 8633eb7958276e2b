"""Controllers run, change and stop with their objects; real threads, an API in memory."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from hooks.sandbox.apiport import Listing, Resource
from hooks.sandbox.conductor.calls import SECRETS
from hooks.sandbox.conductor.fleet import Fleet
from hooks.sandbox.conductor.kinds import CONTROLLERS, DECORATORS
from hooks.sandbox.failures import ApiError
from hooks.sandbox.objects import Obj
from tests.sandbox.conductor.loopback import Received, Sent, serving
from tests.sandbox.conductor.memory_api import MemoryApi
from tests.sandbox.conductor.world import (
    EVENTS,
    NODES_OF_POOL,
    POOLS,
    SERVED,
    composite,
    controller,
    node,
    pod,
    pool,
)


def secret(token: str) -> Obj:
    data = {"token": base64.b64encode(token.encode()).decode()}
    metadata = {"name": "tok", "namespace": "ns"}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data}


class HookServer:
    """Answers sync and customize calls, and remembers them."""

    def __init__(self) -> None:
        self.answer: Obj = {}
        self.syncs: list[Received] = []
        self.hold: threading.Event | None = None

    def __call__(self, request: Received) -> Sent:
        if request.path == "/customize":
            return Sent(body=NODES_OF_POOL)
        self.syncs.append(request)
        if self.hold is not None:
            self.hold.wait(60)
        return Sent(body=self.answer)

    @property
    def last(self) -> Obj:
        seen: Obj = json.loads(self.syncs[-1].body)
        return seen


class Running:
    def __init__(self, api: MemoryApi, hook: HookServer, url: str, fleet: Fleet) -> None:
        self.api = api
        self.hook = hook
        self.fleet = fleet
        self._url = url

    def toy(
        self, name: str = "toy", make: Callable[..., Obj] = controller, **metadata: object
    ) -> Obj:
        authorization = {"secretRef": {"name": "tok", "namespace": "ns", "key": "token"}}
        hooks = {
            path: {
                "version": "v2",
                "webhook": {"url": f"{self._url}/{path}", "authorization": authorization},
            }
            for path in ("sync", "customize")
        }
        return make(hooks=hooks) | {"metadata": {"name": name} | metadata}

    def wait_for(self, condition: Callable[[], object]) -> None:
        deadline = time.monotonic() + 30
        while not condition():
            assert time.monotonic() < deadline, "it never came to that"
            time.sleep(0.005)

    def wait_for_sync(self, shows: Callable[[Obj], object]) -> Received:
        """Wait for a sync whose body shows something; long before the resync period brings one."""
        found: list[Received] = []

        def came() -> bool:
            found[:] = [sync for sync in self.hook.syncs if shows(json.loads(sync.body))]
            return bool(found)

        self.wait_for(came)
        return found[0]

    def wait_for_end(self, name: str = "toy") -> None:
        """Wait until nothing of a controller runs any more."""
        self.wait_for(
            lambda: not any(one.name.startswith(f"{name}/") for one in threading.enumerate())
        )


@contextmanager
def running(*objects: Obj, names: tuple[str, ...] = ()) -> Iterator[Running]:
    api = MemoryApi(*SERVED, *CONTROLLERS, SECRETS)
    for obj in objects:
        api.put(obj)
    hook = HookServer()
    with serving(hook) as url:
        fleet = Fleet(api, names)
        fleet.start()
        try:
            yield Running(api, hook, url, fleet)
        finally:
            if hook.hold is not None:
                hook.hold.set()
            fleet.stop()
    assert not fleet.crashed.is_set()


def test_a_controller_that_is_applied_runs_and_its_answers_are_applied() -> None:
    with running(secret("abc\n"), pool(), node("n", pool="p")) as run:
        run.hook.answer = {"annotations": {"a": "1"}, "attachments": [pod("x")]}
        run.api.put(run.toy())
        run.wait_for(lambda: run.api.names("pods") == ["x"])
        run.wait_for(
            lambda: run.api.get(POOLS, "", "p")["metadata"].get("annotations") == {"a": "1"}
        )
        run.wait_for_sync(lambda body: list(body["attachments"].get("Pod.v1", ())) == ["ns/x"])
        assert list(run.hook.last["related"]["Node.v1"]) == ["n"]
        assert run.hook.syncs[0].headers["Authorization"] == "Bearer abc"


def test_a_composite_controller_runs_beside_a_decorator_of_the_same_name() -> None:
    with running(secret("abc"), pool(), node("n", pool="p")) as run:
        run.hook.answer = {"status": {"x": 1}}
        run.api.put(run.toy())
        run.wait_for(lambda: run.api.get(POOLS, "", "p").get("status"))
        run.api.take_away(run.toy())
        run.wait_for_end()
        run.hook.answer = {"status": {"x": 2}, "children": []}
        run.api.put(run.toy(make=composite))
        run.wait_for(lambda: run.api.get(POOLS, "", "p")["status"]["x"] == 2)
        assert run.api.get(POOLS, "", "p")["status"] == {"x": 2, "observedGeneration": 0}
        sync = run.wait_for_sync(
            lambda body: "parent" in body and list(body["related"]["Node.v1"]) == ["n"]
        )
        assert sync.headers["Authorization"] == "Bearer abc"
        run.api.put(run.toy())
        run.wait_for(lambda: "object" in run.hook.last)
        run.api.take_away(run.toy(make=composite))
        run.api.put(pool(labels={"l": "1"}))
        run.wait_for_sync(
            lambda body: "object" in body and body["object"]["metadata"].get("labels")
        )


def test_events_of_parents_attachments_and_related_objects_bring_a_sync_at_once() -> None:
    with running(secret("t"), pool()) as run:
        run.hook.answer = {"attachments": [pod("x")]}
        run.api.put(run.toy())
        run.wait_for(lambda: run.api.names("pods") == ["x"])
        run.wait_for_sync(lambda body: body["attachments"]["Pod.v1"])
        run.api.put(pool(labels={"l": "1"}))
        run.wait_for_sync(lambda body: body["object"]["metadata"].get("labels"))
        run.api.put(node("n", pool="p"))
        run.wait_for(lambda: list(run.hook.last["related"]["Node.v1"]) == ["n"])
        run.api.put(node("n", pool="q"))
        run.wait_for(lambda: not run.hook.last["related"]["Node.v1"])
        run.api.take_away(pod("x"))
        run.wait_for(lambda: not run.hook.last["attachments"]["Pod.v1"])


def test_a_controller_is_stopped_when_its_object_goes() -> None:
    with running(secret("t"), pool()) as run:
        run.api.put(run.toy())
        run.wait_for(lambda: run.hook.syncs)
        run.api.take_away(run.toy())
        run.wait_for_end()
        before = len(run.hook.syncs)
        run.api.put(pool(labels={"l": "1"}))
        time.sleep(0.2)
        assert len(run.hook.syncs) == before


def test_a_touched_controller_reads_its_token_again_a_changed_secret_alone_does_nothing() -> None:
    with running(secret("old"), pool()) as run:
        run.api.put(run.toy())
        run.wait_for(lambda: run.hook.syncs)
        run.api.put(secret("new"))
        run.api.put(pool(labels={"l": "1"}))
        later = run.wait_for_sync(lambda body: body["object"]["metadata"].get("labels"))
        assert later.headers["Authorization"] == "Bearer old"
        run.api.put(run.toy(annotations={"touched": "now"}))
        run.wait_for(lambda: run.hook.syncs[-1].headers["Authorization"] == "Bearer new")


def test_only_named_controllers_run() -> None:
    with running(secret("t"), pool(), names=("other",)) as run:
        run.api.put(run.toy())
        time.sleep(0.2)
        assert run.hook.syncs == []
        run.api.put(run.toy("other"))
        run.wait_for(lambda: run.hook.syncs)
        assert run.hook.last["controller"]["metadata"]["name"] == "other"


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        pytest.param("secret", 'secrets "tok" not found', id="no Secret"),
        pytest.param(
            "key", "authorization secret ns/tok does not contain key 'token'", id="no key"
        ),
        pytest.param("text", "authorization secret ns/tok: key 'token' is no text", id="no text"),
    ],
)
def test_a_controller_that_can_not_start_gets_an_event_and_starts_once_it_can(
    missing: str, message: str
) -> None:
    there = {
        "secret": [],
        "key": [secret("t") | {"data": {}}],
        "text": [secret("t") | {"data": {"token": "%%%"}}],
    }
    with running(pool(), *there[missing]) as run:
        run.api.put(run.toy())
        run.wait_for(lambda: run.api.list_all(EVENTS).items)
        event = run.api.list_all(EVENTS).items[0]
        assert (event["reason"], event["message"]) == (
            "CreateError",
            f"Cannot create new controller: {message}",
        )
        run.api.put(secret("t"))
        run.wait_for(lambda: run.hook.syncs)


def test_a_controller_whose_kinds_are_installed_later_starts_then() -> None:
    late = Resource("late.io/v1", "lates", "Late", namespaced=False)
    with running(secret("t")) as run:
        toy = run.toy()
        toy["spec"]["resources"] = [{"apiVersion": "late.io/v1", "resource": "lates"}]
        run.api.put(toy)
        run.wait_for(lambda: run.api.list_all(EVENTS).items)
        run.api.served.append(late)
        run.api.put({"apiVersion": "late.io/v1", "kind": "Late", "metadata": {"name": "l"}})
        run.wait_for(lambda: run.hook.syncs)


def test_the_resync_period_brings_a_sync_without_any_event() -> None:
    with running(secret("t"), pool()) as run:
        toy = run.toy()
        toy["spec"]["resyncPeriodSeconds"] = 1
        run.api.put(toy)
        run.wait_for_sync(lambda body: body["related"]["Node.v1"] == {})
        before = len(run.hook.syncs)
        run.wait_for(lambda: len(run.hook.syncs) >= before + 3)


def test_one_parent_is_never_synced_twice_at_a_time_while_others_go_on() -> None:
    with running(secret("t"), pool("p"), pool("q")) as run:
        run.hook.hold = threading.Event()
        run.api.put(run.toy())
        run.wait_for(lambda: len(run.hook.syncs) == 2)
        run.api.put(pool("p", labels={"l": "1"}))
        time.sleep(0.2)
        names = [json.loads(sync.body)["object"]["metadata"]["name"] for sync in run.hook.syncs]
        assert sorted(names) == ["p", "q"]
        run.hook.hold.set()
        run.wait_for(lambda: len(run.hook.syncs) >= 3)


def test_a_fleet_stops_within_two_seconds_also_while_a_hook_call_hangs() -> None:
    with running(secret("t"), pool()) as run:
        run.hook.hold = threading.Event()
        run.hook.answer = {"annotations": {"late": "1"}}
        run.api.put(run.toy())
        run.wait_for(lambda: run.hook.syncs)
        began = time.monotonic()
        run.fleet.stop()
        assert time.monotonic() - began < 2
        run.hook.hold.set()
        time.sleep(0.2)
        assert run.api.writes == [], "what the hook answered after the stop is void"


def test_a_watch_that_ends_goes_on_and_a_forgotten_version_brings_a_new_list() -> None:
    with running(secret("t"), pool()) as run:
        run.api.put(run.toy())
        run.wait_for(lambda: run.hook.syncs and run.api.is_watched("pools", "nodes"))
        expired = ApiError(410, "Expired", "too old resource version")
        run.api.put_untold(pool(labels={"l": "1"}))
        run.api.break_watches({"pools": expired, "nodes": None})
        run.wait_for_sync(lambda body: body["object"]["metadata"].get("labels") == {"l": "1"})
        run.api.put(node("n", pool="p"))
        run.wait_for_sync(lambda body: list(body["related"]["Node.v1"]) == ["n"])


def test_an_unreachable_api_is_tried_again() -> None:
    with running(secret("t"), pool()) as run:
        run.api.refuse("list", "pools", ApiError(0, "", "connection refused"))
        run.api.put(run.toy())
        time.sleep(0.2)
        assert run.hook.syncs == []
        run.api.refusals.clear()
        run.wait_for(lambda: run.hook.syncs)


def test_an_unexpected_failure_of_a_thread_ends_the_fleet(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    failures: list[object] = []
    monkeypatch.setattr(threading, "excepthook", failures.append)
    api = MemoryApi(*SERVED, *CONTROLLERS, SECRETS)

    def explode(resource: Resource) -> Listing:
        if resource == DECORATORS:
            raise RuntimeError("a bug")
        return Listing([], "0")

    monkeypatch.setattr(api, "list_all", explode)
    fleet = Fleet(api)
    fleet.start()
    assert fleet.ended.wait(30)
    fleet.stop()
    assert fleet.crashed.is_set()
    assert len(failures) == 1
