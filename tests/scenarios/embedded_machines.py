"""The machines of the embedded cluster: which can be had, and how fast they are.

Owns being like KWOK's on the real control plane.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from hooks.sandbox.controller import Pace
from hooks.sandbox.karpenter.instances import Catalogue, kwok_catalogue
from hooks.sandbox.scheduling.resources import amounts_of

PACE = Pace(
    launch=timedelta(seconds=1),
    register=timedelta(seconds=1),
    node_ready=timedelta(seconds=1),
    pod_start=timedelta(seconds=1),
    pod_stop=timedelta(seconds=1),
    instance_stop=timedelta(seconds=1),
)
"""Nearly as fast as KWOK's machines on the real plane: from claim to Ready in 3 s (there: 0.4 to 1.7)."""
SPECIAL = {
    "cpu": "7",
    "memory": "32Gi",
    "pods": "110",
    "example.com/widget": "2",
    "hugepages-2Mi": "1Gi",
}
"""The resources of the one instance type that KWOK hasn't; tests/e2e/instance_types.py has it too."""


def instance_types() -> Catalogue:
    """KWOK's machines and the special one."""
    usual = kwok_catalogue()
    like = usual.find("c-8x-amd64-linux")
    assert like is not None
    return usual.extended(
        replace(like, name="special-7x-amd64-linux", capacity=amounts_of(SPECIAL))
    )
