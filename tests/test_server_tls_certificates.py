"""The certificate files: what is wrong with them, and that new connections follow them."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
import trustme
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from hooks.server.certificates import (
    CertificateError,
    CertificateFiles,
    Certificates,
    certificate_files,
)
from hooks.settings import Only, read_settings
from tests.server_log import Log, kept
from tests.tls_files import HOST, Pair, Volume, client, issued

AUTHORITY = trustme.CA()
OLD, NEW, THIRD = issued(AUTHORITY), issued(AUTHORITY), issued(AUTHORITY)
CA = AUTHORITY.cert_pem.bytes()


@pytest.fixture
def log() -> Iterator[Log]:
    with kept() as made:
        yield made


def files(folder: Path, pair: Pair = OLD, ca: bytes | None = None) -> CertificateFiles:
    put(folder, pair)
    (folder / "ca.crt").write_bytes(ca or b"")
    client_ca = None if ca is None else folder / "ca.crt"
    return CertificateFiles(folder / "tls.crt", folder / "tls.key", client_ca)


def put(folder: Path, pair: Pair) -> None:
    (folder / "tls.crt").write_bytes(pair.cert)
    (folder / "tls.key").write_bytes(pair.key)


def shown(server: ssl.SSLContext, by: ssl.SSLContext | None = None) -> bytes | None:
    """The certificate that a client sees of a server, in a handshake in memory."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    one = server.wrap_bio(to_server, to_client, server_side=True)
    other = (by or client(AUTHORITY)).wrap_bio(to_client, to_server, server_hostname=HOST)
    for _ in range(3):
        for end in (other, one):
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                continue
    return other.getpeercert(binary_form=True)


def encrypted(pair: Pair) -> bytes:
    key = serialization.load_pem_private_key(pair.key, None)
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(b"secret"),
    )


def of_another_kind() -> bytes:
    return pem(rsa.generate_private_key(65537, 2048))


def weak() -> Pair:
    """A certificate with a key that is too short for today."""
    key = ec.generate_private_key(ec.SECP192R1())
    name = x509.Name([])
    now = datetime.now(UTC)
    cert = (
        x509.CertificateBuilder(name, name, key.public_key(), 1, now, now + timedelta(days=1))
        .sign(key, hashes.SHA256())
        .public_bytes(serialization.Encoding.PEM)
    )
    return Pair(cert, pem(key))


def pem(key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


NO_CERT = (
    "NODEROTATION_TLS_CERT_FILE: {cert} holds no certificate that can be read; "
    "it must be PEM, the server's own certificate first"
)
NO_KEY = (
    "NODEROTATION_TLS_KEY_FILE: {key} holds no key that can be read; "
    "it must be PEM, and without a password"
)
NOT_ITS_KEY = (
    "NODEROTATION_TLS_KEY_FILE: {key} is not the key of the certificate in {cert} "
    "(NODEROTATION_TLS_CERT_FILE); give the two that were made together"
)
NO_CA = (
    "NODEROTATION_CLIENT_CA_FILE: {client_ca} holds no certificate that can be read; it must be PEM"
)


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("tls.crt", b"", NO_CERT),
        ("tls.crt", b"hello", NO_CERT),
        ("tls.crt", OLD.key, NO_CERT),
        ("tls.crt", OLD.cert[:300], NO_CERT),
        ("tls.crt", NEW.cert, NOT_ITS_KEY),
        ("tls.key", b"", NO_KEY),
        ("tls.key", OLD.key[:100], NO_KEY),
        ("tls.key", OLD.cert, NO_KEY),
        ("tls.key", encrypted(OLD), NO_KEY),
        ("tls.key", NEW.key, NOT_ITS_KEY),
        ("tls.key", of_another_kind(), NOT_ITS_KEY),
        ("ca.crt", b"", NO_CA),
        ("ca.crt", OLD.key, NO_CA),
        ("ca.crt", CA[:300], NO_CA),
    ],
    # Keys differ from run to run, and so would the names of the tests.
    ids=range(14),
)
def test_files_that_do_not_fit_are_told_in_one_line_that_names_the_variable(
    tmp_path: Path, name: str, content: bytes, told: str
) -> None:
    made = files(tmp_path, ca=CA)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(CertificateError) as caught:
        Certificates(made)
    expected = told.format(cert=made.cert, key=made.key, client_ca=made.client_ca)
    assert str(caught.value) == expected


