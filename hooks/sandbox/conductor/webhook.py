"""Calling a hook the way Metacontroller does.

Owns the HTTP request (method, headers, time-out), what a status means, and Retry-After. A call that
times out is given up here and may go on running in the hook. Leaves the shapes of answers to
:mod:`hooks.sandbox.conductor.answers`.
"""

from __future__ import annotations

import json
import math
import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Generic, Protocol, TypeVar

import requests

from hooks.sandbox.conductor.streams import cut_off
from hooks.sandbox.failures import HookCallError, StoppedError, TooManyRequestsError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hooks.sandbox.objects import Obj

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

_HEADERS: Final = {
    "User-Agent": "Go-http-client/1.1",
    "Content-Type": "application/json",
    "Accept-Encoding": "gzip",
}


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back over the wire; ``retry_after`` is the header, empty when absent."""

    status: int
    body: bytes
    retry_after: str = ""


class Transport(Protocol):
    """Where a request goes; raises HookCallError when no whole reply comes in time."""

    def post(self, body: bytes) -> Reply:
        """Send a body and wait for the reply."""
        ...


class Decode(Protocol[T_co]):
    """One of the decoders of :mod:`hooks.sandbox.conductor.answers`."""

    def __call__(self, body: bytes, *, strict: bool) -> T_co:
        """Return the answer in a body, or raise HookCallError."""
        ...


class Hook(Generic[T]):
    """One hook of one controller."""

    def __init__(
        self,
        transport: Transport,
        decode: Decode[T],
        *,
        strict: bool = True,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Call over ``transport``; ``now`` is read to make sense of a date in Retry-After."""
        self._transport = transport
        self._decode = decode
        self._strict = strict
        self._now = now

    def call(self, request: Obj) -> T:
        """Return the decoded answer; raise TooManyRequestsError for 429, HookCallError otherwise."""
        body = json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode()
        reply = self._transport.post(body)
        if reply.status == HTTPStatus.TOO_MANY_REQUESTS:
            raise TooManyRequestsError(self._seconds(reply.retry_after))
        if reply.status != HTTPStatus.OK:
            text = reply.body.decode("utf-8", "replace")
            raise HookCallError(f"unsupported status code: {reply.status} body: {text}")
        return self._decode(reply.body, strict=self._strict)

    def _seconds(self, retry_after: str) -> int:
        try:
            return math.ceil((parsedate_to_datetime(retry_after) - self._now()).total_seconds())
        except (ValueError, TypeError):
            # Neither a date nor a number is no time at all: asked again at once.
            digits = retry_after.removeprefix("-").removeprefix("+")
            return int(retry_after) if digits.isascii() and digits.isdecimal() else 0


class HttpTransport:
    """A webhook. Connections are kept open, one for each thread that calls."""

    def __init__(
        self,
        url: str,
        timeout: float,
        authorization: str,
        headers: Mapping[str, str] = MappingProxyType(_HEADERS),
    ) -> None:
        """Call ``url`` within ``timeout`` seconds, with this Authorization header unless empty."""
        self._url = url
        self._timeout = timeout
        self._usual = headers
        self._headers = {"Authorization": authorization} if authorization else {}
        self._local = threading.local()
        self._closed = threading.Event()

    def close(self) -> None:
        """Void the replies of the calls that are still running."""
        self._closed.set()

    def post(self, body: bytes) -> Reply:
        """Send a body; raise StoppedError when the reply comes after :meth:`close`."""
        try:
            return self._exchange(body)
        finally:
            if self._closed.is_set():
                raise StoppedError(f"stopped while {self._url} was called")

    def _exchange(self, body: bytes) -> Reply:
        # The time-out covers the whole exchange, the reply's body included.
        expired = threading.Event()
        try:
            response = self._session().post(
                self._url, data=body, headers=self._headers, timeout=self._timeout, stream=True
            )
            remaining = self._timeout - response.elapsed.total_seconds()
            watchdog = threading.Timer(remaining, _give_up, (response, expired))
            watchdog.daemon = True
            watchdog.start()
            try:
                content = response.content
            finally:
                watchdog.cancel()
        except requests.Timeout as error:
            raise self._timed_out() from error
        except requests.RequestException as error:
            raise (
                self._timed_out()
                if expired.is_set()
                else HookCallError(f'http error: Post "{self._url}": {error}')
            ) from error
        if expired.is_set():
            raise self._timed_out()
        return Reply(response.status_code, content, response.headers.get("Retry-After", ""))

    def _timed_out(self) -> HookCallError:
        return HookCallError(
            f'http error: Post "{self._url}": context deadline exceeded '
            "(Client.Timeout exceeded while awaiting headers)"
        )

    def _session(self) -> requests.Session:
        session: requests.Session | None = getattr(self._local, "session", None)
        if session is None:
            session = requests.Session()
            # A proxy or netrc of the developer's shell must not change what the hook sees.
            session.trust_env = False
            session.headers.clear()
            session.headers.update(self._usual)
            self._local.session = session
        return session


def _give_up(response: requests.Response, expired: threading.Event) -> None:
    expired.set()
    cut_off(response)
