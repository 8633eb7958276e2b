"""The hook API of Metacontroller (v2): what a call for a tracked Deployment says.

Owns the shape of the requests of DecoratorController ``graceful-drain``, which has neither
attachments nor related objects. Leaves the Deployment to :mod:`hooks.protocol.apps`, and the answer
to :mod:`hooks.sync`. Source: design/drain.md, tests/fixtures/recorded/deployment-rollout.jsonl.
"""

from __future__ import annotations

from typing import Final

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from hooks.drain.model import Deployment
from hooks.protocol.apps import deployment_from
from hooks.protocol.apps_shapes import DeploymentShape
from hooks.protocol.validation import from_bytes


class DeploymentSyncShape(TypedDict):
    """The body of a sync call."""

    object: DeploymentShape


_SYNC: Final = TypeAdapter(DeploymentSyncShape)


def parse_deployment_sync(body: bytes) -> Deployment:
    """Read the body of ``/sync/deployment``; raises ShapeError with the path of the field."""
    return deployment_from(from_bytes(_SYNC, body)["object"])
