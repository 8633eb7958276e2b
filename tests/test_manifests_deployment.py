"""The two Deployments: their fit to Pod Security, to `serve` and to the calls that they get."""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hooks import names
from hooks.cluster.connection import CONNECTIONS
from hooks.settings import OPTIONS, Only, Settings, read_settings
from tests.manifest_files import (
    EVICTION,
    HOOKS,
    MANIFESTS,
    ROOT,
    SYSTEM,
    container,
    deployment,
    environment,
    kustomization,
    pod,
    the,
)

SHARED = {
    "NODEROTATION_ENABLED_ANNOTATION": "enabledAnnotation",
    "NODEROTATION_ROLLOUT_TIMEOUT": "rolloutTimeout",
}
"""The settings that both servers take from one ConfigMap, and its keys."""
EITHER = pytest.mark.parametrize("name", [HOOKS, EVICTION])


def settings(name: str) -> Settings:
    """What `serve` makes of a Deployment's environment."""
    given = environment(name)
    shared = the("ConfigMap", SYSTEM, "noderotation-drain")["data"]
    given |= {variable: shared[key] for variable, key in SHARED.items()}
    if name == EVICTION:
        return read_settings(given, Only.EVICTION)
    assert given.pop("NODEROTATION_NAMESPACE") == {"fieldRef": {"fieldPath": "metadata.namespace"}}
    return read_settings(given)


@EITHER
def test_only_the_deployment_asks_for_a_service_account_token(name: str) -> None:
    assert the("ServiceAccount", SYSTEM, name)["automountServiceAccountToken"] is False
    assert pod(name)["automountServiceAccountToken"] is True
    assert pod(name)["serviceAccountName"] == name


def test_the_server_knows_the_timeout_and_reads_the_token_of_the_controller() -> None:
    webhook = the("DecoratorController", None, "node-rotation")["spec"]["hooks"]["sync"]["webhook"]
    secret = webhook["authorization"]["secretRef"]
    token = Path(environment()["NODEROTATION_TOKEN_FILE"])
    (mount,) = [m for m in container()["volumeMounts"] if m["mountPath"] == str(token.parent)]
    (volume,) = [v for v in pod()["volumes"] if v["name"] == mount["name"]]
    assert environment()["NODEROTATION_HOOK_TIMEOUT"] == webhook["timeout"]
    assert "subPath" not in mount
    assert volume["secret"]["secretName"] == secret["name"]
    assert volume["secret"]["items"] == [{"key": secret["key"], "path": token.name}]


@EITHER
def test_serve_understands_its_environment(name: str) -> None:
    assert environment(name).keys() <= {option.variable for option in OPTIONS}
    assert settings(name).namespace == SYSTEM
    assert not settings(name).suspend


def test_each_deployment_runs_its_own_server() -> None:
    assert container()["command"] == ["noderotation", "serve"]
    assert container(EVICTION)["command"] == ["noderotation", "serve", "--only", Only.EVICTION]
    assert container(EVICTION)["image"] == container()["image"]


@pytest.mark.parametrize(("name", "optional"), [(HOOKS, {"optional": True}), (EVICTION, {})])
def test_both_take_from_one_place_what_they_must_agree_on(
    name: str, optional: dict[str, bool]
) -> None:
    # The hook server runs without the graceful drain, too.
    assert {variable: environment(name)[variable] for variable in SHARED} == {
        variable: {"configMapKeyRef": {"name": "noderotation-drain", "key": key, **optional}}
        for variable, key in SHARED.items()
    }
    assert set(the("ConfigMap", SYSTEM, "noderotation-drain")["data"]) == set(SHARED.values())


def test_what_they_agree_on_is_the_default_of_serve() -> None:
    shared = the("ConfigMap", SYSTEM, "noderotation-drain")["data"]
    defaults = {option.variable: option.default for option in OPTIONS}
    assert {variable: shared[key] for variable, key in SHARED.items()} == {
        variable: defaults[variable] for variable in SHARED
    }


