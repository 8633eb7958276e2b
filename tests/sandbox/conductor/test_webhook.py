"""A hook is called over HTTP as Metacontroller calls it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hooks.sandbox.conductor.answers import decode_sync
from hooks.sandbox.conductor.webhook import Hook, HttpTransport, Reply
from hooks.sandbox.failures import HookCallError, StoppedError, TooManyRequestsError
from tests.sandbox.conductor.loopback import Received, Sent, serving
from tests.sandbox.conductor.world import World, pool

LONG = 30.0
"""Seconds that nothing takes, however busy the machine is."""
NOBODY = "http://127.0.0.1:1"
"""Where nobody serves: a port that just became free may be somebody else's at once."""


def transport(url: str, timeout: float = 5.0, authorization: str = "") -> HttpTransport:
    return HttpTransport(url + "/sync", timeout, authorization)


class Hurried:
    """Has little time for its first call, and enough for all others."""

    def __init__(self, url: str) -> None:
        self._transports = iter([transport(url, timeout=0.2)])
        self._later = transport(url, timeout=LONG)

    def post(self, body: bytes) -> Reply:
        return next(self._transports, self._later).post(body)


def test_the_request_is_a_json_post_with_gos_headers_and_nothing_of_the_library() -> None:
    received: list[Received] = []

    def answer(request: Received) -> Sent:
        received.append(request)
        return Sent()

    with serving(answer) as url:
        Hook(transport(url, authorization="Bearer abc"), decode_sync).call({"text": "ü<>"})
    [request] = received
    assert (request.method, request.path) == ("POST", "/sync")
    assert request.body == '{"text":"ü<>"}'.encode()
    headers = {name: value for name, value in request.headers.items() if name != "Host"}
    assert headers == {
        "User-Agent": "Go-http-client/1.1",
        "Content-Type": "application/json",
        "Accept-Encoding": "gzip",
        "Authorization": "Bearer abc",
        "Content-Length": "15",
    }


def test_without_authorization_there_is_no_such_header_not_even_from_the_shell(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password secret\n", encoding="utf-8")
    monkeypatch.setenv("NETRC", str(netrc))
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    received: list[Received] = []

    def answer(request: Received) -> Sent:
        received.append(request)
        return Sent()

    with serving(answer) as url:
        transport(url).post(b"{}")
    assert "Authorization" not in received[0].headers


def test_connections_are_reused() -> None:
    clients = set()

    def answer(request: Received) -> Sent:
        clients.add(request.client)
        return Sent()

    with serving(answer) as url:
        hook = transport(url)
        for _ in range(5):
            hook.post(b"{}")
    assert len(clients) == 1


def test_status_and_body_of_a_refusal_are_in_the_message() -> None:
    refusing = serving(lambda _: Sent(status=503, body=b"no API"))
    complaint = "unsupported status code: 503 body: no API"
    with refusing as url, pytest.raises(HookCallError, match=complaint):
        Hook(transport(url), decode_sync).call({})


def test_retry_after_of_a_429_is_read() -> None:
    refusing = serving(lambda _: Sent(status=429, headers={"Retry-After": "7"}))
    with refusing as url, pytest.raises(TooManyRequestsError) as caught:
        Hook(transport(url), decode_sync).call({})
    assert caught.value.after_seconds == 7


def test_a_hook_that_nobody_serves_is_an_error() -> None:
    with pytest.raises(HookCallError, match=f'http error: Post "{NOBODY}/sync": '):
        transport(NOBODY).post(b"{}")


def test_a_late_answer_is_a_time_out() -> None:
    release = threading.Event()

    def answer(_: Received) -> Sent:
        release.wait(LONG)
        return Sent()

    with serving(answer) as url:
        began = time.monotonic()
        with pytest.raises(HookCallError, match="context deadline exceeded"):
            transport(url, timeout=0.1).post(b"{}")
        waited = time.monotonic() - began
        release.set()
    assert 0.1 <= waited < LONG / 2


def test_the_time_out_covers_a_body_that_trickles_in() -> None:
    def trickle() -> Iterator[bytes]:
        for _ in range(int(LONG / 0.05)):
            time.sleep(0.05)
            yield b" "
        yield b"{}"

    with serving(lambda _: Sent(chunks=trickle())) as url:
        began = time.monotonic()
        with pytest.raises(HookCallError, match="context deadline exceeded"):
            transport(url, timeout=0.2).post(b"{}")
        assert 0.2 <= time.monotonic() - began < LONG / 2


def test_a_timed_out_call_may_still_run_in_the_hook_while_the_next_pass_is_answered() -> None:
    release, running, finished = threading.Event(), threading.Event(), threading.Event()
    calls: list[Received] = []

    def answer(request: Received) -> Sent:
        calls.append(request)
        if len(calls) == 1:
            running.set()
            release.wait(LONG)
            finished.set()
            return Sent(body={"annotations": {"from": "the old call"}})
        return Sent(body={"annotations": {"from": "the new call"}})

    with serving(answer) as url:
        world = World(pool(), transport=Hurried(url))
        world.settle()
        assert running.wait(LONG)
        assert world.warnings()[0][1].endswith("exceeded while awaiting headers)")
        world.seconds = 0.005
        world.settle()
        assert not finished.is_set(), "the old call still runs"
        assert world.annotations() == {"from": "the new call"}
        release.set()
        assert finished.wait(LONG)
        world.settle()
        assert world.annotations() == {"from": "the new call"}


def test_a_reply_after_close_is_void() -> None:
    with serving(lambda _: Sent()) as url:
        hook = transport(url)
        hook.close()
        with pytest.raises(StoppedError):
            hook.post(b"{}")


def test_a_call_that_ends_after_a_stop_applies_nothing_and_tells_nobody() -> None:
    with serving(lambda _: Sent(body={"annotations": {"a": "1"}})) as url:
        hook = transport(url)
        world = World(pool(), transport=hook)
        hook.close()
        world.deliver()
        world.step()
    assert world.api.writes == []
    assert world.warnings() == []
