"""One HTTP exchange with the API server: sent once, read to its end, within a limit of time.

Owns sockets, time-outs and what may be sent a second time. Leaves the meaning of the answer to
:mod:`hooks.cluster.answers`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import urllib3
from urllib3.exceptions import ConnectTimeoutError, HTTPError, NewConnectionError, ProtocolError
from urllib3.response import BaseHTTPResponse

CONNECT_LIMIT: Final = 3.0
"""Seconds to wait for a connection, so that there is time left to try once more."""
CHUNK: Final = 65536


@dataclass(frozen=True, slots=True)
class Request:
    """What goes out: ``payload`` None means no body."""

    method: str
    url: str
    headers: Mapping[str, str]
    payload: bytes | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back, whatever its status."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class TooSlowError(HTTPError):
    """The answer was still coming in when the time was over."""


def exchange(
    http: urllib3.PoolManager,
    request: Request,
    limit: float,
    clock: Callable[[], float] = time.monotonic,
) -> Answer:
    """Send the request once and read the whole answer; ``limit`` is in seconds.

    Follows no redirect and repeats nothing. Raises urllib3's errors, which stay inside of
    :mod:`hooks.cluster`.
    """
    end = clock() + limit
    response = http.request(
        request.method,
        request.url,
        body=request.payload,
        headers=request.headers,
        timeout=urllib3.Timeout(connect=min(limit, CONNECT_LIMIT), total=limit),
        retries=False,
        preload_content=False,
    )
    try:
        body = _read(response, end, clock)
    except BaseException:
        # Half an answer is left in the socket: it must not go back into the pool.
        response.close()
        raise
    response.release_conn()
    return Answer(response.status, response.headers, body)


def _read(response: BaseHTTPResponse, end: float, clock: Callable[[], float]) -> bytes:
    # A time-out of the socket holds for one receive only. An answer that trickles in would go on
    # for ever, so the clock is asked after each.
    chunks = []
    while chunk := response.read1(CHUNK):
        chunks.append(chunk)
        if clock() > end:
            raise TooSlowError("the answer came in too slowly")
    return b"".join(chunks)


def may_repeat(method: str, error: Exception) -> bool:
    """Whether the request may be sent once more after this error.

    Any, when no connection came about. A read also when the server closed a connection that had
    lain idle; a write may have been carried out all the same then.
    """
    if isinstance(error, NewConnectionError | ConnectTimeoutError):
        return True
    return method == "GET" and isinstance(error, ProtocolError)
