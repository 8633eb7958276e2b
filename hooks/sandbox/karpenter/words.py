"""The labels, annotations, taints and condition types of Karpenter v1.14.1 and its KWOK provider.

Owns the spelling. Seen in ``pkg/apis/v1/labels.go``, ``taints.go``, ``nodeclaim_status.go`` and
``kwok/apis/v1alpha1/labels.go``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from hooks.sandbox.objects import Obj

POOL: Final = "karpenter.sh/nodepool"
CAPACITY_TYPE: Final = "karpenter.sh/capacity-type"
REGISTERED_LABEL: Final = "karpenter.sh/registered"
INITIALIZED_LABEL: Final = "karpenter.sh/initialized"
NO_TAINT_SYNC: Final = "karpenter.sh/do-not-sync-taints"
INSTANCE_TYPE: Final = "node.kubernetes.io/instance-type"
ARCH: Final = "kubernetes.io/arch"
OS: Final = "kubernetes.io/os"
ZONE: Final = "topology.kubernetes.io/zone"
HOSTNAME: Final = "kubernetes.io/hostname"
INSTANCE_CPU: Final = "karpenter.kwok.sh/instance-cpu"
INSTANCE_MEMORY: Final = "karpenter.kwok.sh/instance-memory"
INSTANCE_FAMILY: Final = "karpenter.kwok.sh/instance-family"
INSTANCE_SIZE: Final = "karpenter.kwok.sh/instance-size"
INSTANCE_PRICE: Final = "eks-node-viewer/instance-price"
KWOK_NODE: Final = "kwok.x-k8s.io/node"
KWOK_PARTITION: Final = "kwok-partition"
NO_BALANCERS: Final = "node.kubernetes.io/exclude-from-external-load-balancers"

HASH: Final = "karpenter.sh/nodepool-hash"
HASH_VERSION: Final = "karpenter.sh/nodepool-hash-version"
HASH_IS_V3: Final = "v3"
MIN_VALUES_RELAXED: Final = "karpenter.sh/nodeclaim-min-values-relaxed"
TERMINATION_TIME: Final = "karpenter.sh/nodeclaim-termination-timestamp"
DO_NOT_DISRUPT: Final = "karpenter.sh/do-not-disrupt"
DELETION_COST: Final = "controller.kubernetes.io/pod-deletion-cost"

FINALIZER: Final = "karpenter.sh/termination"
PROVIDER_PREFIX: Final = "kwok://"

UNREGISTERED: Final[Obj] = {"effect": "NoExecute", "key": "karpenter.sh/unregistered"}
DISRUPTED: Final[Obj] = {"effect": "NoSchedule", "key": "karpenter.sh/disrupted"}
NOT_READY: Final[Obj] = {"effect": "NoSchedule", "key": "node.kubernetes.io/not-ready"}

LAUNCHED: Final = "Launched"
REGISTERED: Final = "Registered"
INITIALIZED: Final = "Initialized"
READY: Final = "Ready"
CONSISTENT: Final = "ConsistentStateFound"
CONSOLIDATABLE: Final = "Consolidatable"
DRIFTED: Final = "Drifted"
DRAINED: Final = "Drained"
VOLUMES_DETACHED: Final = "VolumesDetached"
INSTANCE_TERMINATING: Final = "InstanceTerminating"
DISRUPTION_REASON: Final = "DisruptionReason"

ON_DEMAND: Final = "on-demand"
SPOT: Final = "spot"
EMPTY: Final = "Empty"
UNDERUTILIZED: Final = "Underutilized"


def class_label(reference: Obj) -> str:
    """Return the label that names the node class: ``karpenter.kwok.sh/kwoknodeclass``."""
    return f"{reference.get('group', '')}/{str(reference.get('kind', '')).lower()}"


def same_taint(one: Obj, other: Obj) -> bool:
    """Tell whether two taints are one to Kubernetes: key and effect count, the value doesn't."""
    return one.get("key") == other.get("key") and one.get("effect") == other.get("effect")


def has_taint(node: Obj, taint: Obj) -> bool:
    """Tell whether a Node carries a taint."""
    return any(same_taint(taint, one) for one in (node.get("spec") or {}).get("taints") or ())
