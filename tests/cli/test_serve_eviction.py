"""``serve --only eviction``: what it needs, and that the real webhook answers behind it."""

from __future__ import annotations

import http.client
import json
import os
import re
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import requests
import trustme
from click.testing import CliRunner, Result

import hooks
from hooks.cli.main import group
from tests.cluster.kubeconfigs import kubeconfig
from tests.cluster.standin import StandIn, status_of
from tests.e2e.processes import free_ports
from tests.server_times import wait_until
from tests.tls_files import HOST, client, issued

AUTHORITY = trustme.CA()
PAIR, OTHER = issued(AUTHORITY), issued(AUTHORITY)
CERT, KEY = "NODEROTATION_TLS_CERT_FILE", "NODEROTATION_TLS_KEY_FILE"
REVIEWS = Path(__file__).parents[1] / "fixtures/recorded/eviction-reviews.jsonl"
SCRIPT = "import sys; sys.argv[0] = 'noderotation'; from hooks.cli.main import main; main()"


@pytest.fixture
def environ(server: StandIn, tmp_path: Path) -> dict[str, str]:
    # Nothing of Karpenter, of Metacontroller or of ours is served.
    server.collections = {
        path: kind for path, kind in server.collections.items() if path.startswith("/api/v1/")
    }
    (tmp_path / "tls.crt").write_bytes(PAIR.cert)
    (tmp_path / "tls.key").write_bytes(PAIR.key)
    return {
        "KUBECONFIG": kubeconfig(tmp_path, server.url, {"token": "mine"}),
        "NODEROTATION_TLS_CERT_FILE": str(tmp_path / "tls.crt"),
        "NODEROTATION_TLS_KEY_FILE": str(tmp_path / "tls.key"),
    }


def serve(environ: dict[str, str], *flags: str) -> Result:
    """Run it in this process, which only a refusal to serve ends."""
    return CliRunner(env=environ).invoke(group, ["serve", "--only", "eviction", *flags])


def test_it_wants_a_certificate_and_a_key() -> None:
    result = serve({})
    told = result.stderr.splitlines()[-2:]
    assert (result.exit_code, [line.partition(":")[0] for line in told]) == (
        2,
        ["Error", f"{KEY} is missing"],
    )
    assert told[0].startswith(f"Error: {CERT} is missing: file with the certificate chain")


def test_nothing_else_is_served_alone() -> None:
    result = CliRunner().invoke(group, ["serve", "--only", "rotation"])
    assert (result.exit_code, "'rotation' is not 'eviction'" in result.stderr) == (2, True)


def test_a_file_that_is_not_there_is_told_in_one_line(
    environ: dict[str, str], tmp_path: Path
) -> None:
    missing = tmp_path / "missing"
    result = serve(environ, "--tls-cert-file", str(missing))
    told = f"{CERT}: {missing} can't be read (No such file or directory); name a file that can"
    assert (result.exit_code, result.stderr) == (2, f"Error: {told}\n")


def test_a_key_of_another_certificate_is_told_in_one_line(
    environ: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "tls.key").write_bytes(OTHER.key)
    result = serve(environ)
    told = (
        f"{KEY}: {tmp_path / 'tls.key'} is not the key of the certificate in "
        f"{tmp_path / 'tls.crt'} ({CERT}); give the two that were made together"
    )
    assert (result.exit_code, result.stderr) == (2, f"Error: {told}\n")


def test_a_cluster_that_cannot_be_reached_is_told_in_one_line(
    server: StandIn, environ: dict[str, str]
) -> None:
    server.rules.append(lambda _: status_of(503, "ServiceUnavailable"))
    result = serve(environ)
    assert (result.exit_code, len(result.stderr.splitlines())) == (1, 1)


@dataclass
class Running:
    process: subprocess.Popen[str]
    secure: int
    plain: int

    def get(self, path: str) -> requests.Response:
        return requests.get(f"http://{HOST}:{self.plain}{path}", timeout=20)

    def serves(self) -> bool:
        assert self.process.poll() is None, self.process.communicate()
        try:
            return self.get("/healthz").status_code == 200
        except requests.ConnectionError:
            return False

    def review(self, body: bytes) -> tuple[int, Any]:
        peer = http.client.HTTPSConnection(HOST, self.secure, timeout=20, context=client(AUTHORITY))
        with closing(peer):
            peer.request(
                "POST", "/admission/eviction?timeout=5s", body, {"Content-Type": "application/json"}
            )
            answer = peer.getresponse()
            return answer.status, json.loads(answer.read())


@contextmanager
def running(environ: dict[str, str]) -> Iterator[Running]:
    ports = free_ports(2)
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", SCRIPT, "serve", "--only", "eviction"],
        env={
            **os.environ,
            **environ,
            "PYTHONPATH": str(Path(hooks.__file__).parents[1]),
            "NODEROTATION_BIND": f"{HOST}:{ports[0]},{HOST}:{ports[1]}",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        served = Running(process, *ports)
        wait_until("it serves", served.serves)
        yield served
    finally:
        process.terminate()
        process.communicate(timeout=30)


def recorded(step: str) -> dict[str, Any]:
    for line in REVIEWS.read_text().splitlines():
        entry = json.loads(line)
        if entry["step"] == step:
            return dict(entry["request"])
    raise AssertionError(step)


def test_the_webhook_answers_over_tls_and_the_rest_in_plain(
    server: StandIn, environ: dict[str, str], tmp_path: Path
) -> None:
    review = recorded("drain-dry-run-server")
    body = json.dumps(review).encode()
    with running(environ) as served:
        status, answer = served.review(body)
        assert (status, answer["response"]["uid"], answer["response"]["allowed"]) == (
            200,
            review["request"]["uid"],
            True,
        )
        assert server.writes() == []
        plain = requests.post(
            f"http://{HOST}:{served.plain}/admission/eviction",
            data=body,
            headers={"Content-Type": "application/json", "X-Forwarded-Proto": "https"},
            timeout=20,
        )
        assert plain.status_code == 404
        with pytest.raises(requests.ConnectionError):
            requests.get(f"https://{HOST}:{served.plain}/metrics", timeout=20)
        assert served.get("/readyz").status_code == 200
        metrics = served.get("/metrics").text
        assert "gracefuldrain_evictions_total" in metrics
        assert re.search(
            r"^gracefuldrain_certificate_not_after_timestamp \d", metrics, re.MULTILINE
        )
        (tmp_path / "tls.crt").write_bytes(OTHER.cert)
        (tmp_path / "tls.key").write_bytes(OTHER.key)
        assert shown(served.secure) == OTHER.der
        server.rules.append(lambda _: status_of(503, "ServiceUnavailable"))
        assert [served.get(path).status_code for path in ("/readyz", "/healthz")] == [503, 200]
        served.process.terminate()
        log, _ = served.process.communicate(timeout=30)
        assert served.process.returncode == 0
    lines = [json.loads(line) for line in log.splitlines()]
    assert [line for line in lines if line["level"] == "error"] == []


def shown(port: int) -> bytes | None:
    with (
        socket.create_connection((HOST, port), timeout=20) as peer,
        client(AUTHORITY).wrap_socket(peer, server_hostname=HOST) as secure,
    ):
        assert isinstance(secure, ssl.SSLSocket)
        return secure.getpeercert(binary_form=True)
