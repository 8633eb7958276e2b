"""The hook server's Deployment: its fit to Pod Security, to `serve` and to Metacontroller's calls."""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hooks import names
from hooks.settings import OPTIONS, read_settings
from tests.manifest_files import (
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


def test_only_the_deployment_asks_for_a_service_account_token() -> None:
    assert the("ServiceAccount", SYSTEM, HOOKS)["automountServiceAccountToken"] is False
    assert pod()["automountServiceAccountToken"] is True
    assert pod()["serviceAccountName"] == HOOKS


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


def test_serve_understands_its_environment() -> None:
    given = environment()
    assert given.pop("NODEROTATION_NAMESPACE") == {"fieldRef": {"fieldPath": "metadata.namespace"}}
    assert given.keys() <= {option.variable for option in OPTIONS}
    settings = read_settings(given)
    assert settings.namespace == SYSTEM
    assert not settings.suspend


def test_the_placeholder_image_is_the_default_of_serve() -> None:
    (default,) = [option.default for option in OPTIONS if option.field == "placeholder_image"]
    (pinned,) = [
        f"{image['name']}:{image['newTag']}"
        for image in kustomization(MANIFESTS)["images"]
        if image["name"] == environment()["NODEROTATION_PLACEHOLDER_IMAGE"]
    ]
    assert pinned == default


def test_probes_ask_the_routes_on_the_port_that_is_bound() -> None:
    (port,) = container()["ports"]
    probes = {name: container()[name]["httpGet"] for name in container() if name.endswith("Probe")}
    assert probes == {
        "startupProbe": {"path": names.HEALTHZ, "port": "http"},
        "readinessProbe": {"path": names.READYZ, "port": "http"},
        "livenessProbe": {"path": names.HEALTHZ, "port": "http"},
    }
    assert (port["name"], port["containerPort"]) == ("http", 8080)
    assert environment()["NODEROTATION_BIND"].endswith(":8080")
    assert the("Service", SYSTEM, HOOKS)["spec"]["ports"][0]["targetPort"] == "http"


def test_calls_in_flight_can_end_before_the_container_is_killed() -> None:
    pre_stop = container()["lifecycle"]["preStop"]["sleep"]["seconds"]
    hook_timeout = int(environment()["NODEROTATION_HOOK_TIMEOUT"].removesuffix("s"))
    assert pod()["terminationGracePeriodSeconds"] > pre_stop + hook_timeout


def test_every_selector_finds_the_replicas_and_no_placeholder() -> None:
    term = pod()["affinity"]["podAntiAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]
    (spread,) = pod()["topologySpreadConstraints"]
    selectors = [
        deployment()["selector"]["matchLabels"],
        the("Service", SYSTEM, HOOKS)["spec"]["selector"],
        the("PodDisruptionBudget", SYSTEM, HOOKS)["spec"]["selector"]["matchLabels"],
        the("NetworkPolicy", SYSTEM, HOOKS)["spec"]["podSelector"]["matchLabels"],
        spread["labelSelector"]["matchLabels"],
        *[one["podAffinityTerm"]["labelSelector"]["matchLabels"] for one in term],
    ]
    labels = deployment()["template"]["metadata"]["labels"]
    assert all(selector.items() <= labels.items() for selector in selectors)
    assert all("app.kubernetes.io/component" in selector for selector in selectors)
    assert len(selectors) == 6


def test_replicas_share_no_fate() -> None:
    (term,) = pod()["affinity"]["podAntiAffinity"][
        "preferredDuringSchedulingIgnoredDuringExecution"
    ]
    (spread,) = pod()["topologySpreadConstraints"]
    budget = the("PodDisruptionBudget", SYSTEM, HOOKS)["spec"]
    assert deployment()["replicas"] == 2
    assert deployment()["strategy"]["rollingUpdate"] == {"maxSurge": 1, "maxUnavailable": 0}
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


def test_the_hook_server_fits_pod_security_restricted() -> None:
    assert unrestricted(pod()) == []


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
    assert container()["resources"] == {
        "requests": {"cpu": "100m", "memory": "256Mi"},
        "limits": {"memory": "1Gi"},
    }
    (scratch,) = [volume["emptyDir"] for volume in pod()["volumes"] if "emptyDir" in volume]
    assert scratch == {"medium": "Memory", "sizeLimit": "16Mi"}


def test_every_image_is_pinned_in_one_place() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    used = [container()["image"], environment()["NODEROTATION_PLACEHOLDER_IMAGE"]]
    tags = {image["name"]: image["newTag"] for image in kustomization(MANIFESTS)["images"]}
    assert list(tags) == used
    assert tags[container()["image"]] == project["version"]
    assert "latest" not in tags.values()
