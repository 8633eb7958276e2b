"""Writes where a placeholder must go, would rather go, and had better not go.

Source: seed 002 sections 3.3 *Hostname exclusion* and 3.7; design/rotation.md section 5.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from typing import Any, Final, TypeAlias

from hooks import names
from hooks.rotation.model import Requirement

Manifest: TypeAlias = dict[str, Any]
"""Plain JSON data, in a fixed order of keys."""

_MOST_AVOIDED_HOSTS: Final = 100
_LABEL_VALUE: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?")

_WEIGHT_ALL_PREFERRED: Final = 100
_WEIGHT_ONE_PREFERRED: Final = 50
_WEIGHT_AVOIDED_HOSTS: Final = 25
"""Karpenter heeds only the heaviest preference, and the next lighter one when it can't be met: so
all that the operator prefers comes first together, and hosts, which a new node never shares, last.
"""


def node_affinity(
    required: tuple[Requirement, ...],
    preferred: tuple[Requirement, ...],
    avoided: Iterable[str],
) -> Manifest:
    """Write a Pod's node affinity; empty when there is nothing to say.

    ``avoided`` are host names, the most important first; at most 100 are named, and only softly,
    since Karpenter provisions for no Pod that must not be on a host.
    """
    affinity: Manifest = {}
    if required:
        terms = {"nodeSelectorTerms": [_term(required)]}
        affinity["requiredDuringSchedulingIgnoredDuringExecution"] = terms
    soft = [*_preferences(preferred), *_avoidance(avoided)]
    if soft:
        affinity["preferredDuringSchedulingIgnoredDuringExecution"] = soft
    return affinity


def _preferences(preferred: tuple[Requirement, ...]) -> list[Manifest]:
    """Ask for all keys together, and, should that be too much, for each alone."""
    keys = dict.fromkeys(requirement.key for requirement in preferred)
    alone = [tuple(each for each in preferred if each.key == key) for key in keys]
    return [
        *([_weighted(_WEIGHT_ALL_PREFERRED, preferred)] if preferred else []),
        *(_weighted(_WEIGHT_ONE_PREFERRED, one) for one in alone if len(alone) > 1),
    ]


def _avoidance(hosts: Iterable[str]) -> list[Manifest]:
    # A name that is no label value is no host's label either, and would spoil the whole Pod.
    usable = (host for host in dict.fromkeys(hosts) if _LABEL_VALUE.fullmatch(host))
    named = tuple(sorted(islice(usable, _MOST_AVOIDED_HOSTS)))
    if not named:
        return []
    avoid = Requirement(names.HOSTNAME_LABEL, "NotIn", named)
    return [_weighted(_WEIGHT_AVOIDED_HOSTS, (avoid,))]


def _weighted(weight: int, requirements: tuple[Requirement, ...]) -> Manifest:
    return {"weight": weight, "preference": _term(requirements)}


def _term(requirements: tuple[Requirement, ...]) -> Manifest:
    return {
        "matchExpressions": [
            {"key": each.key, "operator": each.operator, "values": list(each.values)}
            for each in requirements
        ]
    }
