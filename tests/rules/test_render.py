"""What `kubectl kustomize` makes of the manifests and their overlays; needs kubectl."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from hooks import names
from tests.manifest_files import DRAIN_OVERLAYS, MANIFESTS

ROOT = Path(__file__).parent.parent.parent
LOOPBACK = "http://127.0.0.1:18080"
SERVICE = "http://noderotation-hooks.node-rotation-system.svc:8080"


def render(folder: Path) -> str:
    done = subprocess.run(
        ["kubectl", "kustomize", str(folder)], capture_output=True, text=True, check=False
    )
    # A warning (a deprecated field) is no reason to render, but one to look.
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def objects(rendered: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(rendered))


def hook_deployment(rendered: str) -> dict[str, Any]:
    (only,) = [thing for thing in objects(rendered) if thing["kind"] == "Deployment"]
    (container,) = only["spec"]["template"]["spec"]["containers"]
    return dict(container)


def values(container: dict[str, Any]) -> dict[str, str]:
    return {entry["name"]: entry["value"] for entry in container["env"] if "value" in entry}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of what the manifests are made from, to be edited as a user would."""
    for name in ("manifests", "crds"):
        shutil.copytree(ROOT / name, tmp_path / name)
    return tmp_path


def test_all_objects_come_in_an_order_that_can_be_applied() -> None:
    kinds = [thing["kind"] for thing in objects(render(ROOT / "manifests"))]
    assert kinds[:2] == ["Namespace", "CustomResourceDefinition"]
    assert len(kinds) == 17
    # Metacontroller calls as soon as it sees its object.
    assert kinds.index("Deployment") < kinds.index("CompositeController")
    assert kinds.index("Deployment") < kinds.index("DecoratorController")


def test_every_url_is_a_route_of_the_hook_server() -> None:
    urls = [word for word in render(ROOT / "manifests").split() if "://" in word]
    assert sorted(urls) == sorted(
        SERVICE + route
        for route in (
            names.CUSTOMIZE_NODEPOOL,
            names.SYNC_NODEPOOL,
            names.CUSTOMIZE_ROTATIONPOLICY,
            names.SYNC_ROTATIONPOLICY,
        )
    )


def test_the_default_images_have_tags() -> None:
    container = hook_deployment(render(ROOT / "manifests"))
    assert container["image"] == "noderotation-hooks:0.1.0"
    assert values(container)["NODEROTATION_PLACEHOLDER_IMAGE"] == "registry.k8s.io/pause:3.10"


def test_images_reach_the_hook_server_and_the_placeholder(checkout: Path) -> None:
    digest = "sha256:" + "0" * 64
    path = checkout / "manifests" / "images" / "kustomization.yaml"
    given = yaml.safe_load(path.read_text())
    given["images"] = [
        {"name": "noderotation-hooks", "newName": "mirror.example/hooks", "newTag": "1.2.3"},
        {"name": "registry.k8s.io/pause", "newName": "mirror.example/pause", "digest": digest},
    ]
    path.write_text(yaml.safe_dump(given))
    before = hook_deployment(render(ROOT / "manifests"))
    after = hook_deployment(render(checkout / "manifests"))
    assert after["image"] == "mirror.example/hooks:1.2.3"
    # Only the one value that is this image; no other value is taken for one.
    assert values(after) == values(before) | {
        "NODEROTATION_PLACEHOLDER_IMAGE": f"mirror.example/pause@{digest}"
    }
    # The webhook runs the same image, and nobody has to name it a second time.
    for overlay in DRAIN_OVERLAYS:
        drain = hook_deployment(render(checkout / overlay.relative_to(ROOT)))
        assert drain["image"] == "mirror.example/hooks:1.2.3"


def test_metacontroller_s_part_renders_alone_for_uninstalling() -> None:
    kinds = [thing["kind"] for thing in objects(render(ROOT / "manifests" / "metacontroller"))]
    assert sorted(kinds) == ["CompositeController", "DecoratorController"]


def test_the_overlay_of_the_tests_differs_in_the_urls_alone() -> None:
    shipped = render(ROOT / "manifests")
    overlaid = render(ROOT / "tests" / "e2e" / "overlay")
    # The harness puts its port in place of this number, so nothing else may hold it.
    assert overlaid.count("18080") == 4
    assert objects(overlaid.replace(LOOPBACK, SERVICE)) == objects(shipped)


def overlays_of_the_docs() -> list[str]:
    text = (ROOT / "docs" / "install.md").read_text()
    blocks = [block.split("```")[0] for block in text.split("```yaml\n")[1:]]
    return [block for block in blocks if "kind: Kustomization" in block]


def test_the_docs_show_overlays() -> None:
    assert len(overlays_of_the_docs()) == 3


@pytest.mark.parametrize("overlay", overlays_of_the_docs())
def test_an_overlay_of_the_docs_renders(checkout: Path, overlay: str) -> None:
    (checkout / "ours").mkdir()
    (checkout / "ours" / "kustomization.yaml").write_text(overlay)
    given = yaml.safe_load(overlay)["resources"]
    shipped = [one for path in given for one in objects(render(checkout / "ours" / path))]
    changed = objects(render(checkout / "ours"))
    assert len(changed) == len(shipped)
    assert not all(one in shipped for one in changed)


@pytest.mark.parametrize("overlay", DRAIN_OVERLAYS, ids=lambda path: path.name)
def test_a_drain_overlay_renders_in_an_order_that_can_be_applied(overlay: Path) -> None:
    kinds = [thing["kind"] for thing in objects(render(overlay))]
    assert len(kinds) == (16 if overlay.name == "drain-cert-manager" else 12)
    # Whoever calls comes after what is called.
    assert kinds.index("Deployment") < kinds.index("DecoratorController")
    assert kinds[-1] == "ValidatingWebhookConfiguration"


def test_the_overlays_differ_in_the_certificate_alone() -> None:
    made, own = (
        {(one["kind"], one["metadata"]["name"]): one for one in objects(render(overlay))}
        for overlay in DRAIN_OVERLAYS
    )
    webhook = "ValidatingWebhookConfiguration", names.WEBHOOK_CONFIGURATION
    annotations = made[webhook]["metadata"].pop("annotations")
    assert annotations == {
        "cert-manager.io/inject-ca-from": f"{names.NAMESPACE}/{names.EVICTION_SERVER}"
    }
    assert {kind for kind, _ in made.keys() - own.keys()} == {"Issuer", "Certificate"}
    assert {key: made[key] for key in own} == own


@pytest.mark.parametrize("overlay", DRAIN_OVERLAYS, ids=lambda path: path.name)
def test_a_drain_overlay_goes_together_with_the_rest_in_one_of_your_own(
    checkout: Path, overlay: Path
) -> None:
    beside = [MANIFESTS, overlay, MANIFESTS / "overlays" / "monitoring"]
    (checkout / "ours").mkdir()
    given = {
        "resources": [f"../{folder.relative_to(ROOT)}" for folder in beside],
        "images": [{"name": "noderotation-hooks", "newName": "mirror.example/hooks"}],
    }
    (checkout / "ours" / "kustomization.yaml").write_text(yaml.safe_dump(given))
    whole = objects(render(checkout / "ours"))
    assert len(whole) == sum(len(objects(render(folder))) for folder in beside)
    images = [
        one["spec"]["template"]["spec"]["containers"][0]["image"]
        for one in whole
        if one["kind"] == "Deployment"
    ]
    assert images == ["mirror.example/hooks:0.1.0"] * 2
