"""The hook API of Metacontroller (v2): what a call for a NodePool says.

Owns the shape of the requests. Leaves each object to :mod:`hooks.protocol.karpenter`,
:mod:`hooks.protocol.core` and :mod:`hooks.protocol.policy`, and the answer to :mod:`hooks.sync`.
``controller`` and ``finalizing`` are tolerated and unused. Source: design/rotation.md section 1,
the recorded requests under tests/fixtures/recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Final, TypeVar

from pydantic import Field, TypeAdapter
from typing_extensions import TypedDict

from hooks import names
from hooks.protocol.core import node_from, pod_from
from hooks.protocol.core_shapes import NodeShape, PodShape
from hooks.protocol.errors import ShapeError
from hooks.protocol.karpenter import claim_from, pool_from
from hooks.protocol.karpenter_shapes import ClaimShape, PoolShape
from hooks.protocol.metadata import Name
from hooks.protocol.policy import PolicyShape, policy_from
from hooks.protocol.validation import from_bytes
from hooks.rotation.model import BrokenPolicy, Claim, Node, Pod, Policy, Pool

S = TypeVar("S")
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class SyncRequest:
    """A call of ``/sync/nodepool``, every object already a value of the rotation's vocabulary.

    The objects stand in the order of the request, which means nothing.
    """

    pool: Pool
    policies: tuple[Policy | BrokenPolicy, ...]
    claims: tuple[Claim, ...]
    nodes: tuple[Node, ...]
    placeholders: tuple[Pod, ...]


class Attachments(TypedDict):
    """What we own: the placeholders. A group that is missing isn't an empty one."""

    pods: Annotated[dict[str, PodShape] | None, Field(alias=names.POD_GROUP)]


class Related(TypedDict):
    """What the customize answer asked for. A group that is missing isn't an empty one."""

    policies: Annotated[dict[str, PolicyShape] | None, Field(alias=names.ROTATIONPOLICY_GROUP)]
    claims: Annotated[dict[str, ClaimShape] | None, Field(alias=names.NODECLAIM_GROUP)]
    nodes: Annotated[dict[str, NodeShape] | None, Field(alias=names.NODE_GROUP)]


class SyncShape(TypedDict):
    """The body of a sync call."""

    object: PoolShape
    attachments: Attachments
    related: Related


class NamedMeta(TypedDict):
    """Metadata of which only the name counts."""

    name: Name


class NamedShape(TypedDict):
    """An object of which only the name counts."""

    metadata: NamedMeta


class CustomizeShape(TypedDict):
    """The body of a customize call."""

    parent: NamedShape


_SYNC: Final = TypeAdapter(SyncShape)
_CUSTOMIZE: Final = TypeAdapter(CustomizeShape)


def parse_sync(body: bytes) -> SyncRequest:
    """Read the body of ``/sync/nodepool``.

    Raises ShapeError, with the path of the field, when a part is missing or of the wrong type; a
    group that the customize answer asks for and that isn't there at all counts as missing, an
    empty or null one as none. Unreadable annotations and policies are values, not errors.
    """
    shape = from_bytes(_SYNC, body)
    related = shape["related"]
    try:
        pool = pool_from(shape["object"])
    except ShapeError as error:
        raise error.inside("object") from None
    if not pool.uid:
        raise ShapeError("object.metadata.uid", "is missing")
    return SyncRequest(
        pool=pool,
        policies=grouped(f"related.{names.ROTATIONPOLICY_GROUP}", policy_from, related["policies"]),
        claims=grouped(f"related.{names.NODECLAIM_GROUP}", claim_from, related["claims"]),
        nodes=grouped(f"related.{names.NODE_GROUP}", node_from, related["nodes"]),
        placeholders=grouped(
            f"attachments.{names.POD_GROUP}", pod_from, shape["attachments"]["pods"]
        ),
    )


def parse_customize(body: bytes) -> str:
    """Read the body of ``/customize/nodepool``: the NodePool's name, on which alone it may depend."""
    return from_bytes(_CUSTOMIZE, body)["parent"]["metadata"]["name"]


def grouped(field: str, read: Callable[[S], V], shapes: Mapping[str, S] | None) -> tuple[V, ...]:
    """Read each object of a group; raises ShapeError with the path from ``field`` on."""
    values = []
    for key, shape in (shapes or {}).items():
        try:
            values.append(read(shape))
        except ShapeError as error:
            raise error.inside(f"{field}.{key}") from None
    return tuple(values)