def test_the_webhook_reads_its_certificate_in_a_folder_that_follows_the_secret() -> None:
    files = [settings(EVICTION).tls_cert_file, settings(EVICTION).tls_key_file]
    (mount,) = [m for m in container(EVICTION)["volumeMounts"] if m["name"] == "tls"]
    (volume,) = [v for v in pod(EVICTION)["volumes"] if v["name"] == "tls"]
    assert "subPath" not in mount
    assert files == [Path(mount["mountPath"]) / item["path"] for item in volume["secret"]["items"]]
    # The keys of a Secret of type kubernetes.io/tls.
    assert [item["key"] for item in volume["secret"]["items"]] == ["tls.crt", "tls.key"]
    assert volume["secret"]["secretName"] == "noderotation-eviction-tls"


def test_the_placeholder_image_is_the_default_of_serve() -> None:
    (default,) = [option.default for option in OPTIONS if option.field == "placeholder_image"]
    (pinned,) = [
        f"{image['name']}:{image['newTag']}"
        for image in kustomization(MANIFESTS / "images")["images"]
        if image["name"] == environment()["NODEROTATION_PLACEHOLDER_IMAGE"]
    ]
    assert pinned == default


@EITHER
def test_probes_ask_the_routes_on_the_port_that_is_bound(name: str) -> None:
    # The webhook must answer most of all while the API server doesn't (docs/decisions/0010).
    ready = {HOOKS: names.READYZ, EVICTION: names.HEALTHZ}[name]
    given = container(name)
    probes = {key: given[key]["httpGet"] for key in given if key.endswith("Probe")}
    assert probes == {
        "startupProbe": {"path": names.HEALTHZ, "port": "http"},
        "readinessProbe": {"path": ready, "port": "http"},
        "livenessProbe": {"path": names.HEALTHZ, "port": "http"},
    }


@pytest.mark.parametrize(
    ("name", "ports"),
    [(HOOKS, {"http": 8080}), (EVICTION, {"webhook": 8443, "http": 8080})],
)
def test_what_is_bound_can_be_reached(name: str, ports: dict[str, int]) -> None:
    bound = [int(address.rpartition(":")[2]) for address in settings(name).bind]
    assert bound == list(ports.values())
    assert {one["name"]: one["containerPort"] for one in container(name)["ports"]} == ports
    service = the("Service", SYSTEM, name)["spec"]["ports"]
    assert {one["name"]: (one["port"], one["targetPort"]) for one in service} == {
        key: (port, key) for key, port in ports.items()
    }


def test_calls_in_flight_can_end_before_the_container_is_killed() -> None:
    webhook = the("ValidatingWebhookConfiguration", None, names.WEBHOOK_CONFIGURATION)
    (review,) = webhook["webhooks"]
    longest = {
        HOOKS: settings(HOOKS).hook_timeout.total_seconds(),
        EVICTION: review["timeoutSeconds"],
    }
    for name, seconds in longest.items():
        pre_stop = container(name)["lifecycle"]["preStop"]["sleep"]["seconds"]
        assert pod(name)["terminationGracePeriodSeconds"] > pre_stop + seconds


@EITHER
def test_every_selector_finds_the_replicas_and_no_others(name: str) -> None:
    term = pod(name)["affinity"]["podAntiAffinity"][
        "preferredDuringSchedulingIgnoredDuringExecution"
    ]
    (spread,) = pod(name)["topologySpreadConstraints"]
    selectors = [
        deployment(name)["selector"]["matchLabels"],
        the("Service", SYSTEM, name)["spec"]["selector"],
        the("PodDisruptionBudget", SYSTEM, name)["spec"]["selector"]["matchLabels"],
        the("NetworkPolicy", SYSTEM, name)["spec"]["podSelector"]["matchLabels"],
        spread["labelSelector"]["matchLabels"],
        *[one["podAffinityTerm"]["labelSelector"]["matchLabels"] for one in term],
    ]
    labels = deployment(name)["template"]["metadata"]["labels"]
    assert all(selector.items() <= labels.items() for selector in selectors)
    assert all("app.kubernetes.io/component" in selector for selector in selectors)
    assert len(selectors) == 6


def test_the_two_servers_are_told_apart_by_their_component() -> None:
    components = [
        deployment(name)["selector"]["matchLabels"]["app.kubernetes.io/component"]
        for name in (HOOKS, EVICTION)
    ]
    assert components == ["hooks", "eviction"]


