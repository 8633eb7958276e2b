from __future__ import annotations

import copy
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

import pytest

from hooks import names
from hooks.protocol.errors import ShapeError
from hooks.protocol.hook import parse_customize, parse_sync
from hooks.rotation.model import (
    BrokenPolicy,
    Claim,
    ClaimState,
    Container,
    Malformed,
    Mode,
    Policy,
    Pool,
    Requirement,
    Selector,
    Window,
)
from tests.protocol.recorded import Json, body, exchanges, syncs

CLAIMS = f"related.{names.NODECLAIM_GROUP}"
NODES = f"related.{names.NODE_GROUP}"
PODS = f"attachments.{names.POD_GROUP}"


def draining() -> Json:
    """A recorded request in the middle of a drain: a mirror, two Nodes, a placeholder, six claims."""
    for one in syncs():
        if one["step"] == "6-draining-sync" and len(one["request"]["related"]["Node.v1"]) == 2:
            request: Json = copy.deepcopy(one["request"])
            return request
    raise AssertionError("the recording lacks such a request")


@pytest.mark.parametrize("at", range(len(syncs())))
def test_every_recorded_request_is_read(at: int) -> None:
    request = syncs()[at]["request"]
    related = request["related"]
    read = parse_sync(body(request))
    notes = request["object"]["metadata"]["annotations"]
    assert read.pool.anchor == notes.get(names.ACTIVE_ROTATION)
    assert read.pool.mirror == (notes.get(names.ACTIVE_ROTATION_STATE) == "draining")
    assert [claim.name for claim in read.claims] == list(related[names.NODECLAIM_GROUP])
    assert [node.name for node in read.nodes] == list(related[names.NODE_GROUP])
    assert [type(policy) for policy in read.policies] == [Policy]
    assert [f"{pod.namespace}/{pod.name}" for pod in read.placeholders] == list(
        request["attachments"][names.POD_GROUP]
    )


def test_a_recorded_request_is_read_whole() -> None:
    read = parse_sync(body(draining()))
    assert read.pool == Pool(
        name="api",
        uid="75ff670b-bc1f-4934-8e3a-c3b7e5ee519a",
        resource_version="1790",
        labels={"workload": "api"},
        anchor="api-t77jf",
        mirror=True,
        draining_at=datetime(2026, 11, 29, 19, 58, 24, tzinfo=UTC),
        surge_wait="25s",
        mode=Mode.SURGE,
        leftovers=frozenset(
            {
                names.ACTIVE_ROTATION,
                names.ACTIVE_ROTATION_STATE,
                names.DRAINING_AT,
                names.SURGE_WAIT,
            }
        ),
        expire_after=timedelta(hours=26),
        termination_grace_period=timedelta(minutes=2),
        requirements=(
            Requirement("kubernetes.io/arch", "In", ("amd64",)),
            Requirement("karpenter.sh/capacity-type", "In", ("on-demand",)),
            Requirement("karpenter.kwok.sh/instance-cpu", "In", ("4",)),
            Requirement("workload", "In", ("api",)),
        ),
        limits={"cpu": Fraction(200)},
        used={
            "cpu": Fraction(15),
            "ephemeral-storage": Fraction(0),
            "memory": Fraction(15 * 2**30),
            "nodes": Fraction(5),
            "pods": Fraction(5),
        },
    )
    assert read.policies == (
        Policy(
            name="all",
            selector=Selector(match_labels=(("workload", "api"),)),
            windows=(Window("UTC", frozenset(range(7)), 0, 23 * 60 + 59),),
            uid="119cdb8f-9a8e-4090-b2e6-cb1603a7ddd7",
            generation=1,
            age_threshold=timedelta(minutes=1),
            chances=1,
            ready_timeout=timedelta(minutes=5),
            cooldown_after=timedelta(0),
        ),
    )
    claims = {claim.name: claim for claim in read.claims}
    assert claims["api-cqtm9"] == Claim(
        name="api-cqtm9",
        uid="5cb8e94c-c693-443f-93fc-3e6cf99aaa06",
        created=datetime(2026, 11, 29, 19, 58, tzinfo=UTC),
        resource_version="1759",
        ready=True,
        registered=True,
        node_name="kwok-api-cqtm9-swallowbold-11-qbssucbvxk-1169460263",
        hostname="api-cqtm9",
        pool="api",
        expire_after=timedelta(hours=26),
        termination_grace_period=timedelta(minutes=2),
    )
    candidate = claims["api-t77jf"]
    assert (candidate.state, candidate.surge_claim, candidate.retry_count) == (
        ClaimState.DRAINING,
        "api-cqtm9",
        0,
    )
    assert isinstance(candidate.started_at, datetime)
    host, old = sorted(read.nodes, key=lambda node: node.name)
    assert [
        (node.owner_claim, node.surge_for, node.do_not_disrupt_owned, node.cordoned_by_us)
        for node in (host, old)
    ] == [("api-cqtm9", "api-t77jf", True, False), ("api-t77jf", "api-t77jf", True, True)]
    (placeholder,) = read.placeholders
    assert (placeholder.name, placeholder.phase, placeholder.node_name) == (
        "noderotation-surge-api-t77jf",
        "Running",
        host.name,
    )
    assert placeholder.containers == (
        Container(requests={"cpu": Fraction(3), "memory": Fraction(3 * 2**30)}),
    )


