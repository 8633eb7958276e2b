"""A control plane that only stores, and our eviction server beside it.

Owns what is started for the eviction benchmark: etcd, the API server and our server, with the rights
that the manifests give it. Nothing else runs, so that what is measured shares the processors with
nothing but itself. Leaves the programs' flags to :mod:`tests.e2e.control_plane`, and our server to
:mod:`tests.e2e.drain.server`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from types import MappingProxyType
from typing import Final

import urllib3
from prometheus_client.parser import text_string_to_metric_families
from typing_extensions import override

from benchmarks.load import AT_ONCE
from hooks import names
from hooks.cluster.connection import Connection, connect
from hooks.cluster.credentials import find_access
from tests.e2e.control_plane import ControlPlane
from tests.e2e.credentials import ADMIN
from tests.e2e.drain.server import GracefulDrain
from tests.e2e.installation import NAMESPACE, Installation
from tests.e2e.processes import Child

SERVER: Final = "eviction server"
API_SERVER: Final = "kube-apiserver"
SPACIOUS: Mapping[str, str] = MappingProxyType({"GOGC": "400"})
"""Of the API server, for all loads alike. On two processors that it shares with everything else, each of
its garbage collections slows all calls down for 0.3 to 0.5 s, and there is one every 6 s: the p99 of any
load shows nothing else then. With memory to spare there is one every 40 s."""
OF_METACONTROLLER: Final = "DecoratorController"
"""Its kind isn't defined here, and nobody would look at it."""
REVIEWS: Final = "apiserver_admission_webhook_admission_duration_seconds"
"""The API server's histogram of what each webhook makes it wait."""
JSON: Final = {"Content-Type": "application/json"}
TICKS: Final = os.sysconf("SC_CLK_TCK")
PROC: Final = Path("/proc")


class BarePlane(ControlPlane):
    """The real API server on a real etcd, without controllers, scheduler or nodes.

    ``children`` are the processes, by name; ``webhook`` is where reviews go, once it serves.
    """

    def __init__(self, programs: Mapping[str, Path], say: Callable[[str], None] = print) -> None:
        """Nothing is started before ``with``."""
        super().__init__(programs, say)
        self.children: dict[str, Child] = {}
        self.webhook = ""

    @override
    def _start(self) -> None:
        self._start_etcd()
        self._start_api_server()

    @override
    def _child(
        self, name: str, flags: tuple[str, ...], environment: Mapping[str, str] | None = None
    ) -> Child:
        environment = SPACIOUS if name == API_SERVER else environment
        child = self.children[name] = super()._child(name, flags, environment)
        return child

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Install the graceful drain, and run its server until the end of ``with``."""
        drain = GracefulDrain(self, Installation(self))
        self.api.kubectl("create", "namespace", NAMESPACE)
        shipped = drain.manifests()
        self.api.apply_objects(*(one for one in shipped if one["kind"] != OF_METACONTROLLER))
        self.webhook = drain.url
        with drain.serving() as child:
            self.children[SERVER] = child
            yield

    @contextmanager
    def as_administrator(self) -> Iterator[Connection]:
        """Connect as who may do anything, with the client that our servers use."""
        yield from self._connection(ADMIN, self.credentials.token(ADMIN))

    @contextmanager
    def as_eviction_server(self) -> Iterator[Connection]:
        """Connect with the eviction server's own rights, and the client that it uses."""
        account = f"--namespace={NAMESPACE}"
        token = self.api.kubectl("create", "token", names.EVICTION_SERVER, account)
        yield from self._connection("baseline", token.strip())

    @contextmanager
    def as_api_server(self) -> Iterator[Callable[[bytes], bytes]]:
        """Post reviews to the webhook with the API server's certificate; gives the answers' bodies."""
        files = self.certificates
        pool = urllib3.PoolManager(
            maxsize=AT_ONCE,
            ca_certs=str(files.ca),
            cert_file=str(files.client_certificate),
            key_file=str(files.client_key),
        )

        def post(review: bytes) -> bytes:
            answer = pool.request("POST", self.webhook, body=review, headers=JSON, retries=False)
            if answer.status != HTTPStatus.OK:
                message = f"{answer.status}: {answer.data!r}"
                raise RuntimeError(message)
            return answer.data

        try:
            yield post
        finally:
            pool.clear()

    def _connection(self, user: str, token: str) -> Iterator[Connection]:
        connection = connect(find_access(str(self.credentials.kubeconfig_of(user, token))))
        # Any that is opened for one call only costs both sides a handshake, which evictors that send
        # all on one connection never pay; and whoever falls behind would fall behind ever more by it.
        connection.http.connection_pool_kw["maxsize"] = AT_ONCE
        try:
            yield connection
        finally:
            connection.close()

    def reviews(self) -> Mapping[str, int]:
        """How many calls of the webhook the API server counts, by their bound ``le`` (seconds)."""
        text = self.api.kubectl("get", "--raw=/metrics")
        return {
            sample.labels["le"]: int(sample.value)
            for family in text_string_to_metric_families(_of_the_webhook(text))
            for sample in family.samples
            if sample.name == f"{REVIEWS}_bucket"
        }

    def processor_seconds(self) -> dict[str, float]:
        """What each of the programs, with all its processes, has had of the processors so far."""
        groups = [_group_and_seconds(one) for one in PROC.iterdir() if one.name.isdecimal()]
        return {
            name: sum(seconds for group, seconds in groups if group == child.pid)
            for name, child in self.children.items()
        }


def _group_and_seconds(process: Path) -> tuple[int, float]:
    try:
        stat = (process / "stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return 0, 0.0
    # The name of the program, in brackets, may hold anything.
    fields = stat.rpartition(")")[2].split()
    return int(fields[2]), (int(fields[11]) + int(fields[12])) / TICKS


def _of_the_webhook(text: str) -> str:
    """Only the lines that matter: reading all that an API server tells takes seconds."""
    wanted = f'name="{names.WEBHOOK}"'
    return "\n".join(
        [
            f"# TYPE {REVIEWS} histogram",
            *(one for one in text.splitlines() if one.startswith(REVIEWS) and wanted in one),
            "",
        ]
    )
