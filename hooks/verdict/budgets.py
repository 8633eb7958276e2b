"""Whether PodDisruptionBudgets were kept, all of them.

Owns what a budget asks for, computed anew from the workloads and not read off its status. Budgets
speak of what somebody does to a Pod: one that fails by itself breaks none, and a NoExecute taint
(a Node that registers or fails) asks none. Seen on the real control plane, and in: pkg/controller/
disruption of kubernetes v1.36.3 (expected Pods come from the scale of the workload; percentages are
rounded up).
"""

from __future__ import annotations

from math import ceil

from hooks.verdict.case import Case
from hooks.verdict.history import Moment, Object
from hooks.verdict.questions import World, is_leaving, is_ready, node_of, selects

WORKLOADS = ("Deployment", "StatefulSet")


def budgets_kept(case: Case) -> list[str]:
    """No Ready Pod is sent away while fewer would stay available than one of its budgets wants."""
    found: list[str] = []
    for moment in case.moments():
        pod = moment.change.object
        if not is_sent_away(moment):
            continue
        for budget in moment.world["PodDisruptionBudget"].values():
            if not covers(budget, pod):
                continue
            wanted, left = wanted_by(moment.world, budget), available(moment.world, budget)
            if left < wanted:
                metadata = budget["metadata"]
                name = f"{metadata.get('namespace', '')}/{metadata['name']}"
                asked = f"budget {name} wants {wanted} available, and {left} were left"
                found.append(f"{moment.change.name} was sent away although {asked}")
    return found


def budgets_there(case: Case) -> list[str]:
    """At each delete, Pods of the node are under a budget: otherwise none could be broken."""
    return [
        f"no Pod on the node of {moment.change.name} was under a budget"
        for moment in case.deletes()
        if not any(
            covers(budget, pod)
            for pod in moment.world["Pod"].values()
            if pod.get("spec", {}).get("nodeName", "") == node_of(moment.change.object) != ""
            for budget in moment.world["PodDisruptionBudget"].values()
        )
    ]


def covers(budget: Object, pod: Object) -> bool:
    """Whether the Pod is under the PodDisruptionBudget."""
    if budget["metadata"].get("namespace") != pod["metadata"].get("namespace"):
        return False
    selector = budget.get("spec", {}).get("selector")
    return selector is not None and selects(selector, pod)


def available(world: World, budget: Object) -> int:
    """How many Pods under the budget are Ready."""
    return sum(covers(budget, pod) and is_ready(pod) for pod in world["Pod"].values())


def wanted_by(world: World, budget: Object) -> int:
    """How many Pods must stay available."""
    spec = budget.get("spec", {})
    expected = _expected(world, budget)
    if "maxUnavailable" in spec:
        return max(0, expected - _scaled(spec["maxUnavailable"], expected))
    return _scaled(spec.get("minAvailable", 0), expected)


def _expected(world: World, budget: Object) -> int:
    """How many Pods there should be: what the workloads want, or, without any, what is there."""
    workloads = [
        workload
        for kind in WORKLOADS
        for workload in world[kind].values()
        if covers(budget, _first_pod_of(workload))
    ]
    if not workloads:
        return sum(covers(budget, pod) for pod in world["Pod"].values())
    return sum(int(one["spec"].get("replicas", 1)) for one in workloads)


def _first_pod_of(workload: Object) -> Object:
    template = workload.get("spec", {}).get("template", {}).get("metadata", {})
    namespace = workload["metadata"].get("namespace")
    return {"metadata": {"namespace": namespace, "labels": template.get("labels", {})}}


def _scaled(amount: int | str, whole: int) -> int:
    """A number of Pods, or a percentage of them rounded up."""
    if isinstance(amount, str):
        return ceil(int(amount.removesuffix("%")) * whole / 100)
    return amount


def is_sent_away(moment: Moment) -> bool:
    """Whether somebody does away with a Pod that is Ready, but for a taint of its Node."""
    change = moment.change
    if change.kind != "Pod" or moment.before is None or not is_ready(moment.before):
        return False
    leaves = change.type == "DELETED" or is_leaving(change.object)
    return leaves and not _is_driven_out(change.object)


def _is_driven_out(pod: Object) -> bool:
    """Whether it has to leave for a NoExecute taint of its Node, which asks no budget."""
    conditions = pod.get("status", {}).get("conditions") or ()
    return any(
        one.get("type") == "DisruptionTarget" and one.get("reason") == "DeletionByTaintManager"
        for one in conditions
    )
