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
from typing import Self, TypeAlias
from urllib.parse import urlsplit

from tests.e2e.api import Api
from tests.e2e.credentials import ADMIN, Credentials
from tests.e2e.drain.certificates import make_certificates
from tests.e2e.instance_types import write_instance_types
from tests.e2e.processes import Child, answers, free_ports
from tests.e2e.programs import source
from tests.e2e.stages import write_stages

ISSUER = "https://kubernetes.default.svc"
Begun: TypeAlias = tuple[Child, Callable[[], bool]]
"""A program that was started, and how to ask it whether it is healthy."""


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
        self._watchers: list[Child] = []
        self._keep_logs = False
        self.logs = Path(tempfile.mkdtemp(prefix="noderotation-e2e-"))
        self._etcd, self._peer, port, *self._other = free_ports(8)
        self.url = f"https://127.0.0.1:{port}"
        self.credentials = Credentials(self.logs, self.url)
        self.ca = self.credentials.ca
        self.certificates = make_certificates(self.logs / "webhooks")
        self.audit_log = self.logs / "audit.log"
        self.kubeconfig = self.credentials.kubeconfig(ADMIN)
        token = self.credentials.token(ADMIN)
        self.api = Api(self.url, self.ca, token, programs["kubectl"], self.kubeconfig)

    def __enter__(self) -> Self:
        """Start everything, in order: etcd, the API server, then all who watch it."""
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
        self._define_karpenters_kinds()
        self._start_watchers()

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

    def restart_api_server(self) -> None:
        """Stop the API server, start it again on the same port and etcd, and anew all who watch it.

        In a cluster those end themselves when they can't renew their leases, and are started again;
        here they have no leases. Who goes on waits ever longer for its next watch, up to a minute, and
        a second gap within two minutes goes on where the first had got to (client-go v0.36.3,
        tools/cache/reflector.go). And the scheduler doesn't survive the gap anyway when it finds a
        StatefulSet's Pod on another Node ("Scheduler cache is corrupted", kubernetes v1.36.3,
        pkg/scheduler/backend/cache).
        """
        self._api_server.stop()
        for one in self._watchers:
            one.kill()
        self._start_api_server()
        self._start_watchers()

    def _start_api_server(self) -> None:
        known = self.credentials
        self._api_server = self._child(
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
                f"--admission-control-config-file={self.certificates.admission_configuration()}",
                # Watches end with it. Otherwise it waits a minute for them before it ends, its own
                # ones included, and nobody can reach it any more.
                "--shutdown-watch-termination-grace-period=1s",
            ),
        )
        self._api_server.await_healthy(answers(f"{self.url}/readyz", self.ca))

    def _start_watchers(self) -> None:
        """All who work on what the API server has, at the same time: none of them needs another one."""
        manager, scheduler, kwok, metrics, probes = self._other
        begun = (
            self._kubernetes("kube-controller-manager", manager, *self._manager_flags()),
            self._kubernetes("kube-scheduler", scheduler),
            self._kwok(kwok),
            self._karpenter(metrics, probes),
        )
        self._watchers = [child for child, _ in begun]
        for child, healthy in begun:
            child.await_healthy(healthy)

    def _manager_flags(self) -> tuple[str, ...]:
        return (
            f"--service-account-private-key-file={self.credentials.service_account_key}",
            f"--root-ca-file={self.ca}",
            # Nodes don't become NotReady while the API server is away: their Pods would too, and
            # KWOK makes no Pod Ready a second time.
            "--node-monitor-grace-period=5m",
        )

    def _kubernetes(self, name: str, port: int, *flags: str) -> Begun:
        common = (
            f"--kubeconfig={self.kubeconfig}",
            "--leader-elect=false",
            "--bind-address=127.0.0.1",
            f"--secure-port={port}",
            f"--cert-dir={self.credentials.certificates}",
        )
        certificate = self.ca.with_name(f"{name}.crt")
        child = self._child(name, (*common, *flags))
        return child, answers(f"https://127.0.0.1:{port}/healthz", certificate)

    def _kwok(self, port: int) -> Begun:
        stages = write_stages(
            source("kwok", "sigs.k8s.io/kwok") / "kustomize" / "stage", self.logs / "stages.yaml"
        )
        child = self._child(
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
        )
        return child, answers(f"http://127.0.0.1:{port}/healthz")

    def _define_karpenters_kinds(self) -> None:
        karpenter = source("karpenter", "sigs.k8s.io/karpenter")
        self.api.apply(karpenter / "pkg" / "apis" / "crds")
        self.api.apply(karpenter / "kwok" / "apis" / "crds")
        self.api.apply_objects(
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "karpenter"}}
        )

    def _karpenter(self, metrics: int, probes: int) -> Begun:
        shipped = source("karpenter", "sigs.k8s.io/karpenter") / "kwok" / "cloudprovider"
        types = write_instance_types(
            shipped / "instance_types.json", self.logs / "instance_types.json"
        )
        environment = {
            "KUBECONFIG": str(self.kubeconfig),
            "INSTANCE_TYPES_FILE_PATH": str(types),
            "SYSTEM_NAMESPACE": "karpenter",
            "DISABLE_LEADER_ELECTION": "true",
            "METRICS_PORT": str(metrics),
            "HEALTH_PROBE_PORT": str(probes),
            "FEATURE_GATES": "StaticCapacity=true",
        }
        child = self._child("karpenter", (), environment)
        return child, answers(f"http://127.0.0.1:{probes}/healthz")

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
