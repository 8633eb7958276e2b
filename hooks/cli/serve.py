"""``noderotation serve``: settings -> preflight -> start-up sweep -> server.

Owns that order and the wiring of the hooks. Leaves the parts to their layers. Source:
design/product.md, *Commands*; seed 000 section 5.1, *Startup preflight*.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

import click
import structlog

from hooks import names
from hooks.app import create_app
from hooks.cluster.connection import Connection, connect
from hooks.cluster.credentials import find_access
from hooks.cluster.errors import ClusterError
from hooks.cluster.preflight import is_ready, preflight
from hooks.cluster.sweep import sweep_stale
from hooks.cluster.verbs import Verbs
from hooks.customize.nodepool import customize
from hooks.server.process import WsgiApp, run
from hooks.settings import OPTIONS, Settings, SettingsError, TokenFile, read_settings
from hooks.sync.nodepool import NodePoolSync
from hooks.telemetry.log import configure

READY_TIME: Final = 2.0
"""Seconds that ``/readyz`` waits for the API server; the kubelet waits 3."""

Command = TypeVar("Command", bound=Callable[..., Any])


def setting_flags(command: Command) -> Command:
    """Add a flag for each setting, which wins over the environment."""
    for option in reversed(OPTIONS):
        default = "required" if option.default is None else f"default {option.default}"
        command = click.option(
            option.flag,
            option.field,
            metavar="VALUE",
            help=f"{option.meaning} [{option.variable}; {default}]",
        )(command)
    return command


@click.command(name="serve")
@setting_flags
def command(**given: str | None) -> None:
    """Run the hook server, which Metacontroller calls.

    It finds the API server as kubectl does, or by its Pod's service account, checks that it can work
    there, removes what dead rotations left behind, and then answers until it is told to stop.
    """
    settings = _settings(given)
    configure(settings.log_level)
    try:
        TokenFile(settings.token_file).read()
        _prepare(settings)
    except (ClusterError, OSError, ValueError) as error:
        raise click.ClickException(str(error)) from error
    run(settings, lambda: build(settings, connect(find_access())))


def build(settings: Settings, connection: Connection) -> WsgiApp:
    """Wire the hooks to one connection: the application of a worker."""
    return create_app(
        settings,
        {
            names.SYNC_NODEPOOL: NodePoolSync(settings, Verbs(connection).within),
            names.CUSTOMIZE_NODEPOOL: lambda body, **_: customize(body),
        },
        lambda: _unready(connection),
    )


def _settings(given: dict[str, str | None]) -> Settings:
    flags = {option.variable: given[option.field] for option in OPTIONS}
    try:
        return read_settings(os.environ | {name: text for name, text in flags.items() if text})
    except SettingsError as error:
        raise click.UsageError("\n".join(error.problems)) from error


def _prepare(settings: Settings) -> None:
    """Check the cluster, and sweep it; the sweep is best effort, the check is not."""
    connection = connect(find_access())
    missing = preflight(connection)
    if missing is not None:
        raise click.ClickException(missing)
    swept = sweep_stale(connection, settings.namespace, datetime.now(UTC))
    log = structlog.get_logger()
    for change in swept.changes:
        log.info("swept", kind=change.kind, object=change.name, keys=change.keys)
    for failure in swept.failures:
        log.warning("not swept", kind=failure.kind, object=failure.name, problem=failure.error)
    connection.close()


def _unready(connection: Connection) -> str | None:
    if is_ready(connection.within(time.monotonic() + READY_TIME)):
        return None
    return "the API server gives no answer"
