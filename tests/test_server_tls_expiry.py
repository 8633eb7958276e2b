"""The end of the certificate: read from whatever is served, and told in time, but not all the time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import trustme
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.x509.oid import ExtendedKeyUsageOID
from gunicorn.glogging import Logger

from hooks.server.certificates import CertificateFiles, Certificates
from hooks.server.expiry import AGAIN, SOON
from tests.server_log import Log, kept
from tests.tls_files import Pair, issued

AUTHORITY = trustme.CA()
END = datetime(2026, 11, 30, 12, tzinfo=UTC)
"""In the past for the machine that runs this, or soon: only the given clock counts."""


@pytest.fixture
def log() -> Iterator[Log]:
    with kept() as made:
        yield made


class Clock:
    """Seconds since 1970, set by how far the end is."""

    def __init__(self) -> None:
        self.left(timedelta(days=30))

    def left(self, span: timedelta) -> None:
        self.now = (END - span).timestamp()

    def __call__(self) -> float:
        return self.now


def put(folder: Path, pair: Pair) -> CertificateFiles:
    (folder / "tls.crt").write_bytes(pair.cert)
    (folder / "tls.key").write_bytes(pair.key)
    return CertificateFiles(folder / "tls.crt", folder / "tls.key", None)


def own(
    key: ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey,
    usage: x509.ObjectIdentifier | None = None,
) -> Pair:
    """A certificate that is its own authority, as `openssl req -x509` makes it."""
    name = x509.Name([])
    begin = END - timedelta(days=90)
    made = x509.CertificateBuilder(name, name, key.public_key(), 1, begin, END)
    if usage is not None:
        made = made.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
    digest = hashes.SHA256() if isinstance(key, ec.EllipticCurvePrivateKey) else None
    return Pair(
        made.sign(key, digest).public_bytes(serialization.Encoding.PEM),
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ),
    )


P256 = ec.generate_private_key(ec.SECP256R1())
CHAIN = issued(trustme.CA(parent_cert=AUTHORITY), END)
KINDS: dict[str, Pair] = {
    "of an authority": issued(AUTHORITY, END),
    "with its chain": CHAIN,
    "with words before it": Pair("# müde\n".encode() + CHAIN.cert, CHAIN.key),
    "of its own": own(P256),
    "with another kind of key": own(ed25519.Ed25519PrivateKey.generate()),
    "for servers": own(P256, ExtendedKeyUsageOID.SERVER_AUTH),
}


@pytest.mark.parametrize("pair", KINDS.values(), ids=KINDS)
def test_the_end_is_that_of_the_server_s_own_certificate(tmp_path: Path, pair: Pair) -> None:
    assert Certificates(put(tmp_path, pair)).not_after() == END.timestamp()


def test_the_end_is_known_also_where_clients_must_show_a_certificate(tmp_path: Path) -> None:
    made = put(tmp_path, issued(AUTHORITY, END))
    (tmp_path / "ca.crt").write_bytes(trustme.CA().cert_pem.bytes())
    with_ca = CertificateFiles(made.cert, made.key, tmp_path / "ca.crt")
    assert Certificates(with_ca).not_after() == END.timestamp()


def test_the_end_of_what_is_no_server_s_certificate_is_not_told(tmp_path: Path, log: Log) -> None:
    certificates = Certificates(put(tmp_path, own(P256, ExtendedKeyUsageOID.CLIENT_AUTH)))
    certificates.watch(log.logger)
    assert (certificates.not_after(), log.lines) == (None, [])


ENDS = (
    "WARNING the certificate in {cert} ends at 2026-11-30T12:00:00Z; renew it, or the API server goes on "
    "without asking us"
)
ENDED = ENDS.replace("WARNING", "ERROR").replace("ends at", "ended at")


def test_the_end_is_told_when_it_is_near_when_it_is_there_and_once_a_day(
    tmp_path: Path, log: Log
) -> None:
    clock = Clock()
    made = put(tmp_path, issued(AUTHORITY, END))
    certificates = Certificates(made, clock)
    told = {}
    for hours in range(-24 * 8, 24 * 2 + 1):
        clock.left(timedelta(hours=-hours))
        for _ in range(3):
            certificates.watch(log.logger)
        if log.lines:
            told[hours] = log.lines[:]
            log.lines.clear()
    near, there = [ENDS.format(cert=made.cert)], [ENDED.format(cert=made.cert)]
    assert told == {-24 * day: near for day in range(7, 0, -1)} | dict.fromkeys((0, 24, 48), there)
    assert (SOON, AGAIN) == (7 * 24 * 3600, 24 * 3600)


def test_what_has_ended_is_told_when_it_is_loaded(tmp_path: Path, log: Log) -> None:
    clock = Clock()
    clock.left(timedelta(seconds=-1))
    made = put(tmp_path, issued(AUTHORITY, END))
    Certificates(made, clock).watch(log.logger)
    assert log.lines == [ENDED.format(cert=made.cert)]


@pytest.mark.parametrize("follow", [Certificates.watch, Certificates.context])
def test_a_new_certificate_ends_the_warnings_whether_or_not_anybody_connects(
    tmp_path: Path, log: Log, follow: Callable[[Certificates, Logger], object]
) -> None:
    clock = Clock()
    clock.left(timedelta(days=2))
    certificates = Certificates(put(tmp_path, issued(AUTHORITY, END)), clock)
    certificates.watch(log.logger)
    renewed = END + timedelta(days=60)
    put(tmp_path, issued(AUTHORITY, renewed))
    clock.now += 60
    follow(certificates, log.logger)
    assert certificates.not_after() == renewed.timestamp()
    clock.left(timedelta(days=-1))
    certificates.watch(log.logger)
    assert [line.split()[0] for line in log.lines] == ["WARNING", "INFO"]


def test_a_clock_that_is_set_back_delays_nothing(tmp_path: Path, log: Log) -> None:
    clock = Clock()
    certificates = Certificates(put(tmp_path, issued(AUTHORITY, END)), clock)
    certificates.watch(log.logger)
    put(tmp_path, issued(AUTHORITY, END + timedelta(days=60)))
    clock.now -= 3600
    certificates.watch(log.logger)
    assert [line.split()[0] for line in log.lines] == ["INFO"]
