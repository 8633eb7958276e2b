"""The Pod that holds a node's worth of room for the Pods of a node that is to go.

Owns its names and its manifest. Leaves its size to :mod:`hooks.rotation.effective` and
:mod:`hooks.rotation.clamp`, and when it exists to the pass table. Source: seed 002 section 3.3
*The placeholder Pod*, design/rotation.md section 5 *Placeholder*.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import sha256
from typing import Final

from hooks import names
from hooks.rotation.affinity import Manifest, node_affinity
from hooks.rotation.clamp import Clamp, clamp
from hooks.rotation.effective import Census, daemon_overhead, reschedulable
from hooks.rotation.model import Claim, Node, Pod, Policy, Pool, Resources, Taint
from hooks.rotation.quantity import format_quantity
from hooks.rotation.requirements import given_up, resolve

_LONGEST_NAME: Final = 253
_LONGEST_LABEL: Final = 63
_HASH_DIGITS: Final = 8
_NOBODY: Final = 65535
"""The user that the pause image is built for."""


@dataclass(frozen=True, slots=True)
class Placeholder:
    """A placeholder to be, and how it came to its size.

    ``given_up`` are the configured keys of which the pool allows nothing that the node has.
    """

    manifest: Manifest
    requests: Resources
    clamped: Clamp = field(default_factory=Clamp)
    census: Census = field(default_factory=Census)
    given_up: tuple[str, ...] = ()


def name_of(claim_name: str) -> str:
    """Return the name of a claim's placeholder: a DNS subdomain, cut and hashed over 253."""
    name = names.PLACEHOLDER_PREFIX + claim_name
    if len(name) <= _LONGEST_NAME:
        return name
    # A part of a DNS name may neither end with a hyphen nor be followed by one after its dot.
    kept = name[: _LONGEST_NAME - _HASH_DIGITS - 1].rstrip("-.")
    return f"{kept}-{_hash(claim_name)}"


def label_value(claim_name: str) -> str:
    """Return a claim's name as a label value: over 63 characters its first 54 and a hash."""
    if len(claim_name) <= _LONGEST_LABEL:
        return claim_name
    return f"{claim_name[: _LONGEST_LABEL - _HASH_DIGITS - 1]}-{_hash(claim_name)}"


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:_HASH_DIGITS]


def build(
    pool: Pool,
    policy: Policy,
    claim: Claim,
    node: Node,
    pods: tuple[Pod, ...],
    near_deadline_hosts: tuple[str, ...],
    *,
    namespace: str,
    image: str,
) -> Placeholder:
    """Size and write the placeholder for a candidate.

    ``claim`` and ``node`` are live reads, ``pods`` all Pods of that Node. ``near_deadline_hosts``
    are names of Nodes that are better avoided, the most important first; at most 100 hosts, the
    candidate's own included, are named.
    """
    wanted, census = reschedulable(pods)
    requests, clamped = clamp(wanted, daemon_overhead(pods), claim.allocatable, node.allocatable)
    known = (claim, node.labels, pool.requirements)
    hosts = (node.labels.get(names.HOSTNAME_LABEL, node.name), *near_deadline_hosts)
    affinity = node_affinity(
        required=resolve(policy.required, *known),
        preferred=resolve((key for key in policy.preferred if key not in policy.required), *known),
        avoided=hosts,
    )
    manifest = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name_of(claim.name),
            "namespace": namespace,
            "labels": {names.SURGE_FOR: label_value(claim.name)},
            "annotations": {
                names.DO_NOT_DISRUPT: names.TRUE,
                names.SURGE_FOR: claim.name,
            },
        },
        "spec": _spec(pool, affinity, _container(image, requests)),
    }
    return Placeholder(
        manifest, requests, clamped, census, given_up((*policy.required, *policy.preferred), *known)
    )


def _spec(pool: Pool, affinity: Manifest, container: Manifest) -> Manifest:
    tolerations = [_toleration(taint) for taint in dict.fromkeys(pool.taints)]
    # Neither preemptionPolicy nor priority is set: admission takes them from the class, and
    # refuses a Pod that says otherwise.
    return {
        "nodeSelector": {names.NODEPOOL_LABEL: pool.name},
        **({"affinity": {"nodeAffinity": affinity}} if affinity else {}),
        **({"tolerations": tolerations} if tolerations else {}),
        "priorityClassName": names.PRIORITY_CLASS,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": 0,
        "restartPolicy": "Always",
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": _NOBODY,
            "runAsGroup": _NOBODY,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [container],
    }


def _container(image: str, requests: Resources) -> Manifest:
    return {
        "name": "pause",
        "image": image,
        "resources": _resources(requests),
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
            "runAsNonRoot": True,
        },
    }


def _resources(requests: Resources) -> Manifest:
    amounts = {name: format_quantity(requests[name]) for name in sorted(requests)}
    limits = {name: amount for name, amount in amounts.items() if _needs_limit(name)}
    if any(name.startswith("hugepages-") for name in amounts) and not {"cpu", "memory"} & {
        *amounts
    }:
        # The API server refuses huge pages without one of them; nothing more is reserved by it.
        amounts = {"cpu": format_quantity(Fraction(0)), **amounts}
    return {
        **({"requests": amounts} if amounts else {}),
        **({"limits": limits} if limits else {}),
    }


def _needs_limit(resource: str) -> bool:
    """Whether it can't be overcommitted: then the API server asks for an equal limit."""
    return "/" in resource or resource.startswith("hugepages-")


def _toleration(taint: Taint) -> Manifest:
    return {
        "key": taint.key,
        "operator": "Equal",
        **({"value": taint.value} if taint.value else {}),
        "effect": taint.effect,
    }
