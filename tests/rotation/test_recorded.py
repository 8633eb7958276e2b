"""The rotation that a real Metacontroller and Karpenter went through, pass by pass.

Every sync request of the recording gets the decision that the pass table names. The stub that
answered then was another program; what is live is taken from the request, with Nodes made to fit.
"""

from __future__ import annotations

import copy
import gzip
import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hooks import names
from hooks.cluster.reader import LiveReader
from hooks.protocol.hook import parse_sync
from hooks.rotation.answer import conclude
from hooks.rotation.decision import Decision
from hooks.rotation.phases import decide
from hooks.sync.observe import observe
from tests.support.live import CLAIM, NODE, POD, POOL, Json, Live
from tests.support.world import node, policy

RECORDING = (
    Path(__file__).parent.parent
    / "fixtures"
    / "recorded"
    / "rotation-with-pdb-blocked-drain.jsonl.gz"
)
CANDIDATE = "api-t77jf"
STAMP = re.compile(r"20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z")

ROWS = (
    (range(1, 3), "1", "none"),  # idle, four claims due
    (range(3, 4), "3", "create"),  # the anchor is there
    (range(4, 5), "3", "create"),  # pending, no placeholder yet
    (range(5, 23), "3", "keep"),  # it waits for a node, then for its host to pull it up
    (range(23, 28), "4", "keep"),  # it runs on the new node
    (range(28, 29), "5", "none"),  # mirrored
    (range(29, 30), "7", "none"),  # taken, and the delete isn't seen yet
    (range(30, 46), "8", "none"),  # Karpenter drains, a budget in its way
    (range(46, 48), "9", "none"),  # gone
)
"""Lines of the recording, the row of design/rotation.md, what becomes of the placeholder."""


def _requests() -> list[Json]:
    with gzip.open(RECORDING, "rt") as lines:
        return [json.loads(line)["request"] for line in lines]


REQUESTS = _requests()


def _clock(upto: int) -> datetime:
    """A moment after everything that a request and those before it tell of."""
    told = [
        datetime.fromisoformat(stamp)
        for request in REQUESTS[: upto + 1]
        for part in ("object", "attachments", "related")
        for stamp in STAMP.findall(json.dumps(request.get(part, {})))
    ]
    return max(told).astimezone(UTC) + timedelta(seconds=1)


def _request(line: int) -> Json:
    request = copy.deepcopy(REQUESTS[line])
    fitting = policy("all", labels={"workload": "api"}, ageThreshold="1m", minRotationChances=1)
    fitting["spec"]["maintenanceWindows"][0] |= {"start": "00:00", "end": "24:00"}
    request["related"][names.ROTATIONPOLICY_GROUP] = {"all": fitting}
    return request


def _nodes_of(claims: Json) -> Json:
    """A Node for every claim that ever names one; the cluster knew them before the claims did."""
    everywhere = [request["related"][names.NODECLAIM_GROUP] for request in REQUESTS[1:]]
    hosts = {
        name: found[name]["status"]["nodeName"]
        for found in everywhere
        for name in found.keys() & claims.keys()
        if found[name].get("status", {}).get("nodeName")
    }
    made = {host: node(name) for name, host in hosts.items()}
    for host, each in made.items():
        each["metadata"]["name"] = host
    return made


def _live(request: Json) -> Live:
    claims = request["related"][names.NODECLAIM_GROUP] or {}
    nodes = _nodes_of(claims) | (request["related"][names.NODE_GROUP] or {})
    pods = request["attachments"][names.POD_GROUP] or {}
    pool = request["object"]
    return Live({POOL: {pool["metadata"]["name"]: pool}, CLAIM: claims, NODE: nodes, POD: pods})


def _decide(line: int) -> tuple[Decision, list[str]]:
    request = _request(line)
    obs = observe(
        parse_sync(json.dumps(request).encode()),
        _clock(line),
        suspended=False,
        namespace=names.NAMESPACE,
        image="registry.k8s.io/pause:3.10",
        opted_out=frozenset(),
    )
    reader = LiveReader(_live(request), names.NAMESPACE)
    decision = decide(obs, reader)
    concluded = conclude(obs, decision, reader)
    return decision, ["spec" if "spec" in made else "name" for made in concluded.attachments]


@pytest.mark.parametrize(
    ("line", "row", "placeholder"),
    [(line, row, placeholder) for lines, row, placeholder in ROWS for line in lines],
)
def test_a_recorded_request_gets_its_row(line: int, row: str, placeholder: str) -> None:
    decision, listed = _decide(line)
    assert (decision.row, decision.listing.value) == (row, placeholder)
    assert listed == {"create": ["spec"], "keep": ["name"], "none": []}[placeholder]
    if row != "1":
        assert decision.claim == CANDIDATE


def test_every_recorded_sync_request_is_tried() -> None:
    tried = [line for lines, _, _ in ROWS for line in lines]
    assert tried == [line for line, request in enumerate(REQUESTS) if "object" in request]


def test_the_recorded_rotation_began_with_the_oldest_deadline() -> None:
    claims = REQUESTS[1]["related"][names.NODECLAIM_GROUP]
    oldest = min(claims.values(), key=lambda c: (c["metadata"]["creationTimestamp"],
                                                 c["metadata"]["name"]))  # fmt: skip
    assert _decide(1)[0].claim == oldest["metadata"]["name"]
