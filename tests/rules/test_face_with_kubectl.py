"""What kubectl does with the sandbox's face, as an operator would; needs kubectl."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from hooks.sandbox.face import Face, evictions
from hooks.sandbox.objects import Obj, name_of
from hooks.sandbox.store.kinds import CONFIGMAPS, DEPLOYMENTS, NAMESPACES, NODECLAIMS, NODES, PODS
from hooks.sandbox.store.store import ObjectStore
from tests.sandbox.store.worlds import World, bound, node

Kubectl = Callable[..., str]


@pytest.fixture
def store() -> ObjectStore:
    """Two Nodes, a NodeClaim, and a Pod on one of the Nodes."""
    made = World().store
    for name in ("default", "shop"):
        made.create(NAMESPACES, {"metadata": {"name": name}})
    made.create(NODES, node("n1", labels={"pool": "api"}))
    made.create(NODES, node("n2"))
    made.create(NODECLAIMS, node("c1"))
    owner = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "name": "web",
        "uid": "u",
        "controller": True,
    }
    running = bound("a")
    running["metadata"]["ownerReferences"] = [owner]
    made.create(PODS, running)
    return made


@pytest.fixture
def kubectl(store: ObjectStore, tmp_path: Path) -> Iterator[Kubectl]:
    """A kubectl that fails loudly; what it is ``given`` comes from its standard input."""

    def evict(
        namespace: str, name: str, *, uid: str, grace_seconds: int | None, dry_run: bool
    ) -> None:
        # Nothing ends Pods here, so that an eviction leaves no grace.
        assert grace_seconds is None
        store.delete(PODS, namespace, name, uid=uid, grace_seconds=0, dry_run=dry_run)

    with Face(store, subresources={("pods", "eviction"): evictions(evict)}) as face:
        config = tmp_path / "kubeconfig"
        config.write_text(yaml.safe_dump(_kubeconfig(face.url)))

        def run(*arguments: str, given: str = "") -> str:
            done = subprocess.run(
                ["kubectl", f"--kubeconfig={config}", f"--cache-dir={tmp_path}", *arguments],
                input=given,
                capture_output=True,
                text=True,
                check=False,
                timeout=50,
            )
            assert done.returncode == 0, done.stderr
            return done.stdout

        yield run


def _kubeconfig(url: str) -> Obj:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "face", "cluster": {"server": url}}],
        "contexts": [{"name": "face", "context": {"cluster": "face", "user": "nobody"}}],
        "users": [{"name": "nobody", "user": {}}],
        "current-context": "face",
    }


def first_words(table: str) -> list[str]:
    return [line.split()[0] for line in table.splitlines()]


def test_it_lists_by_full_and_by_short_names(kubectl: Kubectl) -> None:
    assert first_words(kubectl("get", "nodes")) == ["NAME", "n1", "n2"]
    assert first_words(kubectl("get", "no", "-l", "pool in (api)")) == ["NAME", "n1"]
    assert first_words(kubectl("get", "pods", "-A")) == ["NAMESPACE", "shop"]
    everywhere = kubectl("get", "po", "-A", "--field-selector", "spec.nodeName=n1", "-o", "name")
    assert everywhere == "pod/a\n"


def test_it_shows_an_object_whole(store: ObjectStore, kubectl: Kubectl) -> None:
    shown = yaml.safe_load(kubectl("get", "nodeclaims", "-o", "yaml"))["items"]
    assert shown == store.all(NODECLAIMS)


def test_it_annotates_and_labels(store: ObjectStore, kubectl: Kubectl) -> None:
    kubectl("annotate", "nodeclaim", "c1", "example.com/a=b")
    kubectl("label", "node", "n1", "pool-")
    assert store.get(NODECLAIMS, "", "c1")["metadata"]["annotations"] == {"example.com/a": "b"}
    assert "labels" not in store.get(NODES, "", "n1")["metadata"]


def test_it_patches_in_all_three_ways(store: ObjectStore, kubectl: Kubectl) -> None:
    kubectl("patch", "node", "n1", "-p", '{"spec": {"unschedulable": true}}')
    kubectl("patch", "node", "n1", "--type=merge", "-p", '{"spec": {"providerID": "x"}}')
    removed = '[{"op": "remove", "path": "/spec/unschedulable"}]'
    kubectl("patch", "node", "n1", "--type=json", "-p", removed)
    assert store.get(NODES, "", "n1")["spec"] == {"providerID": "x"}


def test_it_cordons_and_drains(store: ObjectStore, kubectl: Kubectl) -> None:
    kubectl("drain", "n1", "--dry-run=server")
    assert [name_of(pod) for pod in store.all(PODS)] == ["a"]
    kubectl("drain", "n1")
    assert store.all(PODS) == []
    assert store.get(NODES, "", "n1")["spec"] == {"unschedulable": True}
    kubectl("uncordon", "n1")
    # The real server leaves out what is false; nothing here reads the difference.
    assert not store.get(NODES, "", "n1")["spec"].get("unschedulable")


def test_it_deletes_and_waits_for_the_end(store: ObjectStore, kubectl: Kubectl) -> None:
    kubectl("delete", "pod", "a", "-n", "shop", "--force")
    kubectl("delete", "nodeclaim", "c1")
    assert (store.all(PODS), store.all(NODECLAIMS)) == ([], [])
    kubectl("wait", "--for=delete", "nodeclaim/c1", "--timeout=5s")


def test_it_deletes_a_namespace_with_all_that_is_in_it(
    store: ObjectStore, kubectl: Kubectl
) -> None:
    store.delete(PODS, "shop", "a", grace_seconds=0)
    given: Obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "cm"}}
    kubectl("create", "-n", "shop", "--validate=false", "-f", "-", given=yaml.safe_dump(given))
    assert [name_of(each) for each in store.all(CONFIGMAPS)] == ["cm"]
    kubectl("delete", "namespace", "shop")
    assert [name_of(each) for each in store.all(NAMESPACES)] == ["default"]
    assert store.all(CONFIGMAPS) == []


def test_it_applies_from_either_side(store: ObjectStore, kubectl: Kubectl) -> None:
    wanted: Obj = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "c", "image": "pause:1"}]},
            },
        },
    }
    kubectl("apply", "--validate=false", "-f", "-", given=yaml.safe_dump(wanted))
    kubectl("set", "image", "-n", "shop", "deployment/web", "c=pause:2")
    kubectl("rollout", "restart", "-n", "shop", "deployment/web")
    (container,) = store.get(DEPLOYMENTS, "shop", "web")["spec"]["template"]["spec"]["containers"]
    assert (container["name"], container["image"]) == ("c", "pause:2")
    wanted["spec"]["replicas"] = 3
    del wanted["spec"]["template"]
    kubectl(
        *("apply", "--server-side", "--force-conflicts", "--validate=false", "-f", "-"),
        given=yaml.safe_dump(wanted),
    )
    assert store.get(DEPLOYMENTS, "shop", "web")["spec"]["replicas"] == 3


def test_it_finds_its_way_by_discovery(kubectl: Kubectl) -> None:
    listed = kubectl("api-resources", "-o", "name").split()
    assert {"nodes", "nodepools.karpenter.sh", "rotationpolicies.noderotation.io"} <= set(listed)
    assert "Server Version: v1.36.3" in kubectl("version")
    assert kubectl("get", "--raw", "/readyz") == "ok"
