"""TLS as a process: what is spoken, slow and broken peers, certificates that change, and its end."""

from __future__ import annotations

import json
import os
import signal
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from select import select
from typing import Any

import pytest
import trustme

from hooks.server.process import CONNECTIONS, HELD
from hooks.server.room import FIRST, OTHERS
from tests.e2e.processes import free_ports
from tests.peers import LONGEST_TRICKLE, answer_of, received, trickle
from tests.server_times import PATIENT, PLACES, SOON, Gate, stretched, wait_until
from tests.tls_files import HOST, Pair, Volume, client, issued

THREADS = 2
LIMIT = 128 * 1024
HANDSHAKE_TIME = 5.0
LINGER = 2.0
WRITE_TIME = 10.0
AUTHORITY = trustme.CA()
OLD, NEW = issued(AUTHORITY), issued(AUTHORITY)
CLIENT = client(AUTHORITY)


@dataclass
class Server:
    process: subprocess.Popen[bytes]
    volume: Volume
    secure: int
    plain: int
    log: Path

    def connect(self, context: ssl.SSLContext = CLIENT) -> ssl.SSLSocket:
        return context.wrap_socket(self.connect_raw(), server_hostname=HOST)

    def connect_raw(self) -> socket.socket:
        peer = socket.create_connection((HOST, self.secure), timeout=20)
        # Else a request waits 40 ms, until the end of the handshake is acknowledged.
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return peer

    def connect_plain(self) -> socket.socket:
        return socket.create_connection((HOST, self.plain), timeout=20)

    def has_started(self) -> bool:
        """Its ports take connections before that; a signal would be lost on the way to the worker."""
        assert self.process.poll() is None, self.log.read_text()
        return bool(self.told("the first address of those speaks TLS only"))

    def refuses(self) -> bool:
        try:
            self.connect_plain().close()
        except ConnectionRefusedError:
            return True
        return False

    def ask(self, target: str = "/", body: bytes = b"") -> Any:
        with closing(self.connect()) as peer:
            peer.sendall(request(target, body))
            status, answer = answer_of(peer)
        assert status == 200
        return answer

    def shows(self, context: ssl.SSLContext = CLIENT) -> bytes | None:
        with closing(self.connect(context)) as peer:
            return peer.getpeercert(binary_form=True)

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def told(self, part: str) -> list[str]:
        return [line["event"] for line in self.lines() if part in line["event"]]


def request(target: str = "/", body: bytes = b"", extra: bytes = b"") -> bytes:
    head = f"POST {target} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + extra + b"\r\n" + body


@contextmanager
def serving(
    folder: Path, *stretch: str, client_ca: bytes | None = None, pair: Pair = OLD
) -> Iterator[Server]:
    volume = Volume(folder / "tls")
    put(volume, pair, client_ca or b"")
    secure, plain = free_ports(2)
    log = folder / "log"
    environ = {
        **stretched(*stretch),
        "PYTHONPATH": os.pathsep.join(map(str, PLACES)),
        "NODEROTATION_TLS_CERT_FILE": str(volume.path("tls.crt")),
        "NODEROTATION_TLS_KEY_FILE": str(volume.path("tls.key")),
        "NODEROTATION_CLIENT_CA_FILE": str(volume.path("ca.crt")) if client_ca else "",
        "NODEROTATION_BIND": f"{HOST}:{secure},{HOST}:{plain}",
        "NODEROTATION_THREADS": str(THREADS),
        "NODEROTATION_BODY_LIMIT": str(LIMIT),
        # And so at its end it would wait for as long as anything is stretched.
        "NODEROTATION_HOOK_TIMEOUT": "5m",
    }
    with log.open("wb") as written:
        process = subprocess.Popen(
            [sys.executable, "-P", str(Path(__file__).with_name("secure_server.py"))],
            env={**os.environ, **environ},
            stdout=written,
            stderr=subprocess.STDOUT,
        )
    try:
        server = Server(process, volume, secure, plain, log)
        wait_until("the server has started", server.has_started)
        yield server
    finally:
        process.terminate()
        process.wait(30)


def put(volume: Volume, pair: Pair, client_ca: bytes = b"") -> None:
    volume.write(tls_crt=pair.cert, tls_key=pair.key, ca_crt=client_ca)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("server"), *PATIENT) as running:
        yield running
        assert unexpected(running) == []


def unexpected(server: Server) -> list[dict[str, Any]]:
    return [line for line in server.lines() if line["level"] == "error" or "exception" in line]


# --- What is spoken. ---


