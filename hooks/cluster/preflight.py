"""Whether this cluster can be worked with at all: asked once at the start, and for /readyz.

Owns the questions and the one line that says what to do. Asks with no more rights than the passes
need: discovery, which every authenticated user may read, and ``get`` on NodePools and NodeClaims.
Source: seed 000 section 5.1 *Startup preflight*, design/rotation.md section 5.
"""

from __future__ import annotations

from typing import Final

from hooks.cluster.connection import Connection
from hooks.cluster.errors import ClusterError, NotFound, NotServed, Refused
from hooks.cluster.resources import (
    KARPENTER,
    NODECLAIMS,
    NODEPOOLS,
    POLICIES,
    ROTATIONPOLICIES,
    Resource,
)

PROBE: Final = "noderotation-preflight"
"""A name to ask for: that it isn't there is a good answer, since rights are checked first."""

_WANTED: Final = (
    (KARPENTER, (NODECLAIMS, NODEPOOLS), "install Karpenter v1 or later"),
    (POLICIES, (ROTATIONPOLICIES,), "apply the CRD in crds/"),
)


def preflight(connection: Connection) -> str | None:
    """Say in one line what is missing and what to do about it; None when all is well."""
    try:
        return _missing_kind(connection) or _missing_right(connection)
    except ClusterError as error:
        return str(error)


def unreachable(connection: Connection) -> str | None:
    """Say in one line why the API server doesn't answer its cheapest authenticated read, or None."""
    try:
        connection.get("/version")
    except ClusterError as error:
        return str(error)
    return None


def is_ready(connection: Connection) -> bool:
    """Whether the API server answers that read."""
    return unreachable(connection) is None


def _missing_kind(connection: Connection) -> str | None:
    for group_path, wanted, remedy in _WANTED:
        served = _served(connection, group_path)
        for resource in wanted:
            if resource.plural not in served:
                group = group_path.removeprefix("/apis/")
                return f"the cluster does not serve {resource.plural} of {group}: {remedy}"
    return None


def _served(connection: Connection, group_path: str) -> frozenset[str]:
    try:
        listed = connection.get(group_path)
    except (NotFound, NotServed):
        return frozenset()
    return frozenset(entry["name"] for entry in listed.get("resources") or ())


def _missing_right(connection: Connection) -> str | None:
    for resource in (NODEPOOLS, NODECLAIMS):
        refused = _refusal(connection, resource)
        if refused is not None:
            return (
                f"may not read {resource.plural}: {refused.message}; "
                "grant it by the ClusterRole in manifests/"
            )
    return None


def _refusal(connection: Connection, resource: Resource) -> Refused | None:
    try:
        connection.get(resource.one(PROBE))
    except NotFound:
        return None
    except Refused as refused:
        return refused
    return None
