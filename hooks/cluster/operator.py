"""The cluster as an operator's commands see it, with the operator's own rights.

Owns the reads and the few patches of the commands. The hook server never uses it: its rights are
those of :mod:`hooks.cluster.verbs`. Source: design/rotation.md section 4 (Commands).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Self, TypeAlias

from hooks import names
from hooks.cluster.answers import Json
from hooks.cluster.connection import Connection, connect
from hooks.cluster.credentials import find_access
from hooks.cluster.errors import Conflict, NotFound, NotServed
from hooks.cluster.patches import amend
from hooks.cluster.resources import NODECLAIMS, NODEPOOLS, ROTATIONPOLICIES, Resource
from hooks.cluster.sweep import Swept, sweep_all

ATTEMPTS: Final = 4
"""A conflicting patch is computed again on the live object three times at most."""

Wanted: TypeAlias = Callable[[Json], Mapping[str, str | None]]
"""Gives, for an object as it is now, the annotations to set or (None) to remove."""


class OperatorCluster:
    """One cluster, found as kubectl finds it. A context manager, so that it closes its sockets.

    Every method raises a :class:`hooks.cluster.errors.ClusterError`, whose text is one clear line;
    so does making it, when there is no usable kubeconfig.
    """

    def __init__(self, kubeconfig: str | None = None, context: str | None = None) -> None:
        self.connection: Connection = connect(find_access(kubeconfig, context))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()

    def list_policies(self) -> list[Json]:
        """Read all RotationPolicies."""
        return self._list(ROTATIONPOLICIES)

    def list_nodepools(self) -> list[Json]:
        """Read all NodePools."""
        return self._list(NODEPOOLS)

    def list_nodeclaims(self, pool: str | None = None) -> list[Json]:
        """Read the NodeClaims, those of one NodePool or all."""
        return self._list(NODECLAIMS, pool)

    def get_nodepool(self, name: str) -> Json:
        """Read a NodePool; raises NotFound when it doesn't exist."""
        return self.connection.get(NODEPOOLS.one(name))

    def get_nodeclaim(self, name: str) -> Json | None:
        """Read a NodeClaim; None when it doesn't exist."""
        try:
            return self.connection.get(NODECLAIMS.one(name))
        except NotFound:
            return None

    def annotate_nodepool(self, name: str, wanted: Wanted) -> None:
        """Change a NodePool's annotations, computed again when somebody else was faster."""
        self._annotate(NODEPOOLS.one(name), wanted)

    def annotate_nodeclaim(self, name: str, wanted: Wanted) -> None:
        """Change a NodeClaim's annotations, computed again when somebody else was faster."""
        self._annotate(NODECLAIMS.one(name), wanted)

    def sweep(self, namespace: str, *, dry_run: bool = False) -> Swept:
        """Remove all that the software left behind; see :func:`hooks.cluster.sweep.sweep_all`."""
        return sweep_all(self.connection, namespace, dry_run=dry_run)

    def _list(self, resource: Resource, pool: str | None = None) -> list[Json]:
        query = {} if pool is None else {"labelSelector": f"{names.NODEPOOL_LABEL}={pool}"}
        try:
            return list(self.connection.items(resource.every(), query))
        except NotServed as error:
            group = resource.group_path.removeprefix("/apis/")
            raise NotServed(f"the cluster does not serve {resource.plural} of {group}") from error

    def _annotate(self, path: str, wanted: Wanted, attempts: int = ATTEMPTS) -> None:
        live = self.connection.get(path)
        ops = amend(live, annotations=wanted(live))
        if not ops:
            return
        try:
            self.connection.patch(path, ops)
        except Conflict:
            if attempts <= 1:
                raise
            self._annotate(path, wanted, attempts - 1)