def test_only_the_first_port_is_https_whatever_a_peer_says(server: Server) -> None:
    claims = b"X-Forwarded-Proto: %b\r\nX-Forwarded-Ssl: %b\r\n"
    schemes = []
    for connect, claim in (
        (server.connect, claims % (b"http", b"off")),
        (server.connect_plain, claims % (b"https", b"on")),
        (server.connect_plain, claims % (b"https", b"off")),
    ):
        with closing(connect()) as peer:
            peer.sendall(request(extra=claim))
            schemes.append(answer_of(peer)[1]["scheme"])
    assert schemes == ["https", "http", "http"]


def test_a_connection_serves_one_request_after_the_other(server: Server) -> None:
    with closing(server.connect()) as peer:
        for length in (0, 2, 20_000, LIMIT):
            peer.sendall(request(body=b"x" * length))
            assert answer_of(peer)[1]["length"] == length


def test_two_requests_may_come_at_once(server: Server) -> None:
    with closing(server.connect()) as peer:
        peer.sendall(request(body=b"x" * 40_000) + request(body=b"y"))
        answers = [answer_of(peer), answer_of(peer)]
    assert [(status, body["length"]) for status, body in answers] == [(200, 40_000), (200, 1)]


def test_a_request_may_come_in_pieces(server: Server) -> None:
    with closing(server.connect()) as peer:
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in request(body=b"{}"):
            peer.sendall(bytes([byte]))
        assert answer_of(peer)[1]["length"] == 2


def test_a_record_may_come_in_pieces(server: Server) -> None:
    to_us, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    with closing(server.connect_raw()) as raw:
        peer = CLIENT.wrap_bio(to_us, to_server, server_hostname=HOST)

        def talk(step: Callable[[], Any]) -> Any:
            while True:
                try:
                    return step()
                except ssl.SSLWantReadError:
                    raw.sendall(to_server.read())
                    to_us.write(received(raw))

        talk(peer.do_handshake)
        peer.write(request(body=b"{}"))
        record = to_server.read()
        for piece in (record[:-50], record[-50:-10], record[-10:]):
            raw.sendall(piece)
            time.sleep(0.2)
        answer = talk(lambda: peer.read(65536))
    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")


def test_the_end_of_a_connection_is_said_in_the_words_of_tls(server: Server) -> None:
    raw = server.connect_raw()
    with closing(CLIENT.wrap_socket(raw, server_hostname=HOST, suppress_ragged_eofs=False)) as peer:
        peer.sendall(request(extra=b"Connection: close\r\n"))
        assert answer_of(peer)[0] == 200
        # Without those words this is an SSLEOFError.
        assert peer.recv(1) == b""


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_tls_of_today_is_spoken(server: Server, version: ssl.TLSVersion) -> None:
    context = client(AUTHORITY)
    context.minimum_version = context.maximum_version = version
    with closing(server.connect(context)) as peer:
        assert peer.version() == version.name.replace("_", ".")
        peer.sendall(request())
        assert answer_of(peer)[0] == 200


def test_older_tls_is_refused(server: Server) -> None:
    context = client(AUTHORITY)
    context.set_ciphers("DEFAULT:@SECLEVEL=0")
    with pytest.warns(DeprecationWarning, match="TLSv1 is deprecated"):
        context.minimum_version = ssl.TLSVersion.TLSv1
    with pytest.warns(DeprecationWarning, match="TLSv1_1 is deprecated"):
        context.maximum_version = ssl.TLSVersion.TLSv1_1
    with pytest.raises(ssl.SSLError, match="ALERT_PROTOCOL_VERSION"):
        server.connect(context)


@pytest.mark.parametrize(
    ("offered", "chosen"),
    [(["h2", "http/1.1"], "http/1.1"), (["http/1.1"], "http/1.1"), (["h2"], None), ([], None)],
)
def test_http_1_is_chosen_of_what_a_client_offers(
    server: Server, offered: list[str], chosen: str | None
) -> None:
    context = client(AUTHORITY)
    context.set_alpn_protocols(offered)
    with closing(server.connect(context)) as peer:
        assert peer.selected_alpn_protocol() == chosen
        peer.sendall(request())
        assert answer_of(peer)[0] == 200


def test_no_address_is_said_to_speak_http(server: Server) -> None:
    (told,) = server.told("Listening at")
    assert told.startswith(f"Listening at: {HOST}:{server.secure},{HOST}:{server.plain} (")


# --- Slow and broken peers. ---