def change(request: Json, at: str, value: object) -> None:
    """Put a value at a path; a step in the path may hold dots when it is written with slashes."""
    *path, last = at.split(" ")
    holder: Any = request
    for step in path:
        holder = holder[int(step)] if isinstance(holder, list) else holder[step]
    holder[int(last) if isinstance(holder, list) else last] = value


def drop(request: Json, at: str) -> None:
    *path, last = at.split(" ")
    holder: Any = request
    for step in path:
        holder = holder[step]
    del holder[last]


def refusal(raw: bytes) -> ShapeError:
    with pytest.raises(ShapeError) as caught:
        parse_sync(raw)
    return caught.value


CLAIM = f"related {names.NODECLAIM_GROUP} api-cqtm9"
CLAIM_FIELD = f"{CLAIMS}.api-cqtm9"
NODE_NAME = "kwok-api-cqtm9-swallowbold-11-qbssucbvxk-1169460263"
NODE = f"related {names.NODE_GROUP} {NODE_NAME}"
NODE_FIELD = f"{NODES}.{NODE_NAME}"
POLICY = f"related {names.ROTATIONPOLICY_GROUP} all"
POLICY_FIELD = f"related.{names.ROTATIONPOLICY_GROUP}.all"
POD = f"attachments {names.POD_GROUP} node-rotation-system/noderotation-surge-api-t77jf"
POD_FIELD = f"{PODS}.node-rotation-system/noderotation-surge-api-t77jf"


@pytest.mark.parametrize(
    ("at", "field"),
    [
        ("object", "object"),
        ("attachments", "attachments"),
        ("related", "related"),
        ("attachments Pod.v1", PODS),
        (f"related {names.ROTATIONPOLICY_GROUP}", f"related.{names.ROTATIONPOLICY_GROUP}"),
        (f"related {names.NODECLAIM_GROUP}", CLAIMS),
        (f"related {names.NODE_GROUP}", NODES),
        ("object metadata", "object.metadata"),
        ("object metadata name", "object.metadata.name"),
        ("object metadata uid", "object.metadata.uid"),
        (f"{CLAIM} metadata", f"{CLAIM_FIELD}.metadata"),
        (f"{CLAIM} metadata name", f"{CLAIM_FIELD}.metadata.name"),
        (f"{CLAIM} metadata uid", f"{CLAIM_FIELD}.metadata.uid"),
        (f"{CLAIM} metadata creationTimestamp", f"{CLAIM_FIELD}.metadata.creationTimestamp"),
        (f"{NODE} metadata name", f"{NODE_FIELD}.metadata.name"),
        (f"{POLICY} metadata name", f"{POLICY_FIELD}.metadata.name"),
        (f"{POD} metadata name", f"{POD_FIELD}.metadata.name"),
    ],
)
def test_what_has_to_be_there_and_is_not_is_named(at: str, field: str) -> None:
    request = draining()
    drop(request, at)
    error = refusal(body(request))
    assert (error.field, error.message) == (field, "is missing")


