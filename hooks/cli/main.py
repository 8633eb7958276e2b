"""The command ``noderotation`` (and ``kubectl noderotation``): the list of its subcommands.

Owns their names and one line about each. Each lives in a module of its own as ``command``, loaded
only when it is called, so that none waits for what another one imports. Source: design/product.md,
*Commands*.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import MappingProxyType
from typing import Final

import click
from typing_extensions import override

COMMANDS: Final = MappingProxyType(
    {
        "serve": "Run the hook server.",
        "demo": "Rotate a whole pool on a cluster in memory, in about a minute.",
        "windows": "Show when maintenance windows are open.",
        "check": "Say what is wrong with policies, and what follows from them.",
        "rotate": "Ask for nodes to be renewed in the coming windows.",
        "abort": "Roll back a rotation that hasn't deleted anything yet.",
        "sweep": "Remove everything that this software left behind.",
    }
)
"""Name and one line of each subcommand, in the order of the help."""


class Commands(click.Group):
    """The group; it knows the names without loading what is behind them."""

    @override
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    @override
    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"hooks.cli.{cmd_name}").command
        return command

    @override
    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.command(
    name="noderotation", cls=Commands, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(package_name="noderotation", message="%(prog)s %(version)s")
def group() -> None:
    """Replace the nodes of Karpenter's NodePools gracefully, in maintenance windows.

    Exit status: 0 fine, also with warnings; 1 a fatal finding, a failed verdict or an unreachable
    cluster; 2 wrong use or an unreadable file.
    """


def main() -> None:
    """Run the command, under the name that it was called by."""
    group(prog_name=Path(sys.argv[0]).name.replace("kubectl-", "kubectl "))
