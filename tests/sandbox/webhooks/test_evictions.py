"""Evictions pass through the webhooks: byte by byte as recorded, before any budget, or not at all."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import pytest

from hooks.sandbox.clock import VirtualClock
from hooks.sandbox.controllers.eviction import REFUSAL, BudgetRefusal
from hooks.sandbox.embedded import EmbeddedCluster
from hooks.sandbox.face import Face
from hooks.sandbox.failures import ApiError
from hooks.sandbox.objects import Obj, is_terminating
from hooks.sandbox.store.kinds import (
    NAMESPACES,
    NODES,
    PODDISRUPTIONBUDGETS,
    PODS,
    VALIDATINGWEBHOOKCONFIGURATIONS,
)
from hooks.sandbox.store.store import ObjectStore
from hooks.sandbox.webhooks import EvictionApi, Gate
from tests.sandbox.face.client import Client
from tests.sandbox.store.worlds import START, bound, node, pod
from tests.sandbox.webhooks.hooks import Answers, asked, configuration

FILE = Path(__file__).parents[2] / "fixtures/recorded/eviction-reviews.jsonl"
RECORDED = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
POD = "/api/v1/namespaces/shop/pods/a/eviction"
DENIAL: Obj = {
    "allowed": False,
    "status": {"code": 429, "reason": "TooManyRequests", "message": "later"},
}


class World(NamedTuple):
    """A store with a running Pod ``a`` in namespace shop, and its eviction API."""

    store: ObjectStore
    clock: VirtualClock
    api: EvictionApi
    answers: Answers

    def has_pod(self) -> bool:
        """Whether nobody has evicted it."""
        return not is_terminating(self.store.get(PODS, "shop", "a"))


@contextmanager
def world(*responses: Obj, start: datetime = START) -> Iterator[World]:
    clock = VirtualClock(start)
    store = ObjectStore(clock.now)
    for name in ("shop", "default"):
        store.create(NAMESPACES, {"metadata": {"name": name}})
    store.create(NODES, node("n1"))
    store.create(PODS, bound("a", terminationGracePeriodSeconds=30))
    store.patch(PODS, "shop", "a", running(), "application/merge-patch+json", "status")
    store.create(VALIDATINGWEBHOOKCONFIGURATIONS, configuration("h"))
    with asked(*responses) as (answers, services):
        yield World(store, clock, EvictionApi(store, clock, Gate(store, services)), answers)


def running() -> Obj:
    return {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}


@contextmanager
def client(there: World) -> Iterator[Client]:
    doors = {("pods", "eviction"): there.api.door}
    with Face(there.store, subresources=doors) as face, Client(face.url) as made:
        yield made


def eviction(**options: object) -> Obj:
    metadata = {"name": "a", "namespace": "shop"}
    return {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": metadata,
        **({"deleteOptions": options} if options else {}),
    }


# --- What is asked ---


def recorded_time(review: Obj) -> datetime:
    fields = review["request"]["object"]["metadata"].get("managedFields")
    return datetime.fromisoformat(fields[0]["time"]) if fields else START


@pytest.mark.parametrize(
    "line", RECORDED, ids=[f"{number} {line['step']}" for number, line in enumerate(RECORDED)]
)
def test_a_review_is_byte_for_byte_the_recorded_one(line: Obj) -> None:
    review = line["request"]
    request = review["request"]
    recorded_object = request["object"]
    (manager,) = [
        one["manager"]
        for one in recorded_object["metadata"].get("managedFields", [{"manager": ""}])
    ]
    named = {key: recorded_object["metadata"][key] for key in ("name", "namespace")}
    body = {key: value for key, value in recorded_object.items() if key != "metadata"}
    path = f"/api/v1/namespaces/{named['namespace']}/pods/{named['name']}/eviction"
    with world(start=recorded_time(review)) as there:
        if line["step"].startswith("karpenter"):
            uid = recorded_object["deleteOptions"]["preconditions"]["uid"]
            with pytest.raises(ApiError) as caught:
                there.api.for_karpenter(named["namespace"], named["name"], uid)
            assert caught.value.status == 404
        else:
            with client(there) as http:
                http.session.headers["User-Agent"] = f"{manager}/v1.36.3 (linux/amd64)"
                query = "?dryRun=All" if request["dryRun"] else ""
                assert http.ask("POST", path + query, body | {"metadata": named})[0] == 404
        (received,) = there.answers.received
        uid = there.answers.reviews[0]["uid"]
    expected = json.dumps(review, separators=(",", ":")).replace(request["uid"], uid)
    assert received.body.decode() == f"{expected}\n"


def test_labels_are_managed_too_and_who_says_their_name_is_the_manager() -> None:
    with world() as there, client(there) as http:
        asking = eviction(gracePeriodSeconds=0)
        asking["metadata"] |= {"labels": {"b": "1", "a": "2"}, "annotations": {}}
        http.ask("POST", f"{POD}?fieldManager=me&fieldValidation=Strict", asking)
        (review,) = there.answers.reviews
    assert review["options"] == {
        "kind": "CreateOptions",
        "apiVersion": "meta.k8s.io/v1",
        "fieldManager": "me",
        "fieldValidation": "Strict",
    }
    (entry,) = review["object"]["metadata"]["managedFields"]
    assert (entry["manager"], entry["fieldsV1"]) == (
        "me",
        {
            "f:metadata": {"f:annotations": {}, "f:labels": {".": {}, "f:a": {}, "f:b": {}}},
            "f:deleteOptions": {".": {}, "f:gracePeriodSeconds": {}},
        },
    )


def test_a_dry_run_of_the_query_shows_in_the_eviction_but_is_not_a_managed_field() -> None:
    with world() as there, client(there) as http:
        assert http.ask("POST", f"{POD}?dryRun=All", eviction(gracePeriodSeconds=1))[0] == 201
        (review,) = there.answers.reviews
        assert there.has_pod()
    assert review["dryRun"] is True
    assert review["object"]["deleteOptions"] == {"gracePeriodSeconds": 1, "dryRun": ["All"]}
    (entry,) = review["object"]["metadata"]["managedFields"]
    assert entry["fieldsV1"] == {"f:deleteOptions": {".": {}, "f:gracePeriodSeconds": {}}}


def test_a_dry_run_of_the_body_alone_is_none_for_the_webhook_and_evicts_nobody() -> None:
    with world() as there, client(there) as http:
        assert http.ask("POST", POD, eviction(dryRun=["All"]))[0] == 201
        (review,) = there.answers.reviews
        assert there.has_pod()
    assert (review["dryRun"], review["object"]["deleteOptions"]) == (False, {"dryRun": ["All"]})


# --- What comes of it ---


def test_a_pod_that_may_go_goes_and_warnings_are_heard() -> None:
    response: Obj = {"allowed": True, "warnings": ['a "b" \\ c', "dé ☃"]}
    with world(response) as there, client(there) as http:
        answer = http.send("POST", POD, eviction())
        assert answer.status_code == 201
        assert not there.has_pod()
    assert answer.headers["Warning"] == r'299 - "a \"b\" \\ c", 299 - "dé ?"'


def test_a_denial_reaches_who_asked_as_the_api_server_words_it() -> None:
    with world(DENIAL) as there, client(there) as http:
        status, body = http.ask("POST", POD, eviction())
        assert there.has_pod()
    assert (status, body) == (
        429,
        {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": 'admission webhook "h" denied the request: later',
            "reason": "TooManyRequests",
            "code": 429,
        },
    )


def budget(allowed: int) -> Obj:
    return {"status": {"disruptionsAllowed": allowed, "observedGeneration": 1, "desiredHealthy": 1}}


def add_budget(store: ObjectStore, allowed: int) -> None:
    labels = {"metadata": {"labels": {"app": "a"}}}
    store.patch(PODS, "shop", "a", labels, "application/merge-patch+json")
    spec = {"selector": {"matchLabels": {"app": "a"}}, "minAvailable": 1}
    metadata = {"name": "b", "namespace": "shop"}
    store.create(PODDISRUPTIONBUDGETS, {"metadata": metadata, "spec": spec})
    store.patch(
        PODDISRUPTIONBUDGETS, "shop", "b", budget(allowed), "application/merge-patch+json", "status"
    )


def test_who_is_denied_takes_nothing_from_the_budget() -> None:
    with world(DENIAL) as there:
        add_budget(there.store, 1)
        before = there.store.revision
        with pytest.raises(ApiError, match="denied the request: later"):
            there.api.for_karpenter("shop", "a", "")
        assert there.store.revision == before


def test_the_webhook_is_asked_even_where_the_budget_allows_nothing() -> None:
    with world() as there:
        add_budget(there.store, 0)
        with pytest.raises(BudgetRefusal, match=REFUSAL):
            there.api.for_karpenter("shop", "a", "")
        assert len(there.answers.reviews) == 1


def test_what_the_webhook_writes_stands_before_the_budget_is_looked_at() -> None:
    with world() as there:
        there.answers.on_review = lambda: add_budget(there.store, 0)
        with pytest.raises(BudgetRefusal):
            there.api.for_karpenter("shop", "a", "")


def test_the_webhook_is_asked_about_a_pod_that_is_not_there() -> None:
    with world() as there:
        with pytest.raises(ApiError) as caught:
            there.api.for_karpenter("shop", "gone", "")
        assert (caught.value.status, len(there.answers.reviews)) == (404, 1)


def test_a_wrong_name_is_refused_before_anybody_is_asked() -> None:
    with world() as there, client(there) as http:
        other = eviction()
        other["metadata"]["name"] = "b"
        assert http.ask("POST", POD, other)[0] == 400
        assert there.answers.reviews == []


# --- In the embedded cluster ---


def test_the_embedded_cluster_asks_at_its_doors() -> None:
    cluster = EmbeddedCluster(START)
    cluster.store.create(PODS, pod("x") | {"metadata": {"name": "x", "namespace": "default"}})
    cluster.store.create(VALIDATINGWEBHOOKCONFIGURATIONS, configuration("h"))
    path = "/api/v1/namespaces/default/pods/x/eviction"
    with asked(DENIAL, {"allowed": True}) as (_, services), cluster.door() as face:
        cluster.services |= services
        with Client(face.url) as http:
            assert http.ask("POST", path, {"metadata": {"name": "x"}})[0] == 429
            cluster.clock.advance(timedelta(seconds=1))
            assert http.ask("POST", path, {"metadata": {"name": "x"}})[0] == 201
    assert cluster.store.find(PODS, "default", "x") is None