def hello() -> bytes:
    """The first thing that a client says."""
    said = ssl.MemoryBIO()
    with pytest.raises(ssl.SSLWantReadError):
        CLIENT.wrap_bio(ssl.MemoryBIO(), said, server_hostname=HOST).do_handshake()
    return said.read()


TRICKLES = (
    (b"", b""),
    (b"", hello()),
    (hello(), b""),
    (hello(), b"\x14\x03\x03\x00\x01"),
)
"""What is sent of a handshake at once, and what byte by byte after it."""


def trickling(server: Server) -> list[tuple[Callable[[], socket.socket], bytes, bytes]]:
    kinds = [
        *((server.connect_raw, *kind) for kind in TRICKLES),
        (server.connect, request()[:-1], b""),
        (server.connect, request(body=b"x" * 600)[:-599], b"x" * 599),
    ]
    return kinds * (4 * THREADS)


def test_peers_that_trickle_cost_nobody_anything(server: Server) -> None:
    many = trickling(server)
    begin, end = threading.Barrier(len(many) + 1), threading.Event()
    number = server.ask()["before"]
    with ThreadPoolExecutor(len(many)) as peers:
        running = [peers.submit(trickle, *kind, begin, end) for kind in many]
        begin.wait(SOON)
        before = time.monotonic()
        assert [server.ask()["scheme"] for _ in range(10)] == ["https"] * 10
        assert time.monotonic() - before < SOON
        assert [peer.done() for peer in running] == [False] * len(many)
        end.set()
    assert server.ask()["before"] == number + 11


