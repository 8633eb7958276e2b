"""The store over HTTP: as much of an API server as the project's client and kubectl use.

``face`` is the whole. ``wire``: sockets and bytes. ``targets``: what a path and its query mean.
``reading``, ``writing``, ``watching``, ``discovery``: the verbs. ``subresources``: doors to what the
store doesn't do itself, such as evictions. No authentication: it listens on loopback only.
"""

from hooks.sandbox.face.face import Call, Face
from hooks.sandbox.face.subresources import Subresource, SubresourceCall, evictions

__all__ = ["Call", "Face", "Subresource", "SubresourceCall", "evictions"]
