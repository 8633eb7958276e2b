"""What ``windows`` and ``check`` look at: policies, pools and claims, from files or a cluster.

Owns the choice of the objects that matter, and says which ones were left aside. Leaves files to
:mod:`hooks.cli.documents` and the reading of each kind to :mod:`hooks.protocol`.
Source: design/product.md (Commands).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

import click

from hooks import names
from hooks.cli.access import cluster_flags, reached
from hooks.cli.documents import Document, Json, UnreadableError, documents, subfolders
from hooks.cluster.reader import reading
from hooks.protocol.errors import ShapeError
from hooks.protocol.karpenter import claim_of, pool_of
from hooks.protocol.policy import policy_of
from hooks.rotation.durations import parse_stamp
from hooks.rotation.model import BrokenPolicy, Claim, Policy, Pool

Value = TypeVar("Value")
Command = TypeVar("Command", bound=Callable[..., Any])

_POOL: Final = "NodePool"
_CLAIM: Final = "NodeClaim"
_VERSIONS: Final = {
    names.POLICY_KIND: (names.POLICY_GROUP, names.POLICY_VERSION),
    _POOL: ("karpenter.sh", "v1"),
    _CLAIM: ("karpenter.sh", "v1"),
}
_YEARS: Final = range(1970, 3000)


@dataclass(frozen=True, slots=True)
class Inputs:
    """All that was found, each kind by name; ``notes`` say what wasn't looked at."""

    policies: tuple[Policy | BrokenPolicy, ...]
    pools: tuple[Pool, ...] = ()
    claims: tuple[Claim, ...] = ()
    notes: tuple[str, ...] = ()


def input_flags(command: Command) -> Command:
    """Add -f, --at, and the flags for a cluster to a command."""
    command = cluster_flags(command)
    command = click.option("--at", metavar="TIME", help="An RFC 3339 time instead of now.")(command)
    command = click.argument("more", nargs=-1, metavar="[FILE]...")(command)
    return click.option(
        "-f",
        "--filename",
        "files",
        multiple=True,
        metavar="FILE",
        help="A file, a folder, or - for standard input. Without it the cluster is read.",
    )(command)


def moment(at: str | None) -> datetime:
    """The time that a command looks at: ``--at``, or now."""
    if at is None:
        return datetime.now(UTC)
    time = parse_stamp(at)
    if not isinstance(time, datetime) or time.year not in _YEARS:
        raise click.BadParameter(
            f"{at[:64]!r} isn't an RFC 3339 time such as 2026-11-29T22:00:00Z", param_hint="--at"
        )
    return time


def read_inputs(
    files: tuple[str, ...], more: tuple[str, ...], kubeconfig: str | None, context: str | None
) -> Inputs:
    """Read the files, or without any the cluster.

    Raises :class:`UnreadableError` (exit status 2) for files, ClickException (1) for a cluster.
    """
    if more and not files:
        raise click.UsageError(f"name files with -f, as in -f {more[0]}")
    return _from_files((*files, *more)) if files else _from_cluster(kubeconfig, context)


def _from_files(paths: tuple[str, ...]) -> Inputs:
    found: dict[str, dict[str, Document]] = {kind: {} for kind in _VERSIONS}
    ignored: Counter[str] = Counter()
    for document in documents(paths):
        kind = _kind(document)
        if kind not in found:
            ignored[kind] += 1
            continue
        name = _name(document, kind)
        other = found[kind].setdefault(name, document)
        if other is not document:
            raise UnreadableError(
                f"{document.source}: {kind} {name} stands in {other.source} already"
            )
    policies, pools, claims = (
        [found[kind][name] for name in sorted(found[kind])] for kind in _VERSIONS
    )
    if not policies:
        raise UnreadableError(f"{', '.join(paths)}: no {names.POLICY_KIND} there")
    return Inputs(
        policies=tuple(policy_of(document.value) for document in policies),
        pools=tuple(_read(pool_of, document) for document in pools),
        claims=tuple(_read(claim_of, _identified(document)) for document in claims),
        notes=(
            *(f"{count} {kind} ignored" for kind, count in sorted(ignored.items())),
            *(f"folder {folder} not entered" for folder in subfolders(paths)),
        ),
    )


def _from_cluster(kubeconfig: str | None, context: str | None) -> Inputs:
    with reached(kubeconfig, context) as cluster:
        policies = sorted(cluster.list_policies(), key=_metadata_name)
        pools = sorted(cluster.list_nodepools(), key=_metadata_name)
        claims = sorted(cluster.list_nodeclaims(), key=_metadata_name)
        return Inputs(
            policies=tuple(policy_of(live) for live in policies),
            pools=tuple(
                reading(pool_of, f"{_POOL} {_metadata_name(live)}", live) for live in pools
            ),
            claims=tuple(
                reading(claim_of, f"{_CLAIM} {_metadata_name(live)}", live) for live in claims
            ),
        )


def _kind(document: Document) -> str:
    """The kind of an object, refusing those that look like ours in a version we don't know."""
    kind, version = document.value.get("kind"), document.value.get("apiVersion")
    if not isinstance(kind, str) or not kind:
        if document.listed:
            return f"object without a kind ({document.source})"
        raise UnreadableError(f"{document.source}: holds an object without a kind")
    if kind not in _VERSIONS:
        return kind
    group, known = _VERSIONS[kind]
    if version == f"{group}/{known}":
        return kind
    if isinstance(version, str) and "/" in version and not version.startswith(f"{group}/"):
        return f"{kind} of {version}"
    raise UnreadableError(
        f"{document.source}: apiVersion of this {kind} must be {group}/{known}, not {version!r}"
    )


def _name(document: Document, kind: str) -> str:
    name = _metadata_name(document.value)
    if not name:
        raise UnreadableError(f"{document.source}: {kind} without metadata.name")
    return name


def _metadata_name(value: Json) -> str:
    meta = value.get("metadata")
    name = meta.get("name") if isinstance(meta, dict) else None
    return name if isinstance(name, str) else ""


def _identified(document: Document) -> Document:
    """A claim written by hand has no UID; nothing here depends on it."""
    meta = {"uid": _metadata_name(document.value), **document.value["metadata"]}
    return Document(document.source, {**document.value, "metadata": meta})


def _read(read: Callable[[object], Value], document: Document) -> Value:
    try:
        return read(document.value)
    except ShapeError as error:
        what = f"{document.value['kind']} {_metadata_name(document.value)}"
        raise UnreadableError(f"{document.source}: {what}: {error}") from None
