"""Machines: each NodeClaim with its Node and the Pods on it, as one thing.

Owns which of the two speaks for the machine while it comes up, and which machines are leaving. Seen
in ``pkg/controllers/state/statenode.go`` and ``cluster.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from hooks.sandbox.karpenter import words
from hooks.sandbox.karpenter.conditions import condition_of, is_true
from hooks.sandbox.objects import annotations_of, is_terminating, labels_of, name_of
from hooks.sandbox.scheduling.layout import is_finished
from hooks.sandbox.scheduling.resources import Amounts, amounts_of, total_of
from hooks.sandbox.store.kinds import NODECLAIMS, NODES, PODS
from hooks.sandbox.store.store import ObjectStore

if TYPE_CHECKING:
    from hooks.sandbox.objects import Obj

ONE_NODE: Final[Amounts] = {"nodes": Decimal(1)}
_EPHEMERAL: Final = (
    ("node.kubernetes.io/not-ready", "NoSchedule"),
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoSchedule"),
    ("node.cloudprovider.kubernetes.io/uninitialized", "NoSchedule"),
    (words.UNREGISTERED["key"], words.UNREGISTERED["effect"]),
)
_EPHEMERAL_PREFIX: Final = "readiness.k8s.io/"


@dataclass(frozen=True)
class Machine:
    """A NodeClaim, its Node, or both; ``pods`` are all that are bound to the Node."""

    claim: Obj | None
    node: Obj | None
    pods: tuple[Obj, ...]
    is_given_up: bool

    @property
    def provider_id(self) -> str:
        """The instance's ID; of a foreign Node without one, its name."""
        if self.node is not None:
            return provider_id_of(self.node) or name_of(self.node)
        return provider_id_of_claim(self.claim or {})

    @property
    def name(self) -> str:
        """The Node's name, once it is registered."""
        return name_of(self._speaker)

    @property
    def pool(self) -> str:
        """The NodePool's name, empty for a foreign Node."""
        return self.labels.get(words.POOL, "")

    @property
    def labels(self) -> Mapping[str, str]:
        """The labels; before registration the NodeClaim's."""
        return labels_of(self._speaker)

    @property
    def annotations(self) -> Mapping[str, str]:
        """The annotations; before registration the NodeClaim's."""
        return annotations_of(self._speaker)

    @property
    def hostname(self) -> str:
        """What counts as the hostname in topologies."""
        return self.labels.get(words.HOSTNAME) or self.name

    @property
    def is_registered(self) -> bool:
        """Whether the Node is known to be the claim's."""
        return self.claim is None or self._node_says(words.REGISTERED_LABEL)

    @property
    def is_initialized(self) -> bool:
        """Whether Pods can be expected to run."""
        return self.claim is None or self._node_says(words.INITIALIZED_LABEL)

    @property
    def is_leaving(self) -> bool:
        """Whether nothing new should come here, because it is deleted or about to be."""
        if self.is_given_up:
            return True
        if self.claim is not None:
            return is_terminating(self.claim) or is_true(self.claim, words.INSTANCE_TERMINATING)
        return self.node is not None and is_terminating(self.node)

    @property
    def taints(self) -> tuple[Obj, ...]:
        """The taints that last; before initialization those that go away by themselves are left out."""
        if self.claim is None or self.is_initialized:
            return _taints(self.node)
        spec: Obj = self.claim.get("spec") or {}
        taints = _taints(self.node) if self.is_registered else tuple(spec.get("taints") or ())
        startup = spec.get("startupTaints") or ()
        return tuple(
            one
            for one in taints
            if not is_ephemeral(one) and not any(words.same_taint(one, two) for two in startup)
        )

    @property
    def capacity(self) -> Amounts:
        """What the machine counts for against limits."""
        return {**self._amounts("capacity"), **ONE_NODE}

    @property
    def allocatable(self) -> Amounts:
        """What Pods can have."""
        return self._amounts("allocatable")

    @property
    def is_ready(self) -> bool:
        """Whether the Node says that it is Ready."""
        return self.node is not None and is_true(self.node, words.READY)

    @property
    def is_cordoned(self) -> bool:
        """Whether somebody cordoned the Node."""
        return self.node is not None and (self.node.get("spec") or {}).get("unschedulable") is True

    @property
    def _speaker(self) -> Obj:
        if self.node is not None and self.is_registered:
            return self.node
        return self.claim or {}

    def _node_says(self, label: str) -> bool:
        return self.node is not None and labels_of(self.node).get(label) == "true"

    def _amounts(self, key: str) -> Amounts:
        """Return the Node's figures; while it comes up the claim's stand in for zeros."""
        shown = amounts_of(((self.node or {}).get("status") or {}).get(key))
        if self.claim is None or self.is_initialized:
            return shown
        promised = amounts_of((self.claim.get("status") or {}).get(key))
        return {**promised, **{name: amount for name, amount in shown.items() if amount}}


