"""What is read from a controller object, and what is refused instead of being ignored."""

from __future__ import annotations

import pytest

from hooks.sandbox.conductor.controllerspec import (
    AttachmentRule,
    ControllerSpec,
    ParentRule,
    read_controller,
)
from hooks.sandbox.conductor.webhookspec import SecretKey, WebhookSpec
from hooks.sandbox.failures import InvalidControllerError
from hooks.sandbox.objects import Obj
from hooks.sandbox.selectors import EVERYTHING, Requirement, Selector
from tests.sandbox.conductor.world import composite, controller

HOOK = {"version": "v2", "webhook": {"url": "http://h/s"}}


def webhook(**fields: object) -> Obj:
    return controller(hooks={"sync": {"version": "v2", "webhook": {"url": "http://h/s"} | fields}})


def test_a_whole_controller() -> None:
    secret = {"name": "tok", "namespace": "ns", "key": "token"}
    obj = controller(
        resources=[
            {
                "apiVersion": "karpenter.sh/v1",
                "resource": "nodepools",
                "labelSelector": {"matchLabels": {"a": "1"}},
                "annotationSelector": {"matchAnnotations": {"b": "2"}},
                "ignoreStatusChanges": True,
            }
        ],
        attachments=[
            {"apiVersion": "v1", "resource": "pods", "updateStrategy": {"method": "OnDelete"}}
        ],
        hooks={
            "sync": {
                "version": "v2",
                "webhook": {
                    "url": "http://h/s",
                    "timeout": "90s",
                    "authorization": {"type": "Bearer", "secretRef": secret},
                },
            },
            "customize": HOOK,
        },
        resyncPeriodSeconds=60,
    )
    spec = read_controller(obj)
    sent = spec.document
    assert sent["spec"]["hooks"]["sync"]["webhook"]["timeout"] == "1m30s"
    assert sent["status"] == {}
    assert spec == ControllerSpec(
        kind="DecoratorController",
        name="toy",
        document=sent,
        parents=(
            ParentRule(
                api_version="karpenter.sh/v1",
                resource="nodepools",
                labels=Selector((Requirement("a", "In", frozenset({"1"})),)),
                annotations=Selector((Requirement("b", "In", frozenset({"2"})),)),
                ignore_status=True,
            ),
        ),
        attachments=(AttachmentRule("v1", "pods"),),
        sync=WebhookSpec(
            "http://h/s", 90.0, SecretKey("Bearer", "ns", "tok", "token"), strict=True
        ),
        customize=WebhookSpec("http://h/s", 10.0, None, strict=True),
        resync_period=60.0,
    )
    assert obj["spec"]["hooks"]["sync"]["webhook"]["timeout"] == "90s", "the object is not changed"


def test_defaults() -> None:
    resources = [{"apiVersion": "v1", "resource": "pods"}]
    obj = controller(resources=resources, attachments=None, hooks={"sync": HOOK, "customize": None})
    spec = read_controller(obj)
    assert spec.parents == (ParentRule("v1", "pods", EVERYTHING, EVERYTHING, ignore_status=False),)
    assert (spec.attachments, spec.customize, spec.resync_period) == ((), None, 1800.0)


def test_a_whole_composite_controller() -> None:
    obj = composite(
        parentResource={
            "apiVersion": "noderotation.io/v1alpha1",
            "resource": "rotationpolicies",
            "labelSelector": {"matchLabels": {"a": "1"}},
            "ignoreStatusChanges": True,
        },
        childResources=[],
        hooks={"sync": HOOK, "customize": HOOK},
        resyncPeriodSeconds=300,
    )
    spec = read_controller(obj)
    assert spec == ControllerSpec(
        kind="CompositeController",
        name="toy",
        document=obj | {"status": {}},
        parents=(
            ParentRule(
                api_version="noderotation.io/v1alpha1",
                resource="rotationpolicies",
                labels=Selector((Requirement("a", "In", frozenset({"1"})),)),
                annotations=EVERYTHING,
                ignore_status=True,
            ),
        ),
        attachments=(),
        sync=WebhookSpec("http://h/s", 10.0, None, strict=True),
        customize=WebhookSpec("http://h/s", 10.0, None, strict=True),
        resync_period=300.0,
    )


@pytest.mark.parametrize(
    ("seconds", "period"),
    [(60, 60.0), (1, 1.0), (0, 1.0), (-5, 1.0), (99999, 1800.0), (None, 1800.0)],
)
def test_the_resync_period_is_between_a_second_and_half_an_hour(
    seconds: int | None, period: float
) -> None:
    assert read_controller(controller(resyncPeriodSeconds=seconds)).resync_period == period


