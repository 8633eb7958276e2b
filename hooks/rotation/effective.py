"""What Pods ask for, and which of them a new node would have to take.

Owns Kubernetes' arithmetic of effective requests and the list of Pods that don't count. Leaves
what becomes of the sum to :mod:`hooks.rotation.clamp`. Source: seed 002 section 3.3 *Request sum
exclusions*, design/rotation.md section 5; Kubernetes' ``component-helpers/resource``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Final

from hooks import names
from hooks.rotation.model import Container, Pod, Quantity, Requirement, Resources

_FINISHED: Final = frozenset({"Succeeded", "Failed"})
_NAMES_ONE_NODE: Final = frozenset({names.HOSTNAME_LABEL, "metadata.name"})
"""The label of a host, and the one field that node affinity's matchFields knows."""


class Skipped(StrEnum):
    """Why a Pod takes no part in the sum."""

    PLACEHOLDER = "placeholder"
    DAEMON_SET = "daemonSet"
    MIRROR = "mirror"
    FINISHED = "finished"
    TERMINATING = "terminating"
    NODE_PINNED = "nodePinned"


@dataclass(frozen=True, slots=True)
class Census:
    """How many Pods were counted, and how many were skipped for which reason, by its name."""

    counted: int = 0
    skipped: tuple[tuple[Skipped, int], ...] = ()


def effective_requests(pod: Pod) -> Resources:
    """Return what the scheduler reserves for a Pod.

    The containers and sidecars together, or the peak of the init phase where that is more; the
    Pod's own requests instead, for the resources that may be set for a whole Pod; the overhead of
    its runtime once.
    """
    asked = _add(_container_requests(pod), {})
    for name, amount in pod.pod_requests.items():
        if name in {"cpu", "memory"} or name.startswith("hugepages-"):
            asked[name] = amount
    return _add(asked, pod.overhead)


def _container_requests(pod: Pod) -> dict[str, Quantity]:
    running: dict[str, Quantity] = {}
    for container in pod.containers:
        running = _add(running, _asked(container))
    peak: dict[str, Quantity] = {}
    sidecars: dict[str, Quantity] = {}
    for container in pod.init_containers:
        # While one init container runs, the sidecars declared before it run beside it.
        phase = _add(sidecars, _asked(container))
        peak = _max(peak, phase)
        if container.restartable:
            sidecars = phase
            running = _add(running, _asked(container))
    return _max(running, peak)


def _asked(container: Container) -> Resources:
    """Return its requests; a limit alone is a request too, as the API server defaults it."""
    return {**container.limits, **container.requests}


def _add(left: Resources, right: Resources) -> dict[str, Quantity]:
    return _merge(left, right, lambda a, b: a + b)


def _max(left: Resources, right: Resources) -> dict[str, Quantity]:
    return _merge(left, right, max)


def _merge(
    left: Resources, right: Resources, of: Callable[[Quantity, Quantity], Quantity]
) -> dict[str, Quantity]:
    merged = dict(left)
    for name, amount in right.items():
        merged[name] = of(merged[name], amount) if name in merged else amount
    return merged


def reschedulable(pods: Iterable[Pod]) -> tuple[Resources, Census]:
    """Sum the requests of the Pods on a node that need room elsewhere when it goes.

    Zero sums are left out. The Pods are those of one node; their order doesn't matter.
    """
    counted = []
    skipped: Counter[Skipped] = Counter()
    for pod in pods:
        reason = why_skipped(pod)
        if reason is None:
            counted.append(pod)
        else:
            skipped[reason] += 1
    return _total(counted), Census(len(counted), tuple(sorted(skipped.items())))


def daemon_overhead(pods: Iterable[Pod]) -> Resources:
    """Sum the requests of a node's DaemonSet Pods, which every new node carries too.

    A terminating one counts, since its DaemonSet brings it back; a finished one holds nothing.
    """
    return _total(
        pod for pod in pods if pod.controller_kind == "DaemonSet" and pod.phase not in _FINISHED
    )


def _total(pods: Iterable[Pod]) -> Resources:
    total: dict[str, Quantity] = {}
    for pod in pods:
        total = _add(total, effective_requests(pod))
    return {name: total[name] for name in sorted(total) if total[name] != Fraction(0)}


def why_skipped(pod: Pod) -> Skipped | None:
    """Return why Karpenter need not re-fit a Pod, or None when it must.

    A terminating Pod of a StatefulSet counts: it is deleted before its successor is made.
    """
    terminating = pod.deleting and pod.controller_kind != "StatefulSet"
    reasons = (
        (pod.surge_for is not None, Skipped.PLACEHOLDER),
        (pod.controller_kind == "DaemonSet", Skipped.DAEMON_SET),
        (pod.mirror or pod.controller_kind == "Node", Skipped.MIRROR),
        (pod.phase in _FINISHED, Skipped.FINISHED),
        (terminating, Skipped.TERMINATING),
        (_is_node_pinned(pod), Skipped.NODE_PINNED),
    )
    return next((reason for applies, reason in reasons if applies), None)


def _is_node_pinned(pod: Pod) -> bool:
    """Whether a Pod can run on one named node only, which is the one it runs on.

    A Pod with a choice (another host, a term without a host) still counts: too small a
    placeholder would be worse than too large a one.
    """
    if names.HOSTNAME_LABEL in pod.node_selector:
        return True
    # A term without expressions matches no node at all.
    terms = [_named_nodes(term) for term in pod.required_node_terms if term]
    hosts = {host for term in terms for host in term or ()}
    return None not in terms and len(hosts) == 1


def _named_nodes(term: tuple[Requirement, ...]) -> frozenset[tuple[str, str]] | None:
    """Return the nodes that one term names, as (key, value), or None when it names none.

    A node's name and its host label can't be compared; where a term has both, the narrower stands.
    """
    named = [
        frozenset((requirement.key, value) for value in requirement.values)
        for requirement in term
        if requirement.key in _NAMES_ONE_NODE and requirement.operator == "In"
    ]
    return min(named, key=len, default=None)
