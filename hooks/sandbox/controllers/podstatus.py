"""A Pod's status while it starts, as KWOK writes it.

Owns the shapes. Seen in KWOK v0.8.0 ``kustomize/stage/pod/general/pod-create.yaml`` and
``pod-ready.yaml``, and in the recording rotation-with-pdb-blocked-drain.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final
from uuid import UUID

from hooks.sandbox.controllers.conditions import pod_condition, set_condition
from hooks.sandbox.objects import uid_of
from hooks.sandbox.store.identity import stamp

if TYPE_CHECKING:
    from hooks.sandbox.objects import Obj

_NO_ADDRESS: Final = "127.0.0.1"


def created(pod: Obj, node: Obj, now: datetime) -> None:
    """Let a Pod's containers be made: it has an address, and is still Pending."""
    status: Obj = pod.setdefault("status", {})
    earlier: list[Obj] = status.get("conditions") or []
    status["conditions"] = []
    set_condition(pod, now, pod_condition("Initialized", "True"))
    _set_readiness(pod, now, is_ready=False)
    status["conditions"] += earlier
    address = _address(pod)
    status.update(
        phase="Pending",
        hostIP=_host_address(node),
        podIP=address,
        podIPs=[{"ip": address}],
        containerStatuses=[
            _container(one, {"waiting": {"reason": "ContainerCreating"}}, is_ready=False)
            for one in _containers(pod)
        ],
    )


def running(pod: Obj, now: datetime, *, is_ready: bool) -> None:
    """Let a Pod's containers run, ready or not."""
    status: Obj = pod.setdefault("status", {})
    _set_readiness(pod, now, is_ready=is_ready)
    at = stamp(now)
    state = {"running": {"startedAt": at}}
    status.update(
        phase="Running",
        startTime=at,
        containerStatuses=[
            _container(one, state, is_ready=is_ready) | {"started": True}
            for one in _containers(pod)
        ],
    )


def ready(pod: Obj, now: datetime) -> None:
    """Let a running Pod become ready."""
    _set_readiness(pod, now, is_ready=True)
    for one in pod["status"].get("containerStatuses") or []:
        one["ready"] = True


def _set_readiness(pod: Obj, now: datetime, *, is_ready: bool) -> None:
    for kind in ("Ready", "ContainersReady"):
        if is_ready:
            condition = pod_condition(kind, "True")
        else:
            names = " ".join(one["name"] for one in _containers(pod))
            message = f"containers with unready status: [ {names} ]"
            condition = pod_condition(kind, "False", "ContainersNotReady", message)
        set_condition(pod, now, condition)


def _containers(pod: Obj) -> list[Obj]:
    containers: list[Obj] = (pod.get("spec") or {}).get("containers") or []
    return containers


def _container(container: Obj, state: Obj, *, is_ready: bool) -> Obj:
    return {
        "name": container["name"],
        "image": container.get("image", ""),
        "imageID": "",
        "lastState": {},
        "ready": is_ready,
        "restartCount": 0,
        "started": False,
        "state": state,
    }


def _address(pod: Obj) -> str:
    """Return an address that is a Pod's own and the same in each run."""
    digits = UUID(uid_of(pod)).int
    return f"10.{digits >> 16 & 255}.{digits >> 8 & 255}.{digits & 255}"


def _host_address(node: Obj) -> str:
    addresses: list[Obj] = (node.get("status") or {}).get("addresses") or []
    internal = (one["address"] for one in addresses if one.get("type") == "InternalIP")
    return next(internal, _NO_ADDRESS)
