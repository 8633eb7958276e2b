"""A Kubernetes API server over HTTP.

Owns paths, authentication, error bodies and the watch stream. Implements
:class:`hooks.sandbox.apiport.ApiPort`; no error of the HTTP library leaves it.
"""

from __future__ import annotations

import json
import threading
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

import requests

from hooks.sandbox.apiport import Listing, Resource, WatchEvent
from hooks.sandbox.conductor.streams import cut_off
from hooks.sandbox.failures import ApiError
from hooks.sandbox.objects import Obj, name_of, namespace_of, uid_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_HEADERS: Final = {
    # The part before the slash becomes the field manager of what we write.
    "User-Agent": "metacontroller/v4.17.2 (sandbox conductor)",
    "Accept": "application/json",
    "Accept-Encoding": "identity",
}
_CONNECT_SECONDS: Final = 5.0
_CALL_SECONDS: Final = 30.0
_WATCH_SECONDS: Final = 480


class ApiServer:
    """Makes the calls of the port; safe to use from several threads, each with its connection."""

    def __init__(self, url: str, *, token: str = "", ca_file: str = "") -> None:
        self._url = url.rstrip("/")
        self._headers = _HEADERS | ({"Authorization": f"Bearer {token}"} if token else {})
        self._ca_file = ca_file
        self._local = threading.local()

    def resources(self, api_version: str) -> list[Resource]:
        """Return what a group version serves."""
        served: list[Obj] = self._call("GET", _prefix(api_version))["resources"]
        names = {entry["name"] for entry in served}
        return [
            Resource(
                api_version=api_version,
                plural=entry["name"],
                kind=entry["kind"],
                namespaced=entry["namespaced"],
                has_status=f"{entry['name']}/status" in names,
            )
            for entry in served
            if "/" not in entry["name"]
        ]

    def list_all(self, resource: Resource) -> Listing:
        """Return every object of a kind; items of a list come without apiVersion and kind."""
        answer = self._call("GET", _path(resource))
        own = {"apiVersion": resource.api_version, "kind": resource.kind}
        items = [own | item for item in answer.get("items") or []]
        return Listing(items, answer["metadata"]["resourceVersion"])

    def watch(self, resource: Resource, resource_version: str) -> WatchStream:
        """Open a watch; the server ends it after some minutes."""
        parameters = {
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": resource_version,
            "timeoutSeconds": str(_WATCH_SECONDS),
        }
        patience = _WATCH_SECONDS + _CALL_SECONDS
        response = self._send(
            "GET", _path(resource), params=parameters, stream=True, timeout=patience
        )
        return WatchStream(response)

    def get(self, resource: Resource, namespace: str, name: str) -> Obj:
        """Return one object."""
        return self._call("GET", _path(resource, namespace, name))

    def create(self, resource: Resource, obj: Obj) -> Obj:
        """Store a new object."""
        return self._call("POST", _path(resource, namespace_of(obj)), body=obj)

    def update(self, resource: Resource, obj: Obj, subresource: str = "") -> Obj:
        """Replace an object, or its status."""
        path = _path(resource, namespace_of(obj), name_of(obj), subresource)
        return self._call("PUT", path, body=obj)

    def delete(self, resource: Resource, obj: Obj) -> None:
        """Delete an object only if it still has this UID."""
        options = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "preconditions": {"uid": uid_of(obj)},
            "propagationPolicy": "Background",
        }
        self._call("DELETE", _path(resource, namespace_of(obj), name_of(obj)), body=options)

    def _call(self, method: str, path: str, body: Obj | None = None) -> Obj:
        with self._send(method, path, body=body) as response:
            try:
                answer: Obj = response.json()
            except requests.RequestException as error:
                raise ApiError(0, "", f"{method} {path}: {error}") from error
        return answer

    def _send(
        self,
        method: str,
        path: str,
        *,
        body: Obj | None = None,
        params: dict[str, str] | None = None,
        stream: bool = False,
        timeout: float = _CALL_SECONDS,
    ) -> requests.Response:
        try:
            response = self._session().request(
                method,
                self._url + path,
                params=params,
                json=body,
                stream=stream,
                timeout=(_CONNECT_SECONDS, timeout),
            )
        except requests.RequestException as error:
            raise ApiError(0, "", f"{method} {path}: {error}") from error
        if response.status_code >= HTTPStatus.BAD_REQUEST:
            with response:
                raise _refusal(response, f"{method} {path}")
        return response

    def _session(self) -> requests.Session:
        session: requests.Session | None = getattr(self._local, "session", None)
        if session is None:
            session = requests.Session()
            # A netrc or proxy of the developer's shell must not replace token or address.
            session.trust_env = False
            session.headers.update(self._headers)
            if self._ca_file:
                session.verify = self._ca_file
            self._local.session = session
        return session


class WatchStream:
    """The events of one open watch."""

    def __init__(self, response: requests.Response) -> None:
        self._response = response
        self._closed = threading.Event()

    def __iter__(self) -> Iterator[WatchEvent]:
        """Yield events until the server or :meth:`close` ends the watch; raise ApiError."""
        try:
            for line in self._lines():
                event = json.loads(line)
                if event["type"] == "ERROR":
                    raise _from_status(event["object"], "watch")
                yield WatchEvent(event["type"], event["object"])
        except (requests.RequestException, ValueError) as error:
            if not self._closed.is_set():
                raise ApiError(0, "", f"watch: {error}") from error
        finally:
            self._response.close()

    def close(self) -> None:
        """End the watch, also when another thread waits in it."""
        self._closed.set()
        cut_off(self._response)

    def _lines(self) -> Iterator[bytes]:
        # Each event comes as a chunk of its own and is given on at once.
        rest = b""
        for chunk in self._response.iter_content(chunk_size=None):
            *lines, rest = (rest + chunk).split(b"\n")
            yield from filter(None, lines)


def _prefix(api_version: str) -> str:
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


def _path(resource: Resource, namespace: str = "", name: str = "", subresource: str = "") -> str:
    inside = ("namespaces", namespace) if resource.namespaced and namespace else ()
    parts = (_prefix(resource.api_version), *inside, resource.plural, name, subresource)
    return "/".join(filter(None, parts))


def _refusal(response: requests.Response, call: str) -> ApiError:
    try:
        status: Any = response.json()
    except requests.RequestException:
        status = None
    if not isinstance(status, dict):
        return ApiError(
            response.status_code, "", f"{call}: {response.status_code} {response.reason}"
        )
    return _from_status({"code": response.status_code} | status, call)


def _from_status(status: Obj, call: str) -> ApiError:
    message = status.get("message") or f"{call}: {status.get('code')}"
    return ApiError(status.get("code", 0), status.get("reason", ""), message)
