"""``serve``: what it checks before it listens, and that the real hooks answer behind it."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import requests
from click.testing import CliRunner, Result

import hooks
from hooks.cli.main import group
from tests.cluster.kubeconfigs import kubeconfig
from tests.cluster.standin import StandIn, status_of
from tests.e2e.processes import free_ports
from tests.server_times import wait_until

RECORDED = Path(__file__).parents[1] / "fixtures/recorded/rotation-with-pdb-blocked-drain.jsonl.gz"
SCRIPT = "import sys; sys.argv[0] = 'noderotation'; from hooks.cli.main import main; main()"
HEADERS = {"Authorization": "Bearer s3cret", "Content-Type": "application/json"}
PODS = "/api/v1/namespaces/node-rotation-system/pods"


@pytest.fixture
def environ(server: StandIn, tmp_path: Path) -> dict[str, str]:
    token = tmp_path / "token"
    token.write_text("s3cret\n")
    return {
        "KUBECONFIG": kubeconfig(tmp_path, server.url, {"token": "mine"}),
        "NODEROTATION_TOKEN_FILE": str(token),
    }


def serve(environ: dict[str, str], *flags: str) -> Result:
    """Run it in this process, which only a refusal to serve ends."""
    return CliRunner(env=environ).invoke(group, ["serve", *flags])


def test_all_wrong_settings_are_told_at_once(environ: dict[str, str]) -> None:
    result = serve(environ | {"NODEROTATION_SUSPEND": "maybe"}, "--threads", "none")
    assert (result.exit_code, result.stderr.splitlines()[-2:]) == (
        2,
        [
            "Error: NODEROTATION_THREADS must be a whole number from 1 to 256, not 'none'",
            "NODEROTATION_SUSPEND must be true or false, not 'maybe'",
        ],
    )


def test_without_a_token_nothing_is_served(environ: dict[str, str], tmp_path: Path) -> None:
    missing = str(tmp_path / "missing")
    result = serve(environ, "--token-file", missing)
    expected = f"Error: [Errno 2] No such file or directory: '{missing}'\n"
    assert (result.exit_code, result.stderr) == (2, expected)


@pytest.mark.parametrize(
    ("lacking", "told"),
    [
        ("/apis/karpenter.sh/v1/nodeclaims", "does not serve nodeclaims of karpenter.sh/v1"),
        (
            "/apis/noderotation.io/v1alpha1/rotationpolicies",
            "does not serve rotationpolicies of noderotation.io/v1alpha1",
        ),
    ],
)
def test_a_cluster_that_lacks_something_is_refused_in_one_line(
    server: StandIn, environ: dict[str, str], lacking: str, told: str
) -> None:
    del server.collections[lacking]
    result = serve(environ)
    (line,) = result.stderr.splitlines()
    assert (result.exit_code, line.startswith(f"Error: the cluster {told}")) == (1, True)


def test_a_cluster_that_cannot_be_reached_is_told_in_one_line(
    server: StandIn, environ: dict[str, str]
) -> None:
    server.rules.append(lambda _: status_of(503, "ServiceUnavailable"))
    result = serve(environ)
    assert (result.exit_code, len(result.stderr.splitlines())) == (1, 1)


@dataclass
class Running:
    process: subprocess.Popen[str]
    url: str

    def get(self, path: str) -> int:
        return requests.get(self.url + path, timeout=20).status_code

    def serves(self) -> bool:
        assert self.process.poll() is None, self.process.communicate()
        try:
            return self.get("/healthz") == 200
        except requests.ConnectionError:
            return False

    def post(self, path: str, body: bytes) -> dict[str, Any]:
        answer = requests.post(self.url + path, data=body, headers=HEADERS, timeout=20)
        assert answer.status_code == 200, answer.text
        return dict(answer.json())


@contextmanager
def running(environ: dict[str, str], *flags: str) -> Iterator[Running]:
    (port,) = free_ports(1)
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", SCRIPT, "serve", "--bind", f"127.0.0.1:{port}", *flags],
        env={**os.environ, **environ, "PYTHONPATH": str(Path(hooks.__file__).parents[1])},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        served = Running(process, f"http://127.0.0.1:{port}")
        wait_until("it serves", served.serves)
        yield served
    finally:
        process.terminate()
        process.communicate(timeout=30)


def recorded(step: str) -> bytes:
    for line in gzip.decompress(RECORDED.read_bytes()).splitlines():
        entry = json.loads(line)
        if entry["step"] == step:
            return json.dumps(entry["request"]).encode()
    raise AssertionError(step)


def test_the_hooks_answer_and_a_dead_rotation_is_swept(
    server: StandIn, environ: dict[str, str]
) -> None:
    server.put(
        PODS,
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": "noderotation-surge-dead",
                "namespace": "node-rotation-system",
                "creationTimestamp": "2026-01-01T00:00:00Z",
                "labels": {"noderotation.io/surge-for": "dead"},
                "annotations": {"noderotation.io/surge-for": "dead"},
            },
        },
    )
    with running(environ | {"NODEROTATION_THREADS": "none"}, "--threads", "2") as served:
        assert server.writes() == [("DELETE", f"{PODS}/noderotation-surge-dead")]
        assert served.get("/readyz") == 200
        related = served.post("/customize/nodepool", recorded("1-idle-customize"))
        assert len(related["relatedResources"]) == 3
        answer = served.post("/sync/nodepool", recorded("1-idle-sync"))
        assert answer["attachments"] == []
        shown = requests.get(served.url + "/metrics", timeout=20).text
        assert 'noderotation_reason{nodepool="api",reason="' in shown
        assert 'hook_request_bytes_count{hook="/sync/nodepool"} 1.0' in shown
        server.rules.append(lambda _: status_of(503, "ServiceUnavailable"))
        assert (served.get("/readyz"), served.get("/healthz")) == (503, 200)
        served.process.terminate()
        log, _ = served.process.communicate(timeout=30)
        assert served.process.returncode == 0
    lines = [json.loads(line) for line in log.splitlines()]
    assert [line["object"] for line in lines if line["event"] == "swept"] == [
        "noderotation-surge-dead"
    ]
