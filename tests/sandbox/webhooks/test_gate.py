"""What the gate asks, and what becomes of each answer and of none."""

from __future__ import annotations

import logging
import threading

import pytest
from typing_extensions import override

from hooks.sandbox.failures import ApiError
from hooks.sandbox.objects import Obj
from hooks.sandbox.store.kinds import VALIDATINGWEBHOOKCONFIGURATIONS
from hooks.sandbox.store.refusals import RefusedError
from hooks.sandbox.webhooks import Gate, Services
from tests.sandbox.conductor.loopback import Received, Sent, serving
from tests.sandbox.store.worlds import World, told
from tests.sandbox.webhooks.hooks import SERVICE, asked, configuration, eviction

DENIED = 'admission webhook "h" denied the request'


def gate(services: Services, *configurations: Obj) -> Gate:
    world = World()
    for one in configurations or (configuration("h"),):
        world.store.create(VALIDATINGWEBHOOKCONFIGURATIONS, one)
    return Gate(world.store, services)


def refusal(services: Services, *configurations: Obj, dry_run: bool = False) -> RefusedError:
    with pytest.raises(ApiError) as caught:
        gate(services, *configurations).check(eviction(dry_run=dry_run))
    error = caught.value
    if isinstance(error, RefusedError):
        return error
    return RefusedError(error.status, error.reason, str(error))


def test_who_allows_lets_it_pass_and_may_warn() -> None:
    with asked({"allowed": True, "warnings": ["one", "two"]}, {"allowed": True}) as (_, services):
        both = gate(services, configuration("a"), configuration("b"))
        assert both.check(eviction()) == ("one", "two")


def test_it_is_asked_as_the_real_api_server_asks() -> None:
    with asked() as (answers, services):
        gate(services).check(eviction())
    (received,) = answers.received
    assert (received.method, received.path) == ("POST", "/h?timeout=5s")
    del received.headers["Host"], received.headers["Content-Length"]
    assert received.headers == {
        "User-Agent": "kube-apiserver-admission",
        "Content-Type": "application/json",
        "Accept": "application/json, */*",
        "Accept-Encoding": "gzip",
    }


def test_each_review_has_a_uid_of_its_own_and_each_run_the_same_ones() -> None:
    uids = []
    for _ in range(2):
        with asked() as (answers, services):
            one = gate(services)
            one.check(eviction())
            one.check(eviction())
            uids.append([review["uid"] for review in answers.reviews])
    assert uids[0] == uids[1]
    assert len(set(uids[0])) == 2


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (
            {"code": 429, "reason": "TooManyRequests", "message": "later"},
            (429, "TooManyRequests", f"{DENIED}: later"),
        ),
        ({"reason": "Why"}, (400, "Why", f"{DENIED}: Why")),
        ({"code": 200}, (400, "", f"{DENIED} without explanation")),
        (None, (400, "", f"{DENIED} without explanation")),
    ],
)
def test_a_denial(status: Obj | None, expected: tuple[int, str, str]) -> None:
    with asked({"allowed": False, "status": status}) as (_, services):
        assert told(refusal(services)) == expected


def test_the_details_of_a_denial_reach_who_asked() -> None:
    details = {"retryAfterSeconds": 7}
    with asked({"allowed": False, "status": {"code": 429, "details": details}}) as (_, services):
        assert refusal(services).details == details


def test_all_are_asked_and_the_first_refusal_counts() -> None:
    denials: list[Obj] = [
        {"allowed": False, "status": {"message": word}} for word in ("first", "second")
    ]
    with asked(*denials) as (answers, services):
        error = refusal(services, configuration("h"), configuration("i"))
        assert str(error) == f"{DENIED}: first"
        assert len(answers.received) == 2


# --- No answer ---


def answering(sent: Sent) -> tuple[str, str]:
    """What is logged where failures are ignored, and how the request fails where they aren't."""
    with serving(lambda _: sent) as url:
        return failing({SERVICE: url})


