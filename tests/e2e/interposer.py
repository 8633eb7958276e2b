"""A hand between the hook server and the real API server, at the one spot that mutants need.

Leaves forwarding and rules to :mod:`tests.scenarios.interposer`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from tests.e2e.control_plane import ControlPlane
from tests.scenarios import interposer
from tests.scenarios.interposer import Rule

NODECLAIM = "/apis/karpenter.sh/v1/nodeclaims/[^/]+"


class Interposer(interposer.Interposer):
    """An API server at ``url`` that is really the one of ``plane``.

    ``taken`` is called with the NodeClaim's name, each time that its state has become draining, and
    before the hook server hears of it.
    """

    def __init__(self, plane: ControlPlane, taken: Callable[[str], None]) -> None:
        """Nothing is answered before ``with``."""
        rule = Rule(
            "PATCH",
            NODECLAIM,
            '"draining"',
            after=lambda sent: taken(sent.name),
            times=sys.maxsize,
        )
        super().__init__(plane.url, plane.ca, [rule])