def test_a_certificate_that_is_too_weak_is_told_by_what_is_weak(tmp_path: Path) -> None:
    made = files(tmp_path, weak())
    with pytest.raises(CertificateError) as caught:
        made.load()
    assert str(caught.value) == (
        f"NODEROTATION_TLS_CERT_FILE: {made.cert} and its key can't be used (ee key too small); "
        "make them anew"
    )


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("tls.crt", "NODEROTATION_TLS_CERT_FILE"),
        ("tls.key", "NODEROTATION_TLS_KEY_FILE"),
        ("ca.crt", "NODEROTATION_CLIENT_CA_FILE"),
    ],
)
def test_a_file_that_cannot_be_read_is_told(tmp_path: Path, name: str, variable: str) -> None:
    made = files(tmp_path, ca=CA)
    (tmp_path / name).unlink()
    with pytest.raises(CertificateError) as missing:
        Certificates(made)
    (tmp_path / name).mkdir()
    with pytest.raises(CertificateError) as folder:
        Certificates(made)
    assert [str(missing.value), str(folder.value)] == [
        f"{variable}: {tmp_path / name} can't be read ({why}); name a file that can"
        for why in ("No such file or directory", "Is a directory")
    ]


def test_the_files_are_those_of_the_settings() -> None:
    tls = {"NODEROTATION_TLS_CERT_FILE": "c", "NODEROTATION_TLS_KEY_FILE": "k"}
    plain = read_settings({"NODEROTATION_TOKEN_FILE": "t"})
    assert certificate_files(plain) is None
    without = read_settings(tls, Only.EVICTION)
    with_ca = replace(without, client_ca_file=Path("a"))
    assert [certificate_files(without), certificate_files(with_ca)] == [
        CertificateFiles(Path("c"), Path("k"), None),
        CertificateFiles(Path("c"), Path("k"), Path("a")),
    ]


def test_files_that_stay_are_not_loaded_again(tmp_path: Path, log: Log) -> None:
    certificates = Certificates(files(tmp_path))
    first = certificates.context(log.logger)
    put(tmp_path, OLD)
    assert certificates.context(log.logger) is first
    assert (shown(first), log.lines) == (OLD.der, [])


def test_a_new_pair_counts_for_the_next_connection(tmp_path: Path, log: Log) -> None:
    certificates = Certificates(files(tmp_path))
    for pair in (NEW, OLD, THIRD):
        # In place, within one tick of the clock: only the contents tell.
        put(tmp_path, pair)
        assert shown(certificates.context(log.logger)) == pair.der
    assert log.lines == [f"INFO read the certificate anew: {tmp_path / 'tls.crt'}"] * 3


def test_a_link_that_is_swapped_counts_for_the_next_connection(tmp_path: Path, log: Log) -> None:
    volume = Volume(tmp_path / "tls")
    volume.write(tls_crt=OLD.cert, tls_key=OLD.key, ca_crt=CA)
    certificates = Certificates(
        CertificateFiles(volume.path("tls.crt"), volume.path("tls.key"), None)
    )
    assert shown(certificates.context(log.logger)) == OLD.der
    volume.write(tls_crt=NEW.cert, tls_key=NEW.key, ca_crt=CA)
    assert shown(certificates.context(log.logger)) == NEW.der


AWAY = (
    "NODEROTATION_TLS_KEY_FILE: {key} can't be read (No such file or directory); "
    "name a file that can"
)
HALVES: dict[str, tuple[Callable[[Path], Any], str]] = {
    "certificate first": (lambda folder: (folder / "tls.crt").write_bytes(NEW.cert), NOT_ITS_KEY),
    "key first": (lambda folder: (folder / "tls.key").write_bytes(NEW.key), NOT_ITS_KEY),
    "cut off": (lambda folder: (folder / "tls.crt").write_bytes(NEW.cert[:99]), NO_CERT),
    "emptied": (lambda folder: (folder / "tls.key").write_bytes(b""), NO_KEY),
    "removed": (
        lambda folder: (folder / "tls.key").unlink(),
        AWAY,
    ),
}


