"""The CRD and the hooks' own shape say the same, so that whatever one takes the other takes."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from hooks import names
from hooks.protocol.policy import policy_of
from hooks.protocol.policy_shapes import PolicySpec
from hooks.protocol.validation import path
from hooks.rotation.model import BrokenPolicy
from tests.protocol.policies import FORMATS, Case, Json, crd, good, refused, schema, without_nulls

BOUNDS = (
    "type",
    "format",
    "pattern",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
    "maxProperties",
)
NAME = "spec"


def server_side() -> Json:
    found: Json = schema()["properties"]["spec"]
    return found


def hook_side() -> Json:
    """The model's JSON schema, references resolved and written the way the CRD writes things."""
    full = PolicySpec.model_json_schema(by_alias=True)
    definitions = full.pop("$defs")

    def plain(part: Json) -> Json:
        if "$ref" in part:
            part = definitions[part["$ref"].rsplit("/", 1)[1]] | {
                key: value for key, value in part.items() if key != "$ref"
            }
        if "anyOf" in part:
            (part,) = [one for one in part["anyOf"] if one != {"type": "null"}]
            part = plain(part)
        if "const" in part:
            part = part | {"enum": [part["const"]]}
        part = dict(part)
        if "properties" in part:
            part["properties"] = {key: plain(one) for key, one in part["properties"].items()}
        if "items" in part:
            part["items"] = plain(part["items"])
        return part

    return plain(full)


def bounds(part: Json) -> Json:
    found = {key: part[key] for key in BOUNDS if key in part}
    found["enum"] = sorted(map(str, part.get("enum", ())))
    found["required"] = sorted(part.get("required", ()))
    found["properties"] = sorted(part.get("properties", ()))
    if part.get("type") != "object":
        found["default"] = part.get("default")
    return found


def walk(server: Json, hook: Json, where: str) -> Iterator[tuple[str, Json, Json]]:
    yield where, server, hook
    for key in server.get("properties", {}):
        inner = hook.get("properties", {}).get(key, {})
        yield from walk(server["properties"][key], inner, f"{where}.{key}")
    for key, step in (("items", "[]"), ("additionalProperties", ".*")):
        if isinstance(server.get(key), dict):
            yield from walk(server[key], hook.get(key) or {}, where + step)


PARTS = {where: (server, hook) for where, server, hook in walk(server_side(), hook_side(), NAME)}


def test_the_walk_sees_the_whole_spec() -> None:
    assert len(PARTS) > 40
    assert "spec.surge.matchNodeRequirements.required[]" in PARTS
    assert "spec.nodePoolSelector.matchLabels.*" in PARTS


@pytest.mark.parametrize("where", PARTS)
def test_fields_bounds_and_defaults_are_the_same(where: str) -> None:
    server, hook = PARTS[where]
    assert bounds(server) == bounds(hook)


@pytest.mark.parametrize(
    "where", [where for where, (part, _) in PARTS.items() if "properties" in part]
)
def test_the_hooks_know_no_further_field(where: str) -> None:
    assert PARTS[where][1]["additionalProperties"] is False


@pytest.mark.parametrize(
    "where", [where for where in PARTS if not where.endswith(("[]", ".*")) and where != NAME]
)
def test_every_field_is_described(where: str) -> None:
    assert PARTS[where][0]["description"].endswith(".")


def with_defaults(part: Json, value: object) -> object:
    """What the API server stores: defaults filled in, from the outside in."""
    if isinstance(value, dict) and "properties" in part:
        filled = copy.deepcopy(value)
        for key, inner in part["properties"].items():
            if key not in filled and "default" in inner:
                filled[key] = copy.deepcopy(inner["default"])
            if key in filled:
                filled[key] = with_defaults(inner, filled[key])
        return filled
    if isinstance(value, list):
        return [with_defaults(part["items"], one) for one in value]
    return value


@pytest.mark.parametrize("name", good())
def test_both_fill_in_the_same_defaults(name: str) -> None:
    spec = good()[name]["spec"]
    stored = with_defaults(server_side(), without_nulls(spec))
    read = PolicySpec.model_validate(spec).model_dump(by_alias=True, exclude_none=True)
    assert read == stored
    assert policy_of(good()[name]) == policy_of(good()[name] | {"spec": stored})


VALIDATOR = Draft202012Validator(schema(), format_checker=FORMATS)


def refusals(policy: Json) -> list[str]:
    """The fields that the OpenAPI part of the CRD refuses."""
    found = []
    for error in VALIDATOR.iter_errors(without_nulls(policy)):
        missing = (
            [name for name in error.validator_value if name not in error.instance]
            if error.validator == "required"
            else [None]
        )
        found += [
            path([*error.absolute_path, *([] if name is None else [name])]) for name in missing
        ]
    return found


