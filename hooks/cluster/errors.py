"""Everything that can go wrong between us and the Kubernetes API, in our own words.

Owns the hierarchy. No exception of ``kubernetes`` or ``urllib3`` leaves :mod:`hooks.cluster`:
whoever catches :class:`ClusterError` has caught all of it, and the hook answers 503 then. Source:
design/rotation.md section 4 (API errors).
"""

from __future__ import annotations

from hooks.rotation.reader import Unanswered


class ClusterError(Unanswered):
    """The API couldn't do, or didn't do, what was asked; the text is one line for a person."""


class NotConfigured(ClusterError):
    """There is no usable kubeconfig, service account or credential to reach a cluster with."""


class NotFound(ClusterError):
    """The API server itself says that this one object doesn't exist."""


class NotServed(ClusterError):
    """The API server has no such path: the kind isn't installed, which says nothing of an object."""


class Conflict(ClusterError):
    """The object isn't what the write rested on: a 409, or a JSON Patch whose ``test`` failed."""


class AlreadyExists(Conflict):
    """An object of that name is there already, so nothing was created."""


class Refused(ClusterError):
    """The API server says no (400, 401, 403, 422, ...): asking again won't help.

    ``status`` is the HTTP status, ``message`` the server's own words, ``fields`` are the fields
    that it found invalid (none for another reason).
    """

    status: int
    message: str
    fields: tuple[str, ...]

    def __init__(self, status: int, message: str, fields: tuple[str, ...] = ()) -> None:
        """Keep the parts; the text names status and message."""
        super().__init__(f"the API server refused it ({status}): {message}")
        self.status = status
        self.message = message
        self.fields = fields


class Unreadable(ClusterError):
    """An object came back that doesn't have its kind's shape, so nothing may be decided on it."""


class Unavailable(ClusterError):
    """The API gave no usable answer (429, 5xx, time-out, no connection, not JSON); ask again later.

    A write that ends like this may have landed or not. ``retry_after`` is the number of seconds
    that the server asked for, None when it named none.
    """

    retry_after: int | None

    def __init__(self, message: str, retry_after: int | None = None) -> None:
        """Keep the wait beside the text."""
        super().__init__(message)
        self.retry_after = retry_after


class OutOfTime(ClusterError):
    """The pass's deadline is over, so this call wasn't sent at all."""