class Listening(logging.Handler):
    """Keeps what is logged."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    @override
    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def failing(services: Services, **fields: object) -> tuple[str, str]:
    handler = Listening()
    log = logging.getLogger("hooks.sandbox.webhooks.gate")
    log.addHandler(handler)
    try:
        assert gate(services, configuration("h", **fields)).check(eviction()) == ()
    finally:
        log.removeHandler(handler)
    error = refusal(services, configuration("h", failurePolicy="Fail", **fields))
    assert (error.status, error.reason) == (500, "InternalError")
    (line,) = handler.lines
    return line, str(error)


def review(**changes: object) -> Sent:
    whole = {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", **changes}
    return Sent(body=whole)


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        (Sent(status=500), "failed to call webhook: status 500"),
        (Sent(status=404), "failed to call webhook: status 404"),
        (Sent(body=b"{"), "received invalid webhook response: couldn't decode the response"),
        (Sent(body=[]), "received invalid webhook response: webhook response was absent"),
        (review(), "received invalid webhook response: webhook response was absent"),
        (review(response={"allowed": False}), "received invalid webhook response: expected respon"),
    ],
)
def test_an_answer_that_is_none(sent: Sent, why: str) -> None:
    logged, refused = answering(sent)
    assert f'failing open: failed calling webhook "h": {why}' in logged
    assert f'Internal error occurred: failed calling webhook "h": {why}' in refused


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"kind": "Review"}, "expected webhook response of admission.k8s.io/v1, Kind=Admission"),
        ({"apiVersion": "admission.k8s.io/v1beta1"}, "got admission.k8s.io/v1beta1, Kind=Admissi"),
        ({"patch": "W10="}, "validating webhook may not return response.patch"),
        ({"patchType": "JSONPatch"}, "validating webhook may not return response.patch"),
    ],
)
def test_an_answer_with_the_right_uid_that_is_none_all_the_same(changes: Obj, why: str) -> None:
    with asked() as (answers, services):

        def answer(received: Received) -> Sent:
            body = answers(received).body
            assert isinstance(body, dict)
            outer = {key: changes[key] for key in ("kind", "apiVersion") if key in changes}
            return Sent(body=body | outer | {"response": body["response"] | changes})

        del services
        with serving(answer) as url:
            logged, refused = failing({SERVICE: url})
    assert why in logged
    assert why in refused


def test_nobody_there() -> None:
    # A port that just became free may be somebody else's at once.
    logged, _ = failing({SERVICE: "http://127.0.0.1:1"})
    assert 'failed calling webhook "h": failed to call webhook: http error: Post' in logged
    logged, _ = failing({})
    assert "no endpoints available for service 'hook'" in logged


def test_a_time_out() -> None:
    forever = threading.Event()

    def answer(_: Received) -> Sent:
        forever.wait(20)
        return Sent()

    with serving(answer) as url:
        logged, _ = failing({SERVICE: url}, timeoutSeconds=1)
        forever.set()
    assert "context deadline exceeded" in logged


def test_what_cannot_be_asked() -> None:
    logged, _ = failing({}, clientConfig={"url": "https://hook.example"})
    assert "webhooks at a URL are not built" in logged
    logged, _ = failing({}, admissionReviewVersions=["v1beta1"])
    assert "webhook does not accept known AdmissionReview versions" in logged


def test_a_failure_does_not_hide_another_ones_denial() -> None:
    with asked({"allowed": False}) as (_, services):
        elsewhere = {"service": {"namespace": "ours", "name": "nobody"}}
        broken = configuration("a", clientConfig=elsewhere)
        assert str(refusal(services, broken, configuration("h"))) == f"{DENIED} without explanation"


# --- Dry runs ---


@pytest.mark.parametrize("effects", ["None", "NoneOnDryRun"])
def test_a_dry_run_asks_whoever_has_no_effects_then(effects: str) -> None:
    with asked() as (answers, services):
        gate(services, configuration("h", sideEffects=effects)).check(eviction(dry_run=True))
        assert [one["dryRun"] for one in answers.reviews] == [True]


def test_a_dry_run_is_refused_where_somebody_has_effects_all_the_same() -> None:
    with asked() as (answers, services):
        error = refusal(services, configuration("h", sideEffects="Some"), dry_run=True)
        assert told(error) == (
            400,
            "BadRequest",
            'admission webhook "h" does not support dry run',
        )
        assert answers.received == []


def test_a_dry_run_where_nothing_is_said_of_effects_is_a_failed_call() -> None:
    with asked() as (answers, services):
        silent = configuration("h", sideEffects=None)
        assert gate(services, silent).check(eviction(dry_run=True)) == ()
        strict = configuration("h", sideEffects=None, failurePolicy="Fail")
        assert "SideEffects is nil" in str(refusal(services, strict, dry_run=True))
        assert answers.received == []
