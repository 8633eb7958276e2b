"""``noderotation sweep``: removes everything that the software left behind, for uninstalling."""

from __future__ import annotations

import click

from hooks import names
from hooks.cli.access import cluster_flags, reached, show
from hooks.cluster.broom import Change, Failure
from hooks.cluster.sweep import is_active


@click.command(name="sweep")
@click.option("--dry-run", is_flag=True, help="Change nothing, say what would go.")
@click.option(
    "--namespace",
    envvar="NODEROTATION_NAMESPACE",
    default=names.NAMESPACE,
    show_default=True,
    help="Where the placeholder Pods are.",
)
@cluster_flags
def command(
    *,
    dry_run: bool,
    namespace: str,
    kubeconfig: str | None,
    context: str | None,
    output: str,
) -> None:
    """Remove every anchor, mark and placeholder of this software from the cluster.

    For uninstalling: it refuses while the DecoratorController exists. An operator's own cordons,
    do-not-disrupt annotations and freezes stay.

    The graceful drain's annotations go from all Deployments and ReplicaSets, also while a rollout
    is waited for: it goes on, and nobody puts the eviction off any more. Delete the webhook first, or it
    writes them again. An operator's own rollout-timeout stays, and so do Pod templates.
    """
    with reached(kubeconfig, context) as cluster:
        if dry_run and is_active(cluster.connection):
            click.echo(
                f"DecoratorController {names.DECORATOR_CONTROLLER} still exists: "
                "the sweep itself will refuse until it is deleted",
                err=True,
            )
        swept = cluster.sweep(namespace, dry_run=dry_run)
    removed = [_as_json(change) for change in swept.changes]
    lines = [_line(change, dry_run=dry_run) for change in swept.changes]
    show(output, {"removed": removed}, "\n".join(lines) or "nothing is left over")
    for failure in swept.failures:
        click.echo(f"{_named(failure)}: {failure.error}", err=True)
    if swept.failures:
        raise click.exceptions.Exit(1)


def _as_json(change: Change) -> dict[str, object]:
    return {
        "kind": change.kind,
        "namespace": change.namespace,
        "name": change.name,
        "keys": list(change.keys),
    }


def _line(change: Change, *, dry_run: bool) -> str:
    removed = "would be removed" if dry_run else "removed"
    what = ", ".join(change.keys) + " " if change.keys else ""
    return f"{_named(change)}: {what}{removed}"


def _named(item: Change | Failure) -> str:
    within = "" if item.namespace is None else f"{item.namespace}/"
    return f"{item.kind} {within}{item.name}"
