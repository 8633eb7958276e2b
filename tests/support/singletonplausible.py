"""Whether a fixture of the graceful drain shows a world that could exist."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from hooks import names
from tests.support.live import POD, Json
from tests.support.singletonlive import DEPLOYMENT, REPLICASET

World = Mapping[str, Mapping[str, Json]]
"""Live objects by kind and namespace/name."""


def _things(world: World) -> Iterator[tuple[str, Json]]:
    for kind in (POD, REPLICASET, DEPLOYMENT):
        yield from world[kind].items()


def _is_filed_under_its_name(world: World) -> bool:
    return all(
        key == f"{thing['metadata']['namespace']}/{thing['metadata']['name']}"
        for key, thing in _things(world)
    )


def _has_uids_of_its_own(world: World) -> bool:
    uids = [thing["metadata"].get("uid") for _, thing in _things(world)]
    return None not in uids and len(set(uids)) == len(uids)


def _has_owners_that_are_there(world: World) -> bool:
    uids = {thing["metadata"].get("uid") for _, thing in _things(world)}
    owners = [
        owner
        for _, thing in _things(world)
        for owner in thing["metadata"].get("ownerReferences") or ()
    ]
    return all(
        owner["controller"] and owner["uid"] in uids
        for owner in owners
        if owner["kind"] in {"ReplicaSet", "Deployment"}
    )


def _counts_add_up(world: World) -> bool:
    for deployment in world[DEPLOYMENT].values():
        status = deployment["status"]
        total, ready = status.get("replicas", 0), status.get("readyReplicas", 0)
        missing = max(0, total - status.get("availableReplicas", ready))
        if ready > total or status.get("updatedReplicas", 0) > total:
            return False
        if status.get("unavailableReplicas", 0) != missing:
            return False
    return True


def _status_is_no_newer_than_its_spec(world: World) -> bool:
    return all(
        deployment["status"]["observedGeneration"] <= deployment["metadata"]["generation"]
        for deployment in world[DEPLOYMENT].values()
    )


def _revisions_go_up(world: World) -> bool:
    newest = [_revision(deployment) for deployment in world[DEPLOYMENT].values()]
    return all(_revision(one) <= max(newest) for one in world[REPLICASET].values() if newest)


def _revision(thing: Json) -> int:
    return int((thing["metadata"].get("annotations") or {})[names.REVISION])


CHECKS: Final[Mapping[str, Callable[[World], bool]]] = MappingProxyType(
    {
        "filed": _is_filed_under_its_name,
        "uids": _has_uids_of_its_own,
        "owners": _has_owners_that_are_there,
        "counts": _counts_add_up,
        "generation": _status_is_no_newer_than_its_spec,
        "revisions": _revisions_go_up,
    }
)


def implausible(world: World) -> set[str]:
    """The names of the checks that refuse the world; a shape that can't be read is refused, too."""
    refused = set()
    for name, holds in CHECKS.items():
        try:
            if not holds(world):
                refused.add(name)
        except (KeyError, TypeError, AttributeError):
            refused.add(name)
    return refused
