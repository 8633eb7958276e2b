"""Fixtures of the graceful drain as folders: written from a case, read back, run through the hook.

A folder holds request.json (body.txt where it isn't JSON), live.json (what live reads answer, by
kind and namespace/name, and the names of Events that are there), now.txt, why.txt, settings.json
and troubles.json where there are any, and the expectations writes.json (every call in its order),
response.json and report.json.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from structlog.testing import capture_logs

from hooks.admission.eviction import EvictionReview
from hooks.cluster.errors import ClusterError
from hooks.protocol.errors import ShapeError
from hooks.settings import read_settings
from hooks.sync.deployment import DeploymentSync
from hooks.telemetry.metrics import Metrics
from tests.support.cases import Trouble
from tests.support.folders import faults
from tests.support.live import Json
from tests.support.singleton import NOW, cluster
from tests.support.singletonlive import SingletonLive

FIXTURES = Path(__file__).parent.parent / "fixtures"
EVICTION, DEPLOYMENT = "eviction", "deployment"
Hook = EvictionReview | DeploymentSync


@dataclass(frozen=True)
class DrainCase:
    """One call. Expectations are written by people: ``tells``, ``calls`` and ``log``.

    ``tells``: of an eviction the answer and its reason, ``allow DryRun``; of a sync what the answer
    holds, ``clear``, or ``again 10``. ``raises WrongShape`` and ``raises Unavailable`` are errors.
    ``calls``: ``get pods``, ``patch``, ``event REASON``, each with ``!ERROR`` where it failed.
    """

    name: str
    why: str
    request: Json | list[Any] | str
    tells: str
    calls: tuple[str, ...] = ()
    live: Json = field(default_factory=cluster)
    log: tuple[str, ...] = ()
    now: str = NOW
    settings: Mapping[str, str] = field(default_factory=dict)
    troubles: tuple[Trouble, ...] = ()
    events: tuple[str, ...] = ()
    """Names of Events that are there already."""
    unusual: frozenset[str] = frozenset()
    """The checks of tests/support/singletonplausible.py that the case breaks on purpose."""


@dataclass(frozen=True)
class Stored:
    """What a folder says."""

    name: str
    why: str
    now: str
    body: bytes
    parts: dict[str, Any]

    def __getitem__(self, part: str) -> Any:
        return self.parts[part]


@dataclass(frozen=True)
class Outcome:
    """What the hook did: the bytes of its answer (none when it raised), and the other files."""

    body: bytes | None
    writes: list[Json]
    response: Json
    report: Json


def body_of(request: Json | list[Any] | str) -> bytes:
    """A request as it is sent; text goes as it is."""
    if isinstance(request, str):
        return request.encode(errors="surrogateescape")
    return json.dumps(request, sort_keys=True).encode()


def hook_of(kind: str, settings: Mapping[str, str], live: SingletonLive, now: str) -> Hook:
    """The hook on an environment with the case's variables."""
    made = read_settings({"NODEROTATION_TOKEN_FILE": "token"} | dict(settings))
    hook = EvictionReview if kind == EVICTION else DeploymentSync
    return hook(made, live.within, lambda: datetime.fromisoformat(now))


def live_of(stored: Stored) -> SingletonLive:
    """The cluster of a folder."""
    live = SingletonLive(stored["live"], stored.now)
    live.events |= {name: {} for name in stored["live"]["events"]}
    live.fault = faults(live, stored["troubles"]["troubles"])
    return live


def run(kind: str, stored: Stored) -> Outcome:
    """One call of the hook on the folder's world."""
    live = live_of(stored)
    hook = hook_of(kind, stored["settings"], live, stored.now)
    return called(hook, live, stored.body)


def called(hook: Hook, live: SingletonLive, body: bytes) -> Outcome:
    """One call, and all that came of it."""
    answer = None
    response: Json = {}
    with capture_logs() as lines:
        try:
            answer = hook(body, deadline=0.0)
        except ShapeError as error:
            response = {"raises": "WrongShape", "field": error.field, "message": error.message}
        except ClusterError as error:
            response = {"raises": type(error).__name__, "message": str(error)}
    if answer is not None:
        response = json.loads(answer)
    told = [{key: _told(line[key]) for key in line} for line in lines]
    return Outcome(answer, live.writes, response, {"log": told, "metrics": shown(hook)})


