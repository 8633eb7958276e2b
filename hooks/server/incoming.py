"""What has arrived of one request, and whether it is worth a thread yet.

Owns the reading of just enough of HTTP/1.1 to see where a request ends. It is a hint only: whatever
is handed over is parsed, and judged, by gunicorn. Source: design/product.md, *HTTP* (a body that
trickles in).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum, auto
from typing import Final

LARGEST_HEAD: Final = 64 * 1024
"""Bytes of a head, or of the trailers."""
LONGEST_SIZE: Final = 1024
"""Bytes of the line with a chunk's size."""

_END_OF_LINE: Final = b"\r\n"
_END_OF_HEAD: Final = b"\r\n\r\n"
_LENGTH: Final = re.compile(rb"\ncontent-length:[ \t]*([0-9]{1,15})[ \t]*(?:\r|$)")
_CHUNKED: Final = re.compile(rb"\ntransfer-encoding:[^\r]*chunked")
_BEARER: Final = re.compile(
    rb"\nauthorization:[ \t]*bearer[ \t]+([^\r]*?)[ \t]*(?:\r|$)", re.IGNORECASE
)
_EXPECTS: Final = re.compile(rb"\nexpect:[ \t]*100-continue")
_CHUNK_SIZE: Final = re.compile(rb"([0-9a-f]{1,15})[ \t]*(?:;.*)?")


class Progress(Enum):
    """How far a request has come."""

    PARTIAL = auto()
    """More must come before a thread can do anything with it."""
    READY = auto()
    """It is whole, or it is answered without the rest: waiting longer gains nothing."""
    TOO_LARGE = auto()
    """Its body, which comes in chunks, is larger than is taken."""
    OVERLONG = auto()
    """Its head, its trailers or a chunk's size line has no end in sight."""


class Incoming:
    """The bytes of one request so far.

    ``due`` is when it must be whole, in seconds of the worker's clock. A body isn't waited for when
    it is larger than ``body_limit`` bytes, or when ``admits`` doesn't know the bearer token (None:
    there is none): such a sender gets its refusal without having sent it, and nothing of it is kept.
    ``asks_first`` says that the sender waits for ``100 Continue`` before it sends the body.
    """

    due: float
    data: bytearray
    asks_first: bool

    def __init__(self, due: float, body_limit: int, admits: Callable[[bytes | None], bool]) -> None:
        self.due = due
        self.data = bytearray()
        self.asks_first = False
        self._body_limit = body_limit
        self._admits = admits
        self._position = 0
        self._in_head = True
        self._chunked = False
        self._body = 0

    @property
    def held(self) -> int:
        """How many bytes are kept of a body that is waited for. Heads are small, and don't count."""
        return 0 if self._in_head else len(self.data)

    def add(self, data: bytes) -> Progress:
        """Take more bytes, and say how far the request has come with them."""
        self.data += data
        if self._in_head and not self._find_body():
            return _bounded(len(self.data), LARGEST_HEAD)
        if self._chunked:
            return self._follow_chunks()
        return Progress.READY if len(self.data) >= self._position else Progress.PARTIAL

    def _find_body(self) -> bool:
        end = self.data.find(_END_OF_HEAD, self._position)
        if end < 0:
            self._position = max(0, len(self.data) - len(_END_OF_HEAD) + 1)
            return False
        self._in_head = False
        self._position = end + len(_END_OF_HEAD)
        head = bytes(self.data[:end])
        token = _BEARER.search(head)
        if self._admits(token and token[1]):
            self._measure_body(head.lower())
        return True

    def _measure_body(self, head: bytes) -> None:
        self.asks_first = _EXPECTS.search(head) is not None
        self._chunked = _CHUNKED.search(head) is not None
        length = _LENGTH.search(head)
        if length is not None and int(length[1]) <= self._body_limit:
            self._position += int(length[1])

    def _follow_chunks(self) -> Progress:
        """Go on to the first chunk that isn't there whole; malformed ones are for the parser."""
        while (end := self.data.find(_END_OF_LINE, self._position)) >= 0:
            size = _CHUNK_SIZE.fullmatch(self.data[self._position : end].lower())
            length = 0 if size is None else int(size[1], 16)
            if size is None:
                return Progress.READY
            if self._body + length > self._body_limit:
                return Progress.TOO_LARGE
            if length == 0:
                return self._follow_trailers(end)
            following = end + length + 2 * len(_END_OF_LINE)
            if following > len(self.data):
                return Progress.PARTIAL
            self._body += length
            self._position = following
        return _bounded(len(self.data) - self._position, LONGEST_SIZE)

    def _follow_trailers(self, last_size: int) -> Progress:
        if self.data.find(_END_OF_HEAD, last_size) >= 0:
            return Progress.READY
        return _bounded(len(self.data) - last_size, LARGEST_HEAD)


def _bounded(length: int, limit: int) -> Progress:
    return Progress.PARTIAL if length <= limit else Progress.OVERLONG
