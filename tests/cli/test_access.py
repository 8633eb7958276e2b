"""How a command that needs a cluster fails when there is none."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from hooks.cli.main import group
from tests.cluster.kubeconfigs import kubeconfig


def run(*words: str) -> Result:
    return CliRunner().invoke(group, ["abort", "api", *words])


def test_a_kubeconfig_that_is_not_there_is_wrong_use() -> None:
    done = run("--kubeconfig", "/nowhere")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == "Error: there is no kubeconfig at /nowhere\n"


def test_a_context_that_is_not_there_is_wrong_use(tmp_path: Path) -> None:
    config = kubeconfig(tmp_path, "http://127.0.0.1:1", {})
    done = run("--kubeconfig", config, "--context", "nope")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "name nope" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_cluster_that_does_not_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", kubeconfig(tmp_path, "http://127.0.0.1:1", {}))
    done = run()
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith("Error: cannot reach the API server at http://127.0.0.1:1: ")
    assert done.stderr.count("\n") == 1


def test_no_cluster_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    done = run()
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith(
        "Error: cannot find the cluster (neither a kubeconfig nor a service account): "
    )
