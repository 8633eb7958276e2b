"""EndpointSlices: which Pods stand for a Service now, and which of them are ready.

Owns one slice for each Service with a selector; the real controller begins another after a hundred
endpoints. Only IPv4. Seen in Kubernetes v1.36.3 ``pkg/controller/endpointslice`` and endpointslice
v0.36.3 ``reconciler.go``, ``utils.go`` (podToEndpoint, FindPort, ShouldPodBeInEndpoints).
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar, Final

from typing_extensions import override

from hooks.sandbox.apiport import Resource
from hooks.sandbox.controllers.levels import LevelController
from hooks.sandbox.controllers.podfacts import is_ready
from hooks.sandbox.controllers.template import owner_reference
from hooks.sandbox.objects import (
    is_terminating,
    labels_of,
    name_of,
    namespace_of,
    uid_of,
)
from hooks.sandbox.scheduling.layout import is_finished, node_name_of
from hooks.sandbox.store.kinds import ENDPOINTSLICES, NODES, PODS, SERVICES

if TYPE_CHECKING:
    from hooks.sandbox.objects import Obj

SERVICE_NAME: Final = "kubernetes.io/service-name"
_MANAGED_BY: Final = "endpointslice.kubernetes.io/managed-by"
_CONTROLLER: Final = "endpointslice-controller.k8s.io"
_ZONE: Final = "topology.kubernetes.io/zone"


class EndpointSlices(LevelController):
    """Brings the slice of each Service up to date."""

    watches: ClassVar[frozenset[Resource]] = frozenset({SERVICES, PODS, NODES, ENDPOINTSLICES})

    @override
    def reconcile(self, now: datetime) -> None:
        for service in self.store.all(SERVICES):
            if not is_terminating(service) and (service.get("spec") or {}).get("selector"):
                self._sync(service)

    def _sync(self, service: Obj) -> None:
        namespace = namespace_of(service)
        pods = [pod for pod in self.store.all(PODS, namespace) if _stands_for(pod, service)]
        wanted: Obj = {
            "endpoints": [self._endpoint(pod, service) for pod in pods],
            "ports": list(_ports(service, pods)),
        }
        there = next(
            (
                one
                for one in self.store.all(ENDPOINTSLICES, namespace)
                if labels_of(one).get(SERVICE_NAME) == name_of(service)
            ),
            None,
        )
        if there is None:
            new = _slice(service) | wanted
            self.attempt(uid_of(service), lambda: self.store.create(ENDPOINTSLICES, new))
        elif any(there[key] != value for key, value in wanted.items()):
            where = (ENDPOINTSLICES, namespace, name_of(there))
            self.store.modify(*where, lambda it: it.update(wanted))

    def _endpoint(self, pod: Obj, service: Obj) -> Obj:
        serving, terminating = is_ready(pod), is_terminating(pod)
        always = service["spec"].get("publishNotReadyAddresses") is True
        node = self.store.find(NODES, "", node_name_of(pod))
        zone = labels_of(node or {}).get(_ZONE)
        return {
            "addresses": [one["ip"] for one in pod["status"]["podIPs"]],
            "conditions": {
                "ready": always or (serving and not terminating),
                "serving": serving,
                "terminating": terminating,
            },
            "targetRef": {
                "kind": "Pod",
                "namespace": namespace_of(pod),
                "name": name_of(pod),
                "uid": uid_of(pod),
            },
            "nodeName": node_name_of(pod),
            **({"zone": zone} if zone else {}),
        }


def _stands_for(pod: Obj, service: Obj) -> bool:
    """Tell whether a Pod with an address belongs to a Service, ready or not."""
    if is_finished(pod) or not (pod.get("status") or {}).get("podIPs"):
        return False
    wanted: Obj = service["spec"]["selector"]
    return wanted.items() <= labels_of(pod).items()


def _slice(service: Obj) -> Obj:
    return {
        "addressType": "IPv4",
        "metadata": {
            "generateName": f"{name_of(service)}-",
            "namespace": namespace_of(service),
            "labels": {
                **labels_of(service),
                _MANAGED_BY: _CONTROLLER,
                SERVICE_NAME: name_of(service),
            },
            "ownerReferences": [owner_reference(service)],
        },
    }


def _ports(service: Obj, pods: list[Obj]) -> Iterator[Obj]:
    if not pods:
        return
    for port in service["spec"].get("ports") or ():
        number = _number(port, pods[0])
        if number is not None:
            yield {
                "name": port.get("name", ""),
                "port": number,
                "protocol": port.get("protocol", "TCP"),
            }


def _number(port: Obj, pod: Obj) -> int | None:
    """Return the Pod's port that a Service's port means; a name is looked up."""
    target: object = port.get("targetPort", port["port"])
    if isinstance(target, int):
        return target
    named: Iterator[int] = (
        one["containerPort"]
        for container in pod["spec"]["containers"]
        for one in container.get("ports") or ()
        if one.get("name") == target
    )
    return next(named, None)
