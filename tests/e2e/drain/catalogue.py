"""All scenes that play at the same time: those that leave the servers alone.

Owns the list; those that take longest begin first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from tests.e2e.drain.scene import Scene
from tests.e2e.drain.scenes import drains, endings, rotations, untouched

Play: TypeAlias = Callable[[Scene], None]
WITHOUT: Final[frozenset[Play]] = frozenset({rotations.a_rotation_without_the_webhook})
"""Those whose evictions don't pass through the webhook."""
SCENES: Final[tuple[Play, ...]] = (
    rotations.a_rotation_with_the_webhook,
    rotations.a_rotation_without_the_webhook,
    rotations.karpenter_deletes_a_claim,
    endings.an_autoscaler_scales_up_and_back,
    endings.kubectl_after_the_timeout,
    drains.a_second_drain_hits_the_successor,
    endings.gitops_reverts_the_restart,
    endings.a_rollout_that_never_gets_ready,
    endings.a_tracking_that_nobody_can_read,
    drains.many_evictors_at_once,
    drains.a_rollout_of_somebody_else,
    drains.an_evictor_asks_again_and_again,
    drains.kubectl_drains_a_node,
    drains.a_dry_run,
    untouched.pods_that_protect_nothing,
    untouched.pods_of_others,
    untouched.deployments_without_a_successor,
)


def name_of(play: Play) -> str:
    """What the objects of a scene are called."""
    return play.__name__.replace("_", "-")
