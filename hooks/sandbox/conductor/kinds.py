"""The kinds of controllers that the conductor runs.

Owns where their objects are found, and which engine a controller gets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hooks.sandbox.apiport import Resource
from hooks.sandbox.conductor.composite import Composite
from hooks.sandbox.conductor.decorator import Decorator

if TYPE_CHECKING:
    from hooks.sandbox.conductor.controllerspec import ControllerSpec
    from hooks.sandbox.conductor.syncloop import Hooks, Surroundings, SyncLoop

_VERSION: Final = "metacontroller.k8s.io/v1alpha1"
DECORATORS: Final = Resource(
    _VERSION, "decoratorcontrollers", "DecoratorController", namespaced=False
)
COMPOSITES: Final = Resource(
    _VERSION, "compositecontrollers", "CompositeController", namespaced=False
)
CONTROLLERS: Final = (DECORATORS, COMPOSITES)


def engine(spec: ControllerSpec, hooks: Hooks, around: Surroundings) -> SyncLoop:
    """Return what runs a controller; raises ConductorError when it can't be run."""
    if spec.kind == "CompositeController":
        return Composite(spec, hooks, around)
    return Decorator(spec, hooks, around)
