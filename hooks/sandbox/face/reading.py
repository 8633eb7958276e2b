"""Gets and lists.

Owns the pages of a list: all pages of one are of the same moment. Seen in: apiserver v0.36.3
pkg/storage/etcd3/store.go (GetList), pkg/storage/continue.go.
"""

from __future__ import annotations

import itertools
import re
import threading
from collections import OrderedDict
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, NamedTuple

from hooks.sandbox.face.bodies import answer, listed
from hooks.sandbox.face.targets import Target
from hooks.sandbox.face.wire import Answer, Request
from hooks.sandbox.objects import Obj
from hooks.sandbox.store.doors import outwards, stored_kind
from hooks.sandbox.store.matching import Matcher, matcher_from
from hooks.sandbox.store.refusals import RefusedError, bad_request

if TYPE_CHECKING:
    from hooks.sandbox.store.store import ObjectStore

_KEPT: Final = 256
_TOKEN: Final = re.compile(r"[0-9]+\.[0-9]+")


class _Rest(NamedTuple):
    """What is still to be told of a list."""

    items: list[Obj]
    revision: int
    counted: bool


class Reader:
    """Answers gets and lists of one store."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self._rests: OrderedDict[str, _Rest] = OrderedDict()
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()

    def get(self, target: Target) -> Answer:
        """Answer with one object."""
        kind = stored_kind(target.resource)
        found = self._store.get(kind, target.place, target.name)
        return answer(outwards(target.resource, found))

    def list(self, target: Target, request: Request) -> Answer:
        """Answer with a list, or a page of one."""
        token = request.query.get("continue", "")
        rest = self._rest(token) if token else self._all(target, request)
        limit = _number(request, "limit")
        metadata: Obj = {"resourceVersion": str(rest.revision)}
        items = rest.items
        if 0 < limit < len(items):
            left = rest._replace(items=items[limit:])
            metadata["continue"] = self._keep(left)
            if rest.counted:
                metadata["remainingItemCount"] = len(left.items)
            items = items[:limit]
        return answer(listed(target.resource, items, metadata))

    def _all(self, target: Target, request: Request) -> _Rest:
        matcher = matcher_of(target, request)
        stored, revision = self._store.snapshot(stored_kind(target.resource), target.namespace)
        items = [outwards(target.resource, obj) for obj in stored]
        if matcher.takes_all:
            return _Rest(items, revision, counted=True)
        return _Rest([item for item in items if matcher.matches(item)], revision, counted=False)

    def _keep(self, rest: _Rest) -> str:
        with self._lock:
            token = f"{rest.revision}.{next(self._numbers)}"
            self._rests[token] = rest
            if len(self._rests) > _KEPT:
                self._rests.popitem(last=False)
        return token

    def _rest(self, token: str) -> _Rest:
        with self._lock:
            rest = self._rests.get(token)
        if rest is None and not _TOKEN.fullmatch(token):
            raise bad_request(f"invalid continue token: {token!r}")
        if rest is None:
            raise RefusedError(
                HTTPStatus.GONE,
                "Expired",
                "The provided continue parameter is too old to display a consistent list result. "
                "You must start a new list without the continue parameter.",
            )
        return rest


def matcher_of(target: Target, request: Request) -> Matcher:
    """Return the selectors of a query; raises ApiError 400."""
    return matcher_from(
        target.resource,
        request.query.get("labelSelector", ""),
        request.query.get("fieldSelector", ""),
    )


def _number(request: Request, key: str) -> int:
    text = request.query.get(key) or "0"
    try:
        return int(text)
    except ValueError:
        raise bad_request(f"{key} is no number: {text!r}") from None
