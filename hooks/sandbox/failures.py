"""What can go wrong while a parent is synced, and how each of it is treated.

Owns the conductor's own error hierarchy; no library error leaves the module that met it. Leaves the
treatment (backoff, delay, silence) to :mod:`hooks.sandbox.conductor.syncloop`.
"""

from __future__ import annotations

from http import HTTPStatus


class ConductorError(Exception):
    """Something failed that the conductor answers with a SyncError Event and a backoff."""


class HookCallError(ConductorError):
    """The hook could not be reached, did not answer 200 in time, or answered nonsense."""


class TooManyRequestsError(ConductorError):
    """The hook answered 429: no Event, no backoff, asked again after the time it named."""

    def __init__(self, after_seconds: int) -> None:
        """Remember the whole seconds of Retry-After; 0 when it named none."""
        super().__init__(f"Too many request, it will be resync after: {after_seconds}")
        self.after_seconds = after_seconds


class RelatedNotSyncedError(ConductorError):
    """A related kind's first list isn't there yet: backoff, but no Event."""

    def __init__(self) -> None:
        """Carry the one fixed message."""
        super().__init__("related informer not synced yet")


class StoppedError(ConductorError):
    """The controller was stopped while the call ran: nothing of it may be applied or told."""


class InvalidControllerError(ConductorError):
    """A controller object can't be run: a broken spec, or one that asks for what isn't built."""


class UnknownResourceError(ConductorError):
    """The API server doesn't serve this kind or resource (yet)."""


class ManagementError(ConductorError):
    """Some attachments could not be deleted or created; the others were still tried."""

    def __init__(self, subject: str, problems: list[str]) -> None:
        """Join the problems as Go's error aggregate does."""
        joined = problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
        super().__init__(f"can't reconcile children for {subject}: {joined}")


class ApiError(ConductorError):
    """The API server refused a call, or could not be reached (status 0)."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        """Take code, reason and message of a Kubernetes Status."""
        super().__init__(message)
        self.status = status
        self.reason = reason

    @property
    def is_not_found(self) -> bool:
        """Tell whether the object isn't there."""
        return self.status == HTTPStatus.NOT_FOUND

    @property
    def is_already_exists(self) -> bool:
        """Tell whether a create met an object of the same name."""
        return self.status == HTTPStatus.CONFLICT and self.reason == "AlreadyExists"

    @property
    def is_conflict(self) -> bool:
        """Tell whether the resourceVersion or UID named is no longer the stored one."""
        return self.status == HTTPStatus.CONFLICT and self.reason != "AlreadyExists"

    @property
    def is_expired(self) -> bool:
        """Tell whether a watch asked for a version that the server has forgotten."""
        return self.status == HTTPStatus.GONE
