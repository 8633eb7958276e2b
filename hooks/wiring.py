"""The hooks wired to one connection: what happens before the first call, and what is served.

Owns which handler answers which route, and the order check, sweep, serve. The clock is injected
here, so that an embedded cluster can bring its own. Leaves servers to :mod:`hooks.server` and
:mod:`hooks.planning`. Source: design/structure.md.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

import structlog

from hooks import names
from hooks.admission.eviction import EvictionReview
from hooks.app import WsgiApp, create_app
from hooks.cluster.connection import Connection
from hooks.cluster.drain import DrainVerbs
from hooks.cluster.preflight import is_ready, preflight
from hooks.cluster.sweep import sweep_stale
from hooks.cluster.verbs import Verbs
from hooks.customize import nodepool as customize_nodepool
from hooks.customize import rotationpolicy as customize_rotationpolicy
from hooks.settings import Settings
from hooks.sync import rotationpolicy as sync_rotationpolicy
from hooks.sync.deployment import DeploymentSync
from hooks.sync.nodepool import NodePoolSync
from hooks.telemetry.calls import Counted
from hooks.telemetry.certificate import CertificateEnd
from hooks.telemetry.drains import CountedDrain, Evictions, Rollouts
from hooks.telemetry.metrics import Metrics

READY_TIME: Final = 2.0
"""Seconds that ``/readyz`` waits for the API server; the kubelet waits 3."""


def _wall_clock() -> datetime:
    return datetime.now(UTC)


def build(
    settings: Settings, connection: Connection, clock: Callable[[], datetime] = _wall_clock
) -> WsgiApp:
    """Make the application; ``clock`` is what windows, deadlines and ages are judged by."""
    metrics, rollouts = Metrics(), Rollouts()
    metrics.add(rollouts)
    api, drain = Counted(Verbs(connection), metrics), CountedDrain(DrainVerbs(connection), metrics)
    return create_app(
        settings,
        {
            names.SYNC_NODEPOOL: NodePoolSync(settings, api.within, clock, metrics=metrics),
            names.CUSTOMIZE_NODEPOOL: lambda body, **_: customize_nodepool.customize(body),
            names.SYNC_ROTATIONPOLICY: lambda body, **_: sync_rotationpolicy.sync(body, clock()),
            names.CUSTOMIZE_ROTATIONPOLICY: lambda body, **_: customize_rotationpolicy.customize(
                body
            ),
            names.SYNC_DEPLOYMENT: DeploymentSync(settings, drain.within, clock, rollouts),
        },
        lambda: _unready(connection),
        metrics,
    )


def build_eviction(
    settings: Settings,
    connection: Connection,
    clock: Callable[[], datetime] = _wall_clock,
    not_after: Callable[[], float | None] = lambda: None,
) -> WsgiApp:
    """Make the application of the webhook.

    ``clock`` is what tracking is stamped and judged by, ``not_after`` tells when the certificate
    ends that is shown (seconds since 1970, None when there is none).
    """
    metrics, evictions = Metrics(), Evictions()
    metrics.add(evictions)
    metrics.add(CertificateEnd(not_after))
    api = CountedDrain(DrainVerbs(connection), metrics)
    return create_app(
        settings,
        {},
        lambda: _unready(connection),
        metrics,
        reviews={names.ADMISSION_EVICTION: EvictionReview(settings, api.within, clock, evictions)},
    )


def prepare(settings: Settings, connection: Connection, now: datetime) -> str | None:
    """Check the cluster, and sweep it; return what is missing, None when all is well.

    The sweep is best effort, the check is not.
    """
    missing = preflight(connection)
    if missing is not None:
        return missing
    swept = sweep_stale(connection, settings.namespace, now)
    log = structlog.get_logger()
    for change in swept.changes:
        log.info("swept", kind=change.kind, object=change.name, keys=change.keys)
    for failure in swept.failures:
        log.warning("not swept", kind=failure.kind, object=failure.name, problem=failure.error)
    return None


def _unready(connection: Connection) -> str | None:
    if is_ready(connection.within(time.monotonic() + READY_TIME)):
        return None
    return "the API server gives no answer"
