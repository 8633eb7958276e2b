"""From a checked request to everything that one pass rests on.

Owns the order: the groups of a request come in any order, and a decision must not depend on it, so
everything is sorted by name here, once. Leaves the reading of each object to :mod:`hooks.protocol`
and every decision to :mod:`hooks.rotation`. Source: design/rotation.md section 3.
"""

from __future__ import annotations

from datetime import datetime
from operator import attrgetter

from hooks.protocol.hook import SyncRequest
from hooks.rotation.model import Observation


def observe(
    request: SyncRequest,
    now: datetime,
    *,
    suspended: bool,
    namespace: str,
    image: str,
    opted_out: frozenset[str],
    unlisted_at: datetime | None = None,
) -> Observation:
    """Put a request, the clock and the settings together.

    ``now`` is aware and read once for each request; ``opted_out`` are UIDs of claims whose Nodes
    were seen opted out a moment ago; ``unlisted_at`` is when this pool was last answered without a
    placeholder. Only Pods in our namespace are placeholders.
    """
    by_name = attrgetter("name")
    return Observation(
        now=now,
        pool=request.pool,
        policies=tuple(sorted(request.policies, key=by_name)),
        claims=tuple(sorted(request.claims, key=by_name)),
        nodes=tuple(sorted(request.nodes, key=by_name)),
        placeholders=tuple(
            sorted((pod for pod in request.placeholders if pod.namespace == namespace), key=by_name)
        ),
        suspended=suspended,
        namespace=namespace,
        image=image,
        opted_out=opted_out,
        unlisted_at=unlisted_at,
    )
