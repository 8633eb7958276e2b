"""Strategic merge patches: lists whose items are known by a key are merged item by item.

Owns the keys of the lists that kubectl patches. Seen in: api v0.36.3 core/v1/types.go
(patchMergeKey), apimachinery v0.36.3 pkg/util/strategicpatch.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from hooks.sandbox.objects import Obj

_KEYS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "containers": "name",
        "initContainers": "name",
        "ephemeralContainers": "name",
        "volumes": "name",
        "env": "name",
        "imagePullSecrets": "name",
        "volumeMounts": "mountPath",
        "topologySpreadConstraints": "topologyKey",
        "conditions": "type",
        "addresses": "type",
        "ownerReferences": "uid",
    }
)
_PORT_KEYS: Final = ("containerPort", "port")
_SETS: Final = frozenset({"finalizers"})
_PATCH: Final = "$patch"
_DELETE_FROM_SET: Final = "$deleteFromPrimitiveList/"


def strategically_merged(target: Obj, patch: Obj) -> Obj:
    """Return the target with the patch merged in; both stay as they are."""
    if patch.get(_PATCH) == "replace":
        return _plain(patch)
    result = dict(target)
    for key, value in patch.items():
        if key.startswith(_DELETE_FROM_SET):
            name = key.removeprefix(_DELETE_FROM_SET)
            result[name] = [item for item in result.get(name) or () if item not in value]
        elif key.startswith("$"):
            # An order of items, or keys to retain: nothing here depends on them.
            continue
        elif value is None:
            result.pop(key, None)
        else:
            result[key] = _value(key, result.get(key), value)
    return result


def _value(key: str, before: object, after: object) -> object:
    if isinstance(after, dict):
        return strategically_merged(before if isinstance(before, dict) else {}, after)
    if isinstance(after, list):
        return _list(key, before if isinstance(before, list) else [], after)
    return after


def _list(key: str, before: list[object], after: list[object]) -> list[object]:
    if key in _SETS:
        return [*before, *(item for item in after if item not in before)]
    items = [item for item in after if isinstance(item, dict)]
    by = _KEYS.get(key) or next(
        (port for port in _PORT_KEYS if key == "ports" and items and port in items[0]), None
    )
    if by is None or any(item.get(_PATCH) == "replace" for item in items):
        return [_plain(item) if isinstance(item, dict) else item for item in after if _stays(item)]
    merged: dict[object, Obj] = {item.get(by): item for item in before if isinstance(item, dict)}
    for item in items:
        name = item.get(by)
        if item.get(_PATCH) == "delete":
            merged.pop(name, None)
        else:
            merged[name] = strategically_merged(merged.get(name, {}), item)
    return list(merged.values())


def _stays(item: object) -> bool:
    """Tell apart the items of a list from the word that the whole list is replaced."""
    return not isinstance(item, dict) or item.get(_PATCH) is None


def _plain(patch: Obj) -> Obj:
    return {key: value for key, value in patch.items() if not key.startswith("$")}