def _told(value: object) -> object:
    return str(value) if isinstance(value, Exception) else value


def shown(hook: Hook) -> list[str]:
    """The series that aren't zero, without the buckets of histograms."""
    metrics = Metrics()
    metrics.add(hook.counts)
    lines = metrics.exposition().decode().splitlines()
    series = (line for line in lines if not line.startswith("#") and "_bucket{" not in line)
    return [line for line in series if not line.endswith(" 0.0")]


def load(kind: str, name: str) -> Stored:
    """Read one folder."""
    folder = FIXTURES / kind / name
    parts: dict[str, Any] = {"settings": {}, "troubles": {"troubles": []}}
    parts |= {file.stem: json.loads(file.read_text()) for file in folder.glob("*.json")}
    now, why = ((folder / f"{part}.txt").read_text().strip() for part in ("now", "why"))
    text = folder / "body.txt"
    body = text.read_bytes() if text.exists() else body_of(parts["request"])
    return Stored(name, why, now, body, parts)


def names_of_folders(kind: str) -> list[str]:
    """All folders, in order."""
    return sorted(folder.name for folder in (FIXTURES / kind).iterdir() if folder.is_dir())


def inputs_of(case: DrainCase) -> dict[str, Any]:
    """The input files of a case, the request apart."""
    return {
        "live": {**json.loads(json.dumps(case.live)), "events": list(case.events)},
        "settings": dict(case.settings),
        "troubles": {"troubles": json.loads(json.dumps([asdict(one) for one in case.troubles]))},
    }


def short(write: Json) -> str:
    """A call as cases tell it."""
    failed = f"!{write['raises']}" if "raises" in write else ""
    if "get" in write:
        return f"get {write['get'].partition('/')[0]}"
    if "patch" in write:
        return f"patch{failed}"
    if "there" in write:
        return "event!there"
    return f"event {write['reason']}" if not failed else f"event{failed}"


def tells_of(kind: str, outcome: Outcome) -> str:
    """What an answer tells, as cases do."""
    response = outcome.response
    if "raises" in response:
        return f"raises {response['raises']}"
    if kind == EVICTION:
        (line,) = outcome.report["metrics"]
        labels = dict(part.split("=") for part in line.split("{")[1].split("}")[0].split(","))
        return f"{labels['decision']} {labels['reason']}".replace('"', "")
    parts = ["clear"] if "annotations" in response else []
    if "resyncAfterSeconds" in response:
        parts.append(f"again {response['resyncAfterSeconds']}")
    return " ".join(parts) or "nothing"


def rewrite(kind: str, cases: Sequence[DrainCase]) -> None:
    """Write every folder anew, expectations included: the diff is then for people to review."""
    shutil.rmtree(FIXTURES / kind, ignore_errors=True)
    for case in cases:
        folder = FIXTURES / kind / case.name
        folder.mkdir(parents=True)
        (folder / "now.txt").write_text(case.now + "\n")
        (folder / "why.txt").write_text(case.why + "\n")
        inputs = inputs_of(case)
        body = body_of(case.request)
        outcome = run(kind, Stored(case.name, case.why, case.now, body, inputs))
        if isinstance(case.request, str):
            (folder / "body.txt").write_bytes(body)
        else:
            _write(folder, "request", case.request)
        _write(folder, "live", inputs["live"])
        if case.settings:
            _write(folder, "settings", inputs["settings"])
        if case.troubles:
            _write(folder, "troubles", inputs["troubles"])
        _write(folder, "writes", outcome.writes)
        _write(folder, "response", outcome.response)
        _write(folder, "report", outcome.report)


def _write(folder: Path, part: str, value: object) -> None:
    text = json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False)
    (folder / f"{part}.json").write_text(text + "\n")
