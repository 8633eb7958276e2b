"""Label selectors select as metav1.LabelSelector says."""

from __future__ import annotations

import pytest

from hooks.sandbox.objects import Obj
from hooks.sandbox.selectors import selector_from


def expression(operator: str, *values: str, key: str = "a") -> Obj:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


@pytest.mark.parametrize(
    ("spec", "labels", "selected"),
    [
        (None, {}, True),
        ({}, {"a": "1"}, True),
        ({"matchLabels": None, "matchExpressions": None}, {}, True),
        ({"matchLabels": {"a": "1", "b": "2"}}, {"a": "1", "b": "2", "c": "3"}, True),
        ({"matchLabels": {"a": "1", "b": "2"}}, {"a": "1"}, False),
        ({"matchLabels": {"a": ""}}, {}, False),
        (expression("In", "1", "2"), {"a": "2"}, True),
        (expression("In", "1", "2"), {"a": "3"}, False),
        (expression("In", ""), {}, False),
        (expression("NotIn", "1"), {"a": "2"}, True),
        (expression("NotIn", "1"), {"a": "1"}, False),
        (expression("NotIn", "1"), {}, True),
        (expression("Exists"), {"a": ""}, True),
        (expression("Exists"), {"b": "1"}, False),
        (expression("DoesNotExist"), {"b": "1"}, True),
        (expression("DoesNotExist"), {"a": "1"}, False),
        ({"matchLabels": {"a": "1"}} | expression("Exists", key="b"), {"a": "1"}, False),
    ],
)
def test_a_selector_selects(spec: Obj | None, labels: dict[str, str], selected: object) -> None:
    assert selector_from(spec).matches(labels) is selected


@pytest.mark.parametrize(
    "spec",
    [
        expression("In"),
        expression("NotIn"),
        expression("Exists", "1"),
        expression("DoesNotExist", "1"),
        expression("Gt", "1"),
        expression("Exists", key=""),
    ],
)
def test_a_broken_selector_is_refused(spec: Obj) -> None:
    with pytest.raises(ValueError, match="valid"):
        selector_from(spec)
