"""The server as a process: slow and broken peers, queueing, and how it stops."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import requests

from hooks.rotation.quantity import parse_quantity
from hooks.server.process import options
from hooks.settings import read_settings
from tests.e2e.processes import free_ports
from tests.peers import LONGEST_TRICKLE, answer_of, trickle
from tests.server_times import PATIENT, PLACES, SOON, Gate, stretched, wait_until

THREADS = 2
LIMIT = 64 * 1024
READ_TIME = 5.0
URL = "/sync/nodepool"
HEADERS = {"Authorization": "Bearer s3cret", "Content-Type": "application/json"}
HEAD = b"POST /sync/nodepool HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
TOKEN = b"Authorization: Bearer s3cret\r\n"


@dataclass
class Server:
    process: subprocess.Popen[bytes]
    port: int
    log: Path

    def post(self, body: bytes = b"{}") -> requests.Response:
        url = f"http://127.0.0.1:{self.port}{URL}"
        return requests.post(url, data=body, headers=HEADERS, timeout=20)

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=20)

    def exchange(self, data: bytes) -> tuple[int, Any]:
        """Send bytes as they are, and read one answer."""
        with closing(self.connect()) as peer:
            peer.sendall(data)
            return answer_of(peer)

    def serves(self) -> bool:
        assert self.process.poll() is None, self.log.read_text()
        try:
            return requests.get(f"http://127.0.0.1:{self.port}/healthz", timeout=20).ok
        except requests.ConnectionError:
            return False

    def refuses(self) -> bool:
        try:
            self.connect().close()
        except ConnectionRefusedError:
            return True
        return False

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()]


@contextmanager
def serving(folder: Path, *stretch: str) -> Iterator[Server]:
    (folder / "token").write_text("s3cret")
    (port,) = free_ports(1)
    log = folder / "log"
    with log.open("wb") as written:
        process = subprocess.Popen(
            [sys.executable, "-P", str(Path(__file__).with_name("slow_server.py"))],
            env={
                **os.environ,
                **stretched(*stretch),
                "PYTHONPATH": os.pathsep.join(map(str, PLACES)),
                "NODEROTATION_TOKEN_FILE": str(folder / "token"),
                "NODEROTATION_BIND": f"127.0.0.1:{port}",
                "NODEROTATION_THREADS": str(THREADS),
                "NODEROTATION_BODY_LIMIT": str(LIMIT),
            },
            stdout=written,
            stderr=subprocess.STDOUT,
        )
    try:
        server = Server(process, port, log)
        wait_until("the server has started", server.serves)
        yield server
    finally:
        process.terminate()
        process.wait(30)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("server"), *PATIENT) as running:
        yield running


def request(body: bytes = b"{}", extra: bytes = TOKEN) -> bytes:
    return HEAD + extra + b"Content-Length: %d\r\n\r\n" % len(body) + body


def at(gate: Gate) -> bytes:
    """A body that has its request wait at a gate."""
    return json.dumps({"gate": str(gate.path)}).encode()


def chunked(*chunks: bytes, end: bytes = b"0\r\n\r\n") -> bytes:
    framed = b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks)
    return HEAD + TOKEN + b"Transfer-Encoding: chunked\r\n\r\n" + framed + end


def test_a_hook_answers_with_nearly_all_of_its_time_left(server: Server) -> None:
    before = time.monotonic()
    answer = server.post(b'{"sleep": 0}').json()
    took = time.monotonic() - before
    assert (answer["length"], 8 - took <= answer["left"] <= 8) == (12, True)


def test_a_connection_serves_one_request_after_the_other(server: Server) -> None:
    with closing(server.connect()) as peer:
        for length in (2, 1000, LIMIT):
            peer.sendall(request(b"{}".ljust(length)))
            status, body = answer_of(peer)
            assert (status, body["length"]) == (200, length)


@pytest.mark.parametrize(
    "both",
    [
        request(b'{"a": 1}') + request(b"{}"),
        chunked(b'{"a"', b": 1}") + request(b"{}"),
        chunked(b'{"a"', b": 1}", end=b"0\r\nA: b\r\n\r\n") + chunked(b"{}"),
    ],
)
def test_two_requests_may_come_at_once(server: Server, both: bytes) -> None:
    with closing(server.connect()) as peer:
        peer.sendall(both)
        answers = [answer_of(peer), answer_of(peer)]
    assert [(status, body["length"]) for status, body in answers] == [(200, 8), (200, 2)]


def test_a_request_may_come_in_pieces(server: Server) -> None:
    for whole in (request(b'{"a": 1}'), chunked(b'{"a"', b": 1}")):
        with closing(server.connect()) as peer:
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for position in range(len(whole)):
                peer.sendall(whole[position : position + 1])
            status, body = answer_of(peer)
        assert (status, body["length"]) == (200, 8)


def test_a_sender_that_asks_first_is_told_to_go_on(server: Server) -> None:
    with closing(server.connect()) as peer:
        peer.sendall(HEAD + TOKEN + b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n")
        assert answer_of(peer) == (100, None)
        peer.sendall(b"{}")
        told = answer_of(peer)
        while told == (100, None):
            # By whoever reads the body, too.
            told = answer_of(peer)
        assert told[0] == 200


@pytest.mark.parametrize(
    ("data", "status", "code"),
    [
        (request(b" " * (LIMIT + 1)), 413, "BodyTooLarge"),
        (HEAD + TOKEN + b"Content-Length: 99999999999\r\n\r\n", 413, "BodyTooLarge"),
        (chunked(b" " * LIMIT, b" "), 413, "BodyTooLarge"),
        # Refused without the body, which these senders keep back.
        (HEAD + b"Content-Length: 100\r\n\r\n", 401, "Unauthorized"),
        (HEAD + b"Authorization: Bearer x\r\nContent-Length: 9\r\n\r\n{", 401, "Unauthorized"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", 401, "Unauthorized"),
        (chunked(b"{}", end=b"x\r\n\r\n"), 400, "BadRequest"),
        (b"hello\r\n\r\n", 400, "BadRequest"),
        (b"GET / HTTP/9.9\r\n\r\n", 400, "BadRequest"),
        (HEAD + b"Content-Length: two\r\n\r\n", 400, "BadRequest"),
        (HEAD + TOKEN + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", 400, "BadRequest"),
        (HEAD + TOKEN + b"Transfer-Encoding: snappy\r\n\r\n", 501, "UnknownTransferCoding"),
        (b"GET /" + b"x" * 5000 + b" HTTP/1.1\r\n\r\n", 414, "TargetTooLong"),
        (b"GET / HTTP/1.1\r\nX: " + b"x" * 70_000, 431, "HeadTooLarge"),
        (chunked(end=b"0" * 2000), 431, "HeadTooLarge"),
        (chunked(end=b"0\r\nX: " + b"x" * 70_000), 431, "HeadTooLarge"),
        (b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 200 + b"\r\n", 431, "HeadTooLarge"),
    ],
)
def test_what_cannot_be_served_is_refused_at_once(
    server: Server, data: bytes, status: int, code: str
) -> None:
    before = time.monotonic()
    answer = server.exchange(data)
    assert (answer[0], answer[1]["error"]["code"]) == (status, code)
    assert time.monotonic() - before < SOON


def test_a_closing_connection_holds_up_nobody(server: Server) -> None:
    with ExitStack() as open_peers:
        for _ in range(6):
            peer = open_peers.enter_context(closing(server.connect()))
            peer.sendall(b"hello\r\n\r\n")
            assert answer_of(peer)[0] == 400
        before = time.monotonic()
        assert server.post().status_code == 200
        assert time.monotonic() - before < SOON


TRICKLES = (
    (b"", b""),
    (b"", b"POST /sync/nodepool HTTP/1.1\r\nX: " + b"x" * 1000),
    (HEAD + b"X: " + b"x" * 60_000, b"x" * 1000),
    (HEAD + TOKEN + b"Content-Length: 1000\r\n\r\n", b" " * 1000),
    (HEAD + TOKEN + b"Transfer-Encoding: chunked\r\n\r\n", b"3e8\r\n" + b" " * 1000),
    (HEAD + TOKEN + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n" * 300),
)
"""What is sent at once, and what byte by byte after it."""


def test_peers_that_trickle_cost_nobody_anything(server: Server) -> None:
    many = TRICKLES * (4 * THREADS)
    begin, end = threading.Barrier(len(many) + 1), threading.Event()
    with ThreadPoolExecutor(len(many)) as peers:
        running = [peers.submit(trickle, server.connect, *kind, begin, end) for kind in many]
        begin.wait(SOON)
        before = time.monotonic()
        assert [server.post().status_code for _ in range(10)] == [200] * 10
        assert time.monotonic() - before < SOON
        assert [peer.done() for peer in running] == [False] * len(many)
        end.set()


def test_peers_that_trickle_are_cut_off(tmp_path: Path) -> None:
    many = TRICKLES * (4 * THREADS)
    begin, never = threading.Barrier(len(many)), threading.Event()
    with serving(tmp_path) as server, ThreadPoolExecutor(len(many)) as peers:
        running = [peers.submit(trickle, server.connect, *kind, begin, never) for kind in many]
        took = [peer.result() for peer in running]
    assert min(took) >= READ_TIME - 0.1
    # Where nobody cuts them off, all of them go on for longer than this.
    assert max(took) < LONGEST_TRICKLE * 0.1 / 2


def test_the_time_in_the_queue_counts(server: Server, tmp_path: Path) -> None:
    gate = Gate(tmp_path / "gate")
    with ThreadPoolExecutor(THREADS) as peers, closing(server.connect()) as queued:
        busy = [peers.submit(server.post, at(gate)) for _ in range(THREADS)]
        gate.wait_for(THREADS)
        sent = time.monotonic()
        queued.sendall(request())
        # Refused by the event loop, which has seen all that came before.
        assert server.exchange(chunked(b" " * LIMIT, b" "))[0] == 413
        waits = time.monotonic()
        time.sleep(1.5)
        goes_on = time.monotonic()
        gate.open()
        assert [answer.result().status_code for answer in busy] == [200] * THREADS
        left = answer_of(queued)[1]["left"]
    assert 8 - (time.monotonic() - sent) <= left <= 8 - (goes_on - waits)


def test_one_process_answers_everything(server: Server) -> None:
    with ThreadPoolExecutor(8) as peers:
        answers = peers.map(lambda _: server.post(b'{"sleep": 0.05}').json(), range(16))
        found = list(answers)
    assert len({answer["pid"] for answer in found}) == 1
    assert len({answer["request_id"] for answer in found}) == 16


def leads_to(descriptor: Path) -> str:
    """Where it leads; nowhere once it is closed, as that of a connection is any moment."""
    try:
        return str(descriptor.readlink())
    except FileNotFoundError:
        return ""


def test_a_request_touches_no_file_of_the_server(server: Server) -> None:
    descriptors = Path(f"/proc/{server.post().json()['pid']}/fd")
    (heartbeat,) = (one for one in descriptors.iterdir() if "wgunicorn" in leads_to(one))
    before = heartbeat.stat().st_mtime_ns
    for _ in range(5):
        server.post()
    assert heartbeat.stat().st_mtime_ns == before


def test_each_line_of_the_log_is_json_and_no_request_is_logged(server: Server) -> None:
    server.post()
    assert {"ts", "level", "event"} <= set.intersection(*(set(line) for line in server.lines()))
    assert [line for line in server.lines() if "POST" in line["event"]] == []


def test_when_it_stops_requests_under_way_are_answered(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "gate")
    with (
        serving(tmp_path) as server,
        ThreadPoolExecutor(THREADS) as peers,
        closing(server.connect()) as queued,
        closing(server.connect()),
    ):
        started = [peers.submit(server.post, at(gate)) for _ in range(THREADS)]
        gate.wait_for(THREADS)
        queued.sendall(request())
        server.process.send_signal(signal.SIGTERM)
        wait_until("it takes no connections any more", server.refuses)
        assert [answer.done() for answer in started] == [False] * THREADS
        gate.open()
        assert [answer.result().status_code for answer in started] == [200] * THREADS
        assert answer_of(queued)[0] == 200
        assert server.process.wait(30) == 0
    assert [line for line in server.lines() if line["level"] == "error"] == []


def test_a_connection_that_waited_when_it_stopped_is_served(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        peers = [server.connect() for _ in range(8)]
        for peer in peers:
            peer.sendall(request())
        server.process.send_signal(signal.SIGTERM)
        answers = []
        for peer in peers:
            with closing(peer):
                answers.append(answer_of(peer)[0])
    assert answers == [200] * 8


def test_a_slow_pass_never_looks_like_a_dead_worker() -> None:
    made = options(read_settings({"NODEROTATION_TOKEN_FILE": "x"}))
    assert (made["workers"], made["timeout"], made["graceful_timeout"]) == (1, 0, 15)


@pytest.mark.parametrize(
    ("limit", "held"), [("64Mi", "256Mi"), ("1Gi", "256Mi"), ("3Mi", "16Mi"), ("5Mi", "20Mi")]
)
def test_what_is_held_of_unfinished_requests_goes_by_the_largest_body(
    limit: str, held: str
) -> None:
    made = options(
        read_settings({"NODEROTATION_TOKEN_FILE": "x", "NODEROTATION_BODY_LIMIT": limit})
    )
    assert getattr(made["worker_class"], "held", None) == parse_quantity(held)
