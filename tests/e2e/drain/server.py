"""The graceful drain on the control plane, as a user installs it with certificates of its own.

Owns the overlay pointed to loopback, and the eviction server with the shipped ServiceAccount's rights
and nothing else. The hook server and what drives it are :mod:`tests.e2e.installation`'s.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Final

import yaml

from hooks import names
from tests.e2e.api import Object
from tests.e2e.control_plane import ControlPlane
from tests.e2e.drain.scene import OPEN
from tests.e2e.installation import NAMESPACE, Installation, command, python_path
from tests.e2e.processes import Child, answers, free_ports

OVERLAY: Final = Path(__file__).parents[3] / "manifests" / "overlays" / "drain-own-certificates"
HOOKS_IN_THE_CLUSTER: Final = "http://noderotation-hooks.node-rotation-system.svc:8080"
NO_SETTINGS: Mapping[str, str] = MappingProxyType({})


class GracefulDrain:
    """What the overlay brings, on a plane where ``installation`` is there already."""

    def __init__(self, plane: ControlPlane, installation: Installation) -> None:
        """Nothing is installed yet."""
        self._plane = plane
        self._installation = installation
        self._port, self._plain = free_ports(2)
        self._starts = 0
        self.url = f"https://127.0.0.1:{self._port}{names.ADMISSION_EVICTION}"

    def manifests(self) -> list[Object]:
        """The overlay as it is shipped, pointed to the servers of these tests."""
        rendered = self._plane.api.kubectl("kustomize", str(OVERLAY))
        hooks = f"http://127.0.0.1:{self._installation.port}"
        if HOOKS_IN_THE_CLUSTER not in rendered:
            message = f"{OVERLAY} names {HOOKS_IN_THE_CLUSTER} nowhere"
            raise RuntimeError(message)
        objects: list[Object] = list(
            yaml.safe_load_all(rendered.replace(HOOKS_IN_THE_CLUSTER, hooks))
        )
        for one in objects:
            if one["kind"] == "Deployment":
                # The server runs here instead.
                one["spec"]["replicas"] = 0
            if one["kind"] == "ValidatingWebhookConfiguration":
                self._point_here(one)
        return objects

    def install(self) -> None:
        """Apply all of it."""
        # Somebody may have applied it as it is shipped.
        self.remove()
        self._installation.add(*self.manifests())

    def remove(self) -> None:
        """Ask no webhook any more, and let no controller look after Deployments."""
        for kind, name in (
            ("validatingwebhookconfiguration", names.WEBHOOK_CONFIGURATION),
            ("decoratorcontroller.metacontroller.k8s.io", names.DRAIN_CONTROLLER),
        ):
            self._plane.api.kubectl("delete", "--ignore-not-found", kind, name)

    @contextmanager
    def serving(
        self, *, ask_for_a_certificate: bool = True, settings: Mapping[str, str] = NO_SETTINGS
    ) -> Iterator[Child]:
        """Run the eviction server until the end of ``with``."""
        child = self.start(ask_for_a_certificate=ask_for_a_certificate, settings=settings)
        try:
            yield child
        finally:
            child.stop()

    def start(
        self, *, ask_for_a_certificate: bool = True, settings: Mapping[str, str] = NO_SETTINGS
    ) -> Child:
        """Start the eviction server, and return it once it serves; the caller has to stop it."""
        self._starts += 1
        name = f"eviction-{self._starts}"
        account = self._plane.api.kubectl(
            "create", "token", names.EVICTION_SERVER, f"--namespace={NAMESPACE}", "--duration=2h"
        )
        kubeconfig = self._plane.credentials.kubeconfig_of(name, account.strip())
        files = self._plane.certificates
        environment = {
            "KUBECONFIG": str(kubeconfig),
            "NODEROTATION_NAMESPACE": NAMESPACE,
            "NODEROTATION_BIND": f"127.0.0.1:{self._port},127.0.0.1:{self._plain}",
            "NODEROTATION_TLS_CERT_FILE": str(files.server_certificate),
            "NODEROTATION_TLS_KEY_FILE": str(files.server_key),
            **({"NODEROTATION_CLIENT_CA_FILE": str(files.ca)} if ask_for_a_certificate else {}),
            **python_path(),
            **settings,
        }
        arguments = (*command(), "--only", "eviction")
        child = Child(name, arguments, self._plane.logs, environment)
        try:
            child.await_healthy(answers(f"http://127.0.0.1:{self._plain}/readyz"))
        except BaseException:
            child.stop()
            raise
        return child

    def _point_here(self, configuration: Object) -> None:
        """Let the webhook be called here, and not for the namespace of those who go without."""
        (webhook,) = configuration["webhooks"]
        authority = self._plane.certificates.ca.read_bytes()
        webhook["clientConfig"] = {
            "url": self.url,
            "caBundle": base64.b64encode(authority).decode("ascii"),
        }
        (excluded,) = webhook["namespaceSelector"]["matchExpressions"]
        excluded["values"].append(OPEN)
