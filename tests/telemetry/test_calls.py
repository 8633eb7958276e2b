"""Each call to the API server is counted once, by what came of it."""

from __future__ import annotations

import pytest

from hooks.cluster import errors
from hooks.cluster.verbs import Api
from hooks.telemetry.calls import Counted
from hooks.telemetry.metrics import Metrics
from tests.support.live import Live
from tests.support.scene import running
from tests.support.world import uid_of
from tests.telemetry.test_metrics import samples

EVENT = {"metadata": {"name": "e"}, "reason": "R", "type": "Normal", "note": "",
         "regarding": {"kind": "NodePool", "name": "api"}}  # fmt: skip


def counted(live: Live) -> tuple[Api, Metrics]:
    metrics = Metrics()
    return Counted(live, metrics).within(0.0).briefly(1.0), metrics


def test_every_verb_is_counted_by_its_resource() -> None:
    api, metrics = counted(Live(running().live()))
    pod = next(iter(running().live()["pods"]))
    assert api.get_nodepool("api") is not None
    assert api.get_nodeclaim("old") is not None
    assert api.get_node("node-old") is not None
    assert api.get_pod(*pod.split("/")) is not None
    assert len(api.list_pods_on("node-old")) == 2
    assert api.list_poddisruptionbudgets() == []
    claim = api.patch_nodeclaim("old", [])
    api.patch_node("node-old", [])
    version = claim["metadata"]["resourceVersion"]
    api.delete_nodeclaim("old", uid=uid_of("old"), resource_version=version)
    assert [api.create_event("default", EVENT), api.create_event("default", EVENT)] == [True, False]
    assert samples(metrics, "noderotation_api_calls_total") == {
        ("get", "nodepools", "ok"): 1,
        ("get", "nodeclaims", "ok"): 1,
        ("get", "nodes", "ok"): 1,
        ("get", "pods", "ok"): 1,
        ("list", "pods", "ok"): 1,
        ("list", "poddisruptionbudgets", "ok"): 1,
        ("patch", "nodeclaims", "ok"): 1,
        ("patch", "nodes", "ok"): 1,
        ("delete", "nodeclaims", "ok"): 1,
        ("create", "events", "ok"): 1,
        ("create", "events", "alreadyExists"): 1,
    }


def test_an_object_that_is_not_there_is_an_answer() -> None:
    api, metrics = counted(Live({}))
    assert api.get_node("node-old") is None
    assert samples(metrics, "noderotation_api_calls_total") == {("get", "nodes", "notFound"): 1}


@pytest.mark.parametrize(
    ("error", "result"),
    [
        (errors.NotFound("x"), "notFound"),
        (errors.Conflict("x"), "conflict"),
        (errors.AlreadyExists("x"), "alreadyExists"),
        (errors.NotServed("x"), "notServed"),
        (errors.Refused(403, "x"), "refused"),
        (errors.OutOfTime("x"), "outOfTime"),
        (errors.Unavailable("x"), "unavailable"),
    ],
)
def test_an_error_is_counted_and_passed_on(error: errors.ClusterError, result: str) -> None:
    live = Live(running().live())

    def fail(_verb: str, _name: str) -> str:
        raise error

    live.fault = fail
    api, metrics = counted(live)
    with pytest.raises(type(error)):
        api.patch_node("node-old", [])
    assert samples(metrics, "noderotation_api_calls_total") == {("patch", "nodes", result): 1}
