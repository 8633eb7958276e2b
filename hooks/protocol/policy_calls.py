"""The hook API of Metacontroller (v2): what a call for a RotationPolicy says.

Owns the shape of the requests of a CompositeController, and the reading of the one part of an own
status that the next one depends on. Leaves the objects to :mod:`hooks.protocol.policy` and
:mod:`hooks.protocol.karpenter`, and the answer to :mod:`hooks.sync`. ``controller``, ``children``
and ``finalizing`` are tolerated and unused. Source: design/cluster.md *Seen on the wire*, the
recorded requests in tests/fixtures/metacontroller/policy-status.jsonl.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final, NotRequired

from pydantic import Field, TypeAdapter
from typing_extensions import TypedDict

from hooks import names
from hooks.protocol.hook import grouped
from hooks.protocol.karpenter import pool_from
from hooks.protocol.karpenter_shapes import PoolShape
from hooks.protocol.metadata import READY
from hooks.protocol.policy import PolicyShape, policy_from
from hooks.protocol.validation import from_bytes
from hooks.rotation.durations import parse_stamp
from hooks.rotation.model import BrokenPolicy, Policy, Pool, Selector
from hooks.rotation.status_ready import Shown


@dataclass(frozen=True, slots=True)
class PolicyRequest:
    """A call of ``/sync/rotationpolicy``; policies and pools stand in the order of their names."""

    policy: Policy | BrokenPolicy
    policies: tuple[Policy | BrokenPolicy, ...]
    """All of them, ``policy`` among them."""
    pools: tuple[Pool, ...]
    shown: Shown | None
    """The Ready condition that the policy's status shows; None when there is no readable one."""


class ParentShape(PolicyShape):
    """The parent: a RotationPolicy with its status, which anybody may have written."""

    status: NotRequired[Any]


class PolicyRelated(TypedDict):
    """What the customize answer asked for. A group that is missing isn't an empty one."""

    policies: Annotated[dict[str, PolicyShape] | None, Field(alias=names.ROTATIONPOLICY_GROUP)]
    pools: Annotated[dict[str, PoolShape] | None, Field(alias=names.NODEPOOL_GROUP)]


class PolicySyncShape(TypedDict):
    """The body of a sync call."""

    parent: ParentShape
    related: PolicyRelated


class PolicyCustomizeShape(TypedDict):
    """The body of a customize call."""

    parent: PolicyShape


_SYNC: Final = TypeAdapter(PolicySyncShape)
_CUSTOMIZE: Final = TypeAdapter(PolicyCustomizeShape)


def parse_policy_sync(body: bytes) -> PolicyRequest:
    """Read the body of ``/sync/rotationpolicy``.

    Raises ShapeError as :func:`hooks.protocol.hook.parse_sync` does. A policy whose spec can't be
    read is a value, the parent included.
    """
    shape = from_bytes(_SYNC, body)
    related = shape["related"]
    policy = policy_from(shape["parent"])
    policies = grouped(f"related.{names.ROTATIONPOLICY_GROUP}", policy_from, related["policies"])
    pools = grouped(f"related.{names.NODEPOOL_GROUP}", pool_from, related["pools"])
    # The parent comes from another cache than the related ones, and is what the answer is about.
    others = [other for other in policies if other.name != policy.name]
    return PolicyRequest(
        policy=policy,
        policies=tuple(sorted([*others, policy], key=lambda one: one.name)),
        pools=tuple(sorted(pools, key=lambda pool: pool.name)),
        shown=next(_shown(shape["parent"].get("status")), None),
    )


def parse_policy_customize(body: bytes) -> Selector | None:
    """Read the body of ``/customize/rotationpolicy``: the policy's selector, None if unreadable."""
    return policy_from(from_bytes(_CUSTOMIZE, body)["parent"]).selector


def _shown(status: object) -> Iterator[Shown]:
    conditions = status.get("conditions") if isinstance(status, dict) else None
    for entry in conditions if isinstance(conditions, list) else ():
        if not isinstance(entry, dict) or entry.get("type") != READY:
            continue
        since = entry.get("lastTransitionTime")
        read = parse_stamp(since) if isinstance(since, str) else None
        holds = entry.get("status")
        if isinstance(holds, str) and isinstance(read, datetime):
            yield Shown(holds, read)
