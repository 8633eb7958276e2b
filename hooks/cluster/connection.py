"""The one connection of the process to the API server: JSON in, JSON out, no hidden retry.

Owns the deadline of a pass and the translation of every failure into :mod:`hooks.cluster.errors`.
Leaves paths to :mod:`hooks.cluster.resources`, verbs to :mod:`hooks.cluster.verbs`, sockets to
:mod:`hooks.cluster.wire`. The client library finds the cluster and sets up TLS; the calls go
straight to its connection pool, so that no typed model, thread pool or retry of the library stands
between. Source: design/rotation.md sections 1 and 4.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final
from urllib.parse import urlencode

import urllib3
from kubernetes.client.rest import RESTClientObject
from urllib3.exceptions import HTTPError, ReadTimeoutError

from hooks.cluster.answers import Json, error_of, json_object
from hooks.cluster.credentials import Access, Authorization
from hooks.cluster.errors import Conflict, OutOfTime, Refused, Unavailable
from hooks.cluster.patches import failing
from hooks.cluster.wire import Answer, Request, TooSlowError, exchange, may_repeat

CALL_LIMIT: Final = 10.0
"""Seconds that one call may take when no nearer deadline bounds it."""
PAGE: Final = 500
"""Objects asked for at a time."""
CONNECTIONS: Final = 32
"""Idle connections that are kept; more threads than this would only open new ones."""
UNPROCESSABLE: Final = 422
OK: Final = range(200, 300)
JSON: Final = "application/json"
JSON_PATCH: Final = "application/json-patch+json"
NO_QUERY: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Connection:
    """A pool of connections to one API server, shared by all threads of the process.

    ``deadline`` is a value of ``clock`` (seconds, monotonic) from which on nothing is sent.
    """

    host: str
    http: urllib3.PoolManager
    authorization: Authorization
    clock: Callable[[], float] = time.monotonic
    deadline: float = math.inf

    def within(self, deadline: float) -> Connection:
        """Give the same pool with another deadline."""
        return replace(self, deadline=deadline)

    def close(self) -> None:
        """Close all idle connections."""
        self.http.clear()

    def get(self, path: str, query: Mapping[str, str] = NO_QUERY) -> Json:
        """Read one object; raises NotFound, NotServed, Refused, Unavailable or OutOfTime."""
        return self._call("GET", path, query=query)

    def items(self, path: str, query: Mapping[str, str] = NO_QUERY) -> Iterator[Json]:
        """Read a collection page by page; a page that fails ends it with an error."""
        more = ""
        while True:
            asked = {**query, "limit": str(PAGE), **({"continue": more} if more else {})}
            page = self.get(path, asked)
            yield from page.get("items") or ()
            more = (page.get("metadata") or {}).get("continue") or ""
            if not more:
                return

    def create(self, path: str, body: Json) -> Json:
        """Create an object; raises AlreadyExists when the name is taken."""
        return self._call("POST", path, body=body)

    def patch(self, path: str, ops: Sequence[Json], *, ask: bool = True) -> Json:
        """Apply a JSON Patch; raises Conflict when one of its tests fails.

        The server answers a failed test with the same bare 422 as a pointer that leads nowhere,
        naming no field, so the tests are held against the live object then. Without ``ask`` it is
        taken for a failed test: for a caller that reads the object again itself.
        """
        try:
            return self._call("PATCH", path, body=list(ops), content_type=JSON_PATCH)
        except Refused as refused:
            if refused.status != UNPROCESSABLE or refused.fields:
                raise
            if not ask:
                raise Conflict(refused.message) from refused
            failed = failing(ops, self.get(path))
            if failed is None:
                raise
            raise Conflict(f"{path}: {failed['path']} is not {failed['value']!r}") from refused

    def delete(self, path: str, *, uid: str, resource_version: str | None = None) -> None:
        """Delete exactly the object of this UID; raises NotFound, or Conflict if it is another."""
        preconditions = {"uid": uid}
        if resource_version is not None:
            preconditions["resourceVersion"] = resource_version
        options = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": preconditions}
        self._call("DELETE", path, body=options)

    def _call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] = NO_QUERY,
        body: object = None,
        content_type: str = JSON,
    ) -> Json:
        url = f"{self.host}{path}" + (f"?{urlencode(query)}" if query else "")
        headers = {"Accept": JSON, "User-Agent": "noderotation"}
        payload = None
        if body is not None:
            headers["Content-Type"] = content_type
            payload = json.dumps(body).encode()
        answer = self._send(Request(method, url, headers, payload))
        if answer.status not in OK:
            raise error_of(path, answer.status, answer.headers, answer.body)
        return json_object(answer.body)

    def _send(self, request: Request, *, repeated: bool = False) -> Answer:
        authorization = self.authorization()
        if authorization:
            request = replace(request, headers={**request.headers, "Authorization": authorization})
        left = self.deadline - self.clock()
        if left <= 0:
            raise OutOfTime("the time of this pass is over, nothing more is sent")
        try:
            return exchange(self.http, request, min(left, CALL_LIMIT), self.clock)
        except (HTTPError, OSError, ValueError) as error:
            if not repeated and may_repeat(request.method, error):
                # What was tried once has failed: without time for a repeat it isn't "nothing sent".
                with suppress(OutOfTime):
                    return self._send(request, repeated=True)
            raise Unavailable(
                f"cannot reach the API server at {self.host}: {_why(error)}"
            ) from error


def connect(access: Access, *, clock: Callable[[], float] = time.monotonic) -> Connection:
    """Make the connection; nothing is sent yet. One for each process is enough."""
    configuration = access.configuration
    configuration.connection_pool_maxsize = CONNECTIONS
    make: Callable[..., RESTClientObject] = RESTClientObject
    pool = make(configuration).pool_manager
    return Connection(configuration.host.rstrip("/"), pool, access.authorization, clock)


def _why(error: Exception) -> str:
    if isinstance(error, ReadTimeoutError | TooSlowError):
        return "no answer in time"
    return " ".join(str(error).split()) or type(error).__name__
