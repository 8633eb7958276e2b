"""The address that the controllers call: which hook server stands behind it depends on the parent.

Owns finding the hook server of a call by the name of the parent that it is about. So one that is
killed, faulty or listened to has its own pools, beside those of the others. Leaves the servers to
those who start them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

from tests.scenarios.interposer import Interposer, Sent

EVERYBODY = ""
"""What the names of all parents begin with."""


class Front(Interposer):
    """Listens on loopback ``port``; nobody is behind it yet."""

    def __init__(self, port: int) -> None:
        """Nothing is answered before ``with``."""
        super().__init__(self._server_of, port=port)
        self._routes: list[tuple[str, str]] = []

    @contextmanager
    def to(self, url: str, beginning: str = EVERYBODY) -> Iterator[None]:
        """Until the end of ``with`` the parents whose names begin so have their hook server at ``url``.

        Of several that fit the longest beginning holds, and of equal ones the one that came last.
        """
        route = (beginning, url)
        self._routes.append(route)
        try:
            yield
        finally:
            self._routes.remove(route)

    def _server_of(self, sent: Sent) -> str | None:
        asked = json.loads(sent.body)
        name: str = (asked.get("object") or asked["parent"])["metadata"]["name"]
        # Of equal ones the first is the greatest.
        latest_first = reversed(tuple(self._routes))
        fitting = [one for one in latest_first if name.startswith(one[0])]
        return max(fitting, key=lambda one: len(one[0]))[1] if fitting else None
