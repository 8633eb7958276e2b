"""Whether a successor had room for what the old node carried.

Owns the sum of what Pods ask for, computed anew from the Pods; for want of init containers and
overhead it is the least that they need. Leaves whether the successor was up to :mod:`.course`.
Source: seed 002 section 3.3 (*Request sum exclusions*, *Placeholder sizing clamp*).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from fractions import Fraction

from hooks.verdict.case import Case
from hooks.verdict.history import Object
from hooks.verdict.questions import SURGE_FOR, is_leaving, label, node_of, placeholders

FINISHED = ("Succeeded", "Failed")
COMES_ANEW = ("DaemonSet", "Node")
"""Owners whose Pods every node has of its own."""
_AMOUNT = re.compile(
    r"([0-9]{1,20}(?:\.[0-9]{0,20})?|\.[0-9]{1,20})([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]{1,2})?"
)
_TENS = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_TWOS = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}


def parse_amount(text: int | str) -> Fraction:
    """An amount of a resource; raises ValueError for what is none."""
    found = _AMOUNT.fullmatch(str(text))
    if found is None:
        raise ValueError(f"{text!r:.40} is no amount")
    number, suffix = Fraction(found[1].rstrip(".")), found[2] or ""
    if suffix in _TWOS:
        return number * (1 << _TWOS[suffix])
    tens = _TENS[suffix] if suffix in _TENS else int(suffix[1:])
    return number * Fraction(f"1e{tens}")


def room_held(case: Case) -> list[str]:
    """At each delete the placeholder asks for as much as the Pods that have to leave, all together.

    More than a new node offers beside its DaemonSets can't be asked for.
    """
    found: list[str] = []
    for moment in case.deletes():
        name, claim = moment.change.name, moment.change.object
        holders = [pod for pod in placeholders(moment.world, name) if not is_leaving(pod)]
        there = [
            pod
            for pod in moment.world["Pod"].values()
            if pod.get("spec", {}).get("nodeName", "") == node_of(claim) != ""
        ]
        held = _asked(holders)
        for resource, wanted in _wanted(there, claim).items():
            if holders and held[resource] < wanted:
                found.append(
                    f"{name} was deleted although its placeholder holds {resource} "
                    f"{float(held[resource]):.12g}, and its Pods need {float(wanted):.12g}"
                )
    return found


def _wanted(there: Iterable[Object], claim: Object) -> Mapping[str, Fraction]:
    standing = [pod for pod in there if pod.get("status", {}).get("phase") not in FINISHED]
    leaving = [pod for pod in standing if _has_to_leave(pod)]
    daemons = _asked(pod for pod in standing if _owner(pod) == "DaemonSet")
    offered = claim.get("status", {}).get("allocatable", {})
    return {
        resource: min(amount, max(parse_amount(offered[resource]) - daemons[resource], Fraction()))
        if resource in offered
        else amount
        for resource, amount in sorted(_asked(leaving).items())
    }


def _has_to_leave(pod: Object) -> bool:
    return not is_leaving(pod) and label(pod, SURGE_FOR) is None and _owner(pod) not in COMES_ANEW


def _owner(pod: Object) -> str:
    owners = pod["metadata"].get("ownerReferences", ())
    return next((owner["kind"] for owner in owners if owner.get("controller")), "")


def _asked(pods: Iterable[Object]) -> defaultdict[str, Fraction]:
    total: defaultdict[str, Fraction] = defaultdict(Fraction)
    for pod in pods:
        for container in pod.get("spec", {}).get("containers", ()):
            for resource, text in container.get("resources", {}).get("requests", {}).items():
                total[resource] += parse_amount(text)
    return total
