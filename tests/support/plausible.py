"""Refuses a fixture that could not exist, or no longer, so that no test proves a fantasy.

Each check has a name; a case that breaks one on purpose lists it (and then must really break it).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime

from hooks import names
from tests.support.folders import Stored, requested
from tests.support.live import CLAIM, NODE, POD, POOL, Json


def _requested(stored: Stored) -> dict[str, dict[str, Json]]:
    return requested(stored["request"])


def _live(stored: Stored) -> dict[str, dict[str, Json]]:
    return {kind: stored["live"][kind] for kind in (CLAIM, NODE, POD, POOL)}


def _notes(thing: Json) -> Json:
    notes: Json = thing["metadata"].get("annotations", {})
    return notes


def _placeholder_without_anchor(stored: Stored) -> Iterator[str]:
    anchor = _notes(stored["request"]["object"]).get(names.ACTIVE_ROTATION)
    for name, pod in _requested(stored)[POD].items():
        if _notes(pod).get(names.SURGE_FOR) != anchor:
            yield f"placeholder {name} in the request without its anchor"


def _mark_without_label(stored: Stored) -> Iterator[str]:
    for world in (_requested(stored), _live(stored)):
        for name, node in world[NODE].items():
            labelled = names.SURGE_FOR in node["metadata"]["labels"]
            if (names.SURGE_FOR in _notes(node)) != labelled:
                yield f"Node {name} marked without its label, or labelled without its mark"


def _unrelated_node(stored: Stored) -> Iterator[str]:
    for name, node in _requested(stored)[NODE].items():
        if names.SURGE_FOR not in node["metadata"]["labels"]:
            yield f"Node {name} in the request without our label"


def _claim_without_node(stored: Stored) -> Iterator[str]:
    live = _live(stored)
    for name, claim in live[CLAIM].items():
        node = claim["status"]["nodeName"]
        if node and node not in live[NODE]:
            yield f"claim {name} names Node {node}, which isn't there"


def _node_without_claim(stored: Stored) -> Iterator[str]:
    live = _live(stored)
    for name, node in live[NODE].items():
        owner = node["metadata"]["ownerReferences"][0]["name"]
        if owner not in live[CLAIM]:
            yield f"Node {name} belongs to claim {owner}, which isn't there"


def _pod_without_node(stored: Stored) -> Iterator[str]:
    live = _live(stored)
    for name, pod in live[POD].items():
        node = pod["spec"].get("nodeName")
        if node is not None and node not in live[NODE]:
            yield f"Pod {name} is on Node {node}, which isn't there"


def _running_nowhere(stored: Stored) -> Iterator[str]:
    for world in (_requested(stored), _live(stored)):
        for name, pod in world[POD].items():
            if pod["status"]["phase"] == "Running" and "nodeName" not in pod["spec"]:
                yield f"Pod {name} runs on no Node"


def _wrong_time(stored: Stored) -> Iterator[str]:
    now = datetime.fromisoformat(stored.now)
    for world in (_requested(stored), _live(stored)):
        for kind, things in world.items():
            for name, thing in things.items():
                meta = thing["metadata"]
                created = datetime.fromisoformat(meta["creationTimestamp"])
                ended = meta.get("deletionTimestamp")
                if created > now or (ended and not created <= datetime.fromisoformat(ended) <= now):
                    yield f"{kind} {name} is of another time"


def _stamp_out_of_order(stored: Stored) -> Iterator[str]:
    now = datetime.fromisoformat(stored.now)
    for world in (_requested(stored), _live(stored)):
        for name, claim in world[CLAIM].items():
            created = datetime.fromisoformat(claim["metadata"]["creationTimestamp"])
            for key in (names.STARTED_AT, names.FAILED_AT):
                stamp = _readable(_notes(claim).get(key))
                if stamp is not None and not created <= stamp <= now:
                    yield f"claim {name} has a {key} from before its creation, or ahead"


def _readable(text: str | None) -> datetime | None:
    try:
        return datetime.fromisoformat(text) if text else None
    except ValueError:
        return None


def _stale_live(stored: Stored) -> Iterator[str]:
    live = _live(stored)
    for kind, things in _requested(stored).items():
        for name, thing in things.items():
            now = live[kind].get(name)
            if now is None or now == thing:
                continue
            versions = [int(each["metadata"]["resourceVersion"]) for each in (thing, now)]
            if versions[0] >= versions[1]:
                yield f"live {kind} {name} differs and isn't newer than the request's"


def _misfiled(stored: Stored) -> Iterator[str]:
    for world in (_requested(stored), _live(stored)):
        for kind, things in world.items():
            for key, thing in things.items():
                meta = thing["metadata"]
                name = f"{meta['namespace']}/{meta['name']}" if kind == POD else meta["name"]
                if name != key:
                    yield f"{kind} {key} is called {name}"


def _shared_uid(stored: Stored) -> Iterator[str]:
    for world in (_requested(stored), _live(stored)):
        uids = Counter(t["metadata"]["uid"] for ts in world.values() for t in ts.values())
        for uid, count in uids.items():
            if count > 1:
                yield f"{count} objects share UID {uid}"


def _other_pool(stored: Stored) -> Iterator[str]:
    pool = stored["request"]["object"]["metadata"]["name"]
    found = _requested(stored)
    for kind in (CLAIM, NODE):
        for name, thing in found[kind].items():
            if thing["metadata"]["labels"].get(names.NODEPOOL_LABEL) != pool:
                yield f"{kind} {name} of another pool in the request"


CHECKS: dict[str, Callable[[Stored], Iterator[str]]] = {
    "placeholder without anchor": _placeholder_without_anchor,
    "mark without label": _mark_without_label,
    "unrelated node": _unrelated_node,
    "claim without node": _claim_without_node,
    "node without claim": _node_without_claim,
    "pod without node": _pod_without_node,
    "running nowhere": _running_nowhere,
    "wrong time": _wrong_time,
    "stamp out of order": _stamp_out_of_order,
    "stale live": _stale_live,
    "misfiled": _misfiled,
    "shared uid": _shared_uid,
    "other pool": _other_pool,
}


def implausible(stored: Stored) -> dict[str, list[str]]:
    """By name of the check, what of a fixture could not exist."""
    found = {name: list(check(stored)) for name, check in CHECKS.items()}
    return {name: complaints for name, complaints in found.items() if complaints}
