"""How large each ReplicaSet of a Deployment is to be next.

Owns the arithmetic of a rollout, of scaling in its middle, and of Recreate; pure. Leaves the writes
to :mod:`hooks.sandbox.controllers.deployments`. Seen in Kubernetes v1.36.3
``pkg/controller/deployment/rolling.go``, ``recreate.go``, ``sync.go`` (scale) and
``util/deployment_util.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from hooks.sandbox.controllers.shares import Fenceposts, fenceposts
from hooks.sandbox.objects import annotations_of, labels_of, metadata_of, name_of

if TYPE_CHECKING:
    from hooks.sandbox.objects import Obj

HASH: Final = "pod-template-hash"
DESIRED: Final = "deployment.kubernetes.io/desired-replicas"
MOST: Final = "deployment.kubernetes.io/max-replicas"
_BY_DEFAULT: Final = "25%"


@dataclass(frozen=True, slots=True)
class Family:
    """A Deployment with the ReplicaSet of its present template, if it is there, and the others."""

    deployment: Obj
    new: Obj | None
    old: tuple[Obj, ...]

    @classmethod
    def of(cls, deployment: Obj, owned: Iterable[Obj]) -> Family:
        """Tell new and old apart; of several with the present template the oldest is the new one."""
        aged = sorted(owned, key=lambda one: (metadata_of(one)["creationTimestamp"], name_of(one)))
        wanted = _without_hash(deployment)
        new = next((one for one in aged if _without_hash(one) == wanted), None)
        return cls(deployment, new, tuple(one for one in aged if one is not new))

    @property
    def all(self) -> tuple[Obj, ...]:
        """All ReplicaSets, the new one last."""
        return self.old if self.new is None else (*self.old, self.new)

    @property
    def desired(self) -> int:
        """How many Pods there are to be."""
        return int(self.deployment["spec"].get("replicas", 1))

    @property
    def is_rolling(self) -> bool:
        """Whether new Pods come before old ones have gone."""
        strategy: Obj = self.deployment["spec"].get("strategy") or {}
        return bool(strategy.get("type", "RollingUpdate") == "RollingUpdate")

    @property
    def bounds(self) -> Fenceposts:
        """How many Pods may be too many and too few."""
        if not self.is_rolling:
            return Fenceposts(0, 0)
        rolling: Obj = (self.deployment["spec"].get("strategy") or {}).get("rollingUpdate") or {}
        surge = rolling.get("maxSurge", _BY_DEFAULT)
        posts = fenceposts(surge, rolling.get("maxUnavailable", _BY_DEFAULT), self.desired)
        return Fenceposts(posts.surge, min(posts.unavailable, self.desired))

    @property
    def most(self) -> int:
        """How many Pods there may be at once."""
        return self.desired + self.bounds.surge


def size_of(replica_set: Obj) -> int:
    """Return how many Pods a ReplicaSet asks for."""
    return int(replica_set["spec"].get("replicas", 1))


def count_of(replica_set: Obj, field: str) -> int:
    """Return a count of its status."""
    return int((replica_set.get("status") or {}).get(field) or 0)


def is_scaled(family: Family) -> bool:
    """Tell whether the Deployment was given another size since its ReplicaSets were written."""
    noted = (annotations_of(one).get(DESIRED) for one in family.all if size_of(one) > 0)
    return any(text is not None and text != str(family.desired) for text in noted)


def rolled(family: Family) -> Mapping[str, int]:
    """Return the sizes that a rolling update changes next; the new ReplicaSet is there."""
    new = family.new
    if new is None:
        return {}
    size = size_of(new)
    if size > family.desired:
        return {name_of(new): family.desired}
    if size < family.desired:
        grown = size + first_size(family, size)
        if grown != size:
            return {name_of(new): grown}
    return _fewer_old(family, new)


def first_size(family: Family, present: int = 0) -> int:
    """Return by how much the new ReplicaSet may grow now."""
    if not family.is_rolling:
        return family.desired - present
    room = family.most - sum(size_of(one) for one in family.all)
    return max(0, min(room, family.desired - present))


def recreated(family: Family) -> Mapping[str, int]:
    """Return the sizes that Recreate takes down first."""
    return {name_of(one): 0 for one in family.old if size_of(one) > 0}


def rescaled(family: Family) -> Mapping[str, int]:
    """Return all sizes after the Deployment was given another one: in proportion, if there are many."""
    active = [one for one in family.all if size_of(one) > 0]
    if len(active) <= 1:
        only = active[0] if active else (family.all[-1] if family.all else None)
        return {} if only is None else {name_of(only): family.desired}
    if family.new is not None and _is_saturated(family, family.new):
        return recreated(family)
    return _in_proportion(family, active) if family.is_rolling else {}


def _without_hash(workload: Obj) -> Obj:
    template: Obj = workload["spec"]["template"]
    labels = {key: value for key, value in labels_of(template).items() if key != HASH}
    return {**template, "metadata": {**metadata_of(template), "labels": labels}}


def _is_saturated(family: Family, new: Obj) -> bool:
    counts = (size_of(new), int(annotations_of(new).get(DESIRED) or -1))
    return counts == (family.desired, family.desired) and (
        count_of(new, "availableReplicas") == family.desired
    )


def _fewer_old(family: Family, new: Obj) -> Mapping[str, int]:
    """Take down old Pods: first those that aren't available, then as many as may be missing."""
    active = [one for one in family.old if size_of(one) > 0]
    sizes = {name_of(one): size_of(one) for one in active}
    available = {name_of(one): count_of(one, "availableReplicas") for one in active}
    new_available = count_of(new, "availableReplicas")
    least = family.desired - family.bounds.unavailable
    spare = sum(sizes.values()) + new_available - least
    if spare <= 0:
        return {}
    before = dict(sizes)
    for name, size in before.items():
        gone = max(0, min(spare, size - available[name]))
        sizes[name] -= gone
        spare -= gone
    spare = sum(available.values()) + new_available - least
    for name, size in list(sizes.items()):
        gone = max(0, min(size, spare))
        sizes[name] -= gone
        spare -= gone
    return {name: size for name, size in sizes.items() if size != before[name]}


def _in_proportion(family: Family, active: list[Obj]) -> Mapping[str, int]:
    """Share what is to be added or removed; the largest gets what is left over."""
    allowed = family.most if family.desired > 0 else 0
    to_add = allowed - sum(size_of(one) for one in active)
    # Of equal ones the newer grows first, and the older shrinks first.
    newer_first = active[::-1] if to_add > 0 else active
    ranked = sorted(newer_first, key=size_of, reverse=True)
    sizes = {name_of(one): size_of(one) for one in ranked}
    left = to_add
    for one in ranked:
        share = _share(family, one)
        part = max(min(share, left), 0) if to_add > 0 else min(max(share, left), 0)
        sizes[name_of(one)] += part
        left -= part
    largest = name_of(ranked[0])
    sizes[largest] = max(0, sizes[largest] + left)
    return sizes


def _share(family: Family, replica_set: Obj) -> int:
    size = size_of(replica_set)
    if family.desired == 0:
        return -size
    before = int(annotations_of(replica_set).get(MOST) or 0)
    before = before or count_of(family.deployment, "replicas")
    return (2 * size * family.most + before) // (2 * before) - size if before else 0
