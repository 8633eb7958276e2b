"""JSON Patches: what is asked for, nothing else, and only on the object as it was seen."""

from __future__ import annotations

from typing import Any

import jsonpatch
import pytest

from hooks.cluster.patches import amend, failing, pointer

Json = dict[str, Any]
Keys = dict[str, str | None]

TEST: Json = {"op": "test", "path": "/metadata/resourceVersion", "value": "7"}


def thing(**parts: Json) -> Json:
    spec = parts.pop("spec", None)
    made: Json = {"metadata": {"name": "n", "resourceVersion": "7", **parts}}
    return made if spec is None else {**made, "spec": spec}


@pytest.mark.parametrize(
    ("observed", "annotations", "expected"),
    [
        # The first annotation needs its map.
        (
            thing(),
            {"a/b": "1"},
            [{"op": "add", "path": "/metadata/annotations", "value": {"a/b": "1"}}],
        ),
        (
            thing(annotations={}),
            {"a/b": "1"},
            [{"op": "add", "path": "/metadata/annotations", "value": {"a/b": "1"}}],
        ),
        (
            thing(annotations={"x": "y"}),
            {"a/b": "1"},
            [{"op": "add", "path": "/metadata/annotations/a~1b", "value": "1"}],
        ),
        (
            thing(annotations={"a/b": "0"}),
            {"a/b": "1"},
            [{"op": "add", "path": "/metadata/annotations/a~1b", "value": "1"}],
        ),
        # kubernetes-client 93: a key with a slash is removed by its escaped pointer ...
        (
            thing(annotations={"noderotation.io/state": "failed"}),
            {"noderotation.io/state": None},
            [{"op": "remove", "path": "/metadata/annotations/noderotation.io~1state"}],
        ),
        (
            thing(annotations={"odd~key/x": "1"}),
            {"odd~key/x": None},
            [{"op": "remove", "path": "/metadata/annotations/odd~0key~1x"}],
        ),
        # ... and one that isn't there is no error and no change.
        (thing(annotations={"x": "y"}), {"a/b": None}, []),
        (thing(), {"a/b": None}, []),
        (thing(annotations={"a/b": "1"}), {"a/b": "1"}, []),
        (
            thing(annotations={"a/b": ""}),
            {"a/b": None},
            [{"op": "remove", "path": "/metadata/annotations/a~1b"}],
        ),
        (
            thing(annotations={"a/b": "1"}),
            {"a/b": None, "c/d": "2"},
            [
                {"op": "remove", "path": "/metadata/annotations/a~1b"},
                {"op": "add", "path": "/metadata/annotations/c~1d", "value": "2"},
            ],
        ),
        # Nothing there: the keys to remove must not be tried.
        (
            thing(),
            {"a/b": None, "c/d": "2"},
            [{"op": "add", "path": "/metadata/annotations", "value": {"c/d": "2"}}],
        ),
    ],
)
def test_annotations(observed: Json, annotations: Keys, expected: list[Json]) -> None:
    assert amend(observed, annotations=annotations) == ([TEST, *expected] if expected else [])


@pytest.mark.parametrize(
    ("spec", "cordoned", "expected"),
    [
        ({}, True, [{"op": "add", "path": "/spec/unschedulable", "value": True}]),
        (
            {"unschedulable": False},
            True,
            [{"op": "add", "path": "/spec/unschedulable", "value": True}],
        ),
        ({"unschedulable": True}, True, []),
        ({"unschedulable": True}, False, [{"op": "remove", "path": "/spec/unschedulable"}]),
        ({}, False, []),
        ({"unschedulable": True}, None, []),
    ],
)
def test_the_cordon(spec: Json, *, cordoned: bool | None, expected: list[Json]) -> None:
    assert amend(thing(spec=spec), unschedulable=cordoned) == (
        [TEST, *expected] if expected else []
    )


def test_all_of_a_node_in_one_patch_gives_what_was_wanted() -> None:
    observed = thing(
        annotations={"a/b": "1", "keep": "me"}, labels={"l/m": "x"}, spec={"unschedulable": True}
    )
    ops = amend(observed, annotations={"a/b": None}, labels={"l/m": None}, unschedulable=False)
    assert jsonpatch.apply_patch(observed, ops) == {
        "metadata": {
            "name": "n",
            "resourceVersion": "7",
            "annotations": {"keep": "me"},
            "labels": {},
        },
        "spec": {},
    }


def test_the_observed_object_is_left_as_it_was() -> None:
    observed = thing(annotations={"a/b": "1"})
    amend(observed, annotations={"a/b": None, "c/d": "1"})
    assert observed == thing(annotations={"a/b": "1"})


def test_a_pointer_escapes_tilde_before_slash() -> None:
    assert pointer("metadata", "annotations", "~/~1") == "/metadata/annotations/~0~1~01"


@pytest.mark.parametrize(
    ("live", "fails"),
    [
        ({"metadata": {"resourceVersion": "7", "annotations": {"a/b": "1"}}}, None),
        ({"metadata": {"resourceVersion": "8", "annotations": {"a/b": "1"}}}, TEST),
        ({"metadata": {"annotations": {"a/b": "1"}}}, TEST),
        (
            {"metadata": {"resourceVersion": "7"}},
            {"op": "test", "path": "/metadata/annotations/a~1b", "value": "1"},
        ),
    ],
)
def test_the_test_that_fails_is_found(live: Json, fails: Json | None) -> None:
    ops = [
        TEST,
        {"op": "test", "path": "/metadata/annotations/a~1b", "value": "1"},
        {"op": "remove", "path": "/metadata/annotations/gone"},
    ]
    assert failing(ops, live) == fails


RESTART = "kubectl.kubernetes.io/restartedAt"
ESCAPED = "kubectl.kubernetes.io~1restartedAt"


@pytest.mark.parametrize(
    ("template", "path", "value"),
    [
        ({"metadata": {"annotations": {"a": "b"}}}, "/annotations/" + ESCAPED, "t2"),
        ({"metadata": {"annotations": {RESTART: "t1"}}}, "/annotations/" + ESCAPED, "t2"),
        ({"metadata": {"labels": {"app": "a"}}}, "/annotations", {RESTART: "t2"}),
        ({"metadata": {"labels": {"app": "a"}, "annotations": None}}, "/annotations", {RESTART: "t2"}),
        ({"metadata": {}}, "", {"annotations": {RESTART: "t2"}}),
        ({}, "", {"annotations": {RESTART: "t2"}}),
    ],
)  # fmt: skip
def test_a_restart_is_of_the_pod_template(template: Json, path: str, value: object) -> None:
    observed = thing(spec={"template": template})
    ops = amend(observed, restarted_at="t2")
    assert ops == [TEST, {"op": "add", "path": f"/spec/template/metadata{path}", "value": value}]
    changed = jsonpatch.apply_patch(observed, ops)
    assert changed["spec"]["template"]["metadata"]["annotations"][RESTART] == "t2"
    assert amend(changed, restarted_at="t2") == []


def test_a_restart_and_its_marker_are_one_patch() -> None:
    observed = thing(
        annotations={"a": "b"}, spec={"template": {"metadata": {"labels": {"x": "y"}}}}
    )
    assert amend(observed, annotations={"d/rolled-for": "t1"}, restarted_at="t2") == [
        TEST,
        {"op": "add", "path": "/metadata/annotations/d~1rolled-for", "value": "t1"},
        {"op": "add", "path": "/spec/template/metadata/annotations", "value": {RESTART: "t2"}},
    ]
