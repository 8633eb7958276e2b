"""The manifests against the names, the routes and the table of rights; needs nothing but Python."""

from __future__ import annotations

import copy
import re
from urllib.parse import urlsplit

import pytest

from hooks import names
from tests.manifest_files import (
    ALL,
    HOOKS,
    MANIFESTS,
    ROOT,
    SYSTEM,
    identity,
    kustomization,
    rights,
    the,
    who_uses,
)

EVENTS = "noderotation-hooks-events"

# Every right of the hook server: (scope, role, API group, resource) -> verbs. A new grant is a
# change of this table as well as of rbac.yaml, and is reviewed as one.
RIGHTS = {
    ("cluster", HOOKS, "karpenter.sh", "nodepools"): ["get", "list"],
    ("cluster", HOOKS, "karpenter.sh", "nodeclaims"): ["get", "list", "patch", "delete"],
    ("cluster", HOOKS, "", "nodes"): ["get", "list", "patch"],
    ("cluster", HOOKS, "", "pods"): ["list"],
    ("cluster", HOOKS, "policy", "poddisruptionbudgets"): ["list"],
    (SYSTEM, HOOKS, "", "pods"): ["get", "delete"],
    ("default", EVENTS, "events.k8s.io", "events"): ["create"],
}

OBJECTS = {
    ("CustomResourceDefinition", None, "rotationpolicies.noderotation.io"),
    ("Namespace", None, SYSTEM),
    ("PriorityClass", None, "noderotation-placeholder"),
    ("ServiceAccount", SYSTEM, HOOKS),
    ("ClusterRole", None, HOOKS),
    ("ClusterRoleBinding", None, HOOKS),
    ("Role", SYSTEM, HOOKS),
    ("RoleBinding", SYSTEM, HOOKS),
    ("Role", "default", EVENTS),
    ("RoleBinding", "default", EVENTS),
    ("Deployment", SYSTEM, HOOKS),
    ("Service", SYSTEM, HOOKS),
    ("PodDisruptionBudget", SYSTEM, HOOKS),
    ("NetworkPolicy", SYSTEM, "default-deny"),
    ("NetworkPolicy", SYSTEM, HOOKS),
    ("DecoratorController", None, "node-rotation"),
    ("CompositeController", None, "rotation-policy"),
}

DECORATOR = ("DecoratorController", None, names.DECORATOR_CONTROLLER)
COMPOSITE = ("CompositeController", None, names.COMPOSITE_CONTROLLER)


def test_these_objects_and_no_others_come_each_once() -> None:
    assert {identity(thing) for thing in ALL} == OBJECTS
    assert len(ALL) == len(OBJECTS)


def test_the_namespace_is_the_one_of_the_code_and_restricted() -> None:
    labels = the("Namespace", None, names.NAMESPACE)["metadata"]["labels"]
    prefix = "pod-security.kubernetes.io/"
    assert {key: value for key, value in labels.items() if key.startswith(prefix)} == {
        prefix + "enforce": "restricted",
        prefix + "audit": "restricted",
        prefix + "warn": "restricted",
    }


def test_the_placeholder_class_is_a_victim_by_design() -> None:
    given = the("PriorityClass", None, names.PRIORITY_CLASS)
    assert (given["value"], given["preemptionPolicy"]) == (-10, "Never")
    assert not given.get("globalDefault", False)


def test_the_rights_are_those_of_the_table() -> None:
    assert rights(ALL) == RIGHTS


def test_each_rule_stands_for_one_resource_and_nothing_narrows_or_widens_it() -> None:
    rules = [rule for thing in ALL for rule in thing.get("rules", [])]
    assert [sorted(rule) for rule in rules] == [["apiGroups", "resources", "verbs"]] * len(RIGHTS)
    assert all(len(rule["apiGroups"]) == len(rule["resources"]) == 1 for rule in rules)


def test_each_rule_says_who_uses_it() -> None:
    assert [line[:2] for line in who_uses("hooks")] == ["# "] * len(RIGHTS)


def test_no_role_aggregates_or_is_aggregated() -> None:
    for thing in ALL:
        if thing["kind"] == "ClusterRole":
            assert "aggregationRule" not in thing
            assert not [key for key in thing["metadata"]["labels"] if "aggregate" in key]


def test_each_role_is_bound_to_the_hook_server_alone() -> None:
    bindings = [thing for thing in ALL if thing["kind"].endswith("Binding")]
    account = [{"kind": "ServiceAccount", "name": HOOKS, "namespace": SYSTEM}]
    assert [thing["subjects"] for thing in bindings] == [account] * 3
    assert {
        (thing["metadata"].get("namespace"), thing["roleRef"]["kind"], thing["roleRef"]["name"])
        for thing in bindings
    } == {(None, "ClusterRole", HOOKS), (SYSTEM, "Role", HOOKS), ("default", "Role", EVENTS)}


