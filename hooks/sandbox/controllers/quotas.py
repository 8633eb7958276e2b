"""ResourceQuotas' status: what a namespace may use, and what its Pods use.

Owns the status. Leaves the refusal of a Pod, for which the API server counts itself, to
:mod:`hooks.sandbox.store.quota`. Only what Pods use is counted. Seen in Kubernetes v1.36.3
``pkg/controller/resourcequota/resource_quota_controller.go`` (syncResourceQuota).
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, ClassVar

from typing_extensions import override

from hooks.sandbox.apiport import Resource
from hooks.sandbox.controllers.levels import LevelController
from hooks.sandbox.objects import namespace_of
from hooks.sandbox.scheduling.resources import format_quantity
from hooks.sandbox.store.kinds import PODS, RESOURCEQUOTAS
from hooks.sandbox.store.quota import used_of

if TYPE_CHECKING:
    from hooks.sandbox.objects import Obj


class Quotas(LevelController):
    """Counts for each quota."""

    watches: ClassVar[frozenset[Resource]] = frozenset({RESOURCEQUOTAS, PODS})

    @override
    def reconcile(self, now: datetime) -> None:
        for quota in self.store.all(RESOURCEQUOTAS):
            hard: Obj = (quota.get("spec") or {}).get("hard") or {}
            used = used_of(quota, self.store.all(PODS, namespace_of(quota)), now)
            status: Obj = {
                "hard": dict(hard),
                "used": {key: format_quantity(used[key]) for key in hard if key in used},
            }
            self.put_status(RESOURCEQUOTAS, quota, {k: v for k, v in status.items() if v})
