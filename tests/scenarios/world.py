"""A pool of Karpenter nodes with work on it, as a scenario wants it.

Owns the objects of one world, all named after its pool, so that many worlds can live on one cluster.
Each node has room for one workload Pod beside the DaemonSet's: a placeholder can't hide on a node
that is there already. Source: issue 3, "Done when"; issue 4, Build 3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from hooks.verdict.questions import POOL_LABEL, is_leaving, is_ready
from tests.scenarios.manifests import (
    NAMESPACE,
    WORKLOADS,
    Shape,
    budget,
    node_class,
    node_pool,
    workloads,
)
from tests.scenarios.stage import Api, Object

SETTLING = 240.0
"""Seconds for a new pool to be there: far more than it takes."""


class Place(Protocol):
    """The part of a stage that a world needs."""

    @property
    def api(self) -> Api:
        """The API server."""
        ...

    def wait_until(self, what: str, holds: Callable[[], bool], seconds: float = SETTLING) -> None:
        """Go on until ``holds()``."""
        ...


class World:
    """The pool called ``name``: a node for each replica of its StatefulSet and its Deployment."""

    def __init__(self, place: Place, name: str, shape: Shape | None = None) -> None:
        """Nothing is created yet."""
        self.place = place
        self.name = name
        self.shape = shape or Shape()

    @property
    def api(self) -> Api:
        """The API server."""
        return self.place.api

    @property
    def size(self) -> int:
        """How many nodes it needs, and so has."""
        return self.shape.stateful + self.shape.stateless

    def create(self) -> None:
        """Create all of it and wait until every Pod is Ready, each on a node of its own."""
        name, shape = self.name, self.shape
        self.api.apply_objects(
            node_class(name),
            node_pool(name, shape),
            budget(name, self.size - 1),
            *workloads(name, shape),
        )
        self.await_settled()

    def await_settled(self) -> None:
        """Wait until it is as it should be."""
        what = f"{self.size} nodes of pool {self.name} with all Pods Ready"
        self.place.wait_until(what, self.is_settled, SETTLING)

    def is_settled(self) -> bool:
        """Whether as many nodes as needed are Ready, and every workload Pod is Ready."""
        pods = self.pods()
        return (
            len(self.ready_nodes()) >= self.size
            and len(pods) == self.size
            and all(map(is_ready, pods))
        )

    def pods(self) -> list[Object]:
        """Its workload Pods."""
        return self.api.find("Pod", labelSelector=f"pool={self.name},budgeted=yes")

    def ready_nodes(self) -> list[str]:
        """The names of the pool's Ready nodes."""
        nodes = self.api.find("Node", labelSelector=f"{POOL_LABEL}={self.name}")
        return sorted(node["metadata"]["name"] for node in nodes if is_ready(node))

    def initialized_nodes(self) -> list[str]:
        """The names of the pool's Nodes whose first taints are off, as Karpenter has found."""
        selector = f"{POOL_LABEL}={self.name},karpenter.sh/initialized=true"
        nodes = self.api.find("Node", labelSelector=selector)
        return sorted(node["metadata"]["name"] for node in nodes if is_ready(node))

    def claims(self) -> list[str]:
        """The names of the pool's NodeClaims."""
        claims = self.api.find("NodeClaim", labelSelector=f"{POOL_LABEL}={self.name}")
        return sorted(claim["metadata"]["name"] for claim in claims)

    def claim(self, name: str) -> Object:
        """One of its NodeClaims."""
        return self.api.get("NodeClaim", name)

    def node_of(self, claim: str) -> Object:
        """The Node of one of its NodeClaims."""
        return self.api.get("Node", self.claim(claim)["status"]["nodeName"])

    def pool(self) -> Object:
        """Its NodePool."""
        return self.api.get("NodePool", self.name)

    def annotate_pool(self, **annotations: str | None) -> None:
        """Set (or with None remove) annotations of the NodePool; ``due_before`` means ``due-before``."""
        change = {
            f"noderotation.io/{key.replace('_', '-')}": value for key, value in annotations.items()
        }
        self.api.patch("NodePool", self.name, {"metadata": {"annotations": change}})

    def annotate_node(self, node: str, annotations: Mapping[str, str | None]) -> None:
        """Set (or with None remove) annotations of one of its Nodes, under their full names."""
        self.api.patch("Node", node, {"metadata": {"annotations": dict(annotations)}})

    def require_available(self, pods: int) -> None:
        """How many Pods the budget wants available: all of them blocks every drain."""
        self.api.patch(
            "PodDisruptionBudget", self.name, {"spec": {"minAvailable": pods}}, NAMESPACE
        )

    def register_after(self, delay: str) -> None:
        """How long nodes that are launched from now on take to register (a Go duration)."""
        self.api.patch("KWOKNodeClass", self.name, {"spec": {"nodeRegistrationDelay": delay}})

    def live_for(self, lifetime: str) -> None:
        """The expireAfter of nodes from now on; those that are there keep their own."""
        template = {"spec": {"expireAfter": lifetime}}
        self.api.patch("NodePool", self.name, {"spec": {"template": template}})

    def is_deleting(self, claim: str) -> bool:
        """Whether the NodeClaim is there and somebody has asked for its deletion."""
        return is_leaving(self.api.find_one("NodeClaim", claim))

    def remove(self) -> None:
        """Ask for the deletion of all of it; nothing waits for Karpenter, which takes half a minute."""
        for kind in (*WORKLOADS, "PodDisruptionBudget"):
            self.api.delete(kind, self.name, NAMESPACE)
        self.api.delete("NodePool", self.name)