@pytest.mark.parametrize(
    ("at", "value", "field"),
    [
        ("object", [], "object"),
        ("object", None, "object"),
        ("related", None, "related"),
        ("related", [], "related"),
        ("attachments", None, "attachments"),
        ("attachments Pod.v1", [], PODS),
        (f"related {names.NODECLAIM_GROUP}", "none", CLAIMS),
        ("object metadata name", "", "object.metadata.name"),
        ("object metadata name", 7, "object.metadata.name"),
        ("object metadata uid", "", "object.metadata.uid"),
        ("object metadata labels", {"workload": 1}, "object.metadata.labels.workload"),
        (
            "object metadata annotations",
            {names.FREEZE: 1},
            f"object.metadata.annotations.{names.FREEZE}",
        ),
        ("object spec", "x", "object.spec"),
        ("object spec replicas", True, "object.spec.replicas"),
        ("object spec limits", ["cpu"], "object.spec.limits"),
        ("object spec limits cpu", "lots", "object.spec.limits.cpu"),
        ("object spec limits cpu", "1e9999999999", "object.spec.limits.cpu"),
        ("object spec limits cpu", None, "object.spec.limits.cpu"),
        ("object spec limits cpu", {"cpu": 1}, "object.spec.limits.cpu"),
        ("object spec limits cpu", True, "object.spec.limits.cpu"),
        ("object status resources memory", "9" * 100_000, "object.status.resources.memory"),
        ("object status nodes", "5", "object.status.nodes"),
        ("object spec template spec expireAfter", 26, "object.spec.template.spec.expireAfter"),
        (
            "object spec template spec requirements 0 values",
            [1],
            "object.spec.template.spec.requirements[0].values[0]",
        ),
        (CLAIM, None, CLAIM_FIELD),
        (f"{CLAIM} metadata uid", 1, f"{CLAIM_FIELD}.metadata.uid"),
        (
            f"{CLAIM} metadata creationTimestamp",
            "yesterday",
            f"{CLAIM_FIELD}.metadata.creationTimestamp",
        ),
        (
            f"{CLAIM} metadata creationTimestamp",
            None,
            f"{CLAIM_FIELD}.metadata.creationTimestamp",
        ),
        (
            f"{CLAIM} metadata deletionTimestamp",
            "2026-11-29",
            f"{CLAIM_FIELD}.metadata.deletionTimestamp",
        ),
        (f"{CLAIM} status conditions", {}, f"{CLAIM_FIELD}.status.conditions"),
        (f"{CLAIM} status conditions 4 status", True, f"{CLAIM_FIELD}.status.conditions[4].status"),
        (f"{NODE} spec unschedulable", "true", f"{NODE_FIELD}.spec.unschedulable"),
        (f"{NODE} status allocatable cpu", "-", f"{NODE_FIELD}.status.allocatable.cpu"),
        (f"{POLICY} metadata generation", "1", f"{POLICY_FIELD}.metadata.generation"),
        (POLICY, "all", POLICY_FIELD),
        (
            f"{POD} spec containers 0 resources requests cpu",
            "x",
            f"{POD_FIELD}.spec.containers[0].resources.requests.cpu",
        ),
    ],
)
def test_what_is_of_the_wrong_type_is_named(at: str, value: object, field: str) -> None:
    request = draining()
    change(request, at, value)
    error = refusal(body(request))
    assert error.field == field
    assert error.message


@pytest.mark.parametrize("nothing", [None, {}])
@pytest.mark.parametrize(
    "group", [names.ROTATIONPOLICY_GROUP, names.NODECLAIM_GROUP, names.NODE_GROUP]
)
def test_an_empty_group_is_none_of_it(group: str, nothing: object) -> None:
    request = draining()
    request["related"][group] = nothing
    read = parse_sync(body(request))
    assert {
        names.ROTATIONPOLICY_GROUP: read.policies,
        names.NODECLAIM_GROUP: read.claims,
        names.NODE_GROUP: read.nodes,
    }[group] == ()


@pytest.mark.parametrize("nothing", [None, {}])
def test_no_attachments_are_no_placeholders(nothing: object) -> None:
    request = draining()
    request["attachments"][names.POD_GROUP] = nothing
    assert parse_sync(body(request)).placeholders == ()


