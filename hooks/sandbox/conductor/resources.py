"""From the names in a controller's spec to what the API server serves.

Owns the memory of discovery. A miss asks the server again, so a CRD that is installed later is
found without a restart.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from hooks.sandbox.failures import ApiError, UnknownResourceError

if TYPE_CHECKING:
    from collections.abc import Callable

    from hooks.sandbox.apiport import ApiPort, Resource


class Discovery:
    """Finds resources by plural or by kind; safe to use from several threads."""

    def __init__(self, api: ApiPort) -> None:
        """Start with an empty memory."""
        self._api = api
        self._served: dict[str, list[Resource]] = {}
        self._lock = threading.Lock()

    def by_plural(self, api_version: str, plural: str) -> Resource:
        """Return the resource of ``nodepools`` in ``karpenter.sh/v1``, or raise UnknownResourceError."""
        return self._find(
            api_version,
            lambda resource: resource.plural == plural,
            f"can't find resource {plural!r} in apiVersion {api_version!r}",
        )

    def by_kind(self, api_version: str, kind: str) -> Resource:
        """Return the resource of ``NodePool`` in ``karpenter.sh/v1``, or raise UnknownResourceError."""
        return self._find(
            api_version,
            lambda resource: resource.kind == kind,
            f"can't find kind {kind!r} in apiVersion {api_version!r}",
        )

    def _find(self, api_version: str, fits: Callable[[Resource], bool], complaint: str) -> Resource:
        with self._lock:
            known = self._served.get(api_version, [])
        found = next(filter(fits, known), None) or next(filter(fits, self._ask(api_version)), None)
        if found is None:
            raise UnknownResourceError(complaint)
        return found

    def _ask(self, api_version: str) -> list[Resource]:
        try:
            served = self._api.resources(api_version)
        except ApiError as error:
            if not error.is_not_found:
                raise
            served = []
        with self._lock:
            self._served[api_version] = served
        return served
