"""``noderotation serve``: settings -> preflight -> start-up sweep -> server.

Owns that order, and which of the two servers it is. The eviction server has neither sweep nor a
kind that the cluster must serve: it works wherever an API server answers. Leaves the parts to their
layers. Source: design/product.md, *Commands*; seed 000 section 5.1, *Startup preflight*.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeVar

import click

from hooks.app import WsgiApp
from hooks.cli.documents import UnreadableError
from hooks.cluster.connection import connect
from hooks.cluster.credentials import find_access
from hooks.cluster.errors import ClusterError
from hooks.cluster.preflight import unreachable
from hooks.server.certificates import CertificateError, Certificates, certificate_files
from hooks.server.process import run
from hooks.settings import (
    Only,
    Option,
    Settings,
    SettingsError,
    TokenFile,
    options_of,
    read_settings,
)
from hooks.telemetry.log import configure
from hooks.wiring import build, build_eviction, prepare

Command = TypeVar("Command", bound=Callable[..., Any])


def setting_flags(command: Command) -> Command:
    """Add a flag for each setting, which wins over the environment."""
    both = zip(options_of(None), options_of(Only.EVICTION), strict=True)
    for option, eviction in reversed(list(both)):
        told = _told(option)
        if eviction.default != option.default:
            told += f"; eviction: {_told(eviction)}"
        command = click.option(
            option.flag,
            option.field,
            metavar="VALUE",
            help=f"{option.meaning} [{option.variable}; {told}]",
        )(command)
    return command


def _told(option: Option) -> str:
    if option.default is None:
        return "required"
    return f"default {option.default}" if option.default else "not required"


@click.command(name="serve")
@click.option(
    "--only",
    type=click.Choice([only.value for only in Only]),
    help="serve the eviction webhook instead, over TLS, which the API server calls",
)
@setting_flags
def command(only: str | None, **given: str | None) -> None:
    """Run the hook server, which Metacontroller calls.

    It finds the API server as kubectl does, or by its Pod's service account, checks that it can work
    there, removes what dead rotations left behind, and then answers until it is told to stop.
    """
    part = None if only is None else Only(only)
    settings = _settings(given, part)
    configure(settings.log_level)
    try:
        certificates = _check_files(settings, part)
    except (CertificateError, OSError, ValueError) as error:
        raise UnreadableError(str(error)) from error
    try:
        _check_cluster(settings, part)
    except (ClusterError, OSError, ValueError) as error:
        raise click.ClickException(str(error)) from error

    def load() -> WsgiApp:
        connection = connect(find_access())
        if part is None or certificates is None:
            return build(settings, connection)
        return build_eviction(settings, connection, not_after=certificates.not_after)

    run(settings, load, certificates)


def _settings(given: dict[str, str | None], only: Only | None) -> Settings:
    flags = {option.variable: given[option.field] for option in options_of(only)}
    try:
        return read_settings(
            os.environ | {name: text for name, text in flags.items() if text}, only
        )
    except SettingsError as error:
        raise click.UsageError("\n".join(error.problems)) from error


def _check_files(settings: Settings, only: Only | None) -> Certificates | None:
    """Read what is read before there is a server; the certificates if it is to speak TLS."""
    if only is None:
        TokenFile(settings.token_file).read()
    files = certificate_files(settings)
    return None if files is None else Certificates(files)


def _check_cluster(settings: Settings, only: Only | None) -> None:
    connection = connect(find_access())
    missing = (
        prepare(settings, connection, datetime.now(UTC))
        if only is None
        else unreachable(connection)
    )
    if missing is not None:
        raise click.ClickException(missing)
    connection.close()
