"""Whether names, labels and annotations are spelt as Kubernetes demands.

Owns the grammar of metadata. Seen in: apimachinery v0.36.3 pkg/api/validation/objectmeta.go and
pkg/api/validate/content.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from hooks.sandbox.apiport import Resource
from hooks.sandbox.objects import Obj, annotations_of, labels_of, name_of
from hooks.sandbox.store.refusals import FieldProblem, invalid

_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_WORD: Final = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
_LONGEST_NAME: Final = 253
_LONGEST_WORD: Final = 63
_ALL_ANNOTATIONS: Final = 256 * 1024

_NAME_RULE: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character"
)
_WORD_RULE: Final = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character"
)


def check_metadata(resource: Resource, obj: Obj) -> None:
    """Raise ApiError 422 when a name, label or annotation can't be."""
    problems = list(_problems(obj))
    if problems:
        raise invalid(resource, name_of(obj), *problems)


def _problems(obj: Obj) -> Iterator[FieldProblem]:
    name = name_of(obj)
    if not name:
        message = "Required value: name or generateName is required"
        yield FieldProblem("metadata.name", "FieldValueRequired", message)
    elif len(name) > _LONGEST_NAME or not _NAME.fullmatch(name):
        yield _invalid("metadata.name", name, _NAME_RULE)
    for key, value in labels_of(obj).items():
        yield from _key_problems("metadata.labels", key)
        yield from _value_problems(value)
    for key in annotations_of(obj):
        yield from _key_problems("metadata.annotations", key)
    size = sum(len(key.encode()) + len(str(it).encode()) for key, it in annotations_of(obj).items())
    if size > _ALL_ANNOTATIONS:
        message = f"Too long: may not be more than {_ALL_ANNOTATIONS} bytes"
        yield FieldProblem("metadata.annotations", "FieldValueTooLong", message)


def _key_problems(field: str, key: str) -> Iterator[FieldProblem]:
    prefix, slash, word = key.rpartition("/")
    if slash and (len(prefix) > _LONGEST_NAME or not _NAME.fullmatch(prefix.lower())):
        yield _invalid(field, key, f"prefix part {_NAME_RULE}")
    if len(word) > _LONGEST_WORD:
        yield _invalid(field, key, f"name part must be no more than {_LONGEST_WORD} bytes")
    elif not _WORD.fullmatch(word):
        yield _invalid(field, key, f"name part {_WORD_RULE}")


def _value_problems(value: str) -> Iterator[FieldProblem]:
    if len(value) > _LONGEST_WORD:
        yield _invalid("metadata.labels", value, f"must be no more than {_LONGEST_WORD} bytes")
    elif value and not _WORD.fullmatch(value):
        rule = f"a valid label must be an empty string or {_WORD_RULE.removeprefix('must ')}"
        yield _invalid("metadata.labels", value, rule)


def _invalid(field: str, value: str, rule: str) -> FieldProblem:
    return FieldProblem(field, "FieldValueInvalid", f'Invalid value: "{value}": {rule}')