def test_peers_that_trickle_are_cut_off(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        many = trickling(server)
        begin, never = threading.Barrier(len(many)), threading.Event()
        with ThreadPoolExecutor(len(many)) as peers:
            running = [peers.submit(trickle, *kind, begin, never) for kind in many]
            took = [peer.result() for peer in running]
        assert server.ask()["before"] == 0
        assert unexpected(server) == []
    assert min(took) >= HANDSHAKE_TIME - 0.1
    # Where nobody cuts them off, all of them go on for longer than this.
    assert max(took) < LONGEST_TRICKLE * 0.1 / 2


def test_any_number_of_handshakes_that_never_end_keeps_nobody_out(server: Server) -> None:
    with ExitStack() as peers:
        for _ in range(CONNECTIONS + THREADS + 50):
            peers.enter_context(closing(sent(server.connect_raw(), hello()[:50])))
        before = time.monotonic()
        assert server.ask()["scheme"] == "https"
        with closing(server.connect_plain()) as peer:
            peer.sendall(request())
            assert answer_of(peer)[0] == 200
        assert time.monotonic() - before < SOON


def assert_all_is_answered(server: Server) -> None:
    """Somebody new gets an answer soon, at both ports."""
    before = time.monotonic()
    for connect in (server.connect, server.connect_plain):
        with closing(connect()) as peer:
            peer.sendall(request())
            assert answer_of(peer)[0] == 200
    assert time.monotonic() - before < SOON


HALF = b"POST / HTTP/1.1\r\nHost: x\r\n"
UNFINISHED = {
    "more than is taken": HALF + b"Content-Length: %d\r\n\r\n" % (LIMIT + 1),
    "a length that the loop does not read": HALF
    + b"Content-Length: 0000000000000000000009\r\n\r\n",
    "a chunk of more than is taken": HALF + b"Transfer-Encoding: chunked\r\n\r\nFFFFFF\r\n",
    "a chunk that the loop does not read": HALF
    + b"Transfer-Encoding: chunked\r\n\r\n00000000000000000009\r\n",
    "no request line": b"\r\n\r\n",
}


@pytest.mark.parametrize("data", UNFINISHED.values(), ids=UNFINISHED)
def test_no_thread_waits_for_the_rest_of_a_request(server: Server, data: bytes) -> None:
    with ExitStack() as peers:
        for connect in (server.connect, server.connect_plain):
            for _ in range(2 * THREADS):
                peers.enter_context(closing(sent(connect(), data)))
        time.sleep(0.2)
        assert_all_is_answered(server)
    assert unexpected(server) == []


def test_a_chunk_of_more_than_is_taken_is_told_so(server: Server) -> None:
    with closing(server.connect()) as peer:
        peer.sendall(UNFINISHED["a chunk of more than is taken"])
        status, answer = answer_of(peer)
    assert (status, answer["error"]["code"]) == (413, "BodyTooLarge")


def test_when_too_much_is_held_the_largest_goes_and_all_others_are_served(server: Server) -> None:
    number = server.ask()["before"]
    with ExitStack() as peers:
        largest = [
            peers.enter_context(closing(sent(server.connect(), request(body=b"x" * LIMIT)[:-1])))
            for _ in range(HELD[0] // LIMIT + 5)
        ]
        halves = [
            peers.enter_context(closing(sent(server.connect(), HALF))) for _ in range(4 * THREADS)
        ]
        assert_all_is_answered(server)
        for peer in halves:
            peer.sendall(b"Content-Length: 0\r\n\r\n")
            assert answer_of(peer)[0] == 200
        ended: set[socket.socket] = set()

        def is_told_of_each() -> bool:
            ended.update(peer for peer in largest if peer not in ended and has_ended(peer))
            told = server.told("cut off the largest unfinished request")
            return 5 <= len(ended) == len(told)

        wait_until("the largest are cut off", is_told_of_each)
    assert len(ended) <= 10
    assert server.ask()["before"] == number + 3 + 4 * THREADS


def has_ended(peer: socket.socket) -> bool:
    peer.settimeout(0.01)
    try:
        return peer.recv(1) == b""
    except TimeoutError:
        return False
    except ConnectionError:
        return True


def test_when_too_much_waits_for_a_thread_only_what_is_little_joins_it(
    server: Server, tmp_path: Path
) -> None:
    more, gate = 5, Gate(tmp_path / "gate")
    with ExitStack() as peers:
        for _ in range(THREADS):
            target = f"/?gate={gate.path}"
            peers.enter_context(closing(sent(server.connect(), request(target))))
        gate.wait_for(THREADS)
        large = [
            peers.enter_context(closing(sent(server.connect(), request(body=b"x" * LIMIT))))
            for _ in range(HELD[0] // LIMIT + more)
        ]
        little = peers.enter_context(closing(sent(server.connect(), request())))
        # While no thread is free only a refusal comes.
        wait_until("the last are refused", lambda: len(select(large, [], [], 0)[0]) >= more)
        gate.open()
        assert answer_of(little)[0] == 200
        answers = [answer_of(peer) for peer in large]
    refused = [answer for answer in answers if answer[0] != 200]
    assert refused == [
        (
            503,
            {
                "error": {
                    "code": "Busy",
                    "field": "",
                    "message": "too much waits for its turn already",
                }
            },
        )
    ] * len(refused)
    assert more <= len(refused) <= 2 * more


def kept(peer: socket.socket) -> socket.socket:
    peer.sendall(request())
    assert answer_of(peer)[0] == 200
    return peer


FILLS: dict[str, Callable[[socket.socket], socket.socket]] = {
    "kept": kept,
    "silent": lambda peer: peer,
    "with half a head": lambda peer: sent(peer, HALF),
}


@pytest.mark.parametrize("fill", FILLS.values(), ids=FILLS)
def test_peers_that_do_nothing_keep_nobody_out(
    tmp_path: Path, fill: Callable[[socket.socket], socket.socket]
) -> None:
    with serving(tmp_path, *PATIENT) as server, ExitStack() as peers:
        first = peers.enter_context(closing(kept(server.connect())))
        for _ in range(CONNECTIONS + THREADS + 30):
            peers.enter_context(closing(fill(server.connect())))
        assert_all_is_answered(server)
        assert first.recv(1) == b""
        assert server.ask()["files"] < FIRST + OTHERS + 50
        assert unexpected(server) == []


def test_those_of_the_plain_port_take_room_of_each_other_only(tmp_path: Path) -> None:
    with serving(tmp_path, *PATIENT) as server, ExitStack() as peers:
        secure = peers.enter_context(closing(kept(server.connect())))
        first = peers.enter_context(closing(kept(server.connect_plain())))
        for _ in range(OTHERS + 30):
            peer = peers.enter_context(closing(server.connect_plain()))
            answer_of(sent(peer, b"hello\r\n\r\n"))
        assert first.recv(1) == b""
        assert_all_is_answered(server)
        kept(secure)
        assert unexpected(server) == []


def test_plain_http_is_told_so_at_once(server: Server) -> None:
    before = time.monotonic()
    with closing(server.connect_raw()) as peer:
        peer.sendall(request("/admission/eviction", b"x" * 100_000))
        assert answer_of(peer) == (
            400,
            {
                "error": {
                    "code": "BadRequest",
                    "field": "",
                    "message": "this port speaks HTTP over TLS only",
                }
            },
        )
        assert peer.recv(1) == b""
    assert time.monotonic() - before < SOON


def reset(peer: socket.socket) -> None:
    """Hang up without a word."""
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    peer.close()


BREAKS: dict[str, Callable[[Server], socket.socket]] = {
    "at once": lambda server: server.connect_raw(),
    "after half a hello": lambda server: sent(server.connect_raw(), hello()[:50]),
    "after the hello": lambda server: sent(server.connect_raw(), hello()),
    "with other words": lambda server: sent(server.connect_raw(), b"\x00hello" * 100),
    "after the handshake": lambda server: server.connect(),
    "within a request": lambda server: sent(server.connect(), request()[:20]),
    "before its answer": lambda server: sent(server.connect(), request("/?sleep=0.3")),
    "within an answer": lambda server: sent(server.connect(), request("/?size=9000000")),
    "with bytes that are not encrypted": lambda server: babbling(server.connect()),
    "within a request that is not encrypted": lambda server: babbling(
        sent(server.connect(), request(body=b"x" * LIMIT + b"xx")[:-1])
    ),
}


def sent(peer: socket.socket, data: bytes) -> socket.socket:
    peer.sendall(data)
    return peer


def babbling(peer: ssl.SSLSocket | socket.socket) -> socket.socket:
    raw = socket.socket(fileno=peer.detach())
    return sent(raw, b"\x17\x03\x03\x00\x05hello" * 10)


@pytest.mark.parametrize("hang_up", [reset, socket.socket.close], ids=["reset", "closed"])
@pytest.mark.parametrize("begin", BREAKS.values(), ids=BREAKS)
def test_a_peer_that_hangs_up_is_no_error(
    server: Server, begin: Callable[[Server], socket.socket], hang_up: Callable[[Any], None]
) -> None:
    for _ in range(THREADS + 1):
        hang_up(begin(server))
    before = time.monotonic()
    assert server.ask()["scheme"] == "https"
    assert time.monotonic() - before < SOON
    assert unexpected(server) == []


def test_a_peer_that_does_not_take_its_answer_is_given_up(server: Server) -> None:
    with ExitStack() as peers:
        before = time.monotonic()
        for _ in range(THREADS):
            peer = peers.enter_context(closing(server.connect()))
            peer.sendall(request("/?size=50000000"))
            # From then on a thread tries to send the rest.
            assert received(peer, 1)
        assert server.ask()["scheme"] == "https"
        assert WRITE_TIME < time.monotonic() - before < 2 * WRITE_TIME
        wait_until("it is told", lambda: len(server.told("did not take its answer")) == THREADS)


def test_a_client_that_does_not_trust_us_is_told_in_one_line(server: Server) -> None:
    with pytest.raises(ssl.SSLCertVerificationError):
        server.connect(client(trustme.CA()))
    wait_until("it is told", lambda: server.told("unknown ca"))
    assert server.told("unknown ca")[0] == (
        f"refused a connection from {HOST}: [SSL: TLSV1_ALERT_UNKNOWN_CA] tlsv1 alert unknown ca"
    )


# --- Certificates that change. ---


def test_new_connections_see_new_certificates_and_old_ones_go_on(tmp_path: Path) -> None:
    with serving(tmp_path) as server, closing(server.connect()) as kept:
        for pair in (NEW, OLD, NEW):
            put(server.volume, pair)
            assert server.shows() == pair.der
            kept.sendall(request())
            assert answer_of(kept)[0] == 200
        put(server.volume, Pair(OLD.cert, NEW.key))
        assert [server.shows() for _ in range(3)] == [NEW.der] * 3
        put(server.volume, OLD)
        assert server.shows() == OLD.der
    told = [line["level"] for line in server.lines() if "certificate" in line["event"]]
    assert told == ["info", "info", "info", "warning", "info"]


@pytest.mark.parametrize(
    ("days", "level", "word"), [(3, "warning", "ends"), (-1, "error", "ended")]
)
def test_a_certificate_that_ends_is_served_and_told_once(
    tmp_path: Path, days: int, level: str, word: str
) -> None:
    end = (datetime.now(UTC) + timedelta(days=days)).replace(microsecond=0)
    ending = issued(AUTHORITY, end)
    with serving(tmp_path, pair=ending) as server:
        for _ in range(3):
            if word == "ends":
                assert server.shows() == ending.der
            wait_until("it is told", lambda: server.told("the certificate in"))
            time.sleep(0.5)
        told = [line for line in server.lines() if "the certificate in" in line["event"]]
    assert [(line["level"], line["event"].partition(";")[0]) for line in told] == [
        (
            level,
            f"the certificate in {tmp_path}/tls/tls.crt {word} at {end:%Y-%m-%dT%H:%M:%SZ}",
        )
    ]


def refusal_of(server: Server, context: ssl.SSLContext) -> str:
    """What a client is told that isn't let in, which TLS 1.3 does after the handshake."""
    try:
        with closing(server.connect(context)) as peer:
            peer.sendall(request())
            peer.recv(1)
    except ssl.SSLError as error:
        return str(error.reason)
    return "nothing"


def test_clients_show_a_certificate_of_the_authorities_of_that_day(tmp_path: Path) -> None:
    other = trustme.CA()
    mine = client(AUTHORITY, AUTHORITY.issue_cert("me"))
    theirs = client(AUTHORITY, other.issue_cert("they"))
    with (
        serving(tmp_path, client_ca=AUTHORITY.cert_pem.bytes()) as server,
        closing(server.connect(mine)) as kept,
    ):
        assert refusal_of(server, CLIENT) == "TLSV13_ALERT_CERTIFICATE_REQUIRED"
        assert refusal_of(server, theirs) == "TLSV1_ALERT_UNKNOWN_CA"
        put(server.volume, OLD, other.cert_pem.bytes())
        assert refusal_of(server, mine) == "TLSV1_ALERT_UNKNOWN_CA"
        assert server.shows(theirs) == OLD.der
        put(server.volume, OLD)
        assert server.shows(theirs) == OLD.der
        kept.sendall(request())
        assert answer_of(kept)[1]["before"] == 0
        with closing(server.connect_plain()) as peer:
            peer.sendall(request())
            assert answer_of(peer)[1]["scheme"] == "http"
    assert len(server.told("NODEROTATION_CLIENT_CA_FILE")) == 1
    assert unexpected(server) == []


def test_connections_and_swaps_leave_nothing_behind(tmp_path: Path) -> None:
    with serving(tmp_path) as server, ThreadPoolExecutor(4) as peers:

        def busy(rounds: int) -> Any:
            for number in range(rounds):
                put(server.volume, (OLD, NEW)[number % 2])
                list(peers.map(server.ask, ["/"] * 100))
            answers = []

            def is_idle() -> bool:
                answers.append(server.ask())
                return bool(answers[-1]["files"] <= idle + 2)

            wait_until("it has closed all those connections", is_idle)
            assert answers[0]["before"] - before == 100 * rounds
            return answers[-1]

        first = server.ask()
        idle, before = first["files"], first["before"] + 1
        some = busy(2)
        before = some["before"] + 1
        more = busy(4)
    assert more["memory"] < some["memory"] * 1.05


# --- Its end. ---


BUT_AT_ITS_END = tuple(name for name in PATIENT if name != "LINGER")


def test_when_it_stops_requests_that_have_arrived_are_answered(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "gate")
    with (
        serving(tmp_path, *BUT_AT_ITS_END) as server,
        ThreadPoolExecutor(THREADS) as peers,
        closing(server.connect()) as queued,
        closing(server.connect()),
        closing(server.connect_raw()),
    ):
        started = [peers.submit(server.ask, f"/?gate={gate.path}") for _ in range(THREADS)]
        gate.wait_for(THREADS)
        queued.sendall(request())
        server.process.send_signal(signal.SIGTERM)
        wait_until("it takes no connections any more", server.refuses)
        gate.open()
        assert [answer.result()["scheme"] for answer in started] == ["https"] * THREADS
        assert answer_of(queued)[0] == 200
        assert server.process.wait(SOON) == 0
    assert unexpected(server) == []


def test_when_it_stops_those_that_say_nothing_are_soon_let_go(tmp_path: Path) -> None:
    with (
        serving(tmp_path, *BUT_AT_ITS_END) as server,
        closing(server.connect()),
        closing(server.connect_raw()),
    ):
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(SOON) == 0


def test_a_connection_that_waited_when_it_stopped_is_served(tmp_path: Path) -> None:
    with serving(tmp_path, *PATIENT) as server, ThreadPoolExecutor(8) as peers:
        waiting = [server.connect_raw() for _ in range(8)]
        server.process.send_signal(signal.SIGTERM)
        answers = list(peers.map(encrypted_answer, waiting))
    assert answers == [200] * 8


def encrypted_answer(raw: socket.socket) -> int:
    with closing(CLIENT.wrap_socket(raw, server_hostname=HOST)) as peer:
        peer.sendall(request())
        return answer_of(peer)[0]
