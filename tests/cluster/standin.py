"""A stand-in API server over HTTP, which keeps what came over the wire.

It answers as kube-apiserver v1.36.3 was seen to answer: a bare 422 for a JSON Patch that can't be
applied, 404 with the object's name in ``details`` for an object and a plain text 404 for a path
that isn't served, 409 for a precondition that doesn't hold.
"""

from __future__ import annotations

import copy
import json
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

import jsonpatch
import jsonpointer
from typing_extensions import override

Json = dict[str, Any]

COLLECTIONS: Final = {
    "/apis/karpenter.sh/v1/nodepools": "NodePool",
    "/apis/karpenter.sh/v1/nodeclaims": "NodeClaim",
    "/apis/noderotation.io/v1alpha1/rotationpolicies": "RotationPolicy",
    "/apis/metacontroller.k8s.io/v1alpha1/decoratorcontrollers": "DecoratorController",
    "/apis/events.k8s.io/v1/namespaces/default/events": "Event",
    "/api/v1/nodes": "Node",
    "/api/v1/pods": "Pod",
    "/apis/policy/v1/poddisruptionbudgets": "PodDisruptionBudget",
    "/apis/apps/v1/deployments": "Deployment",
    "/apis/apps/v1/replicasets": "ReplicaSet",
    "/apis/apps/v1/namespaces/shop/replicasets": "ReplicaSet",
    "/apis/apps/v1/namespaces/shop/deployments": "Deployment",
    "/apis/apps/v1/namespaces/lab/deployments": "Deployment",
    "/api/v1/namespaces/node-rotation-system/pods": "Pod",
}


