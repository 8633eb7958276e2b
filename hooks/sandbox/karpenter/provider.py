"""The cloud provider: instances, and the Nodes that they bring.

Owns which instance a NodeClaim gets, when its Node appears and gets Ready, and that a terminated
instance's Node is gone. A Node is made from its NodeClaim alone, so nothing is lost with the
process. Seen in ``kwok/cloudprovider/cloudprovider.go``, KWOK v0.8.0's stage node-initialize, the
plugin TaintNodesByCondition of kube-apiserver v1.36.3 and the recorded rotation.

``spec.nodeRegistrationDelay`` of the KWOKNodeClass adds to the time until the Node appears, as in the
real provider: that makes machines that come too late, or never.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, ClassVar, Final

from typing_extensions import override

from hooks.sandbox.apiport import Resource
from hooks.sandbox.karpenter import words
from hooks.sandbox.karpenter.conditions import is_true
from hooks.sandbox.karpenter.moments import span_of
from hooks.sandbox.karpenter.offers import Offer, offers_for, requirements_from
from hooks.sandbox.karpenter.quantities import resource_list
from hooks.sandbox.karpenter.reconciler import Reconciler, Timers
from hooks.sandbox.karpenter.template import is_managed_claim, spec_of
from hooks.sandbox.karpenter.view import provider_id_of, provider_id_of_claim, ready_condition
from hooks.sandbox.karpenter.world import World
from hooks.sandbox.objects import annotations_of, is_terminating, labels_of, name_of, uid_of
from hooks.sandbox.store.identity import stamp
from hooks.sandbox.store.kinds import KWOKNODECLASSES, NODECLAIMS, NODES

if TYPE_CHECKING:
    from hooks.sandbox.objects import Obj

_SYLLABLES: Final = (
    "throat",
    "swallow",
    "bold",
    "hot",
    "river",
    "stone",
    "leaf",
    "moss",
    "fern",
    "peak",
)
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz0123456789"
_CONDITIONS: Final = (
    ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
    (
        "MemoryPressure",
        "False",
        "KubeletHasSufficientMemory",
        "kubelet has sufficient memory available",
    ),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    ("NetworkUnavailable", "False", "RouteCreated", "RouteController created a route"),
)


class Provider(Reconciler):
    """Instances of launched NodeClaims."""

    watches: ClassVar[frozenset[Resource]] = frozenset({NODECLAIMS, NODES, KWOKNODECLASSES})

    def __init__(self, world: World) -> None:
        """Begin with no instance on its way."""
        super().__init__(world)
        self._timers = Timers()
        self._launches = 0

    @override
    def reconcile(self, now: datetime) -> None:
        view = self.world.view()
        for claim in view.claims:
            if self._awaits_node(claim) and view.node_of(claim) is None:
                self._bring_node(claim, now)
        for node in self.store.all(NODES):
            if provider_id_of(node).startswith(words.PROVIDER_PREFIX) and not ready_condition(node):
                self._make_ready(node, now)

    def launch(self, claim: Obj) -> tuple[Offer, str] | None:
        """Return the cheapest offer that a NodeClaim allows and the instance's name; None if none is left."""
        if self._class_of(claim) is None:
            return None
        spec = spec_of(claim)
        offers = offers_for(
            labels_of(claim), requirements_from(spec["requirements"]), self.world.catalogue
        )
        if not offers:
            return None
        first = min(offers, key=lambda offer: (offer.price, offer.instance.name))
        same = [
            offer
            for offer in offers
            if offer.price == first.price and offer.instance is first.instance
        ]
        return self.world.rng.choice(same), self._instance_name(claim)

    def terminate(self, claim: Obj) -> None:
        """End an instance: a Node that was never registered goes with it."""
        node = self.world.view().node_of(claim)
        if node is not None and not is_terminating(node):
            self.store.delete(NODES, "", name_of(node), uid=uid_of(node))

    def _instance_name(self, claim: Obj) -> str:
        rng = self.world.rng
        self._launches += 1
        silly = rng.choice(_SYLLABLES) + rng.choice(_SYLLABLES)
        letters = "".join(rng.choice(_LETTERS) for _ in range(10))
        return f"kwok-{name_of(claim)}-{silly}-{self._launches}-{letters}-{rng.getrandbits(32)}"

    def _awaits_node(self, claim: Obj) -> bool:
        return (
            bool(provider_id_of_claim(claim))
            and not is_terminating(claim)
            and not is_true(claim, words.REGISTERED)
        )

    def _class_of(self, claim: Obj) -> Obj | None:
        if not is_managed_claim(claim):
            return None
        return self.store.find(KWOKNODECLASSES, "", spec_of(claim)["nodeClassRef"].get("name", ""))

    def _bring_node(self, claim: Obj, now: datetime) -> None:
        delay: str | None = spec_of(self._class_of(claim) or {}).get("nodeRegistrationDelay")

        def span() -> timedelta:
            return self.world.vary(self.world.pace.register) + (span_of(delay) or timedelta())

        key = f"node {uid_of(claim)}"
        due = self._timers.due(key, now, span)
        if due > now:
            self.wake_at(due)
            return
        self._timers.forget(key)
        self.store.create(NODES, _node_of(claim))

    def _make_ready(self, node: Obj, now: datetime) -> None:
        key = f"ready {uid_of(node)}"
        due = self._timers.due(key, now, lambda: self.world.vary(self.world.pace.node_ready))
        if due > now:
            self.wake_at(due)
            return
        self._timers.forget(key)
        self.store.modify(NODES, "", name_of(node), lambda obj: _set_ready(obj, now), "status")
        self.store.modify(NODES, "", name_of(node), _drop_not_ready_taint)


