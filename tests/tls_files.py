"""Certificates for the tests of TLS: who issues them, and the folders that servers read them from."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import trustme

HOST = "127.0.0.1"


@dataclass(frozen=True)
class Pair:
    """A certificate chain and its key, in PEM."""

    cert: bytes
    key: bytes

    @property
    def der(self) -> bytes:
        """The server's own certificate, as a client sees it."""
        first, end, _ = self.cert.decode().partition("-----END CERTIFICATE-----\n")
        return ssl.PEM_cert_to_DER_cert(first + end)


def issued(authority: trustme.CA, until: datetime | None = None) -> Pair:
    """A new certificate for this host."""
    begin = None if until is None else until - timedelta(days=90)
    leaf = authority.issue_cert(HOST, not_before=begin, not_after=until)
    chain = b"".join(one.bytes() for one in leaf.cert_chain_pems)
    return Pair(chain, leaf.private_key_pem.bytes())


def client(authority: trustme.CA, shows: trustme.LeafCert | None = None) -> ssl.SSLContext:
    """What a client connects with that trusts an authority, and maybe shows a certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    authority.configure_trust(context)
    if shows is not None:
        shows.configure_cert(context)
    return context


class Volume:
    """A Secret as kubelet mounts it: links through ``..data``, which one rename swaps."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._folder = folder
        self._writes = 0

    def write(self, **files: bytes) -> None:
        """Put files, named like ``tls_crt`` for tls.crt, in place of all that were there."""
        self._writes += 1
        version = self._folder / f"..version-{self._writes}"
        version.mkdir()
        for name, content in files.items():
            (version / name.replace("_", ".")).write_bytes(content)
        link = self._folder / "..data_tmp"
        link.symlink_to(version.name)
        link.replace(self._folder / "..data")
        for name in (name.replace("_", ".") for name in files):
            path = self._folder / name
            if not path.is_symlink():
                path.symlink_to(Path("..data") / name)

    def path(self, name: str) -> Path:
        """Where a server reads a file."""
        return self._folder / name
