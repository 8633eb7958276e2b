"""The scheduling simulation: which Pods would fit what is there, and which machines the others need.

Owns the order in which things are tried: the biggest Pod first; machines that are there before ones
just planned before new ones; heavier pools first; limits. Nothing is ever preempted here, which is
why a placeholder on a full machine means one more machine for the Pods that would push it out. Seen
in ``provisioning/scheduling/scheduler.go``, ``queue.go`` and ``existingnode.go``.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING

from hooks.sandbox.karpenter import words
from hooks.sandbox.karpenter.claimplan import ClaimPlan, Template, spread_constraints
from hooks.sandbox.karpenter.pods import is_of_daemon_set
from hooks.sandbox.karpenter.quantities import greatest, without_debts
from hooks.sandbox.karpenter.template import spec_of
from hooks.sandbox.karpenter.view import Machine, using
from hooks.sandbox.objects import metadata_of, uid_of
from hooks.sandbox.scheduling.affinity import matches_node, node_terms
from hooks.sandbox.scheduling.placement import Fitting, Layout, Place
from hooks.sandbox.scheduling.resources import (
    Amounts,
    amounts_of,
    requests_of,
    subtract,
    total_of,
)
from hooks.sandbox.scheduling.taints import tolerates

if TYPE_CHECKING:
    from hooks.sandbox.objects import Obj

_ZERO = Decimal(0)


@dataclass
class Plan:
    """What a simulation came to."""

    claims: list[ClaimPlan] = field(default_factory=list)
    placed: dict[str, list[Obj]] = field(default_factory=dict)
    """Pods by the provider ID of the machine that takes them."""
    homeless: list[Obj] = field(default_factory=list)


class Simulation:
    """One simulation; used once."""

    def __init__(
        self,
        machines: Iterable[Machine],
        templates: Sequence[Template],
        daemons: Sequence[Obj],
        namespaces: Mapping[str, Mapping[str, str]] | None = None,
        is_closed_to: Callable[[Machine, Obj], bool] | None = None,
    ) -> None:
        """Take the machines that stay, and pools by weight.

        ``is_closed_to`` tells that a machine shall not take a Pod although it fits.
        """
        # Initialized ones first, so that plans rest on what is sure.
        self._machines = sorted(machines, key=lambda one: (not one.is_initialized, one.name))
        self._templates = templates
        self._daemons = [(pod, node_terms(pod)) for pod in daemons]
        self._is_closed_to = is_closed_to
        self._hostnames = itertools.count(1)
        self._left = {one.name: _limits(one.pool, self._machines) for one in templates}
        self._layout = Layout(
            [self._place(machine) for machine in self._machines],
            {machine.name: using(machine.pods) for machine in self._machines},
            namespaces,
        )

    def solve(self, pods: Iterable[Obj]) -> Plan:
        """Find a place for each Pod; those that fit nowhere are tried again while others do."""
        plan = Plan()
        waiting = deque(sorted(pods, key=_size))
        length_when_put_back: dict[str, int] = {}
        while waiting and length_when_put_back.get(uid_of(waiting[0])) != len(waiting):
            pod = waiting.popleft()
            if not self._add(pod, plan):
                waiting.append(pod)
                length_when_put_back[uid_of(pod)] = len(waiting)
        plan.homeless = list(waiting)
        return plan

    def _add(self, pod: Obj, plan: Plan) -> bool:
        layout = self._layout_for(pod)
        fitting = Fitting(pod, layout)
        for machine in self._machines:
            if self._is_closed_to is not None and self._is_closed_to(machine, pod):
                continue
            if not fitting.refusals(layout.places[machine.name]):
                self._layout.put(pod, machine.name)
                plan.placed.setdefault(machine.provider_id, []).append(pod)
                return True
        plan.claims.sort(key=lambda claim: len(claim.pods))
        for claim in plan.claims:
            left = claim.left_with(pod, layout)
            if left:
                claim.take(pod, left, self._layout)
                return True
        return self._add_to_new(pod, plan, layout)

    def _add_to_new(self, pod: Obj, plan: Plan, layout: Layout) -> bool:
        for template in self._templates:
            limit = self._left[template.name]
            if limit.get("nodes", Decimal(1)) <= _ZERO:
                continue
            offers = [
                offer
                for offer in template.offers
                if all(
                    offer.instance.capacity.get(name, _ZERO) <= amount
                    for name, amount in limit.items()
                )
            ]
            hostname = f"hostname-placeholder-{next(self._hostnames):04d}"
            claim = ClaimPlan(template, hostname, offers, [])
            left = claim.left_with(pod, layout)
            if left:
                claim.take(pod, left, self._layout)
                plan.claims.append(claim)
                # It isn't known which type comes, so the greatest is counted.
                most = greatest(offer.instance.capacity for offer in left)
                self._left[template.name] = {
                    name: amount - most.get(name, _ZERO) for name, amount in limit.items()
                }
                return True
        return False

    def _place(self, machine: Machine) -> Place:
        """Return a machine as a place where room is kept for DaemonSet Pods still to come."""
        expected = total_of(
            requests_of(pod)
            for pod, terms in self._daemons
            if tolerates(pod, machine.taints) and matches_node(terms, machine.labels, machine.name)
        )
        there = total_of(requests_of(pod) for pod in using(machine.pods) if is_of_daemon_set(pod))
        return Place(
            machine.name,
            {**machine.labels, words.HOSTNAME: machine.hostname},
            machine.taints,
            subtract(machine.allocatable, without_debts(subtract(expected, there))),
            machine.is_cordoned,
        )

    def _layout_for(self, pod: Obj) -> Layout:
        """Return the layout; for a Pod that must be spread, with the domains that could be had.

        Without them a zone that has no machine yet wouldn't count as an empty one.
        """
        if not spread_constraints(pod):
            return self._layout
        layout, terms = self._layout.copy(), node_terms(pod)
        for template in self._templates:
            for offer in template.offers:
                zone = offer.labels.get(words.ZONE, "")
                name = f"could be had: {zone}"
                labels = {**offer.labels, words.HOSTNAME: name}
                if name not in layout.places and matches_node(terms, labels, name):
                    layout.add_place(Place(name, labels, template.taints, {}))
        return layout


def _limits(pool: Obj, machines: Iterable[Machine]) -> Amounts:
    """Return what a pool may still grow by, for each resource it limits."""
    limits = amounts_of(spec_of(pool).get("limits"))
    name = metadata_of(pool).get("name")
    used = total_of(machine.capacity for machine in machines if machine.pool == name)
    return {key: amount - used.get(key, _ZERO) for key, amount in limits.items()}


def _size(pod: Obj) -> tuple[Decimal, Decimal, str, str]:
    """Sort the biggest first; equal ones by age, then by UID."""
    requests = requests_of(pod)
    created: str = metadata_of(pod).get("creationTimestamp", "")
    return (-requests.get("cpu", _ZERO), -requests.get("memory", _ZERO), created, uid_of(pod))
