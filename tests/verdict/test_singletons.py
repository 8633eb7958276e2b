"""The only Pod of a Deployment goes after its successor is Ready: to whom that is promised."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hooks.verdict.case import Case
from hooks.verdict.checks import SINGLETONS, judge
from hooks.verdict.history import Change, Object
from hooks.verdict.singletons import ready_endpoint_remains, ready_pod_remains, singletons_there
from tests.verdict import tales
from tests.verdict.tales import GOOD, POOL, Tale, condition

READY, UNREADY = condition("Ready"), condition("Ready", true=False)
UID = "graceful-drain.stonal.com/last-pod-uid"
TIMEOUT = "graceful-drain.stonal.com/rollout-timeout"
ALONE = "till-1 was sent away although it was the only Ready Pod of Deployment shop/till"
GAP = "Service shop/till had no ready endpoint: Pod till-1 went before a successor was Ready"


def put(tale: Tale, kind: str, name: str, owner: str = "", **parts: Object) -> None:
    """Something in namespace shop, whose controller is ``owner`` (a kind and a name)."""
    metadata: Object = {"namespace": "shop", "uid": f"uid-{name}", **parts.pop("metadata", {})}
    if owner:
        owned, _, by = owner.partition("/")
        metadata["ownerReferences"] = [
            {"kind": "Node", "name": "n"},
            {"kind": owned, "name": by, "controller": True},
        ]
    tale.put(kind, name, metadata=metadata, **parts)


def pod(tale: Tale, number: int, status: Object = READY, node: str = "") -> None:
    spec = {"nodeName": node} if node else {}
    put(tale, "Pod", f"till-{number}", f"ReplicaSet/till-{number}", status=status, spec=spec)


def endpoints(tale: Tale, *ready: int, waiting: tuple[int, ...] = (), name: str = "till-x") -> None:
    """The slice of the Service till."""
    each = [(number, True) for number in ready] + [(number, False) for number in waiting]
    listed: Any = [
        {"conditions": {"ready": is_ready}, "targetRef": {"kind": "Pod", "name": f"till-{number}"}}
        for number, is_ready in each
    ]
    labels = {"kubernetes.io/service-name": "till"}
    put(tale, "EndpointSlice", name, metadata={"labels": labels}, endpoints=listed)


def singleton(spec: Object | None = None) -> Tale:
    """A Deployment with its one Ready Pod, behind a Service, and a second ReplicaSet."""
    tale = Tale()
    put(tale, "Deployment", "till", spec={"replicas": 1, **(spec or {})})
    for number in (1, 2):
        put(tale, "ReplicaSet", f"till-{number}", "Deployment/till")
    pod(tale, 1)
    endpoints(tale, 1)
    return tale


def evicted(tale: Tale) -> Tale:
    tale.leave("Pod", "till-1")
    return tale


def complaints(tale: Tale) -> list[str]:
    return ready_pod_remains(Case(tale.changes, POOL))


def gaps(tale: Tale) -> list[str]:
    return ready_endpoint_remains(Case(tale.changes, POOL))


def test_the_only_pod_goes_first() -> None:
    assert complaints(evicted(singleton())) == [ALONE]


def test_it_vanishes() -> None:
    tale = singleton()
    tale.gone("Pod", "till-1")
    assert complaints(tale) == [ALONE]


def test_a_successor_that_is_not_ready_is_none() -> None:
    tale = singleton()
    pod(tale, 2, UNREADY)
    assert complaints(evicted(tale)) == [ALONE]


def test_a_ready_successor_is_one() -> None:
    tale = singleton()
    pod(tale, 2)
    evicted(tale)
    tale.gone("Pod", "till-1")
    assert complaints(tale) == []


def test_the_successor_must_not_go_either() -> None:
    tale = singleton()
    pod(tale, 2)
    evicted(tale)
    tale.leave("Pod", "till-2")
    assert complaints(tale) == [ALONE.replace("till-1", "till-2")]


def test_a_ready_pod_of_another_deployment_is_no_successor() -> None:
    tale = singleton()
    put(tale, "Deployment", "other")
    put(tale, "ReplicaSet", "other-1", "Deployment/other")
    put(tale, "Pod", "other-1", "ReplicaSet/other-1", status=READY)
    assert complaints(evicted(tale)) == [ALONE]


def test_a_pod_that_is_not_ready_by_itself_may_go() -> None:
    tale = singleton()
    pod(tale, 1, UNREADY)
    assert complaints(evicted(tale)) == []


@pytest.mark.parametrize(
    ("spec", "promised"),
    [
        ({}, True),
        ({"replicas": 2}, False),
        ({"replicas": 0}, False),
        ({"paused": True}, False),
        ({"paused": False}, True),
        ({"strategy": {"type": "Recreate"}}, False),
        ({"strategy": {"type": "RollingUpdate"}}, True),
        ({"strategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}}, True),
        ({"strategy": {"rollingUpdate": {"maxSurge": 0}}}, False),
        ({"strategy": {"rollingUpdate": {"maxSurge": "0%"}}}, False),
        ({"strategy": {"rollingUpdate": {"maxSurge": "1%", "maxUnavailable": "99%"}}}, True),
        ({"strategy": {"rollingUpdate": {"maxUnavailable": "100%"}}}, False),
        ({"strategy": {"rollingUpdate": {"maxUnavailable": 1}}}, False),
    ],
)
def test_for_whom_it_is_promised(spec: Object, *, promised: bool) -> None:
    assert complaints(evicted(singleton(spec))) == ([ALONE] if promised else [])


def test_one_replica_is_what_nobody_says() -> None:
    tale = singleton()
    put(tale, "Deployment", "till", spec={})
    assert complaints(evicted(tale)) == [ALONE]


def test_pods_of_others_are_promised_nothing() -> None:
    tale = Tale()
    put(tale, "Pod", "bare", status=READY)
    put(tale, "Pod", "db-0", "StatefulSet/db", status=READY)
    put(tale, "ReplicaSet", "lone")
    put(tale, "Pod", "lone-1", "ReplicaSet/lone", status=READY)
    put(tale, "ReplicaSet", "rollout-1", "Rollout/argo")
    put(tale, "Pod", "rollout-1", "ReplicaSet/rollout-1", status=READY)
    for name in ("bare", "db-0", "lone-1", "rollout-1"):
        tale.leave("Pod", name)
    assert complaints(tale) == []


def test_a_deployment_that_goes_takes_its_pod_along() -> None:
    leaving, gone = singleton(), singleton()
    leaving.leave("Deployment", "till")
    gone.gone("Deployment", "till")
    assert (complaints(evicted(leaving)), complaints(evicted(gone))) == ([], [])


# --- What excuses ---


def tracked(seconds: float, annotations: Object, uid: str = "uid-till-1") -> Tale:
    """A successor is asked for, and so much later the Pod is sent away."""
    tale = singleton()
    put(tale, "Deployment", "till", metadata={"annotations": {UID: uid, **annotations}})
    put(tale, "Deployment", "till", metadata={"annotations": {UID: uid, **annotations, "a": "b"}})
    changes = evicted(tale).changes
    last = changes[-1]
    at = changes[-3].at + seconds
    changes[-1] = Change(at, last.revision, last.kind, last.type, last.object)
    return tale


@pytest.mark.parametrize(
    ("seconds", "annotations", "excused"),
    [
        (590, {}, False),
        (600, {}, True),
        (50, {TIMEOUT: "1m"}, False),
        (60, {TIMEOUT: "1m"}, True),
        (60, {TIMEOUT: "soon"}, False),
        (600, {TIMEOUT: "soon"}, True),
        (3600, {TIMEOUT: "Never"}, True),
    ],
)
def test_a_rollout_that_was_not_done_in_time(
    seconds: float, annotations: Object, *, excused: bool
) -> None:
    assert complaints(tracked(seconds, annotations)) == ([] if excused else [ALONE])


def test_the_time_of_another_pod_excuses_nobody() -> None:
    assert complaints(tracked(3600, {}, uid="uid-till-0")) == [ALONE]


# --- Endpoints ---


def test_the_last_ready_endpoint_goes_with_its_pod() -> None:
    tale = evicted(singleton())
    endpoints(tale, waiting=(1,))
    assert gaps(tale) == [GAP]


def test_the_gap_is_told_once() -> None:
    tale = evicted(singleton())
    endpoints(tale)
    tale.gone("Pod", "till-1")
    pod(tale, 2, UNREADY)
    endpoints(tale, waiting=(2,))
    tale.gone("EndpointSlice", "till-x")
    assert gaps(tale) == [GAP]


def test_a_slice_that_goes_takes_its_endpoints_along() -> None:
    tale = evicted(singleton())
    tale.gone("EndpointSlice", "till-x")
    assert gaps(tale) == [GAP]


@pytest.mark.parametrize(
    "after",
    [
        lambda tale: endpoints(tale, 2, waiting=(1,)),
        lambda tale: endpoints(tale, 1, 2),
    ],
)
def test_another_ready_endpoint_is_enough(after: Callable[[Tale], None]) -> None:
    tale = singleton()
    pod(tale, 2)
    evicted(tale)
    after(tale)
    assert gaps(tale) == []


def test_another_slice_of_the_service_is_enough() -> None:
    tale = singleton()
    pod(tale, 2)
    endpoints(tale, 2, name="till-y")
    evicted(tale)
    endpoints(tale)
    assert gaps(tale) == []


def test_a_pod_that_fails_by_itself_makes_no_gap_of_ours() -> None:
    tale = singleton()
    pod(tale, 1, UNREADY)
    endpoints(tale, waiting=(1,))
    assert gaps(tale) == []


def test_endpoints_of_nobody_and_slices_without_any() -> None:
    tale = singleton()
    tale.put("EndpointSlice", "odd", metadata={"namespace": "shop"})
    nobody: Any = [{"conditions": {}}, {}, {"targetRef": {"name": "till-9"}}]
    nothing: Any = None
    tale.put("EndpointSlice", "odd", endpoints=nobody)
    tale.put("EndpointSlice", "odd", endpoints=nothing)
    assert gaps(tale) == []
    assert judge(tale.changes, POOL).violations[0].check != "readable"


def test_an_endpoint_of_which_nothing_is_said_is_ready() -> None:
    tale = singleton()
    silent: Any = [{"targetRef": {"name": "till-1"}}]
    put(tale, "EndpointSlice", "till-x", endpoints=silent)
    evicted(tale)
    endpoints(tale)
    assert gaps(tale) == [GAP]


# --- That there was something to judge by ---


NOTHING = "no Pod on any of the deleted nodes was the only one of a Deployment, behind a Service"


def with_singleton(node: str, *, served: bool = True) -> Tale:
    """The good rotation, with a singleton on a node, whose successor is there in time."""
    tale = singleton()
    pod(tale, 1, node=node)
    if not served:
        endpoints(tale)
    for step in GOOD:
        step(tale)
        if step is tales.deleted:
            pod(tale, 2)
            endpoints(tale, 1, 2)
            evicted(tale)
            endpoints(tale, 2)
    return tale


def test_a_singleton_on_a_deleted_node_is_something_to_judge_by() -> None:
    verdict = judge(with_singleton("old").changes, POOL, also=SINGLETONS)
    assert [str(one) for one in verdict.violations] == []


@pytest.mark.parametrize(("node", "served"), [("", True), ("new", True), ("old", False)])
def test_elsewhere_or_behind_no_service_it_is_not(node: str, *, served: bool) -> None:
    case = Case(with_singleton(node, served=served).changes, POOL)
    assert singletons_there(case) == [NOTHING]


def test_breaches_have_the_names_of_their_checks() -> None:
    changes = evicted(singleton()).changes
    named = {one.check for one in judge(changes, POOL, also=SINGLETONS).violations}
    assert {"ready_pod_remains", "singletons_there"} <= named
    assert "ready_pod_remains" not in {one.check for one in judge(changes, POOL).violations}
