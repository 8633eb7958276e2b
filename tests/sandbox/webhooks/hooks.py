"""Webhooks to be asked: their configurations, and somebody who answers for them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from hooks.sandbox.objects import Obj
from hooks.sandbox.webhooks.request import AdmissionRequest, Group
from tests.sandbox.conductor.loopback import Received, Sent, serving

SERVICE = ("ours", "hook", 443)


def configuration(name: str, **fields: object) -> Obj:
    """A configuration with one webhook, of the same name, that is about evictions."""
    return {"metadata": {"name": name}, "webhooks": [webhook(name, **fields)]}


def webhook(name: str, **fields: object) -> Obj:
    rule = {
        "operations": ["CREATE"],
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "resources": ["pods/eviction"],
    }
    return {
        "name": name,
        "admissionReviewVersions": ["v1"],
        "sideEffects": "NoneOnDryRun",
        "failurePolicy": "Ignore",
        "timeoutSeconds": 5,
        "rules": [rule],
        "clientConfig": {"service": {"namespace": "ours", "name": "hook", "path": f"/{name}"}},
        **fields,
    }


def eviction(namespace: str = "shop", **changes: Any) -> AdmissionRequest:
    """A request to evict Pod ``a``."""
    given: Obj = {
        "operation": "CREATE",
        "kind": Group("policy", "v1", "Eviction"),
        "resource": Group("", "v1", "pods"),
        "subresource": "eviction",
        "name": "a",
        "obj": {"metadata": {"name": "a", "namespace": namespace}},
        "options": {},
        "dry_run": False,
        **changes,
    }
    return AdmissionRequest(namespace=namespace, **given)


@dataclass
class Answers:
    """Answers reviews with these fields of a response, the first one first, and the last one on."""

    responses: list[Obj] = field(default_factory=lambda: [{"allowed": True}])
    received: list[Received] = field(default_factory=list)
    on_review: Callable[[], None] = lambda: None

    @property
    def reviews(self) -> list[Obj]:
        """What was asked."""
        return [json.loads(one.body)["request"] for one in self.received]

    def __call__(self, received: Received) -> Sent:
        self.received.append(received)
        self.on_review()
        response = self.responses.pop(0) if len(self.responses) > 1 else self.responses[0]
        whole = {
            "kind": "AdmissionReview",
            "apiVersion": "admission.k8s.io/v1",
            "response": {"uid": self.reviews[-1]["uid"], **response},
        }
        return Sent(body=whole)


@contextmanager
def asked(*responses: Obj) -> Iterator[tuple[Answers, dict[tuple[str, str, int], str]]]:
    """Somebody who answers for the Service of all webhooks."""
    answers = Answers(list(responses)) if responses else Answers()
    with serving(answers) as url:
        yield answers, {SERVICE: url}
