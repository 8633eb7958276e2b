"""When the certificate that is shown ends, and that somebody is told before.

Owns reading the end, and how often it is said. An ended certificate is served all the same: the API
server goes on without the webhook then, silently, and a server that stopped would change nothing.
Leaves the files to :mod:`hooks.server.certificates`. Source: docs/observability.md.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable
from datetime import UTC, datetime
from logging import ERROR, WARNING
from pathlib import Path
from typing import Final

from gunicorn.glogging import Logger

SOON: Final = 7 * 24 * 3600.0
"""Seconds before its end from which on a certificate is warned of; the alert has the same."""
AGAIN: Final = 24 * 3600.0
"""Seconds after which it is said again."""

_NO_CHECK_TIME: Final = ssl.VerifyFlags(0x200000)
"""OpenSSL's X509_V_FLAG_NO_CHECK_TIME, for which the standard library has no name."""


class Expiry:
    """The end of the certificate that is shown; ``clock`` is in seconds since 1970."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        """Begin without a certificate."""
        self.not_after: float | None = None
        """Seconds since 1970; None when it can't be told."""
        self._clock = clock
        self._silent_until = 0.0

    def follow(self, context: ssl.SSLContext, cert: Path) -> None:
        """Look at a certificate that has just been loaded from a file."""
        self.not_after = not_after(context, cert)
        self._silent_until = 0.0

    def tell(self, cert: Path, log: Logger) -> None:
        """Say that the certificate ends soon, or has ended, each at once and then once a day."""
        now, end = self._clock(), self.not_after
        if end is None or now < max(end - SOON, self._silent_until):
            return
        ended = now >= end
        self._silent_until = now + AGAIN if ended else min(now + AGAIN, end)
        log.log(
            ERROR if ended else WARNING,
            "the certificate in %s %s at %s; renew it, or the API server goes on without asking us",
            cert,
            "ended" if ended else "ends",
            f"{datetime.fromtimestamp(end, UTC):%Y-%m-%dT%H:%M:%SZ}",
        )


def not_after(context: ssl.SSLContext, cert: Path) -> float | None:
    """When the certificate ends that a server with this context shows (seconds since 1970).

    A client in memory shakes hands with it that trusts the certificates in the file, at whatever
    time: the standard library tells nothing of a certificate that it loads. None when no client
    would take it for a server's.
    """
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname = False
    client.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN | _NO_CHECK_TIME
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    ours = context.wrap_bio(to_server, to_client, server_side=True)
    theirs = client.wrap_bio(to_client, to_server)
    try:
        client.load_verify_locations(cert)
        for step in (theirs.do_handshake, ours.do_handshake, theirs.do_handshake):
            _go_on(step)
        shown = theirs.getpeercert()
    except (OSError, ValueError):
        return None
    return float(ssl.cert_time_to_seconds(str((shown or {})["notAfter"])))


def _go_on(step: Callable[[], None]) -> None:
    try:
        step()
    except ssl.SSLWantReadError:
        return
