"""Which webhooks are about a request."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from hooks.sandbox.failures import ApiError
from hooks.sandbox.objects import Obj
from hooks.sandbox.selectors import EVERYTHING
from hooks.sandbox.store.kinds import NAMESPACES, VALIDATINGWEBHOOKCONFIGURATIONS
from hooks.sandbox.webhooks.registered import Service, webhooks_about
from hooks.sandbox.webhooks.request import AdmissionRequest, Group
from tests.sandbox.store.worlds import World
from tests.sandbox.webhooks.hooks import configuration, eviction, webhook


def about(request: AdmissionRequest, *configurations: Obj, **labels: str) -> list[str]:
    """The names of those that are about a request; ``labels`` are those of the namespace."""
    world = World()
    world.store.create(NAMESPACES, {"metadata": {"name": "shop", "labels": labels}})
    for one in configurations:
        world.store.create(VALIDATINGWEBHOOKCONFIGURATIONS, one)
    return [found.name for found in webhooks_about(world.store, request)]


def rule(**changes: object) -> Obj:
    """A configuration whose rule for evictions is changed."""
    return configuration("h", rules=[webhook("h")["rules"][0] | changes])


def test_without_configurations_nobody_is_asked() -> None:
    assert about(eviction()) == []


def test_all_that_are_about_it_are_asked_by_the_names_of_their_configurations() -> None:
    both: Obj = {"metadata": {"name": "b"}, "webhooks": [webhook("z"), webhook("y")]}
    assert about(eviction(), both, configuration("a")) == ["a", "z", "y"]


@pytest.mark.parametrize(
    ("changes", "is_asked"),
    [
        ({}, True),
        ({"operations": ["*"]}, True),
        ({"operations": ["UPDATE", "CREATE"]}, True),
        ({"operations": ["DELETE"]}, False),
        ({"apiGroups": ["*"]}, True),
        ({"apiGroups": ["policy"]}, False),
        ({"apiVersions": ["*"]}, True),
        ({"apiVersions": ["v1beta1"]}, False),
        ({"resources": ["*/*"]}, True),
        ({"resources": ["pods/*"]}, True),
        ({"resources": ["*/eviction"]}, True),
        ({"resources": ["pods"]}, False),
        ({"resources": ["*"]}, False),
        ({"resources": ["nodes/eviction", "pods/binding"]}, False),
        ({"scope": "Namespaced"}, True),
        ({"scope": "*"}, True),
        ({"scope": "Cluster"}, False),
        ({"resources": None}, False),
        ({"operations": None}, False),
    ],
)
def test_rules(changes: Obj, *, is_asked: bool) -> None:
    assert about(eviction(), rule(**changes)) == (["h"] if is_asked else [])


def test_one_of_several_rules_is_enough_and_none_is_not() -> None:
    good = webhook("h")["rules"][0]
    assert about(eviction(), configuration("h", rules=[good | {"operations": []}, good])) == ["h"]
    assert about(eviction(), configuration("h", rules=None)) == []
    assert about(eviction(), {"metadata": {"name": "empty"}}) == []


@pytest.mark.parametrize(
    ("selector", "is_asked"),
    [
        ({}, True),
        ({"matchLabels": {"team": "a"}}, True),
        ({"matchLabels": {"team": "b"}}, False),
        ({"matchExpressions": [{"key": "team", "operator": "NotIn", "values": ["a"]}]}, False),
        ({"matchExpressions": [{"key": "other", "operator": "NotIn", "values": ["a"]}]}, True),
    ],
)
def test_the_labels_of_the_namespace(selector: Obj, *, is_asked: bool) -> None:
    found = about(eviction(), configuration("h", namespaceSelector=selector), team="a")
    assert found == (["h"] if is_asked else [])


def test_a_selector_of_namespaces_needs_the_namespace_and_others_do_not() -> None:
    selector = {"matchLabels": {"team": "a"}}
    with pytest.raises(ApiError, match="not found") as caught:
        about(eviction("gone"), configuration("h", namespaceSelector=selector))
    assert caught.value.status == 404
    assert about(eviction("gone"), configuration("h")) == ["h"]
    assert about(eviction(""), configuration("h", namespaceSelector=selector)) == ["h"]


def test_the_labels_of_the_object_are_those_of_the_eviction_and_not_of_the_pod() -> None:
    selector = {"matchLabels": {"app": "web"}}
    chosen = configuration("h", objectSelector=selector)
    assert about(eviction(), chosen) == []
    assert about(eviction(obj={"metadata": {"labels": {"app": "web"}}}), chosen) == ["h"]


def test_nobody_is_asked_about_webhooks() -> None:
    kind = Group("admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration")
    everything = {key: ["*"] for key in ("operations", "apiGroups", "apiVersions")}
    request = eviction(kind=kind, subresource="")
    assert about(request, rule(resources=["*"], **everything)) == []
    assert about(eviction(subresource=""), rule(resources=["*"], **everything)) == ["h"]


def test_conditions_are_not_built() -> None:
    conditions = [{"name": "c", "expression": "true"}]
    with pytest.raises(ApiError, match="matchConditions of webhook h are not built"):
        about(eviction(), configuration("h", matchConditions=conditions))


def test_what_is_left_out_has_the_api_servers_defaults() -> None:
    bare = webhook("h", clientConfig={"service": {"namespace": "ours", "name": "hook"}})
    for key in ("failurePolicy", "timeoutSeconds", "sideEffects"):
        del bare[key]
    world = World()
    world.store.create(
        VALIDATINGWEBHOOKCONFIGURATIONS, {"metadata": {"name": "h"}, "webhooks": [bare]}
    )
    (found,) = webhooks_about(world.store, eviction())
    assert asdict(found) == {
        "name": "h",
        "service": asdict(Service("ours", "hook", 443, "/")),
        "rules": bare["rules"],
        "namespaces": asdict(EVERYTHING),
        "objects": asdict(EVERYTHING),
        "ignores_failures": False,
        "side_effects": None,
        "timeout": 10,
        "review_versions": ("v1",),
    }
