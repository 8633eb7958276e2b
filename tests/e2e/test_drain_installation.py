"""The graceful drain is installed, tried and removed by the commands that docs/install.md tells.

The API server reaches a Service without any proxy, by its cluster address, and that is one of this
machine's loopback. So the webhook's Service, its certificate and the authority that the API server is
told are those that a user makes; only the number of replicas is another, and the server runs here.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import requests
import yaml

from hooks import names
from hooks.drain.consequences import SOFTWARE
from tests.e2e.admission_server import DENIAL, Noted, noting
from tests.e2e.api import Object
from tests.e2e.control_plane import ControlPlane
from tests.e2e.drain.shapes import node
from tests.e2e.installation import NAMESPACE, Installation, command, python_path
from tests.e2e.processes import Child, answers, free_ports
from tests.e2e.programs import programs, source
from tests.manifest_files import DRAIN_OVERLAYS, EVICTION, ROOT, container, environment, the
from tests.support.waiting import wait_until

CERT_MANAGER = "github.com/cert-manager/cert-manager"
CRDS = ("certificates", "issuers")
INSTALL = (ROOT / "docs" / "install.md").read_text()
TLS = "noderotation-eviction-tls"
TRIAL = "drain-test"
"""The Deployment of the docs; also what its Node is called."""
ABSENT = "not-there"
"""Name of a Pod. The webhook is asked before the API server looks for the Pod."""
LONGEST = 60.0


def commands(heading: str) -> list[str]:
    """The shell blocks right below a heading, as they stand there."""
    blocks: list[str] = []
    block: list[str] | None = None
    here = False
    for line in INSTALL.splitlines():
        if block is None:
            here = line.lstrip("# ") == heading if line.startswith("#") else here
            block = [] if here and line.strip() == "```sh" else None
        elif line.strip() == "```":
            blocks.append(textwrap.dedent("\n".join(block)))
            block = None
        else:
            block.append(line)
    return blocks


@dataclass(frozen=True)
class Shell:
    """A user's shell, in a checkout."""

    folder: Path
    environment: dict[str, str]

    def run(self, block: str) -> subprocess.CompletedProcess[str]:
        """Run all lines of a block."""
        return subprocess.run(
            ["bash", "-o", "pipefail", "-c", block],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    def quietly(self, block: str) -> str:
        """The same; neither an error nor a warning is expected of any."""
        done = self.run(f"set -e\n{block}")
        assert (done.returncode, done.stderr) == (0, ""), block + done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def shell(plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """Where the docs' commands are typed."""
    assert shutil.which("openssl"), "needs openssl (on Debian: apt-get install openssl)"
    folder = tmp_path_factory.mktemp("checkout")
    for name in ("manifests", "crds"):
        shutil.copytree(ROOT / name, folder / name)
    deployment = folder / "manifests" / "drain" / "deployment.yaml"
    # Their Pods would only wait for nodes.
    deployment.write_text(deployment.read_text().replace("  replicas: 2\n", "  replicas: 0\n"))
    (folder / "bin").mkdir()
    (folder / "bin" / "kubectl").symlink_to(programs(lambda _: None)["kubectl"])
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return Shell(folder, {"PATH": path, "HOME": str(folder), "KUBECONFIG": str(plane.kubeconfig)})


@pytest.fixture(scope="module")
def cert_manager(plane: ControlPlane, installation: Installation) -> None:
    """cert-manager's kinds; nobody acts on them."""
    assert installation is not None
    folder = source("cert-manager", CERT_MANAGER) / "deploy" / "crds"
    for kind in CRDS:
        plane.api.apply(folder / f"cert-manager.io_{kind}.yaml")
    # Other tests may have installed it in another way.
    plane.api.kubectl("delete", "--ignore-not-found", f"--kustomize={DRAIN_OVERLAYS[0]}")


@pytest.mark.usefixtures("cert_manager")
@pytest.mark.parametrize("overlay", DRAIN_OVERLAYS, ids=lambda path: path.name)
def test_an_overlay_is_admitted_as_it_is_shipped_without_a_warning(
    plane: ControlPlane, overlay: Path
) -> None:
    plane.api.kubectl(
        "apply",
        "--server-side",
        "--dry-run=server",
        "--validate=strict",
        "--warnings-as-errors",
        f"--kustomize={overlay}",
    )


@pytest.fixture
def made(shell: Shell, cert_manager: None) -> Iterator[list[Object]]:
    """What the overlay with cert-manager brings, installed and afterwards removed."""
    assert cert_manager is None
    (apply,) = commands("With cert-manager")
    shell.quietly(apply)
    yield rendered(shell, "drain-cert-manager")
    remove(shell)


@pytest.fixture(scope="module")
def authority(shell: Shell) -> Path:
    """A certificate as the docs tell to make one, and its authority."""
    openssl = commands("With certificates of your own")[0]
    done = shell.run(f"set -e\n{openssl}")
    assert done.returncode == 0, done.stderr
    return shell.folder / "ca.crt"


@pytest.fixture(scope="module")
def own(shell: Shell, authority: Path, cert_manager: None) -> Iterator[list[Object]]:
    """What the other overlay brings, installed and afterwards removed; cert-manager isn't needed."""
    assert (authority.exists(), cert_manager) == (True, None)
    _, secret, apply, patch, _ = commands("With certificates of your own")
    shell.quietly(f"{secret}\n{apply}\n{patch}")
    yield rendered(shell, "drain-own-certificates")
    remove(shell)


def rendered(shell: Shell, overlay: str) -> list[Object]:
    """The objects of an overlay."""
    text = shell.quietly(f"kubectl kustomize manifests/overlays/{overlay}")
    return list(yaml.safe_load_all(text))


def remove(shell: Shell) -> None:
    """What the docs tell for uninstalling; it fits either overlay where cert-manager's kinds are."""
    without, annotations = commands("Removing the graceful drain")
    shell.quietly(without)
    shell.quietly(annotations)


def webhook(plane: ControlPlane) -> dict[str, Any]:
    """The webhook as the API server has it."""
    text = plane.api.kubectl(
        "get", "validatingwebhookconfiguration", names.WEBHOOK_CONFIGURATION, "--output=yaml"
    )
    (only,) = yaml.safe_load(text)["webhooks"]
    return dict(only)


def test_the_docs_have_all_of_these_commands() -> None:
    assert len(commands("With cert-manager")) == 1
    assert len(commands("With certificates of your own")) == 5
    assert len(commands("Does the graceful drain work?")) == 1
    assert len(commands("Removing the graceful drain")) == 2


def test_one_command_installs_it_with_cert_manager(shell: Shell, made: list[Object]) -> None:
    assert shell.quietly("kubectl diff -k manifests/overlays/drain-cert-manager") == ""
    assert {one["kind"] for one in made} >= {"Issuer", "Certificate"}


@pytest.fixture(scope="class")
def noted(plane: ControlPlane, shell: Shell, own: list[Object]) -> Iterator[Noted]:
    """A webhook in place of ours that denies all that it is asked."""
    assert own
    files = shell.folder / "tls.crt", shell.folder / "tls.key"
    with noting(*service(plane), *files) as noted:
        wait_until(
            "the API server asks the webhook",
            lambda: evict(plane, "default").status_code == requests.codes.too_many_requests,
            LONGEST,
        )
        yield noted


@pytest.fixture(scope="class")
def serving(plane: ControlPlane, shell: Shell, own: list[Object]) -> Iterator[Child]:
    """The server with the environment of its Deployment, and with the rights of its account."""
    assert own
    (plain,) = free_ports(1)
    account = plane.api.kubectl("create", "token", EVICTION, f"--namespace={NAMESPACE}")
    shared = the("ConfigMap", NAMESPACE, "noderotation-drain")["data"]
    shipped = {
        name: value if isinstance(value, str) else shared[value["configMapKeyRef"]["key"]]
        for name, value in environment(EVICTION).items()
    }
    host, port = service(plane)
    here = {
        "KUBECONFIG": str(plane.credentials.kubeconfig_of("shipped", account.strip())),
        "NODEROTATION_BIND": f"{host}:{port},127.0.0.1:{plain}",
        "NODEROTATION_TLS_CERT_FILE": str(shell.folder / "tls.crt"),
        "NODEROTATION_TLS_KEY_FILE": str(shell.folder / "tls.key"),
    }
    program, _ = command()
    _, *arguments = container(EVICTION)["command"]
    child = Child(
        "eviction-shipped",
        (program, *arguments),
        plane.logs,
        {**python_path(), **shipped, **here},
    )
    try:
        child.await_healthy(answers(f"http://127.0.0.1:{plain}{names.READYZ}"))
        yield child
    finally:
        child.stop()


class TestWithCertificatesOfOnesOwn:
    """After the overlay with cert-manager was removed again."""

    def test_another_apply_leaves_the_authority(
        self, plane: ControlPlane, shell: Shell, own: list[Object]
    ) -> None:
        assert own
        *_, apply, patch, _ = commands("With certificates of your own")
        before = webhook(plane)["clientConfig"]["caBundle"]
        shell.quietly(apply)
        assert webhook(plane)["clientConfig"]["caBundle"] == before
        assert shell.quietly("kubectl diff -k manifests/overlays/drain-own-certificates") == ""
        shell.quietly(patch)
        assert webhook(plane)["clientConfig"]["caBundle"] == before

    def test_while_nobody_answers_evictions_go_through(
        self, plane: ControlPlane, own: list[Object]
    ) -> None:
        assert own
        assert evict(plane, "default").status_code == requests.codes.not_found

    @pytest.mark.parametrize("version", ["v1", "v1beta1"])
    def test_an_eviction_is_asked_about_and_the_answer_counts(
        self, plane: ControlPlane, noted: Noted, version: str
    ) -> None:
        del noted.requests[:]
        answer = evict(plane, "default", version=version)
        assert answer.status_code == requests.codes.too_many_requests
        denial = f'admission webhook "{names.WEBHOOK}" denied the request: {DENIAL}'
        assert answer.json()["message"] == denial
        (request,) = noted.about(ABSENT)
        assert (request["operation"], request["subResource"], request["name"]) == (
            "CREATE",
            "eviction",
            ABSENT,
        )
        assert request["kind"] == {"group": "policy", "version": "v1", "kind": "Eviction"}
        assert {*noted.paths} == {names.ADMISSION_EVICTION}

    def test_a_dry_run_is_asked_about_too(self, plane: ControlPlane, noted: Noted) -> None:
        del noted.requests[:]
        answer = evict(plane, "default", dry_run=True)
        assert answer.status_code == requests.codes.too_many_requests
        assert [request["dryRun"] for request in noted.about(ABSENT)] == [True]

    @pytest.mark.parametrize("namespace", ["kube-system", NAMESPACE])
    def test_nothing_is_asked_about_the_system_s_pods_and_our_own(
        self, plane: ControlPlane, noted: Noted, namespace: str
    ) -> None:
        del noted.requests[:]
        assert evict(plane, namespace).status_code == requests.codes.not_found
        assert noted.about(ABSENT) == []

    def test_a_new_certificate_is_a_new_secret_and_nothing_else(self, shell: Shell) -> None:
        *_, renew = commands("With certificates of your own")
        assert shell.quietly(renew) == f"secret/{TLS} replaced\n"


class TestWithTheWebhookItself:
    """The same installation, and our server where its Pods would be."""

    def test_the_trial_of_the_docs_shows_a_denial_and_its_event(
        self, plane: ControlPlane, shell: Shell, serving: Child
    ) -> None:
        plane.api.apply_objects(node(TRIAL, TRIAL))
        (trial,) = commands("Does the graceful drain work?")
        try:
            done = shell.run(trial)
            assert done.stderr.count("\n") == 1, done.stderr
            assert "(TooManyRequests)" in done.stderr
            denial = f'admission webhook "{names.WEBHOOK}" denied the request: {SOFTWARE}: '
            assert denial in done.stderr
            wait_until("the Event is there", lambda: told_of(plane, TRIAL) != [], LONGEST)
            assert told_of(plane, TRIAL) == [names.DRAIN_TRIGGERED]
            serving.require_running()
        finally:
            plane.api.delete("Node", TRIAL)


def service(plane: ControlPlane) -> tuple[str, int]:
    """Where the API server looks for the webhook."""
    query = ("get", "service", EVICTION, f"--namespace={NAMESPACE}")
    host = plane.api.kubectl(*query, "--output=jsonpath={.spec.clusterIP}")
    return host, webhook(plane)["clientConfig"]["service"]["port"]


def told_of(plane: ControlPlane, deployment: str) -> list[str]:
    """Reasons of the Events about a Deployment that are ours."""
    about = f"involvedObject.kind=Deployment,involvedObject.name={deployment}"
    events = plane.api.find("Event", fieldSelector=about)
    return [event["reason"] for event in events if event["reason"] in names.DRAIN_EVENTS]


def evict(
    plane: ControlPlane, namespace: str, *, version: str = "v1", dry_run: bool = False
) -> requests.Response:
    """Ask for the eviction of a Pod that isn't there."""
    body = {
        "apiVersion": f"policy/{version}",
        "kind": "Eviction",
        "metadata": {"name": ABSENT, "namespace": namespace},
    }
    with requests.Session() as session:
        session.trust_env = False
        return session.post(
            f"{plane.url}/api/v1/namespaces/{namespace}/pods/{ABSENT}/eviction",
            json=body,
            params={"dryRun": "All"} if dry_run else {},
            headers={"Authorization": f"Bearer {plane.credentials.token('admin')}"},
            verify=str(plane.ca),
            timeout=30,
        )
