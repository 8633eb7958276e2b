"""Doors to what the store doesn't do itself.

Owns the shape of such a door, and the translation of an Eviction. Seen in: kubernetes v1.36.3
pkg/registry/core/pod/storage/eviction.go and storage.go (BindingREST).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Protocol, TypeAlias

from hooks.sandbox.face.bodies import success
from hooks.sandbox.face.wire import Answer
from hooks.sandbox.objects import Obj, name_of
from hooks.sandbox.store.identity import stamp
from hooks.sandbox.store.kinds import PODS
from hooks.sandbox.store.refusals import bad_request, conflict

if TYPE_CHECKING:
    from hooks.sandbox.store.store import ObjectStore


@dataclass(frozen=True, slots=True)
class SubresourceCall:
    """A request to a subresource of one object; ``query`` is all that follows its path."""

    verb: str
    namespace: str
    name: str
    body: Obj
    dry_run: bool
    query: Mapping[str, str] = field(default_factory=dict)
    user_agent: str = ""


Subresource: TypeAlias = Callable[[SubresourceCall], Answer]
"""Answers such a request, or raises ApiError."""
Admit: TypeAlias = Callable[[SubresourceCall], Sequence[str]]
"""Lets such a request pass with warnings, or raises ApiError."""


class Evict(Protocol):
    """Evicts a Pod; raises ApiError 429 when a budget forbids it."""

    def __call__(
        self,
        namespace: str,
        name: str,
        *,
        uid: str,
        grace_seconds: int | None,
        dry_run: bool,
    ) -> None:
        """Evict the Pod, or only find out whether that would be allowed."""
        ...


def bindings(store: ObjectStore) -> Subresource:
    """Return the door for ``("pods", "binding")``, by which a scheduler binds a Pod."""

    def call(asked: SubresourceCall) -> Answer:
        pod = store.get(PODS, asked.namespace, asked.name)
        if asked.verb != "create" or pod["spec"].get("nodeName"):
            why = f"pod {asked.name} is already assigned to node"
            raise conflict(PODS, asked.name, why)
        scheduled: Obj = {
            "type": "PodScheduled",
            "status": "True",
            "lastProbeTime": None,
            "lastTransitionTime": stamp(store.now()),
        }

        def bind(obj: Obj) -> None:
            obj["spec"]["nodeName"] = (asked.body.get("target") or {}).get("name")
            others = [
                one
                for one in obj["status"].get("conditions") or ()
                if one["type"] != "PodScheduled"
            ]
            obj["status"]["conditions"] = [*others, scheduled]

        if not asked.dry_run:
            store.modify(PODS, asked.namespace, asked.name, bind, "binding")
        return success(HTTPStatus.CREATED)

    return call


def _everybody(_: SubresourceCall) -> Sequence[str]:
    return ()


def evictions(evict: Evict, admit: Admit = _everybody) -> Subresource:
    """Return the door for ``("pods", "eviction")``; ``admit`` is asked before anything happens."""

    def call(asked: SubresourceCall) -> Answer:
        if name_of(asked.body) not in {"", asked.name}:
            raise bad_request("name in URL does not match name in Eviction object")
        warnings = admit(asked)
        options: Obj = asked.body.get("deleteOptions") or {}
        preconditions: Obj = options.get("preconditions") or {}
        evict(
            asked.namespace,
            asked.name,
            uid=preconditions.get("uid") or "",
            grace_seconds=options.get("gracePeriodSeconds"),
            dry_run=asked.dry_run or bool(options.get("dryRun")),
        )
        return replace(success(HTTPStatus.CREATED), headers=_warnings(warnings))

    return call


def _warnings(texts: Sequence[str]) -> Mapping[str, str]:
    """Return the header in which a client hears of warnings."""
    quoted = (text.replace("\\", r"\\").replace('"', r"\"") for text in texts)
    told = ", ".join(f'299 - "{text}"' for text in quoted)
    # What no header can hold becomes a question mark.
    return {"Warning": told.encode("latin-1", "replace").decode("latin-1")} if told else {}
