"""Selectors as they stand in a query: which objects of a list or watch are meant.

Owns the two grammars. Seen in: apimachinery v0.36.3 pkg/labels/selector.go (Parse) and
pkg/fields/selector.go, kubernetes v1.36.3 pkg/apis/core/v1/conversion.go (which fields exist).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from hooks.sandbox.apiport import Resource
from hooks.sandbox.objects import Obj, labels_of, metadata_of
from hooks.sandbox.selectors import EVERYTHING, Requirement, Selector
from hooks.sandbox.store import kinds
from hooks.sandbox.store.doors import NEW_EVENTS
from hooks.sandbox.store.refusals import bad_request

_TOKEN: Final = re.compile(r"\s*(==|!=|=|!|\(|\)|,|[^\s=!(),]+)")
_FIELD: Final = re.compile(r"((?:[^\\=!]|\\.)+?)(==|!=|=)((?:[^\\=]|\\.)*)")
_PUNCTUATION: Final = frozenset({"==", "!=", "=", "!", "(", ")", ","})
_SET_OPERATORS: Final = {"in": "In", "notin": "NotIn"}
_COMMON: Final = frozenset({"metadata.name", "metadata.namespace"})
_FIELDS: Final = {
    kinds.PODS: frozenset(
        {
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "status.phase",
            "status.podIP",
            "status.nominatedNodeName",
        }
    ),
    kinds.NODES: frozenset({"spec.unschedulable"}),
    kinds.NAMESPACES: frozenset({"status.phase"}),
    kinds.SECRETS: frozenset({"type"}),
    kinds.EVENTS: frozenset(
        {
            "involvedObject.kind",
            "involvedObject.namespace",
            "involvedObject.name",
            "involvedObject.uid",
            "involvedObject.apiVersion",
            "reason",
            "reportingComponent",
            "source",
            "type",
        }
    ),
    NEW_EVENTS: frozenset(
        {
            "regarding.kind",
            "regarding.namespace",
            "regarding.name",
            "regarding.uid",
            "regarding.apiVersion",
            "reason",
            "reportingController",
            "type",
        }
    ),
}


@dataclass(frozen=True, slots=True)
class Matcher:
    """Both selectors of a query together."""

    labels: Selector = EVERYTHING
    fields: Selector = EVERYTHING

    @property
    def takes_all(self) -> bool:
        """Whether there is no condition at all."""
        return not (self.labels.requirements or self.fields.requirements)

    def matches(self, obj: Obj) -> bool:
        """Tell whether an object is meant."""
        return self.labels.matches(labels_of(obj)) and all(
            requirement.holds_for({requirement.key: _field(obj, requirement.key)})
            for requirement in self.fields.requirements
        )


def matcher_from(resource: Resource, label_selector: str, field_selector: str) -> Matcher:
    """Parse both selectors; raises ApiError 400 for what can't be understood."""
    return Matcher(parse_labels(label_selector), parse_fields(resource, field_selector))


def parse_labels(text: str) -> Selector:
    """Parse ``a=b,c in (x,y),!d,e``; raises ApiError 400."""
    tokens = _Tokens(text)
    found: list[Requirement] = []
    while tokens.rest:
        found.append(_label_requirement(tokens))
        if tokens.rest:
            tokens.take(",")
    return Selector(tuple(found))


def parse_fields(resource: Resource, text: str) -> Selector:
    """Parse ``spec.nodeName=n,metadata.name!=m``; raises ApiError 400, also for unknown fields."""
    found = [_field_requirement(term) for term in _split(text) if term]
    known = _COMMON | _FIELDS.get(resource, frozenset())
    for requirement in found:
        if requirement.key not in known:
            raise bad_request(f"field label not supported: {requirement.key}")
    return Selector(tuple(found))


class _Tokens:
    """The words of a label selector, one after the other."""

    def __init__(self, text: str) -> None:
        self.rest = [match.group(1) for match in _TOKEN.finditer(text)]

    def next(self) -> str:
        """Take the next word."""
        if not self.rest:
            raise self.refusal("unexpected end")
        return self.rest.pop(0)

    def take(self, *wanted: str) -> str:
        """Take the next word, which must be one of these."""
        word = self.next()
        if word not in wanted:
            raise self.refusal(f"found '{word}', expected: {', '.join(wanted)}")
        return word

    def word(self) -> str:
        """Take the next word, which must be a name or a value."""
        word = self.next()
        if word in _PUNCTUATION:
            raise self.refusal(f"found '{word}', expected: identifier")
        return word

    def refusal(self, why: str) -> Exception:
        """Return the error of a selector that can't be understood."""
        return bad_request(f"unable to parse requirement: {why}")


def _label_requirement(tokens: _Tokens) -> Requirement:
    if tokens.rest[0] == "!":
        tokens.next()
        return Requirement(tokens.word(), "DoesNotExist", frozenset())
    key = tokens.word()
    if not tokens.rest or tokens.rest[0] == ",":
        return Requirement(key, "Exists", frozenset())
    operator = tokens.take(*_SET_OPERATORS, "=", "==", "!=")
    if operator in _SET_OPERATORS:
        return Requirement(key, _SET_OPERATORS[operator], frozenset(_values(tokens)))
    value = tokens.word() if tokens.rest and tokens.rest[0] != "," else ""
    return Requirement(key, "NotIn" if operator == "!=" else "In", frozenset({value}))


def _values(tokens: _Tokens) -> Iterator[str]:
    tokens.take("(")
    closing = ","
    while closing == ",":
        yield tokens.word()
        closing = tokens.take(",", ")")


def _split(text: str) -> list[str]:
    """Split at the commas that aren't escaped."""
    return re.findall(r"(?:[^\\,]|\\.)+", text)


def _field_requirement(term: str) -> Requirement:
    match = _FIELD.fullmatch(term)
    if match is None:
        raise bad_request(f"invalid selector: '{term}'; can't understand '{term}'")
    key, operator, value = match.groups()
    value = re.sub(r"\\(.)", r"\1", value)
    return Requirement(key, "NotIn" if operator == "!=" else "In", frozenset({value}))


def _field(obj: Obj, path: str) -> str:
    """Return a field as text; what isn't there is empty, or false."""
    special = _SPECIAL.get(path)
    if special is not None:
        return special(obj)
    found: object = obj
    for step in path.split("."):
        found = found.get(step) if isinstance(found, dict) else None
    return "" if found is None else str(found)


def _flag(*path: str) -> Callable[[Obj], str]:
    def read(obj: Obj) -> str:
        found: object = obj
        for step in path:
            found = found.get(step) if isinstance(found, dict) else None
        return "true" if found else "false"

    return read


_SPECIAL: Final[dict[str, Callable[[Obj], str]]] = {
    "spec.unschedulable": _flag("spec", "unschedulable"),
    "spec.hostNetwork": _flag("spec", "hostNetwork"),
    "metadata.namespace": lambda obj: metadata_of(obj).get("namespace") or "",
    "source": lambda obj: (obj.get("source") or {}).get("component") or "",
}
