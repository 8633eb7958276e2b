"""Every finding of layers 1 and 2: the fatal ones block, the others are only told.

Base figures: E 336h, tGP 2m, K 2, P 24h, D 4h, gap 20h, t_rot 9m, t_rot_est 7m, cooldownAfter 10m,
so A 287h51m and C 15.
"""

from __future__ import annotations

from typing import Any

from hooks import names
from hooks.rotation.reasons import Reason
from tests.support.cases import Case
from tests.support.scene import ANCHOR, idle, where
from tests.support.world import NOW, World, node, nodeclaim, nodepool


def _fatal(name: str, why: str, world: World, *findings: str, **more: Any) -> Case:
    return Case(f"fatal-{name}", why, world, "idle", Reason.FATAL_FINDING, findings=findings,
                log=("no candidate",), **more)  # fmt: skip


def _warns(name: str, why: str, world: World, *findings: str, **more: Any) -> Case:
    more = {"annotations": ANCHOR} | more
    return Case(f"warns-{name}", why, world, "1", Reason.ROTATION_STARTED, findings=findings,
                **more)  # fmt: skip


def _refused(name: str, why: str, world: World) -> Case:
    return Case(f"refused-{name}", why, world, "idle", Reason.POLICY_INVALID,
                log=("no candidate",))  # fmt: skip


def _pool(**spec: Any) -> Any:
    return lambda w: setattr(w, "pool", nodepool(**spec))


def _three_of_one_age() -> World:
    return where(
        idle(cooldownAfter="4h"),
        lambda w: w.claims.extend(nodeclaim(f"twin-{n}") for n in (1, 2)),
        lambda w: w.nodes.extend(node(f"twin-{n}") for n in (1, 2)),
    )


CASES = (
    _fatal("no-age-left", "A = 40h - (2*24h + 9m) isn't positive",
           where(idle(), _pool(expireAfter="40h")), "ANonPositive"),
    _refused("age-of-nothing", "OverrideNonPositive is for files: the schema doesn't let it in",
             idle(ageThreshold="0s")),
    _refused("no-chance-at-all", "KBelowOne is for files: the schema doesn't let it in",
             idle(minRotationChances=0)),
    _refused("no-windows", "NoWindows is for files: the schema doesn't let it in",
             idle(maintenanceWindows=[])),
    _fatal("no-window-before-the-deadline", "G = floor((336h - 320h - 9m) / 24h) = 0",
           idle(ageThreshold="320h"), "OverrideGBelowOne", told=("ShortLead", "ShortLead")),
    _warns("one-chance", "K = 1", idle(minRotationChances=1), "KBelowTwo"),
    _warns("aggressive", "A = 60h - 48h9m is less than P",
           where(idle(), _pool(expireAfter="60h")), "AVeryAggressive"),
    _warns("drain-without-bound", "tGP unset",
           where(idle(), _pool(terminationGracePeriod=None)), "TGPUnset"),
    _warns("auto-mode", "504h + 2m is over 21d", where(idle(), _pool(expireAfter="504h")),
           "HardCapExceeded"),
    _warns("short-backoff", "retryBackoff is below readyTimeout", idle(retryBackoff="4m59s"),
           "RetryBackoffShort"),
    _warns("long-drain-estimate", "drainEstimate is above tGP", idle(drainEstimate="3m"),
           "DrainEstimateAboveTGP"),
    _warns("long-provisioning-estimate", "provisioningEstimate is above readyTimeout",
           idle(provisioningEstimate="6m"), "ProvisioningEstimateAboveReadyTimeout"),
    _warns("arrival", "2 * 24h / 11h51m > C = ceil(4h / 2h7m) = 2",
           where(idle(cooldownAfter="2h"), _pool(expireAfter="60h")), "AVeryAggressive",
           "ThroughputBelowArrival"),
    _warns("burst", "3 claims of one deadline > K * C = 2 * ceil(4h / 4h7m)", _three_of_one_age(),
           "ThroughputBurstShortfall"),
    _warns("spillover", "7m + 21h > 20h", idle(cooldownAfter="21h"), "RotationSpansNextWindow"),
    _warns("few-chances", "G = floor((336h - 300h - 9m) / 24h) = 1 < K",
           idle(ageThreshold="300h"), "OverrideGBelowK"),
    _warns("zone", "the zone is not among the required keys",
           idle(matchNodeRequirements={"required": [names.ARCH_LABEL]}), "ZoneNotReplicated"),
    _warns("exclusions", "a node born tonight gets one window in its fortnight", idle(exclusions=[
        {"start": "2026-11-30T00:00:00Z", "end": "2026-12-14T00:00:00Z", "reason": "freeze"}]),
           "ExclusionShortensLead", now=NOW),
)  # fmt: skip
