"""When a request is whole, as far as the event loop can tell, and what a thread reads of it."""

from __future__ import annotations

import pytest
from gunicorn.http.errors import LimitRequestLine

from hooks.server.incoming import LARGEST_HEAD, LONGEST_SIZE, Incoming, Progress
from hooks.server.refusals import Body, refusal
from hooks.server.source import Source

LIMIT = 20
POST = b"POST / HTTP/1.1\r\n"
TOKEN = b"Authorization: Bearer s3cret\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"
PARTIAL, READY, OVERLONG = Progress.PARTIAL, Progress.READY, Progress.OVERLONG


def incoming() -> Incoming:
    return Incoming(0.0, LIMIT, lambda token: token == b"s3cret")


WHOLE = {
    "no body": b"GET / HTTP/1.1\r\n\r\n",
    "no body, with the token": b"GET / HTTP/1.1\r\n" + TOKEN + b"\r\n",
    "a body": POST + TOKEN + b"Content-Length: 3\r\n\r\nabc",
    "the largest body": POST + TOKEN + b"Content-Length: 20\r\n\r\n" + b"x" * 20,
    "an empty body": POST + TOKEN + b"Content-Length: 0\r\n\r\n",
    "other spelling": POST + b"AUTHORIZATION:\tbEARER  s3cret \r\ncontent-length:3 \r\n\r\nabc",
    "chunks": POST + TOKEN + CHUNKED + b"3\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n",
    "chunks with extensions": POST + TOKEN + CHUNKED + b"3;a=b\r\nabc\r\n0;c\r\n\r\n",
    "chunks with trailers": POST + TOKEN + CHUNKED + b"3\r\nabc\r\n0\r\nA: b\r\nC: d\r\n\r\n",
    "chunks that look like an end": POST + TOKEN + CHUNKED + b"7\r\n0\r\n\r\n..\r\n0\r\n\r\n",
    "a head with an end in its body": POST + TOKEN + b"Content-Length: 5\r\n\r\n\r\n\r\n.",
}


@pytest.mark.parametrize("data", WHOLE.values(), ids=WHOLE.keys())
def test_a_request_is_ready_with_its_last_byte(data: bytes) -> None:
    byte_by_byte = incoming()
    seen = [byte_by_byte.add(data[place : place + 1]) for place in range(len(data))]
    assert seen == [PARTIAL] * (len(data) - 1) + [READY]
    assert incoming().add(data) is READY
    assert byte_by_byte.data == data


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 11])
def test_any_pieces_do(size: int) -> None:
    for data in WHOLE.values():
        made = incoming()
        pieces = [data[place : place + size] for place in range(0, len(data), size)]
        assert [made.add(piece) for piece in pieces][-1] is READY


@pytest.mark.parametrize(
    "data",
    [
        POST + b"Content-Length: 3\r\n\r\n",
        POST + b"Authorization: Bearer other\r\nContent-Length: 3\r\n\r\n",
        POST + b"Authorization: Basic s3cret\r\nContent-Length: 3\r\n\r\n",
        POST + b"X-Authorization: Bearer s3cret\r\nContent-Length: 3\r\n\r\n",
        POST + CHUNKED,
        POST + TOKEN + b"Content-Length: 21\r\n\r\n",
        POST + TOKEN + b"Content-Length: 99999999999999999999\r\n\r\n",
        POST + TOKEN + b"Content-Length: -1\r\n\r\n",
        POST + TOKEN + CHUNKED + b"ffffffffffffffff\r\n",
        POST + TOKEN + CHUNKED + b"-1\r\n",
        POST + TOKEN + CHUNKED + b"\r\n",
        POST + TOKEN + CHUNKED + b"3\r\nabcxyz\r\n",
    ],
)
def test_a_body_that_will_be_refused_is_not_waited_for(data: bytes) -> None:
    made = incoming()
    assert [made.add(data[:-1]), made.add(data[-1:])] == [PARTIAL, READY]


@pytest.mark.parametrize(
    ("beginning", "longest"),
    [
        (b"", LARGEST_HEAD),
        (POST + TOKEN + b"X: ", LARGEST_HEAD - len(POST + TOKEN + b"X: ")),
        (POST + TOKEN + CHUNKED, LONGEST_SIZE),
        (POST + TOKEN + CHUNKED + b"0", LARGEST_HEAD),
    ],
)
def test_what_has_no_end_is_overlong(beginning: bytes, longest: int) -> None:
    made = incoming()
    made.add(beginning)
    filling = b"\r\n" + b"x" * (longest - 2) if beginning.endswith(b"\r\n0") else b"x" * longest
    assert [made.add(filling), made.add(b"x")] == [PARTIAL, OVERLONG]


@pytest.mark.parametrize(
    ("header", "asks"),
    [
        (b"Expect: 100-continue\r\n", True),
        (b"expect:100-Continue\r\n", True),
        (b"Expected: 1\r\n", False),
    ],
)
def test_whether_a_sender_asks_first_is_seen(header: bytes, asks: bool) -> None:
    made = incoming()
    made.add(POST + TOKEN + header + b"Content-Length: 3\r\n\r\n")
    assert made.asks_first is asks


def test_where_everyone_may_call_a_body_is_waited_for_without_a_token() -> None:
    asked: list[bytes | None] = []

    def admits(token: bytes | None) -> bool:
        asked.append(token)
        return True

    made = Incoming(0.0, LIMIT, admits)
    data = POST + b"Content-Length: 3\r\n\r\n"
    assert [made.add(data), made.add(b"ab"), made.add(b"c")] == [PARTIAL, PARTIAL, READY]
    assert asked == [None]


@pytest.mark.parametrize(
    "data",
    [
        POST + TOKEN + CHUNKED + b"15\r\n",
        POST + TOKEN + CHUNKED + b"A\r\n0123456789\r\nB\r\n",
        POST + TOKEN + CHUNKED + b"fffffffffffffff\r\n",
    ],
)
def test_a_body_in_chunks_is_too_large_as_soon_as_a_chunk_says_so(data: bytes) -> None:
    made = incoming()
    assert [made.add(data[:-1]), made.add(data[-1:])] == [PARTIAL, Progress.TOO_LARGE]


def test_what_is_held_is_what_came_of_a_body_that_is_waited_for() -> None:
    made = incoming()
    made.add(POST + TOKEN + b"X: " + b"x" * 9999)
    before = made.held
    made.add(b"\r\nContent-Length: 3\r\n\r\nab")
    assert (before, made.held) == (0, len(made.data))


def test_a_source_gives_what_is_there_and_waits_for_nothing() -> None:
    source = Source(bytearray(b"abcdef"), 12.5, "https")
    assert [source.recv(4), source.rest(), source.recv(4), source.rest()] == [
        b"abcd",
        b"ef",
        b"ef",
        b"",
    ]
    for _ in range(2):
        with pytest.raises(ConnectionResetError, match="isn't waited for"):
            source.recv(1)
    assert (source.arrival, source.scheme) == (12.5, "https")


class Malformed:
    def read(self, size: int) -> bytes:
        raise LimitRequestLine(size, 1)


def test_malformed_framing_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="Request Line is too large"):
        Body(Malformed()).read()


def test_a_defect_tells_nothing() -> None:
    head, _, body = refusal(KeyError("secret detail")).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 500 Internal Server Error\r\n")
    assert body == (
        b'{"error": {"code": "Internal", "field": "", "message": "a defect; the log tells more"}}'
    )
