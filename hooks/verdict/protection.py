"""Whether Karpenter was kept from disrupting the two nodes of a rotation on its own account.

Owns the promise that both carry do-not-disrupt, whoever set it: the candidate from its cordon until
its deletion, the host of the placeholder from then on until the claim is gone. Not judged: the host
before the deletion, because nothing tells from outside when the software got to know of it.
"""

from __future__ import annotations

from hooks.verdict.case import Case
from hooks.verdict.history import Moment
from hooks.verdict.questions import DO_NOT_DISRUPT, annotation, host_of
from hooks.verdict.rotations import Rotation


def protected_meanwhile(case: Case) -> list[str]:
    """Candidate and host carry do-not-disrupt while their rotation is under way."""
    found: list[str] = []
    for rotation in case.rotations:
        host = ""
        for moment in case.moments():
            revision = moment.change.revision
            if rotation.deleted is not None and revision == rotation.deleted.revision:
                there = host_of(moment.world, rotation.claim)
                host = "" if there is None else there["metadata"]["name"]
                found += _bare(moment, rotation.node, "candidate", revision)
                found += _bare(moment, host, "host", revision)
            elif _concerns(moment, rotation.node) and _before_the_delete(rotation, revision):
                found += _bare(moment, rotation.node, "candidate", revision)
            elif _concerns(moment, host) and _until_gone(rotation, revision):
                found += _bare(moment, host, "host", revision)
    return found


def _concerns(moment: Moment, node: str) -> bool:
    return moment.change.kind == "Node" and moment.change.name == node


def _before_the_delete(rotation: Rotation, revision: int) -> bool:
    if rotation.cordoned is None or rotation.deleted is None:
        return False
    return rotation.cordoned.revision <= revision < rotation.deleted.revision


def _until_gone(rotation: Rotation, revision: int) -> bool:
    if rotation.cleared is not None and revision >= rotation.cleared.revision:
        return False
    return rotation.gone is None or revision < rotation.gone.revision


def _bare(moment: Moment, node: str, what: str, revision: int) -> list[str]:
    found = moment.world["Node"].get(("", node))
    if found is None or annotation(found, DO_NOT_DISRUPT) == "true":
        return []
    return [f"{what} {node} may be disrupted by Karpenter at revision {revision}"]