@dataclass(frozen=True)
class Seen:
    """One request as it arrived."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any


@dataclass(frozen=True)
class Reply:
    """An answer after ``wait`` seconds, byte by byte with ``drip`` seconds between when that is set.

    It waits for an event too, if there is one. Status 0 hangs up without a word.
    """

    status: int
    body: Json | bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    wait: float = 0
    drip: float = 0
    after: threading.Event | None = None


LONG: Final = 60.0
"""Seconds for which nobody waits for an answer, however busy the machine is."""
Rule = Callable[[Seen], Reply | None]


def status_of(code: int, reason: str, **details: str) -> Reply:
    """Write the Status object that goes with an error."""
    body = {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "message": details.pop("message", reason.lower()),
        "reason": reason,
        "details": details,
        "code": code,
    }
    return Reply(code, body)


HANG_UP: Final = Reply(0)
NOT_SERVED: Final = Reply(404, b"404 page not found\n", {"Content-Type": "text/plain"})


class StandIn:
    """Objects by path, a log of requests, and rules that may answer first."""

    def __init__(self) -> None:
        self.collections = dict(COLLECTIONS)
        self.objects: dict[str, Json] = {}
        self.seen: list[Seen] = []
        self.rules: list[Rule] = []
        self.page = 500
        self.connections = 0
        self.stopped = threading.Event()
        self._version = 100
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def stop(self) -> None:
        self.stopped.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def keep_back(self, reply: Reply) -> None:
        """Wait until an answer may leave; for the end of this server, too."""
        self.stopped.wait(reply.wait)
        if reply.after is not None:
            reply.after.wait(LONG)

    def put(self, collection: str, *objects: Json) -> None:
        """Store objects, each with a UID and a resourceVersion of its own where it has none."""
        for given in objects:
            stored = copy.deepcopy(given)
            self._version += 1
            stored["metadata"].setdefault("uid", f"uid-{stored['metadata']['name']}")
            stored["metadata"].setdefault("resourceVersion", str(self._version))
            self.objects[f"{collection}/{stored['metadata']['name']}"] = stored

    def writes(self) -> list[tuple[str, str]]:
        return [(seen.method, seen.path) for seen in self.seen if seen.method != "GET"]

    def answer(self, seen: Seen) -> Reply:
        with self._lock:
            self.seen.append(seen)
            for rule in self.rules:
                reply = rule(seen)
                if reply is not None:
                    return reply
            return self._answer(seen)

    def _answer(self, seen: Seen) -> Reply:
        if seen.path in self.collections:
            return self._list(seen) if seen.method == "GET" else self._create(seen)
        collection, _, name = seen.path.rpartition("/")
        if collection not in self.collections:
            return self._discover(seen.path)
        if seen.path not in self.objects:
            kind = collection.rpartition("/")[2]
            message = f'{kind} "{name}" not found'
            return status_of(404, "NotFound", name=name, kind=kind, message=message)
        if seen.method == "GET":
            return Reply(200, self.objects[seen.path])
        return self._patch(seen) if seen.method == "PATCH" else self._delete(seen)

    def _discover(self, path: str) -> Reply:
        if path == "/version":
            return Reply(200, {"major": "1", "minor": "36"})
        kept = [collection.rpartition("/") for collection in self.collections]
        plurals = [plural for group, _, plural in kept if group == path]
        return Reply(200, {"resources": [{"name": p} for p in plurals]}) if plurals else NOT_SERVED

    def _list(self, seen: Seen) -> Reply:
        start = int(seen.query.get("continue", "0"))
        size = min(int(seen.query["limit"]), self.page)
        items = [
            item
            for path, item in self.objects.items()
            if seen.path in {path.rpartition("/")[0], _of_all_namespaces(path)}
            and _selected(item, seen.query.get("fieldSelector"))
        ]
        more = {"continue": str(start + size)} if start + size < len(items) else {}
        return Reply(200, {"items": items[start : start + size], "metadata": more})

    def _create(self, seen: Seen) -> Reply:
        path = f"{seen.path}/{seen.body['metadata']['name']}"
        if path in self.objects:
            return status_of(409, "AlreadyExists", name=seen.body["metadata"]["name"])
        self.put(seen.path, seen.body)
        return Reply(201, self.objects[path])

    def _patch(self, seen: Seen) -> Reply:
        if seen.headers["Content-Type"] != "application/json-patch+json":
            return status_of(415, "UnsupportedMediaType")
        try:
            changed = jsonpatch.apply_patch(self.objects[seen.path], seen.body)
        except (jsonpatch.JsonPatchException, jsonpointer.JsonPointerException):
            return status_of(422, "Invalid")
        self._version += 1
        changed["metadata"]["resourceVersion"] = str(self._version)
        self.objects[seen.path] = changed
        return Reply(200, changed)

    def _delete(self, seen: Seen) -> Reply:
        meta = self.objects[seen.path]["metadata"]
        if any(meta[key] != value for key, value in seen.body["preconditions"].items()):
            return status_of(409, "Conflict", name=meta["name"])
        del self.objects[seen.path]
        return Reply(200, {"kind": "Status", "status": "Success"})


def _of_all_namespaces(path: str) -> str:
    """The path under which the whole cluster's objects of this one's kind are listed."""
    group, _, rest = path.partition("/namespaces/")
    return f"{group}/{rest.split('/')[1]}" if rest else ""


def _selected(item: Json, selector: str | None) -> bool:
    """Whether a Pod is on the node of a selector, the only one that is ever asked with."""
    if selector is None:
        return True
    node = item.get("spec", {}).get("nodeName")
    return re.sub(r"\\(.)", r"\1", selector) == f"spec.nodeName={node}"


def _handler(standin: StandIn) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Else the second write of an answer waits 40 ms for the acknowledgement of the first.
        disable_nagle_algorithm = True

        @override
        def setup(self) -> None:
            super().setup()
            standin.connections += 1

        @override
        def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
            """Say nothing."""

        def serve(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            raw = self.rfile.read(length)
            url = urlsplit(self.path)
            seen = Seen(
                self.command,
                url.path,
                dict(parse_qsl(url.query)),
                dict(self.headers.items()),
                json.loads(raw) if raw else None,
            )
            self._reply(standin.answer(seen))

        def _reply(self, reply: Reply) -> None:
            body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
            standin.keep_back(reply)
            if reply.status == 0:
                self.close_connection = True
                return
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            try:
                for at in range(0, len(body), 1 if reply.drip else max(1, len(body))):
                    self.wfile.write(body[at : at + 1] if reply.drip else body)
                    standin.stopped.wait(reply.drip)
            except OSError:
                self.close_connection = True

    for verb in ("GET", "POST", "PATCH", "DELETE"):
        setattr(Handler, f"do_{verb}", Handler.serve)
    return Handler