@pytest.mark.parametrize(
    ("timeout", "seconds"), [("250ms", 0.25), ("0s", 10.0), ("-1s", 10.0), ("2m", 120.0)]
)
def test_a_time_out_that_is_not_positive_is_ten_seconds(timeout: str, seconds: float) -> None:
    assert read_controller(webhook(timeout=timeout)).sync.timeout == seconds


@pytest.mark.parametrize(
    ("fields", "url"),
    [
        ({"url": "https://x/y"}, "https://x/y"),
        (
            {"url": None, "path": "/s", "service": {"name": "n", "namespace": "ns"}},
            "http://n.ns:80/s",
        ),
        (
            {
                "url": None,
                "path": "/s",
                "service": {"name": "n", "namespace": "ns", "port": 8080, "protocol": "https"},
            },
            "https://n.ns:8080/s",
        ),
    ],
)
def test_a_hook_is_reached_by_url_or_by_service_and_path(fields: Obj, url: str) -> None:
    assert read_controller(webhook(**fields)).sync.url == url


@pytest.mark.parametrize(("mode", "strict"), [("strict", True), ("loose", False)])
def test_loose_answers_have_to_be_asked_for(mode: str, strict: object) -> None:
    assert read_controller(webhook(responseUnMarshallMode=mode)).sync.strict is strict


@pytest.mark.parametrize(
    "obj",
    [
        pytest.param(controller(hooks=None), id="no hooks"),
        pytest.param(controller(hooks={"customize": HOOK}), id="no sync hook"),
        pytest.param(controller(hooks={"sync": HOOK, "finalize": HOOK}), id="finalize hook"),
        pytest.param(controller(hooks={"sync": HOOK | {"version": "v1"}}), id="hook API v1"),
        pytest.param(controller(hooks={"sync": {"webhook": {"url": "http://h"}}}), id="no version"),
        pytest.param(controller(hooks={"sync": {"version": "v2"}}), id="no webhook"),
        pytest.param(controller(somethingNew=1), id="unknown field of the spec"),
        pytest.param(controller(resources=[{"resource": "pods"}]), id="parent without apiVersion"),
        pytest.param(
            controller(
                resources=[
                    {
                        "apiVersion": "v1",
                        "resource": "pods",
                        "labelSelector": {"matchExpressions": [{"key": "a", "operator": "is"}]},
                    }
                ]
            ),
            id="broken selector",
        ),
        *(
            pytest.param(
                controller(
                    attachments=[
                        {
                            "apiVersion": "v1",
                            "resource": "pods",
                            "updateStrategy": {"method": method},
                        }
                    ]
                ),
                id=method,
            )
            for method in ("InPlace", "Recreate", "RollingInPlace")
        ),
        pytest.param(webhook(url=None), id="neither url nor service"),
        pytest.param(
            webhook(url=None, path="/s", service={"name": "n"}), id="service, no namespace"
        ),
        pytest.param(webhook(etag={"enabled": True}), id="etag"),
        pytest.param(webhook(caBundle={}), id="caBundle"),
        pytest.param(webhook(timeout="soon"), id="broken timeout"),
        pytest.param(webhook(timeout=10), id="timeout that is no string"),
        pytest.param(webhook(authorization={"type": "Basic", "secretRef": {}}), id="basic"),
        pytest.param(webhook(authorization={"type": "Bearer"}), id="no secretRef"),
        pytest.param(composite(childResources=[{"resource": "pods"}]), id="children"),
        pytest.param(composite(generateSelector=False), id="selectors of the parents' own"),
        pytest.param(composite(generateSelector=None), id="no word on selectors"),
        pytest.param(composite(parentResource=None), id="no parents"),
        pytest.param(composite(hooks={"sync": HOOK, "finalize": HOOK}), id="finalize, composite"),
        pytest.param(composite(hooks={"customize": HOOK}), id="no sync hook, composite"),
        pytest.param(composite(attachments=[]), id="attachments of a composite"),
        pytest.param(
            composite(
                parentResource={"apiVersion": "v1", "resource": "pods", "revisionHistory": {}}
            ),
            id="revision history",
        ),
    ],
)
def test_what_is_broken_or_not_built_is_refused(obj: Obj) -> None:
    with pytest.raises(InvalidControllerError):
        read_controller(obj)
