"""What a new object gets: identity, defaults, a first status."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from hooks.sandbox.apiport import Resource
from hooks.sandbox.objects import Obj
from hooks.sandbox.store import kinds
from hooks.sandbox.store.defaults import SPECS
from hooks.sandbox.store.refusals import RefusedError
from tests.sandbox.store.worlds import World, node, pod, told

ROOT = Path(__file__).parents[3]
RECORDED = ROOT / "tests" / "fixtures" / "metacontroller" / "rotation.jsonl"


def test_a_new_object_gets_its_identity_from_the_server(world: World) -> None:
    sent = node("n1", uid="mine", resourceVersion="77", creationTimestamp="2000-01-01T00:00:00Z")
    assert world.store.create(kinds.NODES, sent) == {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": "n1",
            "uid": world.store.get(kinds.NODES, "", "n1")["metadata"]["uid"],
            "resourceVersion": "1",
            "creationTimestamp": "2026-11-01T12:00:00Z",
        },
        "spec": {},
    }


def test_the_same_run_gives_the_same_names_and_uids() -> None:
    runs = []
    for world in (World(), World()):
        lone: Obj = {"metadata": {"generateName": "web-", "namespace": "shop"}, "spec": {}}
        made = [world.store.create(kinds.PODS, lone)["metadata"] for _ in range(3)]
        runs.append([(one["name"], one["uid"]) for one in made])
    assert runs[0] == runs[1]
    assert len({name for name, _ in runs[0]}) == len({uid for _, uid in runs[0]}) == 3
    assert all(name.startswith("web-") and len(name) == 9 for name, _ in runs[0])


def test_a_name_that_is_taken_is_refused(world: World) -> None:
    world.store.create(kinds.NODECLAIMS, node("c"))
    with pytest.raises(RefusedError) as caught:
        world.store.create(kinds.NODECLAIMS, node("c"))
    assert told(caught.value) == (
        409,
        "AlreadyExists",
        'nodeclaims.karpenter.sh "c" already exists',
    )
    assert caught.value.is_already_exists
    assert world.events() == [("ADDED", "NodeClaim", "c")]


def test_a_dry_run_stores_nothing(world: World) -> None:
    made = world.store.create(kinds.PODS, pod("a"), dry_run=True)
    assert (made["status"]["phase"], world.store.revision) == ("Pending", 0)


@pytest.mark.parametrize("resource", [kinds.NODECLAIMS, kinds.PODS, kinds.DEPLOYMENTS])
def test_a_status_that_a_client_sends_along_is_dropped(world: World, resource: Resource) -> None:
    sent = pod("a") | {"status": {"phase": "Running", "mine": True}}
    assert "mine" not in world.store.create(resource, sent).get("status", {})


def test_a_kubelet_creates_its_node_with_a_status(world: World) -> None:
    made = world.store.create(kinds.NODES, node("n1") | {"status": {"capacity": {"cpu": "4"}}})
    assert made["status"] == {"capacity": {"cpu": "4"}}


@pytest.mark.parametrize(
    ("resource", "generation"),
    [(kinds.NODES, None), (kinds.PODS, 1), (kinds.NODECLAIMS, 1), (kinds.CONFIGMAPS, None)],
)
def test_generations_are_counted_for_the_kinds_that_have_them(
    world: World, resource: Resource, generation: int | None
) -> None:
    made = world.store.create(resource, pod("a"))
    assert made["metadata"].get("generation") == generation


@pytest.mark.parametrize(
    ("resource", "status"),
    [
        (
            kinds.PODDISRUPTIONBUDGETS,
            {"currentHealthy": 0, "desiredHealthy": 0, "disruptionsAllowed": 0, "expectedPods": 0},
        ),
        (kinds.REPLICASETS, {"replicas": 0}),
        (kinds.NAMESPACES, {"phase": "Active"}),
    ],
)
def test_a_first_status_has_the_numbers_that_are_never_left_out(
    world: World, resource: Resource, status: Obj
) -> None:
    assert world.store.create(resource, {"metadata": {"name": "a"}})["status"] == status


def test_secrets_store_their_plain_texts_encoded(world: World) -> None:
    made = world.store.create(
        kinds.SECRETS,
        {"metadata": {"name": "s"}, "stringData": {"token": "abc"}, "data": {"other": "eA=="}},
    )
    assert made["data"] == {"other": "eA==", "token": "YWJj"}
    assert "stringData" not in made


def test_a_deployment_is_completed_down_to_its_containers(world: World) -> None:
    made = world.store.create(
        kinds.DEPLOYMENTS,
        {
            "metadata": {"name": "web", "namespace": "shop"},
            "spec": {
                "strategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
                "template": {"spec": {"containers": [{"name": "c", "image": "pause"}]}},
            },
        },
    )
    assert made["spec"] == {
        "replicas": 1,
        "revisionHistoryLimit": 10,
        "progressDeadlineSeconds": 600,
        "strategy": {
            "type": "RollingUpdate",
            "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0},
        },
        "template": {
            "spec": {
                "containers": [
                    {
                        "name": "c",
                        "image": "pause",
                        "imagePullPolicy": "Always",
                        "resources": {},
                        "terminationMessagePath": "/dev/termination-log",
                        "terminationMessagePolicy": "File",
                    }
                ],
                "dnsPolicy": "ClusterFirst",
                "restartPolicy": "Always",
                "schedulerName": "default-scheduler",
                "securityContext": {},
                "terminationGracePeriodSeconds": 30,
            }
        },
    }


def test_a_placeholder_becomes_what_the_real_server_made_of_it(world: World) -> None:
    recorded = next(
        exchange
        for exchange in map(json.loads, RECORDED.read_text().splitlines())
        if (exchange["request"].get("attachments") or {}).get("Pod.v1")
    )
    (real,) = recorded["request"]["attachments"]["Pod.v1"].values()
    world.store.create(
        kinds.PRIORITYCLASSES,
        {
            "metadata": {"name": "noderotation-placeholder"},
            "value": -10,
            "preemptionPolicy": "Never",
        },
    )
    made = world.store.create(kinds.PODS, recorded["response"]["attachments"][0])
    assert (made["spec"], made["status"]) == (real["spec"], real["status"])


def defaults_in(schema: Any) -> Any:
    """What the API server fills in by a CRD's schema."""
    own = {
        key: made
        for key, part in schema.get("properties", {}).items()
        if (made := defaults_in(part)) is not None
    }
    if "default" not in schema:
        return own or None
    given = schema["default"]
    return {**own, **given} if isinstance(given, dict) else given


def test_the_defaults_of_a_policy_are_those_of_its_crd() -> None:
    crd = yaml.safe_load((ROOT / "crds" / "rotationpolicies.yaml").read_text())
    (version,) = crd["spec"]["versions"]
    spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
    assert SPECS["rotationpolicies"] == defaults_in(spec)
