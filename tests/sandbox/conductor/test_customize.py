"""Which related objects a parent gets, and for how long a customize answer is kept."""

from __future__ import annotations

import json

import pytest

from hooks.sandbox.apiport import Resource
from hooks.sandbox.conductor.answers import decode_customize
from hooks.sandbox.conductor.customize import matches
from hooks.sandbox.failures import HookCallError
from hooks.sandbox.objects import Obj
from tests.sandbox.conductor.world import (
    CONFIGMAPS,
    NODES,
    NODES_OF_POOL,
    FakeHook,
    World,
    controller,
    node,
    pod,
    pool,
)


def related(world: World) -> dict[str, list[str]]:
    return {group: list(objects) for group, objects in world.sync_hook.last["related"].items()}


def test_the_customize_request_has_controller_and_parent_and_nothing_else() -> None:
    world = World(pool())
    world.settle()
    sent = controller()
    assert world.customize_hook.requests == [
        {"controller": sent | {"status": {}}, "parent": world.pool()}
    ]


def test_without_a_customize_hook_related_is_empty() -> None:
    hook = {"version": "v2", "webhook": {"url": "http://hook.invalid"}}
    world = World(pool(), node("n"), runs=controller(hooks={"sync": hook}))
    world.settle()
    assert world.sync_hook.last["related"] == {}
    assert world.customize_hook.requests == []


def test_each_rule_has_its_group_even_when_it_selects_nothing() -> None:
    world = World(pool(), customize=FakeHook(NODES_OF_POOL))
    world.settle_with_related()
    assert world.sync_hook.last["related"] == {"Node.v1": {}}


def test_related_objects_are_keyed_by_kind_and_by_namespace_and_name() -> None:
    rules = [
        {"apiVersion": "v1", "resource": "nodes"},
        {"apiVersion": "v1", "resource": "pods"},
        {"apiVersion": "apps/v1", "resource": "deployments"},
    ]
    app = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d", "namespace": "x"},
    }
    world = World(pool(), node("n"), pod("a"), app, customize=FakeHook({"relatedResources": rules}))
    world.settle_with_related()
    world.settle_with_related()
    assert related(world) == {
        "Node.v1": ["n"],
        "Pod.v1": ["ns/a"],
        "Deployment.apps/v1": ["x/d"],
    }
    assert world.sync_hook.last["related"]["Node.v1"]["n"] == world.api.get(NODES, "", "n")


def test_two_rules_for_one_kind_add_up() -> None:
    rule = NODES_OF_POOL["relatedResources"][0]
    by_name = {"apiVersion": "v1", "resource": "nodes", "names": ["x"]}
    world = World(
        pool(),
        node("n", pool="p"),
        node("x"),
        node("y"),
        customize=FakeHook({"relatedResources": [rule, by_name]}),
    )
    world.settle_with_related()
    assert related(world) == {"Node.v1": ["n", "x"]}


def test_a_related_kind_that_is_not_served_is_a_sync_error() -> None:
    rule = {"apiVersion": "karpenter.sh/v1", "resource": "nodeclaims"}
    world = World(pool(), customize=FakeHook({"relatedResources": [rule]}))
    world.settle()
    assert world.warnings() == [
        (
            "SyncError",
            "Sync error: can't find resource 'nodeclaims' in apiVersion 'karpenter.sh/v1'",
            1,
        )
    ]


@pytest.mark.parametrize(
    ("seconds", "metadata", "calls"),
    [
        pytest.param(1199, {"annotations": {"a": "1"}}, 1, id="annotations, within 20 minutes"),
        pytest.param(1199, {"labels": {"a": "1"}}, 1, id="labels, within 20 minutes"),
        pytest.param(1199, {"generation": 2}, 2, id="a new generation"),
        pytest.param(1199, {"uid": "uid-of-a-namesake"}, 2, id="a namesake"),
        pytest.param(1200, {}, 2, id="20 minutes"),
    ],
)
def test_a_customize_answer_is_kept_per_uid_and_generation_for_20_minutes(
    seconds: float, metadata: Obj, calls: int
) -> None:
    world = World(pool(uid="u", generation=1))
    world.settle()
    world.seconds += seconds
    world.api.put(pool(**{"uid": "u", "generation": 1, **metadata}))
    world.settle()
    assert len(world.customize_hook.requests) == calls


def test_the_20_minutes_count_from_the_answer_not_from_the_last_use() -> None:
    world = World(pool())
    for seconds, calls in ((0, 1), (800, 1), (1600, 2), (2700, 2), (2800, 3)):
        world.seconds = seconds
        world.engine.resync()
        world.settle()
        assert len(world.customize_hook.requests) == calls


def test_a_failed_customize_call_is_not_kept() -> None:
    world = World(pool(), customize=FakeHook(HookCallError("down"), {}))
    world.settle()
    world.seconds = 0.005
    world.settle()
    assert len(world.customize_hook.requests) == 2
    assert len(world.sync_hook.requests) == 1


NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "labels": {"a": "1"}}}
MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "ns"}}


@pytest.mark.parametrize(
    ("rule", "resource", "obj", "selected"),
    [
        pytest.param({}, NODES, NODE, True, id="no condition"),
        pytest.param({"labelSelector": {}}, NODES, NODE, True, id="empty selector"),
        pytest.param({"labelSelector": None}, NODES, NODE, True, id="null selector"),
        pytest.param({}, CONFIGMAPS, NODE, False, id="other kind"),
        pytest.param({}, NODES, NODE | {"apiVersion": "v2"}, False, id="other version"),
        pytest.param({"labelSelector": {"matchLabels": {"a": "1"}}}, NODES, NODE, True, id="label"),
        pytest.param(
            {"labelSelector": {"matchLabels": {"a": "2"}}}, NODES, NODE, False, id="no label"
        ),
        pytest.param({"names": ["m", "n"]}, NODES, NODE, True, id="name"),
        pytest.param({"names": ["m"]}, NODES, NODE, False, id="other name"),
        pytest.param({"names": []}, NODES, NODE, True, id="no names"),
        pytest.param({"namespace": "ns"}, CONFIGMAPS, MAP, True, id="namespace"),
        pytest.param({"namespace": "x"}, CONFIGMAPS, MAP, False, id="other namespace"),
        pytest.param(
            {"namespace": "x"}, NODES, NODE, True, id="namespace of a cluster-scoped kind"
        ),
        pytest.param({"namespace": "ns", "names": ["c"]}, CONFIGMAPS, MAP, True, id="both"),
        pytest.param({"namespace": "x", "names": ["c"]}, CONFIGMAPS, MAP, False, id="one of both"),
        pytest.param(
            {"namespace": "ns", "labelSelector": {"matchLabels": {"a": "1"}}},
            CONFIGMAPS,
            MAP,
            False,
            id="namespace and labels",
        ),
    ],
)
def test_a_rule_selects(rule: Obj, resource: Resource, obj: Obj, selected: object) -> None:
    body = json.dumps({"relatedResources": [rule]}).encode()
    [decoded] = decode_customize(body, strict=True)
    assert matches(decoded, resource, obj) is selected


def test_a_rule_with_names_and_labels_is_a_sync_error() -> None:
    rule = {"apiVersion": "v1", "resource": "nodes", "names": ["n"], "labelSelector": {}}
    world = World(pool(), node("n"), customize=FakeHook({"relatedResources": [rule]}))
    world.settle_with_related()
    assert world.warnings()[0][1] == (
        "Sync error: related rule cannot have both names and labelSelector/namespaceSelector specified"
    )