@pytest.mark.parametrize(
    ("controller", "hook", "route"),
    [
        (DECORATOR, "sync", names.SYNC_NODEPOOL),
        (DECORATOR, "customize", names.CUSTOMIZE_NODEPOOL),
        (COMPOSITE, "sync", names.SYNC_ROTATIONPOLICY),
        (COMPOSITE, "customize", names.CUSTOMIZE_ROTATIONPOLICY),
    ],
)
def test_a_hook_url_is_a_route_of_the_service(
    controller: tuple[str, None, str], hook: str, route: str
) -> None:
    hooks = the(*controller)["spec"]["hooks"]
    url = urlsplit(hooks[hook]["webhook"]["url"])
    service = the("Service", SYSTEM, HOOKS)
    assert (url.scheme, url.path, url.query) == ("http", route, "")
    assert url.hostname == f"{HOOKS}.{service['metadata']['namespace']}.svc"
    assert [url.port] == [port["port"] for port in service["spec"]["ports"]]


def test_the_decorator_is_what_the_contract_says() -> None:
    spec = copy.deepcopy(the(*DECORATOR)["spec"])
    del spec["hooks"]
    assert spec == {
        "resyncPeriodSeconds": 60,
        "resources": [{"apiVersion": "karpenter.sh/v1", "resource": "nodepools"}],
        "attachments": [
            {"apiVersion": "v1", "resource": "pods", "updateStrategy": {"method": "OnDelete"}}
        ],
    }


def test_the_composite_has_policies_for_parents_and_no_children() -> None:
    spec = copy.deepcopy(the(*COMPOSITE)["spec"])
    del spec["hooks"]
    assert spec == {
        "resyncPeriodSeconds": 300,
        "generateSelector": True,
        "parentResource": {
            "apiVersion": f"{names.POLICY_GROUP}/{names.POLICY_VERSION}",
            "resource": "rotationpolicies",
        },
    }


@pytest.mark.parametrize("controller", [DECORATOR, COMPOSITE], ids=lambda one: one[2])
def test_hooks_are_called_with_the_token_and_given_up_after_ten_seconds(
    controller: tuple[str, None, str],
) -> None:
    hooks = the(*controller)["spec"]["hooks"]
    secret = {"namespace": SYSTEM, "name": "noderotation-hook-token", "key": "token"}
    assert set(hooks) == {"sync", "customize"}
    for hook in hooks.values():
        assert hook["version"] == "v2"
        assert hook["webhook"]["timeout"] == "10s"
        assert hook["webhook"]["authorization"] == {"type": "Bearer", "secretRef": secret}


def test_the_network_lets_in_metacontroller_alone_on_the_one_port() -> None:
    spec = the("NetworkPolicy", SYSTEM, HOOKS)["spec"]
    http = [{"port": 8080, "protocol": "TCP"}]
    labels = {"kubernetes.io/metadata.name": "metacontroller"}
    assert spec["ingress"] == [
        {"from": [{"namespaceSelector": {"matchLabels": labels}}], "ports": http}
    ]
    assert sorted(spec["policyTypes"]) == ["Egress", "Ingress"]


def test_the_network_lets_out_to_the_api_server_and_to_names() -> None:
    egress = the("NetworkPolicy", SYSTEM, HOOKS)["spec"]["egress"]
    assert [rule.keys() for rule in egress] == [{"ports"}, {"ports"}]
    assert [(port["protocol"], port["port"]) for rule in egress for port in rule["ports"]] == [
        ("TCP", 443),
        ("TCP", 6443),
        ("TCP", 8443),
        ("UDP", 53),
        ("TCP", 53),
    ]


def test_everything_else_of_the_namespace_is_shut() -> None:
    spec = the("NetworkPolicy", SYSTEM, "default-deny")["spec"]
    assert spec == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}


def test_every_custom_resource_definition_is_brought_along() -> None:
    files = {path.name for path in (ROOT / "crds").glob("*.yaml")} - {"kustomization.yaml"}
    assert set(kustomization(ROOT / "crds")["resources"]) == files


def test_no_kustomization_sets_a_namespace_for_all() -> None:
    # It would move the Events role out of `default`, where alone the API server takes these Events.
    folders = [path.parent for path in MANIFESTS.rglob("kustomization.yaml")]
    assert len(folders) == 8
    assert not [folder for folder in folders if "namespace" in kustomization(folder)]


def test_the_paths_that_the_docs_name_exist() -> None:
    text = (ROOT / "docs" / "install.md").read_text()
    named = set(re.findall(r"(?:-[fk] |`)((?:manifests|crds|examples)[\w./-]*)", text))
    assert {"manifests", "manifests/metacontroller", "manifests/hooks/namespace.yaml"} <= named
    assert not [path for path in sorted(named) if not (ROOT / path).exists()]


def test_the_docs_name_the_secret_as_the_controller_does() -> None:
    text = (ROOT / "docs" / "install.md").read_text()
    created = re.findall(r"create secret generic (\S+) --namespace (\S+) --from-file=(\w+)=", text)
    assert set(created) == {("noderotation-hook-token", SYSTEM, "token")}
