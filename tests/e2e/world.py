"""A pool of five real Karpenter nodes with work on it.

Owns the objects of one test's world, all named after its pool, so that worlds can follow each other
on one control plane. Each node has room for one workload Pod beside the DaemonSet's: a placeholder
can't hide on a node that is there already. Source: issue 3, "Done when".
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.e2e.api import Api, Object, wait_until

NAMESPACE = "default"
POOL_LABEL = "karpenter.sh/nodepool"
REQUESTS_OF_A_WORKLOAD_POD = {"cpu": "2500m", "memory": "1Gi"}
"""More than half of a node with 4 CPUs."""
REQUESTS_OF_A_DAEMON_POD = {"cpu": "100m", "memory": "64Mi"}


@dataclass(frozen=True, slots=True)
class World:
    """The pool called ``name``: a node for each replica of its StatefulSet and its Deployment."""

    api: Api
    name: str
    stateful: int = 2
    stateless: int = 3

    @property
    def size(self) -> int:
        """How many nodes it needs, and so has."""
        return self.stateful + self.stateless

    def create(self) -> None:
        """Create all of it and wait until every Pod is Ready, each on a node of its own."""
        self.api.apply_objects(NODE_CLASS, self._pool(), self._budget(), *self._workloads())
        wait_until(
            f"{self.size} nodes of pool {self.name} with all Pods Ready", self.is_settled, 180
        )

    def is_settled(self) -> bool:
        """Whether as many nodes as needed are Ready, and every workload Pod is Ready."""
        pods = self.api.find("Pod", labelSelector=f"pool={self.name},budgeted=yes")
        return (
            len(self.ready_nodes()) >= self.size
            and len(pods) == self.size
            and all(map(is_ready, pods))
        )

    def ready_nodes(self) -> list[str]:
        """The names of the pool's Ready nodes."""
        nodes = self.api.find("Node", labelSelector=f"{POOL_LABEL}={self.name}")
        return sorted(node["metadata"]["name"] for node in nodes if is_ready(node))

    def claims(self) -> list[str]:
        """The names of the pool's NodeClaims."""
        claims = self.api.find("NodeClaim", labelSelector=f"{POOL_LABEL}={self.name}")
        return sorted(claim["metadata"]["name"] for claim in claims)

    def annotate_pool(self, **annotations: str | None) -> None:
        """Set (or with None remove) annotations of the NodePool; ``due_before`` means ``due-before``."""
        change = {
            f"noderotation.io/{key.replace('_', '-')}": value for key, value in annotations.items()
        }
        self.api.patch("NodePool", self.name, {"metadata": {"annotations": change}})

    def require_available(self, pods: int) -> None:
        """How many Pods the budget wants available: all of them blocks every drain."""
        self.api.patch(
            "PodDisruptionBudget", self.name, {"spec": {"minAvailable": pods}}, NAMESPACE
        )

    def remove(self) -> None:
        """Ask for the deletion of all of it; nothing waits for Karpenter, which takes half a minute."""
        for kind in ("deployment", "statefulset", "daemonset", "poddisruptionbudget"):
            self.api.kubectl(
                "delete",
                kind,
                "--ignore-not-found",
                "--wait=false",
                f"--namespace={NAMESPACE}",
                self.name,
            )
        self.api.kubectl("delete", "nodepool", "--ignore-not-found", "--wait=false", self.name)

    def _pool(self) -> Object:
        requirements = [
            {"key": "karpenter.kwok.sh/instance-cpu", "operator": "In", "values": ["4"]},
            {"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]},
            {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]},
            {
                "key": "topology.kubernetes.io/zone",
                "operator": "In",
                "values": ["test-zone-a", "test-zone-b", "test-zone-c"],
            },
        ]
        template = {
            "metadata": {"labels": {"pool": self.name}},
            "spec": {
                "nodeClassRef": {
                    "group": "karpenter.kwok.sh",
                    "kind": "KWOKNodeClass",
                    "name": "default",
                },
                "requirements": requirements,
                "expireAfter": "720h",
                "terminationGracePeriod": "1h",
            },
        }
        return {
            "apiVersion": "karpenter.sh/v1",
            "kind": "NodePool",
            "metadata": {"name": self.name, "labels": {"rotated": "yes", "pool": self.name}},
            # Karpenter's own voluntary disruption stays out of the way: what happens is ours.
            "spec": {
                "template": template,
                "disruption": {"consolidationPolicy": "WhenEmpty", "consolidateAfter": "Never"},
            },
        }

    def _budget(self) -> Object:
        return {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": self.name, "namespace": NAMESPACE},
            "spec": {
                "minAvailable": self.size - 1,
                "selector": {"matchLabels": {"pool": self.name, "budgeted": "yes"}},
            },
        }

    def _workloads(self) -> list[Object]:
        budgeted = {"pool": self.name, "budgeted": "yes"}
        return [
            self._workload(
                "DaemonSet", {"pool": self.name, "kind": "daemon"}, REQUESTS_OF_A_DAEMON_POD
            ),
            self._workload(
                "StatefulSet",
                {**budgeted, "kind": "stateful"},
                REQUESTS_OF_A_WORKLOAD_POD,
                replicas=self.stateful,
                serviceName=self.name,
                podManagementPolicy="Parallel",
            ),
            self._workload(
                "Deployment",
                {**budgeted, "kind": "stateless"},
                REQUESTS_OF_A_WORKLOAD_POD,
                replicas=self.stateless,
            ),
        ]

    def _workload(
        self, kind: str, labels: dict[str, str], requests: dict[str, str], **spec: object
    ) -> Object:
        container = {"name": "work", "image": "work", "resources": {"requests": requests}}
        pod = {
            "nodeSelector": {"pool": self.name},
            "terminationGracePeriodSeconds": 1,
            "containers": [container],
        }
        return {
            "apiVersion": "apps/v1",
            "kind": kind,
            "metadata": {"name": self.name, "namespace": NAMESPACE},
            "spec": {
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": pod},
                **spec,
            },
        }


NODE_CLASS: Object = {
    "apiVersion": "karpenter.kwok.sh/v1alpha1",
    "kind": "KWOKNodeClass",
    "metadata": {"name": "default"},
    "spec": {},
}


def is_ready(thing: Object) -> bool:
    """Whether a Node or Pod has condition Ready and isn't being deleted."""
    conditions = thing.get("status", {}).get("conditions", ())
    ready = any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)
    return ready and "deletionTimestamp" not in thing["metadata"]
