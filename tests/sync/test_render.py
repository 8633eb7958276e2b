"""The bytes of an answer: strict, in one order, and with nothing in it that JSON doesn't know."""

from __future__ import annotations

from datetime import timedelta
from types import MappingProxyType
from typing import cast

import pytest

from hooks.rotation.answer import Conclusion
from hooks.rotation.decision import Decision
from hooks.rotation.reasons import Reason
from hooks.sync.nodepool import render, seconds


@pytest.mark.parametrize(
    ("span", "number"),
    [
        (timedelta(seconds=60), "60"),
        (timedelta(seconds=1), "1"),
        (timedelta(seconds=29, milliseconds=500), "29.5"),
        (timedelta(microseconds=1_000_001), "1.000001"),
    ],
)
def test_whole_seconds_are_integers(span: timedelta, number: str) -> None:
    assert repr(seconds(span)) == number
    body = render(Conclusion(Decision("3", Reason.FROZEN, look_again=span)))
    assert body == f'{{"attachments":[],"resyncAfterSeconds":{number}}}'.encode()


def test_annotations_are_sorted_and_null_removes() -> None:
    decision = Decision("1", Reason.FROZEN, annotations={"b": None, "a": "x"})
    assert render(Conclusion(decision)) == (
        b'{"annotations":{"a":"x","b":null},"attachments":[],"resyncAfterSeconds":60}'
    )


def test_any_mapping_will_do_and_nothing_else() -> None:
    decision = Decision("3", Reason.FROZEN)
    pod = MappingProxyType({"kind": "Pod", "spec": MappingProxyType({})})
    assert b'[{"kind":"Pod","spec":{}}]' in render(Conclusion(decision, (pod,)))
    alien = cast("MappingProxyType[str, object]", MappingProxyType({"x": object()}))
    with pytest.raises(TypeError, match="object has no place in an answer"):
        render(Conclusion(decision, (alien,)))
