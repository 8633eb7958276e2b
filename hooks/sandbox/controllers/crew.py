"""All controllers of a cluster without Karpenter, in the order in which they take their turns.

Owns the list. Workloads come first, then the scheduler and the kubelets, so that what one writes the
next finds.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from hooks.sandbox.controllers.budgets import Budgets
from hooks.sandbox.controllers.daemonsets import DaemonSets
from hooks.sandbox.controllers.deployments import Deployments
from hooks.sandbox.controllers.endpointslices import EndpointSlices
from hooks.sandbox.controllers.garbage import GarbageCollector
from hooks.sandbox.controllers.kubelets import Kubelets
from hooks.sandbox.controllers.nodelifecycle import NodeLifecycle
from hooks.sandbox.controllers.quotas import Quotas
from hooks.sandbox.controllers.replicasets import ReplicaSets
from hooks.sandbox.controllers.scheduler import Scheduler
from hooks.sandbox.controllers.statefulsets import StatefulSets
from hooks.sandbox.controllers.tainteviction import TaintEviction

if TYPE_CHECKING:
    from hooks.sandbox.clock import VirtualClock
    from hooks.sandbox.controller import Controller, Pace
    from hooks.sandbox.store.store import ObjectStore


def all_controllers(
    store: ObjectStore, clock: VirtualClock, pace: Pace, rng: Random
) -> list[Controller]:
    """Return one of each."""
    return [
        Deployments(store, clock),
        ReplicaSets(store, clock),
        StatefulSets(store, clock),
        DaemonSets(store, clock),
        NodeLifecycle(store, clock),
        TaintEviction(store, clock),
        Scheduler(store, clock, rng),
        Kubelets(store, clock, pace, rng),
        Budgets(store, clock),
        EndpointSlices(store, clock),
        Quotas(store, clock),
        GarbageCollector(store, clock),
    ]
