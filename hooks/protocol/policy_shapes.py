"""The wire shape of a RotationPolicy's spec (noderotation.io/v1alpha1), with bounds and defaults.

Owns what a policy may say. It lives twice: ``crds/rotationpolicies.yaml`` says the same to the API
server, and tests/protocol/test_crd.py holds both together. Only one thing is judged here alone:
whether a time zone exists, for the API server's zone database may be older, or missing. Leaves the
checks of single texts to :mod:`hooks.protocol.policy_texts` and the translation to
:mod:`hooks.protocol.policy`. Source: seed 000 section 5.4, design/product.md *Beyond the seeds*,
design/rotation.md section 5.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from hooks import names
from hooks.protocol.metadata import instant
from hooks.protocol.policy_texts import (
    AgeThreshold,
    Instant,
    LabelKey,
    LabelValue,
    PositiveDuration,
    WindowEnd,
    WindowStart,
    ZeroOrMore,
    Zone,
    is_label_key,
)


def without_nulls(value: object) -> object:
    """An object without the fields that are null; anything else as it is."""
    if not isinstance(value, dict):
        return value
    return {key: part for key, part in value.items() if part is not None}


def _only(value: object, says: str) -> AfterValidator:
    """The one value that there is. A Literal alone would take 0 for False, and True for 1."""

    def check(given: object) -> object:
        if given != value:
            raise PydanticCustomError("only", "{says}", {"says": says})
        return given

    return AfterValidator(check)


One = Annotated[int, _only(1, "must be 1"), WithJsonSchema({"type": "integer", "enum": [1]})]
Never = Annotated[
    bool,
    _only(value=False, says="must be false: it doesn't exist yet"),
    WithJsonSchema({"type": "boolean", "enum": [False]}),
]
Day = Literal["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]


class PolicyPart(BaseModel):
    """A part of the spec: closed, strict, and blind to null, which the API server drops as well."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    @model_validator(mode="before")
    @classmethod
    def _blind_to_null(cls, value: object) -> object:
        return without_nulls(value)


class MatchExpression(PolicyPart):
    """One constraint of a selector, as everywhere in Kubernetes."""

    key: LabelKey
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"]
    values: Annotated[
        Annotated[list[LabelValue], Field(max_length=64)] | None, Field(validate_default=True)
    ] = None

    @field_validator("values")
    @classmethod
    def _where_they_belong(cls, values: list[str] | None, info: ValidationInfo) -> list[str] | None:
        operator = info.data.get("operator")
        if operator is not None and bool(values) != (operator in {"In", "NotIn"}):
            raise PydanticCustomError("values", "must be given for In and NotIn, and only there")
        return values


class NodePoolSelector(PolicyPart):
    """Which NodePools are governed; the empty one is a catch-all."""

    match_labels: (
        Annotated[dict[str, LabelValue], Field(max_length=64), BeforeValidator(without_nulls)]
        | None
    ) = Field(default=None, alias="matchLabels")
    match_expressions: Annotated[list[MatchExpression], Field(max_length=64)] | None = Field(
        default=None, alias="matchExpressions"
    )

    @field_validator("match_labels")
    @classmethod
    def _keys(cls, labels: dict[str, str] | None) -> dict[str, str] | None:
        if not all(is_label_key(key) for key in labels or ()):
            raise PydanticCustomError("keys", "must have label keys such as example.com/team")
        return labels


class MaintenanceWindow(PolicyPart):
    """A recurring time in which rotations may start; it belongs to the day on which it starts."""

    timezone: Zone
    days: Annotated[list[Day], Field(min_length=1, max_length=7)]
    start: WindowStart
    end: WindowEnd

    @field_validator("end")
    @classmethod
    def _not_the_start(cls, end: str, info: ValidationInfo) -> str:
        if end == info.data.get("start"):
            raise PydanticCustomError(
                "empty", "must differ from start: a whole day is from 00:00 to 24:00"
            )
        return end


class ExclusionPart(PolicyPart):
    """A span of time in which nothing starts, whatever the windows say."""

    start: Instant
    end: Instant
    reason: Annotated[str, Field(max_length=256)] | None = None

    @field_validator("end")
    @classmethod
    def _after_the_start(cls, end: str, info: ValidationInfo) -> str:
        start = info.data.get("start")
        if start is not None and instant(start, "start") >= instant(end, "end"):
            raise PydanticCustomError("empty", "must be later than start")
        return end


Keys = Annotated[list[LabelKey], Field(max_length=32)]


class MatchNodeRequirements(PolicyPart):
    """Which properties of the old node its successor must, or should, share."""

    required: Keys = Field(default=[names.ZONE_LABEL, names.ARCH_LABEL, names.CAPACITY_TYPE_LABEL])
    preferred: Keys = Field(default=[])


class ForcefulFallback(PolicyPart):
    """Whether a node may be deleted without a successor when its deadline is too near."""

    enabled: bool = False


class Surge(PolicyPart):
    """How one rotation proceeds, and how long its parts may take."""

    max_unavailable: One = Field(default=1, alias="maxUnavailable")
    ready_timeout: PositiveDuration = Field(default="15m", alias="readyTimeout")
    cooldown_after: ZeroOrMore = Field(default="10m", alias="cooldownAfter")
    failure_pause: ZeroOrMore | None = Field(default=None, alias="failurePause")
    drain_estimate: PositiveDuration | None = Field(default=None, alias="drainEstimate")
    provisioning_estimate: PositiveDuration | None = Field(
        default=None, alias="provisioningEstimate"
    )
    retry_backoff: PositiveDuration = Field(default="30m", alias="retryBackoff")
    match_node_requirements: MatchNodeRequirements = Field(
        default=MatchNodeRequirements(), alias="matchNodeRequirements"
    )
    forceful_fallback: ForcefulFallback = Field(
        default=ForcefulFallback(), alias="forcefulFallback"
    )


class PrePull(PolicyPart):
    """Reserved: pulling images in advance doesn't exist yet."""

    enabled: Never = False


class PolicySpec(PolicyPart):
    """The spec of a RotationPolicy."""

    node_pool_selector: NodePoolSelector = Field(alias="nodePoolSelector")
    maintenance_windows: list[MaintenanceWindow] = Field(
        min_length=1, max_length=64, alias="maintenanceWindows"
    )
    age_threshold: AgeThreshold = Field(default="auto", alias="ageThreshold")
    min_rotation_chances: int = Field(default=2, ge=1, le=100_000, alias="minRotationChances")
    exclusions: Annotated[list[ExclusionPart], Field(max_length=256)] | None = None
    suspend: bool = False
    dry_run: bool = Field(default=False, alias="dryRun")
    surge: Surge = Surge()
    pre_pull: PrePull = Field(default=PrePull(), alias="prePull")
