"""The live reads of one eviction, as values of the drain's own vocabulary.

Owns what a read that fails is: a :class:`Trouble` for the decision, never an exception, except that
the time is over. Keeps the Deployment as it came, for the patch. Leaves which read comes next to
:mod:`hooks.drain.verdict`. Source: design/drain.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeVar

from hooks.cluster.answers import Json
from hooks.cluster.drain import DrainApi
from hooks.cluster.errors import ClusterError, OutOfTime
from hooks.cluster.reader import reading
from hooks.drain.model import Case, Deployment, Kind, Read, ReplicaSet, Trouble
from hooks.protocol.apps import deployment_of, pod_of, replica_set_of

Value = TypeVar("Value")


@dataclass(slots=True)
class Reads:
    """Makes the reads of one review; ``deployment`` is the last one as it came over the wire."""

    api: DrainApi
    deployment: Json = field(default_factory=dict)

    def into(self, case: Case, wanted: Read) -> Case:
        """Make the read and put what came into the case.

        Raises OutOfTime when nothing was sent, Unreadable for a Pod that hasn't a Pod's shape: that
        is a fault of ours, and not "can't be read", by which a drain would be held.
        """
        where = (wanted.namespace, wanted.name)
        match wanted.kind:
            case Kind.POD:
                live = _tried(lambda: self.api.get_pod(*where))
                if isinstance(live, dict):
                    return replace(case, pod=reading(pod_of, f"Pod {wanted.name}", live))
                return replace(case, pod=live)
            case Kind.REPLICA_SET:
                return replace(case, replica_set=_tried(lambda: self._replica_set(*where)))
            case Kind.DEPLOYMENT:
                return replace(case, deployment=_tried(lambda: self._deployment(*where)))

    def _replica_set(self, namespace: str, name: str) -> ReplicaSet | None:
        live = self.api.get_replicaset(namespace, name)
        return None if live is None else reading(replica_set_of, f"ReplicaSet {name}", live)

    def _deployment(self, namespace: str, name: str) -> Deployment | None:
        live = self.api.get_deployment(namespace, name)
        if live is None:
            return None
        self.deployment = live
        return reading(deployment_of, f"Deployment {name}", live)


def _tried(read: Callable[[], Value]) -> Value | Trouble:
    try:
        return read()
    except OutOfTime:
        raise
    except ClusterError as error:
        return Trouble(str(error))
