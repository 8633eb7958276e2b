"""One long conversation with an API server, and what the real one answered.

``conversation.jsonl`` holds it: each line one request and its answer, recorded on kube-apiserver
v1.36.3 with etcd alone (no controllers), Karpenter v1.14.1's CRDs and our own. Answers are kept as
:func:`told` shortens them: without what differs from run to run, and what no part of us reads.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import requests

FILE: Final = Path(__file__).with_name("conversation.jsonl")

_OF_ONE_RUN: Final = frozenset(
    {"uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "managedFields"}
)
_READ_BY_NOBODY: Final = frozenset(
    {
        "daemonEndpoints",
        "deprecated.daemonset.template.generation",
        "lastHeartbeatTime",
        "lastProbeTime",
        "lastTransitionTime",
        "nodeInfo",
        "storageVersionHash",
        # The ServiceAccount admission is left out, as in /work/shared/recorded.
        "serviceAccount",
        "serviceAccountName",
    }
)
_UID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_VERSION: Final = re.compile(r"in record \([0-9]+\)")
_EXPLAINED: Final = re.compile(r" \(e\.g\. .*|\n@@.*", re.DOTALL)
_GRAMMAR_OF_GO: Final = 400
_NOT_READY: Final = "node.kubernetes.io/not-ready"


def exchanges() -> list[dict[str, Any]]:
    """Every request with what the real server answered."""
    return [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]


def hold(session: requests.Session, url: str, patience: int) -> list[dict[str, Any]]:
    """Have the conversation with a server that knows no object of it; the answers, shortened.

    ``patience`` is for how many seconds each watch is kept open: the real server needs one.
    """
    began = session.get(f"{url}/api/v1/nodes", timeout=30).json()["metadata"]["resourceVersion"]
    since = f"&resourceVersion={began}&timeoutSeconds={patience}"
    return [_answer(session, url, since, exchange["ask"]) for exchange in exchanges()]


def record(answers: Iterable[dict[str, Any]]) -> None:
    """Keep these answers as those of the real server."""
    lines = [
        json.dumps({"ask": exchange["ask"], "told": answer})
        for exchange, answer in zip(exchanges(), answers, strict=True)
    ]
    FILE.write_text("\n".join([*lines, ""]), encoding="utf-8")


def _answer(session: requests.Session, url: str, since: str, ask: dict[str, Any]) -> dict[str, Any]:
    path = ask["path"]
    if "watch=1" in path:
        path += since
    body = json.dumps(ask["body"]).encode() if "body" in ask else None
    kind = {"Content-Type": ask.get("type", "application/json"), "Accept": "application/json"}
    answer = session.request(ask["method"], url + path, data=body, headers=kind, timeout=30)
    return {"status": answer.status_code, "answer": _read(answer, path)}


def _read(answer: requests.Response, path: str) -> Any:
    if answer.ok and "watch=1" in path:
        events = [json.loads(line) for line in answer.text.splitlines()]
        return [[event["type"], told(event["object"])] for event in events]
    try:
        return told(answer.json())
    except ValueError:
        return answer.text


def told(value: Any) -> Any:
    """Shorten a body; of a refusal the message stays unless it is the grammar of Go's decoders."""
    if isinstance(value, dict) and value.get("status") == "Failure":
        return _refusal(value)
    if isinstance(value, dict):
        shorter = {
            key: told(item)
            for key, item in value.items()
            if key not in _OF_ONE_RUN | _READ_BY_NOBODY
        }
        return {key: item for key, item in shorter.items() if item not in (None, "", {}, [])}
    if isinstance(value, list):
        # Who creates a Node adds this taint here, there the server does.
        return [told(item) for item in value if not _is_not_ready(item)]
    return value


def _is_not_ready(item: object) -> bool:
    return isinstance(item, dict) and item.get("key") == _NOT_READY and "operator" not in item


def _refusal(status: dict[str, Any]) -> dict[str, Any]:
    details: dict[str, Any] = dict(status.get("details") or {})
    fields = sorted({cause.get("field", "") for cause in details.pop("causes", ())})
    details.pop("uid", None)
    message = _VERSION.sub("in record (…)", _UID.sub("…", status["message"]))
    shorter = {
        "reason": status.get("reason", ""),
        "message": "" if status["code"] == _GRAMMAR_OF_GO else _EXPLAINED.sub("", message),
        "details": details,
        "fields": fields,
    }
    return {key: item for key, item in shorter.items() if item}