def test_what_is_of_no_interest_may_be_anything() -> None:
    request = draining()
    expected = parse_sync(body(request))
    request |= {"controller": 7, "finalizing": "perhaps", "children": [None]}
    request["related"]["Secret.v1"] = 1
    request["attachments"]["Service.v1"] = 1
    request["object"]["metadata"]["managedFields"] = {"a": [1e300]}
    request["object"]["spec"]["disruption"] = "none"
    request["object"]["metadata"]["annotations"]["example.com/theirs"] = 5
    request["related"][names.NODECLAIM_GROUP]["api-cqtm9"]["spec"]["requirements"] = 5
    request["related"][names.NODECLAIM_GROUP]["api-cqtm9"]["status"]["allocatable"] = 5
    assert parse_sync(body(request)) == expected


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b" ",
        b"null",
        b"[]",
        b'"sync"',
        b"NaN",
        b"{",
        b"{}{}",
        b"\xff\xfe{\x00}\x00",
        b"\xef\xbb\xbf{}",
        b"{'object': 1}",
        b'{"object": NaN, "related": {}, "attachments": {}}',
        b'{"object": -Infinity, "related": {}, "attachments": {}}',
        b"[" * 1_000_000,
        b'{"object":' * 100_000,
        b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"a":' + b"9" * 1_000_000 + b"}",
        b'{"a":1e999999999999}',
        b'{"a":"\xed\xa0\x80"}',
        b"\x00" * 1000,
    ],
)
def test_what_is_no_request_at_all_is_refused(raw: bytes) -> None:
    error = refusal(raw)
    assert error.field
    assert error.message
    assert len(str(error)) < 1000


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'"name":"api"', b'"name":NaN'),
        (b'"name":"api"', b'"name":"\\ud800"'),
        (b'"manager":"kubectl', b'"manager":"\\udfff kubectl'),
        (b'"manager":"kubectl', b'"manager":"\xff'),
        (b'"manager":"kubectl', b'"manager":"\x01'),
        (b'"nodes":5', b'"nodes":05'),
        (b'"nodes":5', b'"nodes":NaN'),
        (b'"cpu":"200"', b'"cpu":NaN'),
        (b'"cpu":"200"', b'"cpu":Infinity'),
        (b'"cpu":"200"', b'"cpu":1e400'),
        (b'"cpu":"200"', b'"cpu":"1e1.5"'),
    ],
)
def test_one_broken_place_is_enough(before: bytes, after: bytes) -> None:
    raw = body(draining())
    assert before in raw
    assert refusal(raw.replace(before, after, 1)).field


def test_of_a_key_that_stands_there_twice_the_last_one_counts() -> None:
    raw = body(draining())
    twice = raw[:-1] + b',"object":' + body({"metadata": {"name": "b", "uid": "u"}}) + b"}"
    assert parse_sync(twice).pool == Pool(name="b", uid="u")
    assert json.loads(twice)["object"]["metadata"]["name"] == "b"


def test_a_hostile_key_makes_no_long_error() -> None:
    request = draining()
    request["related"][names.NODECLAIM_GROUP] = {"x" * 1_000_000: {}}
    assert len(refusal(body(request)).field) <= 512


UNREADABLE = [
    "",
    " ",
    "soon",
    "2026-11-29",
    "2026-11-29T20:00:00",
    "2026-13-29T20:00:00Z",
    "\u0000",
    "9" * 10_000,
]


@pytest.mark.parametrize("text", UNREADABLE)
@pytest.mark.parametrize(
    ("key", "of"),
    [
        (names.FREEZE, lambda pool: pool.freeze),
        (names.LAST_ROTATION_AT, lambda pool: pool.last_rotation_at),
        (names.LAST_FAILURE_AT, lambda pool: pool.last_failure_at),
        (names.DRAINING_AT, lambda pool: pool.draining_at),
        (names.DUE_BEFORE, lambda pool: pool.due_before),
    ],
)
def test_an_unreadable_time_on_the_pool_is_a_value(
    key: str, of: Callable[[Pool], object], text: str
) -> None:
    request = draining()
    request["object"]["metadata"]["annotations"][key] = text
    assert of(parse_sync(body(request)).pool) == Malformed(text)


def test_a_policy_that_cannot_be_read_is_a_value_and_the_other_goes_on() -> None:
    request = draining()
    policies = request["related"][names.ROTATIONPOLICY_GROUP]
    policies["broken"] = {"metadata": {"name": "broken"}, "spec": {"nodePoolSelector": {}}}
    policies["empty"] = {"metadata": {"name": "empty"}}
    policies["odd"] = {"metadata": {"name": "odd"}, "spec": [1]}
    read = {policy.name: policy for policy in parse_sync(body(request)).policies}
    assert isinstance(read["all"], Policy)
    assert read["broken"] == BrokenPolicy(
        "broken", (("spec.maintenanceWindows", "must be given"),), Selector()
    )
    assert read["empty"] == BrokenPolicy("empty", (("spec", "must be given"),))
    assert read["odd"] == BrokenPolicy("odd", (("spec", "must be an object with fields"),))


def test_a_customize_call_is_its_pools_name() -> None:
    (call,) = [one["request"] for one in exchanges() if "parent" in one["request"]]
    assert parse_customize(body(call)) == "api"


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        (b"", "body"),
        (b"{}", "parent"),
        (b'{"parent":{}}', "parent.metadata"),
        (b'{"parent":{"metadata":{"name":""}}}', "parent.metadata.name"),
        (b'{"parent":{"metadata":{"name":1}}}', "parent.metadata.name"),
    ],
)
def test_a_customize_call_of_the_wrong_shape_names_the_field(raw: bytes, field: str) -> None:
    with pytest.raises(ShapeError) as caught:
        parse_customize(raw)
    assert caught.value.field == field
