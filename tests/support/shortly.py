"""Writes in one line each, for people: how a case's expected writes are written by hand.

``claim old: -started-at state=failed`` is a patch of annotations (a key of ours without its
prefix, ``-`` before a removed one, ``label`` before a label), ``delete old`` a delete,
``event RotationFailed NodeClaim`` an Event.
"""

from __future__ import annotations

from hooks import names
from tests.support.live import CLAIM, NODE, Json

_KINDS = {CLAIM: "claim", NODE: "node"}


def short(write: Json) -> str:
    """One write of the log in one line."""
    if "event" in write:
        return f"event {write['reason']} {write['event'].rpartition('/')[2]}"
    if "delete" in write:
        return f"delete {write['delete'].rpartition('/')[2]}"
    kind, _, name = write["patch"].partition("/")
    tokens = [token for op in write["ops"] for token in _tokens(op)]
    return f"{_KINDS[kind]} {name}: {' '.join(sorted(tokens))}"


def _tokens(op: Json) -> list[str]:
    parts = [p.replace("~1", "/").replace("~0", "~") for p in op["path"].split("/")[1:]]
    if parts == ["spec", "unschedulable"]:
        return ["unschedulable" if op["op"] == "add" else "-unschedulable"]
    label = "label:" if parts[1] == "labels" else ""
    if len(parts) == 2:
        return [f"{label}{_key(key)}={value}" for key, value in op["value"].items()]
    if op["op"] == "remove":
        return [f"-{label}{_key(parts[2])}"]
    return [f"{label}{_key(parts[2])}={op['value']}"]


def _key(key: str) -> str:
    return key.removeprefix(names.PREFIX).removeprefix("karpenter.sh/")


def _line(what: str, tokens: list[str]) -> str:
    return f"{what}: {' '.join(sorted(tokens))}"


def claim(name: str, changes: str) -> str:
    """A patch of a claim; ``changes`` in any order."""
    return _line(f"claim {name}", changes.split())


def freeze(claim_name: str, on: str, *, cordon: bool = False) -> str:
    """All our marks set on the bare Node of claim ``on``."""
    tokens = [f"surge-for={claim_name}", f"label:surge-for={claim_name}"]
    tokens += ["do-not-disrupt=true", "do-not-disrupt-owned=true"]
    tokens += ["cordoned=true", "unschedulable"] if cordon else []
    return _line(f"node node-{on}", tokens)


def unfreeze(on: str, *, cordoned: bool = False) -> str:
    """All our marks removed from the Node of claim ``on``."""
    tokens = ["-surge-for", "-label:surge-for", "-do-not-disrupt", "-do-not-disrupt-owned"]
    tokens += ["-cordoned", "-unschedulable"] if cordoned else []
    return _line(f"node node-{on}", tokens)


def delete(name: str) -> str:
    """The delete of a claim."""
    return f"delete {name}"


def event(reason: str, kind: str = "NodeClaim") -> str:
    """An Event about an object of that kind."""
    return f"event {reason} {kind}"
