"""The conductor as a process."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from hooks.sandbox.conductor.__main__ import main
from tests.sandbox.conductor.loopback import Received, Sent, serving


@pytest.fixture(autouse=True)
def _signals_as_before() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_watches_with_its_token_until_a_signal_and_ends_with_status_0(
    number: signal.Signals, tmp_path: Path
) -> None:
    received: list[Received] = []

    def answer(request: Received) -> Sent:
        received.append(request)
        # Two threads come at once, and only one of them is the first.
        if received[0] is request:
            threading.Timer(0.05, os.kill, (os.getpid(), number)).start()
        return Sent(status=404)

    token_file = tmp_path / "token"
    token_file.write_text("abc\n", encoding="utf-8")
    with serving(answer) as url:
        arguments = ["--server", url, "--token-file", str(token_file), "--controller", "toy"]
        assert main(arguments) == 0
    assert {request.path.rpartition("/")[0] for request in received} == {
        "/apis/metacontroller.k8s.io/v1alpha1"
    }
    assert {request.path.rpartition("/")[2] for request in received} <= {
        "decoratorcontrollers",
        "compositecontrollers",
    }
    assert received[0].headers["Authorization"] == "Bearer abc"


def test_it_ends_with_status_1_when_one_of_its_threads_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(threading, "excepthook", lambda _arguments: None)
    with serving(lambda _: Sent(body={"items": "no list", "metadata": {}})) as url:
        assert main(["--server", url]) == 1


def test_it_needs_a_server(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main([])
    assert caught.value.code == 2
    assert "--server" in capsys.readouterr().err
