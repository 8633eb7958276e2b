"""The one error of this layer: what came over the wire doesn't have the shape that it should have.

Owns that error. Leaves its translation to an HTTP status to :mod:`hooks.app`. Source:
design/product.md (HTTP).
"""

from __future__ import annotations


class ShapeError(Exception):
    """Something from outside has the wrong shape; nothing may be decided on it.

    ``field`` is the path of the offending part (``object.metadata.name``, or ``body`` for the
    whole), ``message`` says what is wrong with it. Both are safe to show to the caller.
    """

    field: str
    message: str

    def __init__(self, field: str, message: str) -> None:
        """Keep both parts; the text of the exception is ``field: message``."""
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message

    def inside(self, parent: str) -> ShapeError:
        """The same finding, seen from the object that holds this one at ``parent``."""
        return ShapeError(f"{parent}.{self.field}", self.message)
