"""What isn't HTTP: how it is refused, in the shape of all other errors.

Owns the statuses of what gunicorn's parser refuses before the application sees a request. Leaves all
other errors to the table of :mod:`hooks.app`.
"""

from __future__ import annotations

import json
from typing import Final, Protocol

from gunicorn.http.errors import (
    ExpectationFailed,
    LimitRequestHeaders,
    LimitRequestLine,
    ParseException,
    UnsupportedTransferCoding,
)
from typing_extensions import override

LONGEST_MESSAGE: Final = 200
"""Characters; the parser's messages quote what it was sent."""


class Busy(ParseException):
    """A request isn't small, and those that wait for a thread hold too much already."""

    @override
    def __str__(self) -> str:
        return "too much waits for its turn already"


class LargeBody(ParseException):
    """A body in chunks turns out to be larger than is taken."""

    @override
    def __str__(self) -> str:
        return "the body is larger than is taken"


REFUSALS: Final = (
    (LimitRequestLine, 414, "URI Too Long", "TargetTooLong"),
    (Busy, 503, "Service Unavailable", "Busy"),
    (LargeBody, 413, "Content Too Large", "BodyTooLarge"),
    (LimitRequestHeaders, 431, "Request Header Fields Too Large", "HeadTooLarge"),
    (ExpectationFailed, 417, "Expectation Failed", "ExpectationFailed"),
    (UnsupportedTransferCoding, 501, "Not Implemented", "UnknownTransferCoding"),
    (ParseException, 400, "Bad Request", "BadRequest"),
    (BaseException, 500, "Internal Server Error", "Internal"),
)
"""An error outside the application, status, reason phrase and code; the first that fits."""


def refusal(error: BaseException) -> bytes:
    """Write the whole answer to a request that could not be read; the connection ends with it."""
    status, phrase, code = next(
        (status, phrase, code) for kind, status, phrase, code in REFUSALS if isinstance(error, kind)
    )
    known = isinstance(error, ParseException)
    message = str(error)[:LONGEST_MESSAGE] if known else "a defect; the log tells more"
    body = json.dumps({"error": {"code": code, "field": "", "message": message}}).encode()
    head = (
        f"HTTP/1.1 {status} {phrase}\r\n"
        "Content-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n"
        "Connection: close\r\n"
        "\r\n"
    )
    return head.encode() + body


class Readable(Protocol):
    """Something that a body is read from."""

    def read(self, size: int) -> bytes:
        """Read up to ``size`` bytes; all there are if it is negative."""


class Body:
    """A request's body as the application reads it.

    Malformed framing is a ValueError, so that the application needn't know gunicorn to refuse it.
    """

    def __init__(self, stream: Readable) -> None:
        self._stream = stream

    def read(self, size: int = -1) -> bytes:
        """Read up to ``size`` bytes; raises OSError when they don't come, ValueError as above."""
        try:
            return self._stream.read(size)
        except ParseException as error:
            raise ValueError(str(error)) from error
