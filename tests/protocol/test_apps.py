"""Pods, ReplicaSets and Deployments as the graceful drain sees them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hooks.drain.model import Deployment, Owner, Pod, ReplicaSet, Strategy, Unreadable
from hooks.protocol.apps import deployment_of, pod_of, replica_set_of
from hooks.protocol.deployment_calls import parse_deployment_sync
from hooks.protocol.errors import ShapeError
from tests.protocol.recorded import body
from tests.protocol.recorded_drain import rollout
from tests.support.singleton import REMOVED, deployment, evicted, put, replica_set, sync_request
from tests.support.world import template

UID = "41e252ec-e6c2-4541-ac0f-5508810172b3"
SET_UID = "6b1a4e8e-6a8a-4a3c-8f43-0a0b1c2d3e4f"
AT = datetime(2026, 11, 29, 20, 0, 49, tzinfo=UTC)


def test_a_pod() -> None:
    assert pod_of(evicted()) == Pod(
        namespace="default",
        name="single-6d6cd94fd5-sjv82",
        uid="ec66e88c-4156-4514-b790-e3437ec1ca63",
        owners=(Owner("apps/v1", "ReplicaSet", "single-6d6cd94fd5", SET_UID, controller=True),),
        ready=True,
    )
    bare = put(put(evicted(), "metadata.ownerReferences", None), "status", None)
    gone = pod_of(put(bare, "metadata.deletionTimestamp", "2026-11-29T20:00:49Z"))
    assert (gone.owners, gone.phase, gone.ready, gone.terminating) == ((), "", False, True)


def test_a_replica_set() -> None:
    owner = Owner("apps/v1", "Deployment", "single", UID, controller=True)
    assert replica_set_of(replica_set()) == ReplicaSet(
        "default",
        "single-6d6cd94fd5",
        SET_UID,
        (owner,),
        revision=1,
        template=template("deployment")["spec"]["template"],
    )
    assert replica_set_of(replica_set(metadata__annotations=None)).revision is None
    odd = replica_set(metadata__annotations={"deployment.kubernetes.io/revision": "x"})
    assert replica_set_of(odd).revision == Unreadable("x")


def test_the_recorded_deployment_during_its_rollout() -> None:
    seen = [parse_deployment_sync(body(one["request"])) for one in rollout()]
    assert seen[0] == Deployment(
        namespace="default",
        name="single",
        uid=UID,
        resource_version="2165",
        generation=2,
        annotations=rollout()[0]["request"]["object"]["metadata"]["annotations"],
        strategy=Strategy(max_surge=1, max_unavailable=0),
        observed_generation=1,
        total=1,
        updated=1,
        ready=1,
        revision=1,
        restarted_at=AT,
        template=rollout()[0]["request"]["object"]["spec"]["template"],
    )
    counts = [(d.generation, d.observed_generation, d.total, d.updated, d.ready, d.unavailable,
               d.revision) for d in seen]  # fmt: skip
    assert counts == [
        (2, 1, 1, 1, 1, 0, 1),
        (2, 2, 1, 1, 1, 0, 1),
        (3, 2, 1, 1, 1, 0, 1),
        (3, 2, 1, 1, 1, 0, 2),
        (3, 3, 2, 1, 1, 1, 2),
        (3, 3, 2, 1, 2, 0, 2),
        (3, 3, 1, 1, 1, 0, 2),
        (4, 3, 1, 1, 1, 0, 2),
    ]


def test_our_annotations() -> None:
    marks = {"restarted-at": "2026-11-29T21:00:49+01:00", "rolled-for": "x", "last-pod-uid": "u",
             "rollout-timeout": "15m"}  # fmt: skip
    read = deployment_of(deployment(marks))
    assert (read.restarted_at, read.rolled_for, read.last_pod_uid, read.rollout_timeout) == (
        AT,
        Unreadable("x"),
        "u",
        timedelta(minutes=15),
    )
    assert deployment_of(deployment({"rollout-timeout": "15"})).rollout_timeout == Unreadable("15")


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("spec.replicas", REMOVED, ("replicas", 1)),
        ("spec.replicas", 0, ("replicas", 0)),
        ("spec.paused", True, ("paused", True)),
        ("spec.strategy", None, ("strategy", Strategy())),
        ("spec.strategy", {"type": "Recreate"}, ("strategy", Strategy("Recreate"))),
        (
            "spec.strategy",
            {"rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "0%"}},
            ("strategy", Strategy(max_surge="25%", max_unavailable="0%")),
        ),
        ("spec", None, ("strategy", Strategy())),
        ("status", None, ("ready", 0)),
        ("metadata.annotations", None, ("revision", None)),
        ("metadata.deletionTimestamp", "2026-11-29T20:00:49Z", ("deleting", True)),
    ],
)
def test_what_is_missing_is_what_the_api_makes_of_it(
    path: str, value: object, expected: tuple[str, object]
) -> None:
    field, wanted = expected
    assert getattr(deployment_of(put(deployment(), path, value)), field) == wanted


@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        ("object", REMOVED, "object"),
        ("object.metadata.uid", REMOVED, "object.metadata.uid"),
        ("object.metadata.namespace", "", "object.metadata.namespace"),
        ("object.metadata.name", 5, "object.metadata.name"),
        ("object.spec.replicas", "1", "object.spec.replicas"),
        ("object.status.readyReplicas", 1.5, "object.status.readyReplicas"),
        ("object.metadata.annotations", {"a": 1}, "object.metadata.annotations.a"),
    ],
)
def test_a_malformed_request_names_its_field(path: str, value: object, field: str) -> None:
    with pytest.raises(ShapeError) as caught:
        parse_deployment_sync(body(put(sync_request(deployment()), path, value)))
    assert caught.value.field == field


@given(st.binary(max_size=64))
def test_any_bytes_are_a_wrong_shape(raw: bytes) -> None:
    with pytest.raises(ShapeError):
        parse_deployment_sync(raw)


def test_a_template_is_the_deployments_but_for_the_label_of_its_hash() -> None:
    of_the_set = replica_set_of(replica_set()).template
    assert of_the_set == deployment_of(deployment({})).template
    restarted = deployment({}, spec__template__metadata__annotations={"a": "b"})
    assert of_the_set != deployment_of(restarted).template
    bare = replica_set_of(replica_set(spec__template=None))
    assert bare.template == deployment_of(deployment({}, spec__template=None)).template
