"""The graceful drain's manifests against names, routes and the table of rights; needs only Python."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from hooks import names
from tests.manifest_files import (
    DRAIN,
    DRAIN_OVERLAYS,
    EVICTION,
    HOOKS,
    MANIFESTS,
    ROOT,
    SYSTEM,
    deployment,
    identity,
    kustomization,
    objects_of,
    rights,
    the,
    who_uses,
)

HOOKS_DRAIN = "noderotation-hooks-drain"
TLS = "noderotation-eviction-tls"
CERT_MANAGER, OWN = DRAIN_OVERLAYS

OBJECTS = {
    ("ConfigMap", SYSTEM, "noderotation-drain"),
    ("ServiceAccount", SYSTEM, EVICTION),
    ("ClusterRole", None, EVICTION),
    ("ClusterRoleBinding", None, EVICTION),
    ("ClusterRole", None, HOOKS_DRAIN),
    ("ClusterRoleBinding", None, HOOKS_DRAIN),
    ("Deployment", SYSTEM, EVICTION),
    ("Service", SYSTEM, EVICTION),
    ("PodDisruptionBudget", SYSTEM, EVICTION),
    ("NetworkPolicy", SYSTEM, EVICTION),
    ("DecoratorController", None, names.DRAIN_CONTROLLER),
    ("ValidatingWebhookConfiguration", None, names.WEBHOOK_CONFIGURATION),
}

# Every right of the webhook, and what the hook server gets beside its own: see test_manifests.py.
RIGHTS = {
    ("cluster", EVICTION, "", "pods"): ["get"],
    ("cluster", EVICTION, "apps", "replicasets"): ["get"],
    ("cluster", EVICTION, "apps", "deployments"): ["get", "patch"],
    ("cluster", EVICTION, "events.k8s.io", "events"): ["create"],
    ("cluster", HOOKS_DRAIN, "apps", "deployments"): ["get", "patch"],
    ("cluster", HOOKS_DRAIN, "events.k8s.io", "events"): ["create"],
}


def controller() -> dict[str, Any]:
    return dict(the("DecoratorController", None, names.DRAIN_CONTROLLER)["spec"])


def webhook() -> dict[str, Any]:
    given = the("ValidatingWebhookConfiguration", None, names.WEBHOOK_CONFIGURATION)
    (only,) = given["webhooks"]
    return dict(only)


def certificates() -> dict[str, dict[str, Any]]:
    """Name of each Issuer and Certificate of the overlay, with its kind -> its spec."""
    given = yaml.safe_load_all((CERT_MANAGER / "certificates.yaml").read_text())
    return {f"{one['kind']} {one['metadata']['name']}": one["spec"] for one in given}


def test_these_objects_and_no_others_come_each_once() -> None:
    assert {identity(thing) for thing in DRAIN} == OBJECTS
    assert len(DRAIN) == len(OBJECTS)


def test_every_object_tells_what_it_belongs_to() -> None:
    labels = {identity(thing)[::2]: thing["metadata"]["labels"] for thing in DRAIN}
    for (kind, name), given in labels.items():
        component = {HOOKS_DRAIN: "hooks", names.DRAIN_CONTROLLER: "graceful-drain"}
        expected = component.get(name, "eviction")
        if kind == "ValidatingWebhookConfiguration":
            expected = "eviction"
        assert given == {
            "app.kubernetes.io/name": "noderotation",
            "app.kubernetes.io/component": expected,
            "app.kubernetes.io/part-of": "noderotation",
        }, (kind, name)


def test_the_rights_are_those_of_the_table() -> None:
    assert rights(DRAIN) == RIGHTS


def test_each_rule_stands_for_one_resource_and_says_who_uses_it() -> None:
    rules = [rule for thing in DRAIN for rule in thing.get("rules", [])]
    rules = [rule for rule in rules if "resources" in rule]
    assert [sorted(rule) for rule in rules] == [["apiGroups", "resources", "verbs"]] * len(RIGHTS)
    assert all(len(rule["apiGroups"]) == len(rule["resources"]) == 1 for rule in rules)
    assert [line[:2] for line in who_uses("drain")] == ["# "] * len(RIGHTS)


def test_each_role_is_bound_to_its_own_account_alone() -> None:
    bindings = [thing for thing in DRAIN if thing["kind"] == "ClusterRoleBinding"]
    assert {
        thing["roleRef"]["name"]: [
            (one["kind"], one["name"], one["namespace"]) for one in thing["subjects"]
        ]
        for thing in bindings
    } == {
        EVICTION: [("ServiceAccount", EVICTION, SYSTEM)],
        HOOKS_DRAIN: [("ServiceAccount", HOOKS, SYSTEM)],
    }
    assert all(thing["roleRef"]["kind"] == "ClusterRole" for thing in bindings)


def test_the_controller_watches_tracked_deployments_and_attaches_nothing() -> None:
    given = controller()
    del given["hooks"]
    tracked = {"key": names.DRAIN_RESTARTED_AT, "operator": "Exists"}
    assert given == {
        "resyncPeriodSeconds": 60,
        "resources": [
            {
                "apiVersion": "apps/v1",
                "resource": "deployments",
                "annotationSelector": {"matchExpressions": [tracked]},
            }
        ],
    }


def test_its_one_hook_is_a_route_of_the_hook_server_and_is_called_as_the_others_are() -> None:
    hooks = controller()["hooks"]
    others = the("DecoratorController", None, names.DECORATOR_CONTROLLER)["spec"]["hooks"]["sync"]
    assert set(hooks) == {"sync"}
    url = urlsplit(hooks["sync"]["webhook"].pop("url"))
    assert urlsplit(others["webhook"].pop("url"))[:2] == url[:2]
    assert (url.path, url.query) == (names.SYNC_DEPLOYMENT, "")
    assert hooks["sync"] == others


def test_the_webhook_is_what_the_contract_says() -> None:
    given = webhook()
    del given["clientConfig"], given["namespaceSelector"]
    assert given == {
        "name": names.WEBHOOK,
        "rules": [
            {
                "apiGroups": [""],
                "apiVersions": ["v1"],
                "resources": ["pods/eviction"],
                "operations": ["CREATE"],
                "scope": "Namespaced",
            }
        ],
        "matchPolicy": "Equivalent",
        "admissionReviewVersions": ["v1"],
        "sideEffects": "NoneOnDryRun",
        "failurePolicy": "Ignore",
        "timeoutSeconds": 5,
    }


def test_no_eviction_of_our_own_pods_or_the_system_s_waits_for_us() -> None:
    assert webhook()["namespaceSelector"] == {
        "matchExpressions": [
            {
                "key": "kubernetes.io/metadata.name",
                "operator": "NotIn",
                "values": ["kube-system", SYSTEM],
            }
        ]
    }


def test_the_webhook_is_a_route_of_the_service_by_tls() -> None:
    service = the("Service", SYSTEM, EVICTION)
    (port,) = [one["port"] for one in service["spec"]["ports"] if one["name"] == "webhook"]
    assert webhook()["clientConfig"] == {
        "service": {
            "namespace": SYSTEM,
            "name": names.EVICTION_SERVER,
            "port": port,
            "path": names.ADMISSION_EVICTION,
        }
    }


def test_the_names_are_those_of_the_code() -> None:
    assert names.EVICTION_SERVER == EVICTION
    assert names.NAMESPACE == SYSTEM


def test_the_network_lets_the_api_server_in_from_anywhere_on_the_webhook_s_port_alone() -> None:
    spec = the("NetworkPolicy", SYSTEM, EVICTION)["spec"]
    assert spec["ingress"] == [{"ports": [{"port": 8443, "protocol": "TCP"}]}]
    assert spec["egress"] == the("NetworkPolicy", SYSTEM, HOOKS)["spec"]["egress"]
    assert spec["policyTypes"] == ["Ingress", "Egress"]


@pytest.mark.parametrize("overlay", DRAIN_OVERLAYS, ids=lambda path: path.name)
def test_an_overlay_stands_beside_the_rest_and_brings_all_of_the_drain(overlay: Path) -> None:
    given = {identity(thing) for thing in objects_of(overlay)}
    assert given >= OBJECTS
    assert not given & {identity(thing) for thing in objects_of(MANIFESTS)}
    # kustomize lets no root name the one that contains it.
    assert "../.." not in kustomization(overlay)["resources"]
    files = {path.name for path in overlay.iterdir()} - {"kustomization.yaml"}
    assert files <= set(kustomization(overlay)["resources"])


def test_one_overlay_brings_no_certificate_and_the_other_makes_it() -> None:
    assert {identity(thing) for thing in objects_of(OWN)} == OBJECTS
    assert {identity(thing) for thing in objects_of(CERT_MANAGER)} - OBJECTS == {
        (kind, SYSTEM, name)
        for kind, name in (
            ("Issuer", "noderotation-eviction-selfsigned"),
            ("Certificate", "noderotation-eviction-ca"),
            ("Issuer", "noderotation-eviction-ca"),
            ("Certificate", EVICTION),
        )
    }


def test_the_certificate_is_for_the_name_that_the_api_server_calls() -> None:
    given = certificates()[f"Certificate {EVICTION}"]
    called = webhook()["clientConfig"]["service"]
    assert given["dnsNames"] == [f"{called['name']}.{called['namespace']}.svc"]
    (volume,) = [
        one for one in deployment(EVICTION)["template"]["spec"]["volumes"] if "secret" in one
    ]
    assert given["secretName"] == volume["secret"]["secretName"] == TLS
    assert "server auth" in given["usages"]


def test_each_certificate_is_signed_by_an_issuer_of_the_overlay() -> None:
    given = certificates()
    authority = given["Certificate noderotation-eviction-ca"]
    assert authority["isCA"]
    signed_by = {
        name: f"Issuer {spec['issuerRef']['name']}"
        for name, spec in given.items()
        if name.startswith("Certificate")
    }
    assert signed_by == {
        "Certificate noderotation-eviction-ca": "Issuer noderotation-eviction-selfsigned",
        "Certificate noderotation-eviction": "Issuer noderotation-eviction-ca",
    }
    assert set(signed_by.values()) <= given.keys()
    assert given["Issuer noderotation-eviction-ca"] == {
        "ca": {"secretName": authority["secretName"]}
    }


def test_cert_manager_is_told_whose_authority_the_webhook_trusts() -> None:
    (patch,) = kustomization(CERT_MANAGER)["patches"]
    assert patch["target"] == {
        "kind": "ValidatingWebhookConfiguration",
        "name": names.WEBHOOK_CONFIGURATION,
    }
    assert yaml.safe_load(patch["patch"]) == [
        {
            "op": "add",
            "path": "/metadata/annotations",
            "value": {"cert-manager.io/inject-ca-from": f"{SYSTEM}/{EVICTION}"},
        }
    ]


VERBS = {
    "get_pod": ("get", "", "pods"),
    "get_replicaset": ("get", "apps", "replicasets"),
    "get_deployment": ("get", "apps", "deployments"),
    "patch_deployment": ("patch", "apps", "deployments"),
    "create_event": ("create", "events.k8s.io", "events"),
}
"""What each verb of hooks/cluster/drain.py needs; an Event is one of events.k8s.io/v1."""


BY_WAY_OF = VERBS | {"send": VERBS["patch_deployment"], "Herald": VERBS["create_event"]}
"""The same, with what makes such a call for others."""


def needed(*modules: str) -> set[tuple[str, str, str]]:
    """The rights that some modules need: the verbs of the drain that they name."""
    nodes = [
        node
        for module in modules
        for node in ast.walk(ast.parse((ROOT / "hooks" / module).read_text()))
    ]
    attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    named = {node.id for node in nodes if isinstance(node, ast.Name)}
    return {BY_WAY_OF[name] for name in (attributes | named) & BY_WAY_OF.keys()}


def granted(role: str) -> set[tuple[str, str, str]]:
    return {
        (verb, group, resource)
        for (_, name, group, resource), verbs in RIGHTS.items()
        if name == role
        for verb in verbs
    }


def test_the_rights_of_the_drain_are_those_that_its_verbs_need() -> None:
    tree = ast.parse((ROOT / "hooks" / "cluster" / "drain.py").read_text())
    (api,) = [
        node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "DrainApi"
    ]
    declared = {node.name for node in api.body if isinstance(node, ast.FunctionDef)}
    assert declared - {"within", "briefly"} == VERBS.keys()


def test_each_server_is_granted_what_it_names_and_no_more() -> None:
    assert needed("admission/eviction.py", "admission/reading.py") == granted(EVICTION)
    assert needed("sync/deployment.py") == granted(HOOKS_DRAIN)