def launched_labels(offer: Offer, claim: Obj) -> dict[str, str]:
    """Return the labels that the provider gives a NodeClaim and its Node."""
    narrowed = {
        item["key"]: item["values"][0]
        for item in spec_of(claim)["requirements"]
        if item["operator"] == "In" and len(item["values"]) == 1
    }
    return {
        **labels_of(claim),
        **narrowed,
        **offer.instance.all_labels,
        words.ZONE: offer.offering.zone,
        words.CAPACITY_TYPE: offer.offering.capacity_type,
        words.INSTANCE_PRICE: f"{offer.price:f}",
        words.KWOK_PARTITION: "a",
        words.HOSTNAME: name_of(claim),
        words.KWOK_NODE: "fake",
    }


def launched_amounts(offer: Offer, claim: Obj) -> Obj:
    """Return capacity and allocatable as KWOK tells them: the capacity is what was asked for."""
    requested: Obj = (spec_of(claim).get("resources") or {}).get("requests") or {}
    return {
        "allocatable": {**requested, **resource_list(offer.instance.allocatable)},
        **({"capacity": dict(requested)} if requested else {}),
    }


def _node_of(claim: Obj) -> Obj:
    """Return a Node as its kubelet and the cloud make it, before Karpenter knows it."""
    name = provider_id_of_claim(claim).removeprefix(words.PROVIDER_PREFIX)
    labels = labels_of(claim)
    status: Obj = claim["status"]
    amounts = {key: dict(status[key]) for key in ("allocatable", "capacity") if key in status}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "annotations": {
                **annotations_of(claim),
                words.KWOK_NODE: "fake",
                "node.alpha.kubernetes.io/ttl": "0",
            },
            "labels": {
                **labels,
                "beta.kubernetes.io/arch": labels[words.ARCH],
                "beta.kubernetes.io/os": labels[words.OS],
            },
        },
        "spec": {
            "providerID": provider_id_of_claim(claim),
            "taints": [dict(words.UNREGISTERED), dict(words.NOT_READY)],
        },
        "status": {**amounts, "phase": "Pending"},
    }


def _set_ready(node: Obj, now: datetime) -> None:
    created: str = node["metadata"]["creationTimestamp"]
    labels = labels_of(node)
    # What KWOK says of a Node that says nothing itself: the machines of static pools.
    node["status"].setdefault("capacity", {"cpu": "1k", "memory": "1Ti", "pods": "1M"})
    node["status"] |= {
        "addresses": [{"address": "127.0.0.1", "type": "InternalIP"}],
        "conditions": list(_conditions(created, stamp(now))),
        "daemonEndpoints": {"kubeletEndpoint": {"Port": 0}},
        "nodeInfo": {
            "architecture": "amd64",
            "bootID": "",
            "containerRuntimeVersion": "kwok-0.8.0",
            "kernelVersion": "kwok-0.8.0",
            "kubeProxyVersion": "kwok-0.8.0",
            "kubeletVersion": "kwok-0.8.0",
            "machineID": "",
            "operatingSystem": labels.get(words.OS, "linux"),
            "osImage": "",
            "systemUUID": "",
        },
        "phase": "Running",
    }


def _conditions(since: str, now: str) -> Iterable[Obj]:
    for kind, status, reason, message in _CONDITIONS:
        yield {
            "lastHeartbeatTime": now,
            "lastTransitionTime": since,
            "message": message,
            "reason": reason,
            "status": status,
            "type": kind,
        }


def _drop_not_ready_taint(node: Obj) -> None:
    drop_taint(node, words.NOT_READY)


def drop_taint(node: Obj, taint: Obj) -> None:
    """Take a taint off a Node, in place."""
    spec: Obj = node["spec"]
    kept = [one for one in spec.get("taints") or [] if not words.same_taint(taint, one)]
    spec.pop("taints", None)
    if kept:
        spec["taints"] = kept