@pytest.mark.parametrize(("half", "told"), HALVES.values(), ids=HALVES)
def test_half_a_pair_leaves_the_old_one_and_is_told_once(
    tmp_path: Path, log: Log, half: Callable[[Path], Any], told: str
) -> None:
    made = files(tmp_path)
    certificates = Certificates(made)
    half(tmp_path)
    for _ in range(3):
        assert shown(certificates.context(log.logger)) == OLD.der
    put(tmp_path, NEW)
    assert shown(certificates.context(log.logger)) == NEW.der
    half(tmp_path)
    assert log.lines[:2] == [
        "WARNING goes on with the certificate it has: " + told.format(cert=made.cert, key=made.key),
        f"INFO read the certificate anew: {made.cert}",
    ]


def test_a_fault_is_told_again_after_the_files_have_fitted(tmp_path: Path, log: Log) -> None:
    certificates = Certificates(files(tmp_path))
    for _ in range(2):
        for content in (OLD.key[:99], b"", NEW.key):
            (tmp_path / "tls.key").write_bytes(content)
            certificates.context(log.logger)
        put(tmp_path, OLD)
        certificates.context(log.logger)
    assert [line.split()[0] for line in log.lines] == ["WARNING", "INFO"] * 2


def test_a_file_that_was_away_for_a_while_changes_nothing(tmp_path: Path, log: Log) -> None:
    certificates = Certificates(files(tmp_path))
    (tmp_path / "tls.key").rename(tmp_path / "away")
    assert shown(certificates.context(log.logger)) == OLD.der
    (tmp_path / "away").rename(tmp_path / "tls.key")
    assert shown(certificates.context(log.logger)) == OLD.der
    assert [line.split()[0] for line in log.lines] == ["WARNING", "INFO"]


def test_files_that_never_hold_still_leave_the_old_pair(
    tmp_path: Path, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = files(tmp_path)
    certificates = Certificates(made)
    put(tmp_path, NEW)
    read = Path.read_bytes
    pairs = cycle([OLD, THIRD, NEW])

    def read_and_change(path: Path) -> bytes:
        content = read(path)
        if path == made.key:
            put(tmp_path, next(pairs))
        return content

    with monkeypatch.context() as patched:
        patched.setattr(Path, "read_bytes", read_and_change)
        assert shown(certificates.context(log.logger)) == OLD.der
    put(tmp_path, NEW)
    assert shown(certificates.context(log.logger)) == NEW.der
    assert [line.split()[0] for line in log.lines] == ["INFO"]


def test_clients_must_be_of_the_authorities_of_that_day(tmp_path: Path, log: Log) -> None:
    other = trustme.CA()
    certificates = Certificates(files(tmp_path, ca=CA))
    mine = client(AUTHORITY, AUTHORITY.issue_cert("me"))
    theirs = client(AUTHORITY, other.issue_cert("they"))
    context = certificates.context(log.logger)
    assert shown(context, mine) == OLD.der
    for refused in (theirs, client(AUTHORITY)):
        with pytest.raises(ssl.SSLError):
            shown(context, refused)
    (tmp_path / "ca.crt").write_bytes(b"# other\n" + other.cert_pem.bytes())
    context = certificates.context(log.logger)
    assert shown(context, theirs) == OLD.der
    with pytest.raises(ssl.SSLError):
        shown(context, mine)
    (tmp_path / "ca.crt").write_bytes(b"")
    assert certificates.context(log.logger) is context
    (tmp_path / "ca.crt").write_bytes(CA + other.cert_pem.bytes())
    for admitted in (mine, theirs):
        assert shown(certificates.context(log.logger), admitted) == OLD.der


def test_the_key_is_never_asked_for_at_the_terminal(tmp_path: Path) -> None:
    made = files(tmp_path, Pair(OLD.cert, encrypted(OLD)))
    with pytest.raises(CertificateError, match="without a password"):
        made.load()