@pytest.mark.parametrize("name", good())
def test_a_good_policy_passes_the_schema(name: str) -> None:
    assert refusals(good()[name]) == []


@pytest.mark.parametrize("case", refused("bad"), ids=lambda case: case.name)
def test_a_bad_policy_is_refused_by_what_its_second_line_names(case: Case) -> None:
    """Rules and strict decoding are the API server's: here the schema may not be what refuses."""
    assert case.by in {"schema", "rule", "strict"}
    expected = {case.field} if case.by == "schema" else set()
    assert set(refusals(case.value)) == expected


@pytest.mark.parametrize("case", refused("invalid"), ids=lambda case: case.name)
def test_an_invalid_policy_passes_the_schema(case: Case) -> None:
    assert case.by == "hooks"
    assert refusals(case.value) == []


RULES = {
    where: rule
    for where, (part, _) in PARTS.items()
    for rule in part.get("x-kubernetes-validations", ())
}


def test_rules_stand_where_the_hooks_check_more_than_bounds() -> None:
    assert {where + rule.get("fieldPath", "") for where, rule in RULES.items()} == {
        "spec.nodePoolSelector.matchLabels",
        "spec.nodePoolSelector.matchExpressions[].values",
        "spec.maintenanceWindows[].end",
        "spec.exclusions[].end",
        "spec.ageThreshold",
        "spec.surge.readyTimeout",
        "spec.surge.cooldownAfter",
        "spec.surge.failurePause",
        "spec.surge.drainEstimate",
        "spec.surge.provisioningEstimate",
        "spec.surge.retryBackoff",
    }


@pytest.mark.parametrize("where", RULES)
def test_each_rule_has_a_policy_that_only_it_refuses_and_names_its_field(where: str) -> None:
    rule = RULES[where]
    field = where + rule.get("fieldPath", "")
    broken = {
        "".join(char for char in case.field if not char.isdigit())
        for case in refused("bad")
        if case.by == "rule"
    }
    assert field in broken
    assert field.rsplit(".", 1)[1] in rule["message"]


ODD = [
    "",
    "x",
    "-",
    "0s",
    "-1h",
    "15m",
    "99999999h",
    "02:00",
    "24:00",
    "UTC",
    "In",
    "Exists",
    "Mon",
    "auto",
    "2026-12-24T00:00:00Z",
    "a/b",
    0,
    1,
    -1,
    10**6,
    1.5,
    True,
    False,
    None,
    [],
    {},
    ["x"],
    {"x": "y"},
    [{}],
    [None],
]


def places(value: object, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    yield at
    if isinstance(value, (dict, list)):
        inner = value.items() if isinstance(value, dict) else enumerate(value)
        for key, part in inner:
            yield from places(part, (*at, key))


SPEC = good()["everything"]["spec"]


@given(st.sampled_from([at for at in places(SPEC) if at]), st.sampled_from(ODD))
def test_what_the_schema_refuses_the_hooks_refuse_at_the_same_field(
    at: tuple[str | int, ...], value: object
) -> None:
    spec = copy.deepcopy(SPEC)
    holder: Any = spec
    for step in at[:-1]:
        holder = holder[step]
    holder[at[-1]] = copy.deepcopy(value)
    policy = {"metadata": {"name": "a"}, "spec": spec}
    read = policy_of(policy)
    broken = {field for field, _ in read.problems} if isinstance(read, BrokenPolicy) else set()
    assert set(refusals(policy)) <= broken


def test_the_definition_has_the_names_that_everybody_uses() -> None:
    definition = crd()
    spec = definition["spec"]
    (version,) = spec["versions"]
    assert definition["metadata"]["name"] == f"{spec['names']['plural']}.{spec['group']}"
    assert (spec["group"], spec["names"]["kind"], version["name"]) == (
        names.POLICY_GROUP,
        names.POLICY_KIND,
        names.POLICY_VERSION,
    )
    assert (spec["scope"], spec["names"]["shortNames"]) == ("Cluster", ["rotpol"])
    assert (version["served"], version["storage"], version["subresources"]) == (
        True,
        True,
        {"status": {}},
    )
    assert [column["name"] for column in version["additionalPrinterColumns"]] == [
        "Ready",
        "Matched",
        "Rotating",
        "Next window",
        "Age",
    ]


def test_the_status_has_the_fields_of_the_product_page() -> None:
    status = schema()["properties"]["status"]["properties"]
    assert sorted(status) == [
        "conditions",
        "matchedNodePools",
        "nextWindow",
        "observedGeneration",
        "pools",
        "rotatingNodePools",
        "windowOpen",
    ]
    assert status["pools"]["maxItems"] == 50
    assert sorted(status["pools"]["items"]["properties"]) == [
        "ageThreshold",
        "capacity",
        "findings",
        "lastRotationAt",
        "name",
        "nodeClaim",
        "phase",
    ]
