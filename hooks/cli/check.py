"""``noderotation check``: all that is wrong with settings, before they reach a cluster or after.

Source: design/product.md (Commands), seed 002 section 3.2.
"""

from __future__ import annotations

import click

from hooks.cli.access import show
from hooks.cli.inputs import input_flags, moment, read_inputs
from hooks.cli.judge import judge
from hooks.cli.judgement import judgement_as_json, judgement_for_people


@click.command(name="check")
@input_flags
def command(
    *,
    files: tuple[str, ...],
    more: tuple[str, ...],
    at: str | None,
    kubeconfig: str | None,
    context: str | None,
    output: str,
) -> None:
    """Check RotationPolicies against the NodePools (and NodeClaims) that they govern."""
    now = moment(at)
    inputs = read_inputs(files, more, kubeconfig, context)
    judgement = judge(inputs, now)
    show(output, judgement_as_json(judgement), judgement_for_people(judgement))
    if judgement.is_fatal:
        raise click.exceptions.Exit(1)
