"""Fixtures as folders: written from a case, read back, and run through the whole hook.

A folder holds request.json, live.json (what live reads answer, by kind and name, and the names of
Events that are there), now.txt, why.txt, settings.json and troubles.json where there are any, and
the expectations writes.json, response.json and report.json. An object that is live just as the
request shows it stands as SAME in live.json.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from structlog.testing import capture_logs
from typing_extensions import override

from hooks import names
from hooks.cluster import errors
from hooks.cluster.verbs import Api
from hooks.rotation.answer import Conclusion
from hooks.rotation.model import Observation
from hooks.settings import Settings, read_settings
from hooks.sync.nodepool import NodePoolSync
from tests.support.cases import Case
from tests.support.live import CLAIM, NODE, POD, POOL, Json, Live

FIXTURES = Path(__file__).parent.parent / "fixtures" / "sync" / "nodepool"
SAME = "as in the request"


@dataclass(frozen=True)
class Stored:
    """What a folder says of the world, and of what must follow."""

    name: str
    why: str
    now: str
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
    reads: list[str]


class Watched(NodePoolSync):
    """The hook, with its last conclusion kept."""

    concluded: Conclusion | None = None

    @override
    def carry_out(self, obs: Observation, api: Api, request_id: str) -> Conclusion:
        self.concluded = super().carry_out(obs, api, request_id)
        return self.concluded


def settings_from(changed: Json) -> Settings:
    """The settings that an environment with the case's variables gives."""
    return read_settings({"NODEROTATION_TOKEN_FILE": "token"} | changed)


def inputs_of(case: Case) -> dict[str, Json]:
    """The input files of a case."""
    request = json.loads(json.dumps(case.world.request()))
    live = json.loads(json.dumps((case.live or case.world).live()))
    before = case.world.live()
    for kind, things in live.items():
        for name, thing in things.items():
            if name in before[kind] and before[kind][name] != thing:
                version = int(thing["metadata"]["resourceVersion"])
                thing["metadata"]["resourceVersion"] = str(version + 1000)
    live["events"] = list(case.events)
    troubles = json.loads(json.dumps([asdict(trouble) for trouble in case.troubles]))
    return {
        "request": request,
        "live": live,
        "settings": dict(case.settings),
        "troubles": {"troubles": troubles},
    }


def run(stored: Stored) -> Outcome:
    """One call of the hook on the folder's world."""
    live = Live(stored["live"], stored.now)
    live.events |= {name: {} for name in stored["live"]["events"]}
    live.fault = faults(live, stored["troubles"]["troubles"])
    hook = Watched(settings_from(stored["settings"]), live.within, lambda: _time(stored.now))
    body = None
    failure = ""
    with capture_logs() as lines:
        try:
            body = hook(json.dumps(stored["request"]).encode(), deadline=0.0)
        except errors.ClusterError as error:
            failure = type(error).__name__
    response: Json = {"raises": failure} if body is None else json.loads(body)
    report = _report(hook.concluded, lines, failure) | {"metrics": shown(hook)}
    return Outcome(body, live.writes, response, report, live.reads)


def shown(hook: NodePoolSync) -> list[str]:
    """The series of a hook's pools that aren't zero, without the buckets of histograms."""
    lines = hook.metrics.exposition().decode().splitlines()
    series = (line for line in lines if not line.startswith("#") and "_bucket{" not in line)
    return [line for line in series if not line.endswith(" 0.0")]


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _report(
    concluded: Conclusion | None, lines: Sequence[Mapping[str, object]], failure: str
) -> Json:
    report: Json = {"log": json.loads(json.dumps([dict(line) for line in lines]))}
    if concluded is None or failure:
        return report
    decision = concluded.decision
    return {
        "row": decision.row,
        "reason": decision.reason.value,
        "detail": decision.detail,
        "findings": [finding.code for finding in decision.findings],
        "census": dict(decision.census),
        **report,
    }


def faults(live: Live, troubles: list[Json]) -> Callable[[str, str], str | None]:
    """What :attr:`Live.fault` has to do for the troubles of a case."""
    seen = [0] * len(troubles)

    def fault(verb: str, name: str) -> str | None:
        answer = None
        for at, trouble in enumerate(troubles):
            if trouble["verb"] != verb or trouble["name"] not in {"", name}:
                continue
            seen[at] += 1
            if trouble["nth"] in {0, seen[at]}:
                _change(live, trouble["change"])
                answer = _raise(trouble["error"]) or answer
        return answer

    return fault


def _change(live: Live, change: Json) -> None:
    for kind, things in change.items():
        for name, thing in things.items():
            if thing is None:
                live.objects[kind].pop(name, None)
            else:
                live.objects[kind][name] = json.loads(json.dumps(thing))
                live.touch(live.objects[kind][name])


def _raise(error: str) -> str | None:
    if error == "Lost":
        return "after"
    if error:
        kind: type[errors.ClusterError] = getattr(errors, error)
        message = "as the case says"
        raise kind(message)
    return None


def requested(request: Json) -> dict[str, dict[str, Json]]:
    """The objects of a request, by kind and name as in live.json."""
    groups: Json = request["attachments"] | request["related"]
    pool = request["object"]
    return {
        POD: groups[names.POD_GROUP] or {},
        NODE: groups[names.NODE_GROUP] or {},
        CLAIM: groups[names.NODECLAIM_GROUP] or {},
        POOL: {pool["metadata"]["name"]: pool},
    }


def _shortened(live: Json, request: Json) -> Json:
    """live.json as it is stored."""
    shown = requested(request)
    short = {
        kind: {
            name: SAME if shown[kind].get(name) == thing else thing
            for name, thing in live[kind].items()
        }
        for kind in shown
    }
    return live | short


def _restored(live: Json, request: Json) -> Json:
    """The inverse of `_shortened`."""
    shown = requested(request)
    full = {
        kind: {
            name: shown[kind][name] if thing == SAME else thing
            for name, thing in live[kind].items()
        }
        for kind in shown
    }
    return live | full


def load(name: str) -> Stored:
    """Read one folder."""
    folder = FIXTURES / name
    parts: dict[str, Any] = {"settings": {}, "troubles": {"troubles": []}}
    parts |= {file.stem: json.loads(file.read_text()) for file in folder.glob("*.json")}
    parts["live"] = _restored(parts["live"], parts["request"])
    now, why = ((folder / f"{part}.txt").read_text().strip() for part in ("now", "why"))
    return Stored(name, why, now, parts)


def names_of_folders() -> list[str]:
    """All folders, in order."""
    return sorted(folder.name for folder in FIXTURES.iterdir() if folder.is_dir())


def rewrite(cases: tuple[Case, ...]) -> None:
    """Write every folder anew, expectations included: the diff is then for people to review."""
    shutil.rmtree(FIXTURES, ignore_errors=True)
    for case in cases:
        folder = FIXTURES / case.name
        folder.mkdir(parents=True)
        (folder / "now.txt").write_text(case.now + "\n")
        (folder / "why.txt").write_text(case.why + "\n")
        inputs = inputs_of(case)
        outcome = run(Stored(case.name, case.why, case.now, inputs))
        _write(folder, "request", inputs["request"])
        _write(folder, "live", _shortened(inputs["live"], inputs["request"]))
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
