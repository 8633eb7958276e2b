"""A hand between the hook server and the API server, for what happens between two writes.

Owns forwarding every request, and the rules: what is done before a call reaches the API server, or
once it has been carried out and before the hook server hears of it; and losing the answer. Two
writes of one pass are milliseconds apart: no other way hits the gap every time.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Self, TypeAlias

import requests
from typing_extensions import override

POLL = 0.02
"""Seconds until the end of it is noticed."""
NOT_FORWARDED = frozenset({"connection", "content-length", "host", "transfer-encoding"})


@dataclass(frozen=True, slots=True)
class Sent:
    """One call on its way to the API server."""

    method: str
    path: str
    body: str

    @property
    def name(self) -> str:
        """The last part of the path: mostly the object's name."""
        return self.path.partition("?")[0].rpartition("/")[2]


Action: TypeAlias = Callable[[Sent], None]
Target: TypeAlias = str | Callable[[Sent], str | None]
"""The URL of the server that is meant; None for nobody."""


@dataclass(slots=True)
class Rule:
    """What is done with the first ``times`` calls that match.

    ``path`` is a regular expression for the whole path without its query, ``body`` a text that the
    body contains. ``after`` is called once the API server has answered with success. A call that is
    ``withheld`` never gets there.
    """

    method: str
    path: str
    body: str = ""
    before: Action | None = None
    after: Action | None = None
    withheld: bool = False
    lose_the_answer: bool = False
    times: int = 1
    hits: list[Sent] = field(default_factory=list)

    def matches(self, sent: Sent) -> bool:
        """Whether this call is one of those, and there weren't enough of them yet."""
        return (
            len(self.hits) < self.times
            and sent.method == self.method
            and self.body in sent.body
            and re.fullmatch(self.path, sent.path.partition("?")[0]) is not None
        )


class Interposer:
    """A server at ``url`` (plain http on loopback) that is really the one at ``target``.

    ``ca`` is the file with the certificate of an https target; ``port`` the one to listen on (0: any).
    Where nobody is meant, or nobody is there, it hangs up.
    """

    def __init__(
        self,
        target: Target,
        ca: Path | None = None,
        rules: list[Rule] | None = None,
        port: int = 0,
    ) -> None:
        """Nothing is answered before ``with``; ``rules`` may be a list that others change, too."""
        self._server = _Server(target, ca, [] if rules is None else rules, port)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(POLL,), daemon=True
        )

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_port}"

    @contextmanager
    def away(self) -> Iterator[None]:
        """Until the end of ``with`` be a server that hangs up on everybody."""
        self._server.is_away = True
        try:
            yield
        finally:
            self._server.is_away = False

    def retarget(self, url: str) -> None:
        """Be the server at another address from now on."""
        self._server.target = url

    def __enter__(self) -> Self:
        """Begin to listen."""
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()

    @contextmanager
    def rules(self, *rules: Rule) -> Iterator[None]:
        """Let the rules hold until the end of ``with``."""
        with self._server.lock:
            self._server.rules += rules
        try:
            yield
        finally:
            with self._server.lock:
                # By identity: two rules may say the same.
                self._server.rules[:] = [
                    one for one in self._server.rules if all(one is not gone for gone in rules)
                ]


class _Server(ThreadingHTTPServer):
    # A call that is being held back must not hold up the end.
    daemon_threads = True

    def __init__(self, target: Target, ca: Path | None, rules: list[Rule], port: int) -> None:
        super().__init__(("127.0.0.1", port), _Forwarder)
        self.target = target
        self.ca = ca
        self.lock = threading.Lock()
        self.is_away = False
        self.rules = rules

    def target_of(self, sent: Sent) -> str:
        target = self.target if isinstance(self.target, str) else self.target(sent)
        if target is None:
            message = f"nobody is there for {sent.path}"
            raise ConnectionRefusedError(message)
        return target

    def rule_for(self, sent: Sent) -> Rule | None:
        with self.lock:
            for rule in self.rules:
                if rule.matches(sent):
                    rule.hits.append(sent)
                    return rule
        return None


class _Forwarder(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body go out in two writes, and the second must not wait for an acknowledgement.
    disable_nagle_algorithm = True
    server: _Server

    def do_GET(self) -> None:
        self._forward()

    def do_POST(self) -> None:
        self._forward()

    def do_PATCH(self) -> None:
        self._forward()

    def do_DELETE(self) -> None:
        self._forward()

    @override
    def setup(self) -> None:
        super().setup()
        # One connection to the API server for each of the hook server's.
        self._session = requests.Session()
        self._session.trust_env = False

    @override
    def finish(self) -> None:
        self._session.close()
        super().finish()

    @override
    def handle(self) -> None:
        try:
            super().handle()
        except OSError:
            # The caller died, or was killed by a rule; or whom it asks isn't there.
            self.close_connection = True

    @override
    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Stay silent: the audit log has each call."""

    def _forward(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.server.is_away:
            self.close_connection = True
            return
        sent = Sent(self.command, self.path, body.decode())
        rule = self.server.rule_for(sent)
        if rule is not None and rule.before is not None:
            rule.before(sent)
        if rule is not None and rule.withheld:
            self.close_connection = True
            return
        answer = self._ask(self.server.target_of(sent), body)
        if rule is not None and rule.after is not None and answer.ok:
            rule.after(sent)
        if rule is not None and rule.lose_the_answer:
            self.close_connection = True
            return
        self._give(answer)

    def _ask(self, target: str, body: bytes) -> requests.Response:
        headers = {k: v for k, v in self.headers.items() if k.lower() not in NOT_FORWARDED}
        return self._session.request(
            self.command,
            target + self.path,
            data=body,
            headers=headers,
            verify=str(self.server.ca) if self.server.ca else True,
            timeout=30,
        )

    def _give(self, answer: requests.Response) -> None:
        self.send_response(answer.status_code)
        self.send_header("Content-Type", answer.headers.get("Content-Type", "application/json"))
        self.send_header("Content-Length", str(len(answer.content)))
        for name in ("Retry-After", "Warning"):
            if name in answer.headers:
                self.send_header(name, answer.headers[name])
        self.end_headers()
        self.wfile.write(answer.content)
