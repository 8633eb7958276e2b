"""The policies of tests/fixtures/policies, which the hooks, the CRD and a real API server judge alike.

``good`` are taken by all. ``bad`` are refused by all; the first line of each names the field that
every refusal names, the second who of the API server's checks refuses it: ``schema`` (OpenAPI),
``rule`` (CEL) or ``strict`` (unknown fields). ``invalid`` are taken by the API server and refused
by the hooks.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import yaml
from jsonschema import FormatChecker

from hooks.rotation.durations import parse_stamp

Json = dict[str, Any]
ROOT = Path(__file__).parents[1] / "fixtures" / "policies"
CRD = Path(__file__).parents[2] / "crds" / "rotationpolicies.yaml"


@dataclass(frozen=True)
class Case:
    """A policy that is refused."""

    name: str
    field: str
    by: str
    value: Json


def good() -> dict[str, Json]:
    """The policies that everybody takes."""
    return {
        path.stem: yaml.safe_load(path.read_text()) for path in sorted((ROOT / "good").glob("*"))
    }


def refused(folder: str) -> list[Case]:
    """The policies of ``bad`` or ``invalid``."""
    return [_case(path) for path in sorted((ROOT / folder).glob("*"))]


def _case(path: Path) -> Case:
    text = path.read_text()
    field, by = (line.removeprefix("# ") for line in text.splitlines()[:2])
    return Case(path.stem, field, by.removeprefix("refused by: "), yaml.safe_load(text))


def crd() -> Json:
    """The CustomResourceDefinition."""
    loaded: Json = yaml.safe_load(CRD.read_text())
    return loaded


def schema() -> Json:
    """The schema of a whole RotationPolicy."""
    (version,) = crd()["spec"]["versions"]
    found: Json = version["schema"]["openAPIV3Schema"]
    return found


def without_nulls(value: object) -> object:
    """What the API server makes of nulls in an object: it drops them before it validates."""
    if isinstance(value, dict):
        return {key: without_nulls(part) for key, part in value.items() if part is not None}
    if isinstance(value, list):
        return [without_nulls(part) for part in value]
    return value


FORMATS = FormatChecker(formats=())
"""The formats of the CRD that mean anything."""


@FORMATS.checks("date-time")
def _is_a_time(text: object) -> bool:
    return not isinstance(text, str) or isinstance(parse_stamp(text), datetime)
