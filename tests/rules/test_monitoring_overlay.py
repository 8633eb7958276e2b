"""What `kubectl kustomize` makes of the monitoring overlay, alone and as the docs show it."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import yaml

from tests.manifest_files import ROOT
from tests.monitoring_files import DASHBOARD, OBSERVABILITY
from tests.rules.promtool import rendered

Named = dict[tuple[str, str], dict[str, Any]]


def named(objects: list[dict[str, Any]]) -> Named:
    return {(one["kind"], one["metadata"]["name"]): one for one in objects}


def test_it_brings_four_objects_and_the_dashboard_arrives_whole() -> None:
    brought = named(rendered())
    assert brought.keys() == {
        ("ServiceMonitor", "noderotation"),
        ("PrometheusRule", "noderotation"),
        ("NetworkPolicy", "noderotation-metrics"),
        ("ConfigMap", "noderotation-dashboard"),
    }
    dashboard = brought["ConfigMap", "noderotation-dashboard"]
    assert dashboard["metadata"]["labels"]["grafana_dashboard"] == "1"
    assert json.loads(dashboard["data"]["noderotation.json"]) == DASHBOARD


def test_the_overlay_of_the_docs_stands_on_both_and_changes_what_it_says(tmp_path: Path) -> None:
    (overlay,) = [block.split("```")[0] for block in OBSERVABILITY.split("```yaml\n")[1:]]
    for name in ("manifests", "crds"):
        shutil.copytree(ROOT / name, tmp_path / name)
    (tmp_path / "ours").mkdir()
    (tmp_path / "ours" / "kustomization.yaml").write_text(overlay)
    done = subprocess.run(
        ["kubectl", "kustomize", str(tmp_path / "ours")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    whole = named(list(yaml.safe_load_all(done.stdout)))
    assert ("Deployment", "noderotation-hooks") in whole
    changed = {key: one for key, one in named(rendered()).items() if whole[key] != one}
    assert changed.keys() == {
        ("ServiceMonitor", "noderotation"),
        ("PrometheusRule", "noderotation"),
        ("NetworkPolicy", "noderotation-metrics"),
    }
    for kind, name in changed.keys() - {("NetworkPolicy", "noderotation-metrics")}:
        assert whole[kind, name]["metadata"]["labels"]["release"] == "kube-prometheus-stack"
    (peer,) = whole["NetworkPolicy", "noderotation-metrics"]["spec"]["ingress"][0]["from"]
    labels = peer["namespaceSelector"]["matchLabels"]
    assert labels == {"kubernetes.io/metadata.name": "observability"}
