"""What the face tells about itself."""

from __future__ import annotations

from hooks.sandbox.face import Face, evictions
from tests.sandbox.face.client import Client
from tests.sandbox.store.worlds import World


def test_it_is_healthy(client: Client) -> None:
    answers = [client.send("GET", path) for path in ("/readyz", "/healthz", "/livez")]
    assert [(answer.status_code, answer.text) for answer in answers] == [(200, "ok")] * 3


def test_its_version_is_that_of_the_server_it_was_compared_with(client: Client) -> None:
    assert client.get("/version")["gitVersion"] == "v1.36.3"


def test_groups_and_versions_are_listed(client: Client) -> None:
    assert client.get("/api")["versions"] == ["v1"]
    groups = client.get("/apis")["groups"]
    assert [group["preferredVersion"]["groupVersion"] for group in groups] == [
        "apps/v1",
        "policy/v1",
        "scheduling.k8s.io/v1",
        "karpenter.sh/v1",
        "karpenter.kwok.sh/v1alpha1",
        "noderotation.io/v1alpha1",
        "metacontroller.k8s.io/v1alpha1",
        "admissionregistration.k8s.io/v1",
        "discovery.k8s.io/v1",
        "events.k8s.io/v1",
    ]


def test_a_group_lists_its_kinds_and_their_subresources(client: Client) -> None:
    verbs = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]
    assert client.get("/apis/policy/v1") == {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": "policy/v1",
        "resources": [
            {
                "name": "poddisruptionbudgets",
                "singularName": "poddisruptionbudget",
                "namespaced": True,
                "kind": "PodDisruptionBudget",
                "verbs": verbs,
                "shortNames": ["pdb"],
            },
            {
                "name": "poddisruptionbudgets/status",
                "singularName": "",
                "namespaced": True,
                "kind": "PodDisruptionBudget",
                "verbs": ["get", "patch", "update"],
            },
        ],
    }


def test_the_doors_of_others_are_listed_too(world: World) -> None:
    def evict(
        namespace: str, name: str, *, uid: str, grace_seconds: int | None, dry_run: bool
    ) -> None:
        raise AssertionError((namespace, name, uid, grace_seconds, dry_run))

    with (
        Face(world.store, subresources={("pods", "eviction"): evictions(evict)}) as face,
        Client(face.url) as client,
    ):
        (entry,) = [
            one for one in client.get("/api/v1")["resources"] if one["name"] == "pods/eviction"
        ]
    assert entry == {
        "name": "pods/eviction",
        "singularName": "",
        "namespaced": True,
        "kind": "Eviction",
        "group": "policy",
        "version": "v1",
        "verbs": ["create"],
    }
