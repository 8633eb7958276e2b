"""Which hook server a call of the controllers goes to; this needs no cluster."""

from __future__ import annotations

from contextlib import AbstractContextManager

import pytest
import requests

from tests.e2e.front import Front
from tests.e2e.processes import free_ports
from tests.sandbox.conductor.loopback import Received, Sent, serving


def hook_server(who: str) -> AbstractContextManager[str]:
    """One that says who it is, and what it was asked for; it has no time for anything else."""

    def answer(received: Received) -> Sent:
        return Sent(503, f"{who} at {received.path}", {"Retry-After": "7"})

    return serving(answer)


def post(front: Front, name: str, key: str = "object") -> requests.Response:
    """Call about a parent."""
    body = {"controller": {}, key: {"metadata": {"name": name}}}
    return requests.post(f"{front.url}/sync/nodepool", json=body, timeout=5)


def answered(front: Front, name: str, key: str = "object") -> str:
    """Who answered a call about a parent."""
    told: str = post(front, name, key).json()
    return told.partition(" ")[0]


def test_the_longest_beginning_holds() -> None:
    (port,) = free_ports(1)
    with (
        Front(port) as front,
        hook_server("everybody's") as everybodys,
        hook_server("my-own") as own,
        front.to(own, "mine"),
        front.to(everybodys),
    ):
        assert answered(front, "mine-1") == "my-own"
        assert answered(front, "mine", "parent") == "my-own"
        assert answered(front, "yours") == "everybody's"
        with hook_server("my-new-one") as new, front.to(new, "mine"):
            assert answered(front, "mine-1") == "my-new-one"
        assert answered(front, "mine-1") == "my-own"


def test_an_answer_goes_through_as_it_is() -> None:
    (port,) = free_ports(1)
    with Front(port) as front, hook_server("everybody's") as everybodys, front.to(everybodys):
        answer = post(front, "yours")
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "7")
    assert answer.json() == "everybody's at /sync/nodepool"


def test_it_hangs_up_where_nobody_is() -> None:
    port, unused = free_ports(2)
    with Front(port) as front:
        with pytest.raises(requests.ConnectionError):
            post(front, "yours")
        with front.to(f"http://127.0.0.1:{unused}"), pytest.raises(requests.ConnectionError):
            post(front, "yours")