@EITHER
def test_replicas_share_no_fate(name: str) -> None:
    (term,) = pod(name)["affinity"]["podAntiAffinity"][
        "preferredDuringSchedulingIgnoredDuringExecution"
    ]
    (spread,) = pod(name)["topologySpreadConstraints"]
    budget = the("PodDisruptionBudget", SYSTEM, name)["spec"]
    assert deployment(name)["replicas"] == 2
    assert deployment(name)["strategy"]["rollingUpdate"] == {"maxSurge": 1, "maxUnavailable": 0}
    assert term["podAffinityTerm"]["topologyKey"] == names.HOSTNAME_LABEL
    assert (spread["topologyKey"], spread["whenUnsatisfiable"]) == (
        names.ZONE_LABEL,
        "ScheduleAnyway",
    )
    # A budget that never lets the last replica go would hold a node for ever.
    assert (budget["maxUnavailable"], budget["unhealthyPodEvictionPolicy"]) == (1, "AlwaysAllow")


def unrestricted(spec: dict[str, Any]) -> list[str]:
    """What Pod Security "restricted" would refuse in a Pod spec that sets only what ours sets."""
    context = spec.get("securityContext", {})
    found = [name for name in ("hostNetwork", "hostPID", "hostIPC") if spec.get(name)]
    found += [v["name"] for v in spec["volumes"] if not {"secret", "emptyDir"} & v.keys()]
    if context.get("runAsNonRoot") is not True or context.get("runAsUser") == 0:
        found.append("runAsNonRoot")
    if context.get("seccompProfile", {}).get("type") not in {"RuntimeDefault", "Localhost"}:
        found.append("seccompProfile")
    for one in [*spec["containers"], *spec.get("initContainers", [])]:
        own = one.get("securityContext", {})
        if own.get("allowPrivilegeEscalation") is not False:
            found.append("allowPrivilegeEscalation")
        if own.get("capabilities") != {"drop": ["ALL"]}:
            found.append("capabilities")
        if own.get("readOnlyRootFilesystem") is not True:  # ours, beyond the profile
            found.append("readOnlyRootFilesystem")
        found += sorted(own.keys() & {"privileged", "runAsNonRoot", "runAsUser", "procMount"})
    return found


@EITHER
def test_a_server_fits_pod_security_restricted(name: str) -> None:
    assert unrestricted(pod(name)) == []


Change = Callable[[dict[str, Any]], object]


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda spec: spec.update(hostNetwork=True), "hostNetwork"),
        (lambda spec: spec["securityContext"].pop("runAsNonRoot"), "runAsNonRoot"),
        (lambda spec: spec["securityContext"].update(runAsUser=0), "runAsNonRoot"),
        (lambda spec: spec["securityContext"].pop("seccompProfile"), "seccompProfile"),
        (lambda spec: spec["volumes"].append({"name": "host", "hostPath": {}}), "host"),
        (lambda spec: spec["containers"][0].pop("securityContext"), "capabilities"),
        (
            lambda spec: spec["containers"][0]["securityContext"].update(privileged=True),
            "privileged",
        ),
        (lambda spec: spec.update(initContainers=[{"name": "x"}]), "allowPrivilegeEscalation"),
    ],
)
def test_that_check_can_fail(change: Change, found: str) -> None:
    spec = copy.deepcopy(pod())
    change(spec)
    assert found in unrestricted(spec)


def test_memory_is_bounded_and_the_scratch_space_with_it() -> None:
    assert {name: container(name)["resources"] for name in (HOOKS, EVICTION)} == {
        HOOKS: {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"memory": "1Gi"}},
        EVICTION: {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "512Mi"}},
    }
    for name in (HOOKS, EVICTION):
        (scratch,) = [volume["emptyDir"] for volume in pod(name)["volumes"] if "emptyDir" in volume]
        assert scratch == {"medium": "Memory", "sizeLimit": "16Mi"}


def test_every_image_is_pinned_in_one_place() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    used = [container()["image"], environment()["NODEROTATION_PLACEHOLDER_IMAGE"]]
    tags = {
        image["name"]: image["newTag"] for image in kustomization(MANIFESTS / "images")["images"]
    }
    assert list(tags) == used
    assert tags[container()["image"]] == project["version"]
    assert "latest" not in tags.values()


def test_the_webhook_has_a_thread_for_each_connection_that_is_kept() -> None:
    assert settings(EVICTION).threads == CONNECTIONS
