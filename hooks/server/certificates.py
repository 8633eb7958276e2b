"""The certificate that the webhook shows, and whose clients it lets in: files that may change.

Owns the reading of these files, and what is wrong with them in words that name the variable. Leaves
the connections to :mod:`hooks.server.handshakes`, and what is said of the certificate's end to
:mod:`hooks.server.expiry`. Source: issue 6; design/drain.md.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gunicorn.glogging import Logger

from hooks.server.expiry import Expiry
from hooks.settings import OPTIONS, Settings

PROTOCOL: Final = "http/1.1"
"""What ALPN chooses; a client that offers only others goes on as without ALPN."""
TRIES: Final = 3
"""Readings of files that change while they are read; the next connection tries again."""
WATCH: Final = 60.0
"""Seconds after which the files are read again without a connection: callers keep theirs for days."""

_VARIABLES: Final = {option.field: option.variable for option in OPTIONS}
_CERT, _KEY, _CLIENT_CA = (
    _VARIABLES[field] for field in ("tls_cert_file", "tls_key_file", "client_ca_file")
)
_MISMATCHES: Final = frozenset({"KEY_VALUES_MISMATCH", "NO_CERTIFICATE_ASSIGNED"})
"""OpenSSL's words for a key that isn't the certificate's, of the same kind or of another one."""


class CertificateError(Exception):
    """The files can't be served with; the text is one line that says what to change."""


@dataclass(frozen=True, slots=True)
class CertificateFiles:
    """Where the certificate chain, its key, and the authorities of the clients are (PEM).

    ``client_ca`` None: clients aren't asked for a certificate.
    """

    cert: Path
    key: Path
    client_ca: Path | None

    def contents(self) -> tuple[bytes, ...]:
        """What is in the files now; raises CertificateError if one of them can't be read."""
        found = (_read(_CERT, self.cert), _read(_KEY, self.key))
        return found if self.client_ca is None else (*found, _read(_CLIENT_CA, self.client_ca))

    def load(self) -> ssl.SSLContext:
        """Make what connections are encrypted with; raises CertificateError if it can't be.

        TLS 1.2 or later. Without tickets in TLS 1.3: callers keep their connections.
        """
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.options |= ssl.OP_NO_RENEGOTIATION
        context.num_tickets = 0
        context.set_alpn_protocols([PROTOCOL])
        try:
            context.load_cert_chain(self.cert, self.key, password=_no_password)
        except (OSError, ValueError) as error:
            raise CertificateError(self._fault(error)) from error
        if self.client_ca is not None:
            if not _trusts(context, self.client_ca):
                raise CertificateError(
                    f"{_CLIENT_CA}: {self.client_ca} holds no certificate that can be read; "
                    "it must be PEM"
                )
            context.verify_mode = ssl.CERT_REQUIRED
        return context

    def _fault(self, error: Exception) -> str:
        reason = getattr(error, "reason", None)
        if reason in _MISMATCHES:
            return (
                f"{_KEY}: {self.key} is not the key of the certificate in {self.cert} ({_CERT}); "
                "give the two that were made together"
            )
        if reason is not None:
            told = reason.replace("_", " ").lower()
            return f"{_CERT}: {self.cert} and its key can't be used ({told}); make them anew"
        if not _trusts(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), self.cert):
            return (
                f"{_CERT}: {self.cert} holds no certificate that can be read; "
                "it must be PEM, the server's own certificate first"
            )
        return (
            f"{_KEY}: {self.key} holds no key that can be read; "
            "it must be PEM, and without a password"
        )


def certificate_files(settings: Settings) -> CertificateFiles | None:
    """The files to encrypt with, None for a server that is to be plain."""
    if settings.tls_cert_file is None or settings.tls_key_file is None:
        return None
    return CertificateFiles(settings.tls_cert_file, settings.tls_key_file, settings.client_ca_file)


class Certificates:
    """What new connections are encrypted with, always as the files are now.

    Files that don't fit, such as a pair of which only one half is written yet, leave all as it was.
    Connections that are there keep what they began with.
    """

    def __init__(self, files: CertificateFiles, clock: Callable[[], float] = time.time) -> None:
        """Read the files; raises CertificateError if they can't be served with."""
        self._files = files
        self._judged = files.contents()
        self._context = files.load()
        self._told = False
        self._clock = clock
        self._watched = 0.0
        self._expiry = Expiry(clock)
        self._expiry.follow(self._context, files.cert)

    def not_after(self) -> float | None:
        """When the certificate ends (seconds since 1970), None when it can't be told."""
        return self._expiry.not_after

    def watch(self, log: Logger) -> None:
        """Follow the files also while nobody connects, and tell of the certificate's end in time."""
        now = self._clock()
        if not self._watched <= now < self._watched + WATCH:
            self._watched = now
            self.context(log)
        self._expiry.tell(self._files.cert, log)

    def context(self, log: Logger) -> ssl.SSLContext:
        """Read the files, and load them if they have changed. Never raises.

        The contents are compared, because a time stamp is too coarse for two writes in a row, and a
        link may be all that has changed. A file that doesn't fit is told once, until all fit.
        """
        try:
            found = self._files.contents()
            if found != self._judged:
                self._load(found, log)
        except CertificateError as error:
            self._judged = ()
            self._tell(error, log)
        return self._context

    def _load(self, found: tuple[bytes, ...], log: Logger) -> None:
        for _ in range(TRIES):
            before, loaded = found, _loaded(self._files)
            found = self._files.contents()
            if found == before:
                break
        else:
            return
        self._judged = found
        if isinstance(loaded, CertificateError):
            self._tell(loaded, log)
            return
        self._context = loaded
        self._told = False
        self._expiry.follow(loaded, self._files.cert)
        log.info("read the certificate anew: %s", self._files.cert)

    def _tell(self, error: CertificateError, log: Logger) -> None:
        if not self._told:
            log.warning("goes on with the certificate it has: %s", error)
        self._told = True


def _loaded(files: CertificateFiles) -> ssl.SSLContext | CertificateError:
    try:
        return files.load()
    except CertificateError as error:
        return error


def _read(variable: str, path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise CertificateError(
            f"{variable}: {path} can't be read ({error.strerror}); name a file that can"
        ) from error


def _trusts(context: ssl.SSLContext, path: Path) -> bool:
    """Trust the certificates in a file; whether there are any."""
    try:
        context.load_verify_locations(path)
    except OSError:
        return False
    return True


def _no_password() -> str:
    raise ValueError("a password is asked for, and there is nobody to ask")
