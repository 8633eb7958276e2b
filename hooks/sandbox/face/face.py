"""One door to a store over HTTP.

Owns which verb a request is, and the log of calls. Several faces may stand on one store, so that
the calls of different clients are told apart.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from http import HTTPStatus
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple, Self

from hooks.sandbox.face.bodies import NOT_SERVED, decoded, decoded_object, refused
from hooks.sandbox.face.discovery import Discovery
from hooks.sandbox.face.reading import Reader
from hooks.sandbox.face.subresources import Subresource, SubresourceCall, bindings
from hooks.sandbox.face.targets import Paths, Target, verb_of
from hooks.sandbox.face.watching import watch
from hooks.sandbox.face.wire import Answer, Request, Stream, Wire
from hooks.sandbox.face.writing import Writer, is_dry_run
from hooks.sandbox.failures import ApiError
from hooks.sandbox.objects import metadata_of
from hooks.sandbox.store.doors import with_second_doors
from hooks.sandbox.store.refusals import RefusedError, not_served

if TYPE_CHECKING:
    from hooks.sandbox.store.store import ObjectStore


class Call(NamedTuple):
    """One call: the verb as the audit log has it, ``plural`` or ``plural/subresource``, the name."""

    verb: str
    resource: str
    name: str
    status: int


class Face:
    """An API server on loopback, from :meth:`start` to :meth:`stop`, or as a context."""

    def __init__(
        self,
        store: ObjectStore,
        *,
        subresources: Mapping[tuple[str, str], Subresource] | None = None,
    ) -> None:
        """Stand on a store; ``subresources`` answer for ``(plural, subresource)``."""
        served = with_second_doors(store.served)
        self._doors = {("pods", "binding"): bindings(store), **(subresources or {})}
        self._store = store
        self._paths = Paths(served)
        self._discovery = Discovery(served, self._doors)
        self._reader = Reader(store)
        self._writer = Writer(store)
        self._stopped = threading.Event()
        self._wire = Wire(self._respond)
        self.calls: list[Call] = []
        """Every call so far, in the order of the answers."""

    @property
    def url(self) -> str:
        """Where it listens: ``http://127.0.0.1:port``."""
        return self._wire.url

    def start(self) -> None:
        """Begin to serve."""
        self._wire.start()

    def stop(self) -> None:
        """Stop to serve and close every connection at once, also idle ones."""
        self._stopped.set()
        self._wire.stop()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _respond(self, request: Request) -> Answer | Stream:
        target = self._paths.target(request.path)
        if target is None:
            return self._about_itself(request)
        verb = verb_of(request, target)
        try:
            response = self._verb(verb, target, request)
        except ApiError as error:
            response = refused(error)
        status = response.status if isinstance(response, Answer) else HTTPStatus.OK
        self.calls.append(Call(verb, target.shown, _name(verb, target, response), int(status)))
        return response

    def _about_itself(self, request: Request) -> Answer:
        found = self._discovery.find(request.path) if request.method == "GET" else None
        response = found or self._nothing_at(request.path)
        self.calls.append(Call(request.method.lower(), request.path, "", int(response.status)))
        return response

    def _nothing_at(self, path: str) -> Answer:
        return refused(not_served()) if self._paths.is_built_in(path) else NOT_SERVED

    def _verb(self, verb: str, target: Target, request: Request) -> Answer | Stream:
        if target.subresource and (target.resource.plural, target.subresource) in self._doors:
            return self._through_door(verb, target, request)
        if target.subresource not in {"", "status"} or (
            target.subresource and not target.resource.has_status
        ):
            return self._nothing_at(request.path)
        match verb:
            case "get":
                return self._reader.get(target)
            case "list":
                return self._reader.list(target, request)
            case "watch":
                return Stream(watch(self._store, target, request, self._stopped.is_set))
            case _:
                return self._write(verb, target, request)

    def _write(self, verb: str, target: Target, request: Request) -> Answer:
        if "protobuf" in request.content_type:
            # The generators of kubectl (`create configmap`) send it; nothing of ours does.
            raise RefusedError(
                HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
                "UnsupportedMediaType",
                f"415: Unsupported Media Type: {request.content_type}",
                {},
            )
        writes: Mapping[tuple[str, bool], Callable[[Target, Request], Answer]] = {
            ("create", False): self._writer.create,
            ("update", True): self._writer.update,
            ("patch", True): self._writer.patch,
            ("delete", True): self._writer.delete,
            ("deletecollection", False): self._writer.delete_all,
        }
        write = writes.get((verb, bool(target.name)))
        if write is None:
            raise RefusedError(
                HTTPStatus.METHOD_NOT_ALLOWED,
                "MethodNotAllowed",
                "the server does not allow this method on the requested resource",
                {},
            )
        return write(target, request)

    def _through_door(self, verb: str, target: Target, request: Request) -> Answer:
        door = self._doors[target.resource.plural, target.subresource]
        body = decoded_object(request.body)
        call = SubresourceCall(
            verb,
            target.place,
            target.name,
            body,
            dry_run=is_dry_run(request),
            query=request.query,
            user_agent=request.user_agent,
        )
        return door(call)


def _name(verb: str, target: Target, response: Answer | Stream) -> str:
    """Return the name of the object, of a created one the name that it got."""
    if target.name or verb != "create" or not isinstance(response, Answer):
        return target.name
    if response.status != HTTPStatus.CREATED:
        return ""
    created = decoded(response.body)
    return str(metadata_of(created).get("name", "")) if isinstance(created, dict) else ""