class View:
    """All machines of a cluster at one moment."""

    def __init__(self, store: ObjectStore, given_up: frozenset[str]) -> None:
        """Join NodeClaims and Nodes by provider ID; a claim without one isn't a machine yet."""
        self.claims = store.all(NODECLAIMS)
        self.pods = store.all(PODS)
        self._bound: dict[str, list[Obj]] = {}
        for pod in self.pods:
            node_name = (pod.get("spec") or {}).get("nodeName")
            if node_name:
                self._bound.setdefault(node_name, []).append(pod)
        nodes = {provider_id_of(node) or name_of(node): node for node in store.all(NODES)}
        claims = {
            provider_id: claim
            for claim in self.claims
            if (provider_id := provider_id_of_claim(claim))
        }
        # By provider ID, so that the order never depends on how they came to be known.
        ids = sorted(nodes.keys() | claims.keys())
        self.machines = tuple(
            self._machine(claims.get(one), nodes.get(one), given_up=one in given_up) for one in ids
        )
        self._by_id = dict(zip(ids, self.machines, strict=True))

    @property
    def is_complete(self) -> bool:
        """Whether each claim has its instance; until then Karpenter makes no plans."""
        return all(map(provider_id_of_claim, self.claims))

    @property
    def staying(self) -> list[Machine]:
        """The machines that aren't leaving."""
        return [machine for machine in self.machines if not machine.is_leaving]

    @property
    def leaving(self) -> list[Machine]:
        """The machines that are leaving."""
        return [machine for machine in self.machines if machine.is_leaving]

    def machine_of(self, claim: Obj) -> Machine | None:
        """Return the machine of a NodeClaim."""
        return self._by_id.get(provider_id_of_claim(claim))

    def find(self, provider_id: str) -> Machine | None:
        """Return the machine with this provider ID."""
        return self._by_id.get(provider_id)

    def node_of(self, claim: Obj) -> Obj | None:
        """Return the Node of a NodeClaim."""
        machine = self.machine_of(claim)
        return None if machine is None else machine.node

    def claim_of(self, node: Obj) -> Obj | None:
        """Return the NodeClaim of a Node."""
        machine = self._by_id.get(provider_id_of(node))
        return None if machine is None else machine.claim

    def pods_on(self, node: Obj) -> list[Obj]:
        """Return all Pods that are bound to a Node."""
        return self._bound.get(name_of(node), [])

    def resources_of(self, pool: str) -> Amounts:
        """Return what a pool's staying machines amount to."""
        return total_of(machine.capacity for machine in self.staying if machine.pool == pool)

    def _machine(self, claim: Obj | None, node: Obj | None, *, given_up: bool) -> Machine:
        pods = () if node is None else tuple(self._bound.get(name_of(node), ()))
        return Machine(claim, node, pods, given_up)


def provider_id_of(node: Obj) -> str:
    """Return a Node's provider ID, empty when it has none."""
    provider_id: str = (node.get("spec") or {}).get("providerID") or ""
    return provider_id


def provider_id_of_claim(claim: Obj) -> str:
    """Return a NodeClaim's provider ID, empty before it is launched."""
    provider_id: str = (claim.get("status") or {}).get("providerID") or ""
    return provider_id


def is_ephemeral(taint: Obj) -> bool:
    """Tell whether a taint is one that new Nodes have for a while."""
    key: str = taint.get("key") or ""
    return (key, taint.get("effect")) in _EPHEMERAL or key.startswith(_EPHEMERAL_PREFIX)


def using(pods: Iterable[Obj]) -> list[Obj]:
    """Return the Pods that still take room."""
    return [pod for pod in pods if not is_finished(pod)]


def ready_condition(node: Obj) -> str:
    """Return the status of a Node's Ready condition, empty when it has none."""
    return str((condition_of(node, words.READY) or {}).get("status", ""))


def _taints(node: Obj | None) -> tuple[Obj, ...]:
    return tuple(((node or {}).get("spec") or {}).get("taints") or ())
