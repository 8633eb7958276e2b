"""Objects of a small cluster, as JSON, for the tests of sweeps and commands."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

POOLS = "/apis/karpenter.sh/v1/nodepools"
CLAIMS = "/apis/karpenter.sh/v1/nodeclaims"
NODES = "/api/v1/nodes"
PODS = "/api/v1/namespaces/node-rotation-system/pods"
DEPLOYMENTS = "/apis/apps/v1/deployments"
"""Of all namespaces; :func:`deployments_of` gives those of one."""
CONTROLLERS = "/apis/metacontroller.k8s.io/v1alpha1/decoratorcontrollers"

OURS = "noderotation.io/"
DRAIN = "graceful-drain.stonal.com/"
DO_NOT_DISRUPT = "karpenter.sh/do-not-disrupt"


def ours(**values: str) -> dict[str, str]:
    """Spell annotations of ours: ``started_at`` is ``noderotation.io/started-at``."""
    return {OURS + key.replace("_", "-"): value for key, value in values.items()}


def drain(**values: str) -> dict[str, str]:
    """Spell annotations of the graceful drain: ``rolled_for`` is ``graceful-drain…/rolled-for``."""
    return {DRAIN + key.replace("_", "-"): value for key, value in values.items()}


def deployments_of(namespace: str) -> str:
    return f"/apis/apps/v1/namespaces/{namespace}/deployments"


FROZEN = {DO_NOT_DISRUPT: "true", **ours(surge_for="old-1", do_not_disrupt_owned="true")}
"""A Node's annotations in the rotation of a claim that is gone."""


def pool(name: str, annotations: dict[str, str] | None = None, **metadata: str) -> Json:
    return {"metadata": {"name": name, "annotations": annotations or {}, **metadata}}


def claim(
    name: str,
    annotations: dict[str, str] | None = None,
    *,
    of: str = "api",
    created: str = "2026-11-01T00:00:00Z",
    **metadata: str,
) -> Json:
    return {
        "metadata": {
            "name": name,
            "creationTimestamp": created,
            "labels": {"karpenter.sh/nodepool": of},
            "annotations": annotations or {},
            **metadata,
        },
        "status": {"nodeName": f"node-of-{name}"},
    }


def node(
    name: str,
    annotations: dict[str, str] | None = None,
    *,
    surge_for: str | None = None,
    cordoned: bool = False,
) -> Json:
    labels = {"karpenter.sh/nodepool": "api"}
    if surge_for is not None:
        labels[OURS + "surge-for"] = surge_for
    return {
        "metadata": {"name": name, "labels": labels, "annotations": annotations or {}},
        "spec": {"unschedulable": True} if cordoned else {},
    }


def placeholder(claim_name: str, *, annotated: bool = True, **metadata: str) -> Json:
    key = OURS + "surge-for"
    return {
        "metadata": {
            "name": f"noderotation-surge-{claim_name}",
            "namespace": "node-rotation-system",
            "labels": {key: claim_name},
            "annotations": {key: claim_name} if annotated else {},
            **metadata,
        },
        "spec": {"nodeSelector": {"karpenter.sh/nodepool": "api"}},
    }


def deployment(
    namespace: str,
    name: str,
    annotations: dict[str, str] | None = None,
    *,
    restarted_at: str | None = None,
) -> Json:
    template = {} if restarted_at is None else {"kubectl.kubernetes.io/restartedAt": restarted_at}
    return {
        "metadata": {"namespace": namespace, "name": name, "annotations": annotations or {}},
        "spec": {"replicas": 1, "template": {"metadata": {"annotations": template}}},
    }
