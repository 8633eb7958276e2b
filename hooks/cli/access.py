"""What every command that talks to a cluster shares: its flags, and how it fails.

An unreachable cluster is exit status 1 and one clear line, an unusable kubeconfig status 2. Source:
design/product.md (Commands).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, TypeVar

import click

from hooks.cli.documents import UnreadableError
from hooks.cluster.errors import ClusterError, NotConfigured
from hooks.cluster.operator import OperatorCluster

Command = TypeVar("Command", bound=Callable[..., Any])

_FLAGS: Final = (
    click.option("--kubeconfig", metavar="FILE", help="As of kubectl."),
    click.option("--context", metavar="NAME", help="As of kubectl."),
    click.option(
        "--output",
        type=click.Choice(["text", "json"]),
        default="text",
        show_default=True,
        help="For people or for programs.",
    ),
)


def cluster_flags(command: Command) -> Command:
    """Add --kubeconfig, --context and --output to a command."""
    for flag in reversed(_FLAGS):
        command = flag(command)
    return command


@contextmanager
def reached(kubeconfig: str | None, context: str | None) -> Iterator[OperatorCluster]:
    """Give the cluster; whatever goes wrong with it ends the command with status 1.

    A kubeconfig or context that was asked for and can't be used is wrong use instead: status 2.
    """
    try:
        found = OperatorCluster(kubeconfig, context)
    except NotConfigured as error:
        given = kubeconfig is not None or context is not None
        raise (UnreadableError if given else click.ClickException)(str(error)) from error
    try:
        with found as cluster:
            yield cluster
    except ClusterError as error:
        raise click.ClickException(str(error)) from error


def show(output: str, result: Mapping[str, object], text: str) -> None:
    """Print the result as JSON, or what it says to people."""
    click.echo(json.dumps(result, indent=2) if output == "json" else text)
