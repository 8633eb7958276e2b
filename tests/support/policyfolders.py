"""Fixtures of the policy hook as folders: written from a case, read back, and run through the hook.

A folder holds request.json, now.txt, why.txt, and the expectation response.json: there are no live
reads, no writes and no log lines.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from hooks import names
from hooks.sync.rotationpolicy import sync
from tests.support.world import NOW, Json, nodepool, policy, template

FIXTURES = Path(__file__).parent.parent / "fixtures" / "sync" / "rotationpolicy"


@dataclass(frozen=True)
class PolicyCase:
    """One call; ``reason``, ``matched``, ``rotating`` and ``look_again`` are written by people."""

    name: str
    why: str
    reason: str
    matched: int = 1
    rotating: int = 0
    look_again: float = 3600
    parent: Json = field(default_factory=policy)
    others: tuple[Json, ...] = ()
    pools: tuple[Json, ...] = field(default_factory=lambda: (nodepool(),))
    now: str = NOW

    def request(self) -> Json:
        """What Metacontroller sends."""
        policies = (self.parent, *self.others)
        return {
            "controller": template("compositecontroller"),
            "parent": self.parent,
            "children": {},
            "related": {
                names.ROTATIONPOLICY_GROUP: {one["metadata"]["name"]: one for one in policies},
                names.NODEPOOL_GROUP: {one["metadata"]["name"]: one for one in self.pools},
            },
            "finalizing": False,
        }


@dataclass(frozen=True)
class StoredCall:
    """What a folder says."""

    name: str
    why: str
    now: datetime
    request: Json
    response: Json


def answer(request: Json, now: datetime) -> Json:
    """The hook's answer."""
    decoded: Json = json.loads(sync(json.dumps(request).encode(), now))
    return decoded


def load(name: str) -> StoredCall:
    """Read one folder."""
    folder = FIXTURES / name
    request, response = (
        json.loads((folder / f"{part}.json").read_text()) for part in ("request", "response")
    )
    now, why = ((folder / f"{part}.txt").read_text().strip() for part in ("now", "why"))
    return StoredCall(name, why, datetime.fromisoformat(now), request, response)


def names_of_folders() -> list[str]:
    """All folders, in order."""
    return sorted(folder.name for folder in FIXTURES.iterdir() if folder.is_dir())


def rewrite(cases: tuple[PolicyCase, ...]) -> None:
    """Write every folder anew, expectations included: the diff is then for people to review."""
    shutil.rmtree(FIXTURES, ignore_errors=True)
    for case in cases:
        folder = FIXTURES / case.name
        folder.mkdir(parents=True)
        (folder / "now.txt").write_text(case.now + "\n")
        (folder / "why.txt").write_text(case.why + "\n")
        _write(folder, "request", case.request())
        _write(folder, "response", answer(case.request(), datetime.fromisoformat(case.now)))


def _write(folder: Path, part: str, value: Any) -> None:
    text = json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False)
    (folder / f"{part}.json").write_text(text + "\n")
