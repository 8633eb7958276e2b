"""What a hook may answer, decoded as strictly as Metacontroller does.

Owns the shapes of the sync and customize answers of hook API v2. In strict mode (the default of v2)
an unknown field or a field given twice is an error, and nothing of the answer is applied; in loose
mode only wrong types are. Source: design/rotation.md section 1, design/cluster.md.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import Any, Final

from hooks.sandbox.failures import HookCallError
from hooks.sandbox.objects import Obj
from hooks.sandbox.selectors import Selector, selector_from

_SYNC_FIELDS: Final = frozenset(
    {"labels", "annotations", "status", "attachments", "resyncAfterSeconds", "finalized"}
)
_COMPOSITE_FIELDS: Final = frozenset({"status", "children", "resyncAfterSeconds", "finalized"})
_RULE_FIELDS: Final = frozenset(
    {"apiVersion", "resource", "labelSelector", "namespace", "names", "namespaceSelector"}
)
_SELECTOR_FIELDS: Final = frozenset({"matchLabels", "matchExpressions"})
_EXPRESSION_FIELDS: Final = frozenset({"key", "operator", "values"})


@dataclass(frozen=True, slots=True)
class SyncAnswer:
    """A sync answer. A null value in labels or annotations deletes the key; status None keeps it.

    ``attachments`` absent, null and [] are all the empty tuple. ``resync_after`` is in seconds.
    """

    labels: dict[str, str | None]
    annotations: dict[str, str | None]
    status: Obj | None
    attachments: tuple[Obj, ...]
    resync_after: float


@dataclass(frozen=True, slots=True)
class RelatedRule:
    """One kind of related objects, chosen by labels, or by namespace and names.

    ``labels`` is None when the rule has no labelSelector, which selects everything.
    """

    api_version: str
    resource: str
    labels: Selector | None
    namespace: str
    names: tuple[str, ...]


def decode_sync(body: bytes, *, strict: bool) -> SyncAnswer:
    """Return the sync answer in a body, or raise HookCallError."""
    answer = _Decoder("sync", strict=strict).document(body, _SYNC_FIELDS)
    attachments = _listed(answer, "attachments")
    for attachment in attachments:
        if not isinstance(attachment, dict) or not _text(attachment, "kind"):
            raise HookCallError(f"can't unmarshal: Object 'Kind' is missing in {attachment!r:.200}")
    _flag(answer, "finalized")
    return SyncAnswer(
        labels=_changes(answer, "labels"),
        annotations=_changes(answer, "annotations"),
        status=_mapping(answer, "status"),
        attachments=tuple(attachments),
        resync_after=_number(answer, "resyncAfterSeconds"),
    )


def decode_composite(body: bytes, *, strict: bool) -> SyncAnswer:
    """Return a CompositeController's sync answer, or raise HookCallError; no status is an empty one.

    ``children`` absent, null and [] are all none; others are not built. Source: Metacontroller's
    ``pkg/controller/composite`` (api/v2/hooks.go, and updateParentStatus in controller.go).
    """
    answer = _Decoder("sync", strict=strict).document(body, _COMPOSITE_FIELDS)
    if _listed(answer, "children"):
        raise HookCallError("children of a CompositeController are not built")
    _flag(answer, "finalized")
    return SyncAnswer(
        labels={},
        annotations={},
        status=_mapping(answer, "status") or {},
        attachments=(),
        resync_after=_number(answer, "resyncAfterSeconds"),
    )


def decode_customize(body: bytes, *, strict: bool) -> tuple[RelatedRule, ...]:
    """Return the related rules in a body, or raise HookCallError."""
    decoder = _Decoder("customize", strict=strict)
    answer = decoder.document(body, frozenset({"relatedResources"}))
    rules = []
    for rule in _listed(answer, "relatedResources"):
        if not isinstance(rule, dict):
            raise HookCallError(f"can't unmarshal: a related rule is no object: {rule!r:.200}")
        decoder.check(rule, _RULE_FIELDS)
        if rule.get("namespaceSelector") is not None:
            raise HookCallError("namespaceSelector in a related rule is not built")
        rules.append(_rule(decoder, rule))
    return tuple(rules)


def _rule(decoder: _Decoder, rule: Obj) -> RelatedRule:
    spec = _mapping(rule, "labelSelector")
    names = _listed(rule, "names")
    if not all(isinstance(name, str) for name in names):
        raise HookCallError("can't unmarshal: names of a related rule must be strings")
    if spec is not None:
        decoder.check(spec, _SELECTOR_FIELDS)
        _changes(spec, "matchLabels")
        for expression in _listed(spec, "matchExpressions"):
            if not isinstance(expression, dict):
                raise HookCallError("can't unmarshal: a match expression is no object")
            decoder.check(expression, _EXPRESSION_FIELDS)
    try:
        labels = None if spec is None else selector_from(spec)
    except (ValueError, TypeError) as error:
        raise HookCallError(f"labelSelector of a related rule: {error}") from error
    return RelatedRule(
        api_version=_text(rule, "apiVersion"),
        resource=_text(rule, "resource"),
        labels=labels,
        namespace=_text(rule, "namespace"),
        names=tuple(names),
    )


class _Pairs(dict[str, Any]):
    """An object that remembers which of its fields came twice."""

    twice: tuple[str, ...] = ()


def _pairs(fields: list[tuple[str, Any]]) -> _Pairs:
    result = _Pairs(fields)
    if len(result) < len(fields):
        counts = Counter(name for name, _ in fields)
        result.twice = tuple(name for name, count in counts.items() if count > 1)
    return result


def _refuse_constant(name: str) -> None:
    raise ValueError(f"invalid character in literal {name}")


class _Decoder:
    """Reads one body; ``kind`` is the hook, for messages."""

    def __init__(self, kind: str, *, strict: bool) -> None:
        self._kind = kind
        self._strict = strict

    def document(self, body: bytes, fields: frozenset[str]) -> Obj:
        """Return the object in a body; JSON null counts as an empty one."""
        try:
            answer = json.loads(
                body.decode("utf-8", "replace"),
                object_pairs_hook=_pairs,
                parse_constant=_refuse_constant,
            )
        except (ValueError, RecursionError) as error:
            raise HookCallError(
                f"can't unmarshal webhookResponse (version: v2, type: {self._kind}): {error}"
            ) from error
        if answer is None:
            return {}
        if not isinstance(answer, dict):
            raise HookCallError(
                f"can't unmarshal webhookResponse (version: v2, type: {self._kind}): no object"
            )
        self.check(answer, fields)
        for value in answer.values():
            self.check(value, None)
        return answer

    def check(self, value: object, fields: frozenset[str] | None) -> None:
        """Refuse unknown and repeated fields; ``fields`` None allows any."""
        if not self._strict or not isinstance(value, _Pairs):
            return
        unknown = () if fields is None else sorted(value.keys() - fields)
        problems = [
            *(f'unknown field "{name}"' for name in unknown),
            *(f'duplicate field "{name}"' for name in value.twice),
        ]
        if problems:
            raise HookCallError(
                f"strict validation failed for v2 webhookResponse (type: {self._kind}, mode: strict): "
                + ", ".join(problems)
            )


def _wrong(name: str, expected: str) -> HookCallError:
    return HookCallError(f"can't unmarshal: field {name} must be {expected}")


def _mapping(answer: Obj, name: str) -> Obj | None:
    value = answer.get(name)
    if value is not None and not isinstance(value, dict):
        raise _wrong(name, "an object")
    return value


def _changes(answer: Obj, name: str) -> dict[str, str | None]:
    value = _mapping(answer, name) or {}
    if not all(item is None or isinstance(item, str) for item in value.values()):
        raise _wrong(name, "an object of strings")
    return value


def _listed(answer: Obj, name: str) -> list[Any]:
    value = answer.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise _wrong(name, "a list")
    return value


def _text(answer: Obj, name: str) -> str:
    value = answer.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _wrong(name, "a string")
    return value


def _number(answer: Obj, name: str) -> float:
    value = answer.get(name)
    if value is None:
        return 0.0
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _wrong(name, "a number")
    return float(value)


def _flag(answer: Obj, name: str) -> None:
    if not isinstance(answer.get(name), bool | None):
        raise _wrong(name, "true or false")
