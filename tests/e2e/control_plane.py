"""A Kubernetes control plane with Karpenter and KWOK, on free loopback ports.

Owns the order of starting and stopping, the flags, and the directory of logs. Leaves the programs
to :mod:`.programs`, users to :mod:`.credentials`, and what runs on it to the tests.
Source: design/cluster.md, "Start, in this order".
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from tests.e2e.api import Api
from tests.e2e.credentials import ADMIN, Credentials
from tests.e2e.processes import Child, answers, free_ports
from tests.e2e.programs import source
from tests.e2e.stages import write_stages

ISSUER = "https://kubernetes.default.svc"


class ControlPlane:
    """All programs of one control plane; use it as a context manager.

    ``api`` talks to it as its administrator. ``logs`` is a directory of its own: removed at the end
    unless ``keep_logs()`` was called, which a failing test does.
    """

    def __init__(self, programs: Mapping[str, Path], say: Callable[[str], None] = print) -> None:
        """Nothing is started before ``with``."""
        self._programs = programs
        self._say = say
        self._running = ExitStack()
        self._keep_logs = False
        self.logs = Path(tempfile.mkdtemp(prefix="noderotation-e2e-"))
        self._etcd, self._peer, port, *self._other = free_ports(8)
        self.url = f"https://127.0.0.1:{port}"
        self.credentials = Credentials(self.logs, self.url)
        self.ca = self.credentials.ca
        self.audit_log = self.logs / "audit.log"
        self.kubeconfig = self.credentials.kubeconfig(ADMIN)
        token = self.credentials.token(ADMIN)
        self.api = Api(self.url, self.ca, token, programs["kubectl"], self.kubeconfig)

    def __enter__(self) -> Self:
        """Start everything, in order, each healthy before the next."""
        try:
            self._start()
        except BaseException:
            self.keep_logs()
            self._stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop everything in reverse order; the logs stay when something was raised."""
        if kind is not None:
            self.keep_logs()
        self._stop()

    def keep_logs(self) -> None:
        """Leave the directory of logs where it is at the end, and say where."""
        self._keep_logs = True

    def _start(self) -> None:
        self._start_etcd()
        self._start_api_server()
        manager, scheduler, kwok, metrics, probes = self._other
        self._start_kubernetes("kube-controller-manager", manager, *self._manager_flags())
        self._start_kubernetes("kube-scheduler", scheduler)
        self._start_kwok(kwok)
        self._start_karpenter(metrics, probes)

    def _start_etcd(self) -> None:
        client, peer = (f"http://127.0.0.1:{port}" for port in (self._etcd, self._peer))
        self._child(
            "etcd",
            (
                f"--data-dir={self.logs / 'etcd'}",
                f"--listen-client-urls={client}",
                f"--advertise-client-urls={client}",
                f"--listen-peer-urls={peer}",
                f"--initial-advertise-peer-urls={peer}",
                f"--initial-cluster=default={peer}",
                "--unsafe-no-fsync",
            ),
        ).await_healthy(answers(f"{client}/health"))

    def _start_api_server(self) -> None:
        known = self.credentials
        self._child(
            "kube-apiserver",
            (
                f"--etcd-servers=http://127.0.0.1:{self._etcd}",
                f"--secure-port={urlsplit(self.url).port}",
                "--bind-address=127.0.0.1",
                "--advertise-address=127.0.0.1",
                f"--cert-dir={known.certificates}",
                f"--token-auth-file={known.users_file()}",
                f"--service-account-key-file={known.service_account_key}",
                f"--service-account-signing-key-file={known.service_account_key}",
                f"--service-account-issuer={ISSUER}",
                "--service-cluster-ip-range=127.77.0.0/16",
                "--authorization-mode=RBAC",
                "--allow-privileged",
                f"--audit-policy-file={known.audit_policy()}",
                f"--audit-log-path={self.audit_log}",
            ),
        ).await_healthy(answers(f"{self.url}/readyz", self.ca))

    def _manager_flags(self) -> tuple[str, ...]:
        return (
            f"--service-account-private-key-file={self.credentials.service_account_key}",
            f"--root-ca-file={self.ca}",
        )

    def _start_kubernetes(self, name: str, port: int, *flags: str) -> None:
        common = (
            f"--kubeconfig={self.kubeconfig}",
            "--leader-elect=false",
            "--bind-address=127.0.0.1",
            f"--secure-port={port}",
            f"--cert-dir={self.credentials.certificates}",
        )
        certificate = self.ca.with_name(f"{name}.crt")
        self._child(name, (*common, *flags)).await_healthy(
            answers(f"https://127.0.0.1:{port}/healthz", certificate)
        )

    def _start_kwok(self, port: int) -> None:
        stages = write_stages(
            source("kwok", "sigs.k8s.io/kwok") / "kustomize" / "stage", self.logs / "stages.yaml"
        )
        self._child(
            "kwok",
            (
                f"--kubeconfig={self.kubeconfig}",
                f"--config={stages}",
                "--manage-all-nodes=false",
                "--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake",
                "--cidr=10.77.0.0/16",
                "--node-ip=127.0.0.1",
                "--node-lease-duration-seconds=40",
                f"--server-address=127.0.0.1:{port}",
            ),
        ).await_healthy(answers(f"http://127.0.0.1:{port}/healthz"))

    def _start_karpenter(self, metrics: int, probes: int) -> None:
        karpenter = source("karpenter", "sigs.k8s.io/karpenter")
        self.api.apply(karpenter / "pkg" / "apis" / "crds")
        self.api.apply(karpenter / "kwok" / "apis" / "crds")
        self.api.apply_objects(
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "karpenter"}}
        )
        environment = {
            "KUBECONFIG": str(self.kubeconfig),
            "SYSTEM_NAMESPACE": "karpenter",
            "DISABLE_LEADER_ELECTION": "true",
            "METRICS_PORT": str(metrics),
            "HEALTH_PROBE_PORT": str(probes),
            "FEATURE_GATES": "StaticCapacity=true",
        }
        child = self._child("karpenter", (), environment)
        child.await_healthy(answers(f"http://127.0.0.1:{probes}/healthz"))

    def _child(
        self, name: str, flags: tuple[str, ...], environment: Mapping[str, str] | None = None
    ) -> Child:
        child = Child(name, [str(self._programs[name]), *flags], self.logs, environment)
        self._running.callback(child.stop)
        return child

    def _stop(self) -> None:
        # Whatever goes wrong while one is stopped, the others are stopped as well.
        self._running.close()
        if self._keep_logs:
            self._say(f"the logs of the control plane stay in {self.logs}")
        else:
            shutil.rmtree(self.logs)
