"""Every annotation, label and other name that this software writes or reads on a cluster.

Owns the spelling, and says for each key who writes it, who clears it, and its format. Leaves the
meaning to :mod:`hooks.rotation` and :mod:`hooks.drain`. It is long because it is one list. Source:
seed 000 section 5.3, seed 004, design/product.md, design/drain.md, design/observability.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

PREFIX: Final = "noderotation.io/"

# --- On the NodePool. Written and cleared by answers to /sync/nodepool unless said otherwise. ---
ACTIVE_ROTATION: Final = PREFIX + "active-rotation"
"""NodeClaim name: the durable anchor and serial gate. Rows 1 and 2 write it, CLEAR removes it."""
ACTIVE_ROTATION_UID: Final = PREFIX + "active-rotation-uid"
"""UID of the anchored NodeClaim, so that a namesake counts as gone. Written with the anchor."""
ACTIVE_ROTATION_STATE: Final = PREFIX + "active-rotation-state"
"""``draining``: the phase mirror that decides the outcome. Row 4 (or 2) writes it."""
DRAINING_AT: Final = PREFIX + "draining-at"
"""RFC 3339: when the mirror was set; anchors the drain's duration."""
SURGE_WAIT: Final = PREFIX + "surge-wait"
"""Go duration: how long the surge took. Written with the mirror."""
ROTATION_MODE: Final = PREFIX + "rotation-mode"
"""``forceful-fallback``, or absent for a surge. Row 2 writes it."""
ABORT: Final = PREFIX + "abort"
"""NodeClaim name: written by ``noderotation abort``; the answer that ends the rotation removes it."""
FREEZE: Final = PREFIX + "freeze"
"""RFC 3339: nothing starts or escalates before it. Written and removed by operators only."""
LAST_ROTATION_AT: Final = PREFIX + "last-rotation-at"
"""RFC 3339: gate A. Row 9 writes it; never cleared."""
LAST_FAILURE_AT: Final = PREFIX + "last-failure-at"
"""RFC 3339: gate B. Rows 12 and 15 write it; never cleared."""
DUE_BEFORE: Final = PREFIX + "due-before"
"""RFC 3339: every NodeClaim created before it is due. Written by ``noderotation rotate``."""

CLEARED_AT_THE_END: Final = (
    ACTIVE_ROTATION,
    ACTIVE_ROTATION_UID,
    ACTIVE_ROTATION_STATE,
    DRAINING_AT,
    SURGE_WAIT,
    ROTATION_MODE,
    ABORT,
)
"""The one list of the fields that end a rotation (CLEAR of design/rotation.md)."""

DRAINING: Final = "draining"
FORCEFUL_FALLBACK: Final = "forceful-fallback"

# --- On the NodeClaim that is rotated. Written and cleared through the client. ---
STATE: Final = PREFIX + "state"
"""``pending``, ``draining``, ``failed`` or ``expired``."""
STARTED_AT: Final = PREFIX + "started-at"
"""RFC 3339: when this attempt began; bounds the wait by readyTimeout."""
FAILED_AT: Final = PREFIX + "failed-at"
"""RFC 3339: anchors the backoff."""
RETRY_COUNT: Final = PREFIX + "retry-count"
"""Integer: failed attempts so far; escalates the backoff."""
SURGE_CLAIM: Final = PREFIX + "surge-claim"
"""Name of the NodeClaim that the placeholder's host belongs to."""
DUE: Final = PREFIX + "due"
"""``"true"``: this claim is due at once. Written by ``noderotation rotate --claim``."""

# --- On Nodes (frozen for a rotation) and on the placeholder Pod. ---
SURGE_FOR: Final = PREFIX + "surge-for"
"""Annotation: full NodeClaim name. Label of the same key: the name, cut and hashed over 63."""
DO_NOT_DISRUPT: Final = "karpenter.sh/do-not-disrupt"
"""``"true"`` keeps Karpenter's voluntary disruption away. Ours only beside the owned marker."""
DO_NOT_DISRUPT_OWNED: Final = PREFIX + "do-not-disrupt-owned"
"""``"true"``: the do-not-disrupt beside it was applied by us."""
CORDONED: Final = PREFIX + "cordoned"
"""``"true"``: spec.unschedulable was set by us."""

TRUE: Final = "true"

# --- On the Deployment whose only Pod is to be replaced before it goes. ---
DRAIN_PREFIX: Final = "graceful-drain.stonal.com/"
DRAIN_RESTARTED_AT: Final = DRAIN_PREFIX + "restarted-at"
"""RFC 3339: tracking. The webhook writes it; the answer to /sync/deployment clears it at the end."""
DRAIN_ROLLED_FOR: Final = DRAIN_PREFIX + "rolled-for"
"""The tracking value that a rollout was begun, or adopted, for. Written in one patch with it."""
DRAIN_LAST_POD_UID: Final = DRAIN_PREFIX + "last-pod-uid"
"""UID of the Pod that tracking began for: never twice for one Pod. The webhook writes it; stays."""
DRAIN_ROLLOUT_TIMEOUT: Final = DRAIN_PREFIX + "rollout-timeout"
"""Go duration: overrides the setting for this Deployment. Written by operators only."""

# --- Karpenter's and Kubernetes' own. ---
POD_TEMPLATE_RESTARTED_AT: Final = "kubectl.kubernetes.io/restartedAt"
"""RFC 3339, on the Pod template: a new value rolls the Deployment out, as kubectl's restart does."""
REVISION: Final = "deployment.kubernetes.io/revision"
"""Integer, on a Deployment and its ReplicaSets: which ReplicaSet is the current one."""
NODEPOOL_LABEL: Final = "karpenter.sh/nodepool"
DISRUPTED_TAINT: Final = "karpenter.sh/disrupted"
HOSTNAME_LABEL: Final = "kubernetes.io/hostname"
ZONE_LABEL: Final = "topology.kubernetes.io/zone"
ARCH_LABEL: Final = "kubernetes.io/arch"
CAPACITY_TYPE_LABEL: Final = "karpenter.sh/capacity-type"
MIRROR_ANNOTATION: Final = "kubernetes.io/config.mirror"

# --- Objects that we bring. ---
NAMESPACE: Final = "node-rotation-system"
PRIORITY_CLASS: Final = "noderotation-placeholder"
PLACEHOLDER_PREFIX: Final = "noderotation-surge-"
DECORATOR_CONTROLLER: Final = "node-rotation"
COMPOSITE_CONTROLLER: Final = "rotation-policy"
DRAIN_CONTROLLER: Final = "graceful-drain"
WEBHOOK_CONFIGURATION: Final = "graceful-drain"
WEBHOOK: Final = "eviction.graceful-drain.stonal.com"
EVICTION_SERVER: Final = "noderotation-eviction"
"""Name of the webhook's own Deployment, Service and ServiceAccount."""
POLICY_GROUP: Final = "noderotation.io"
POLICY_VERSION: Final = "v1alpha1"
POLICY_KIND: Final = "RotationPolicy"
REPORTING_CONTROLLER: Final = "noderotation.io/hooks"
EVENT_NAMESPACE: Final = "default"
"""Where Events about cluster-scoped objects must live."""

# --- Routes. ---
SYNC_NODEPOOL: Final = "/sync/nodepool"
CUSTOMIZE_NODEPOOL: Final = "/customize/nodepool"
SYNC_ROTATIONPOLICY: Final = "/sync/rotationpolicy"
CUSTOMIZE_ROTATIONPOLICY: Final = "/customize/rotationpolicy"
SYNC_DEPLOYMENT: Final = "/sync/deployment"
ADMISSION_EVICTION: Final = "/admission/eviction"
METRICS: Final = "/metrics"
HEALTHZ: Final = "/healthz"
READYZ: Final = "/readyz"

# --- How Metacontroller keys attachments and related objects (Kind.group/version). ---
POD_GROUP: Final = "Pod.v1"
NODE_GROUP: Final = "Node.v1"
NODEPOOL_GROUP: Final = "NodePool.karpenter.sh/v1"
NODECLAIM_GROUP: Final = "NodeClaim.karpenter.sh/v1"
ROTATIONPOLICY_GROUP: Final = f"{POLICY_KIND}.{POLICY_GROUP}/{POLICY_VERSION}"


# --- Events (events.k8s.io/v1): who may be told of what, design/observability.md. ---
ROTATION_STARTED: Final = "RotationStarted"
ROTATION_COMPLETED: Final = "RotationCompleted"
SURGE_CLAMPED: Final = "SurgeClamped"
SURGE_CLAMP_REFUSED: Final = "SurgeClampRefused"
SURGE_CLAMP_BAND_EXCEEDED: Final = "SurgeClampBandExceeded"

NORMAL_EVENTS: Final = frozenset({ROTATION_STARTED, ROTATION_COMPLETED, SURGE_CLAMPED})
"""Reasons of Events of type Normal; all others are Warnings."""

POOL: Final = "NodePool"
CLAIM: Final = "NodeClaim"
EVENTS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    dict.fromkeys(
        (
            ROTATION_STARTED,
            ROTATION_COMPLETED,
            "ForcefulFallback",
            "GovernanceLost",
            "PolicyConflict",
            "StaticNodePool",
            "KBelowTwo",
            "AVeryAggressive",
            "TGPUnset",
            "HardCapExceeded",
            "RetryBackoffShort",
            "DrainEstimateAboveTGP",
            "ProvisioningEstimateAboveReadyTimeout",
            "ThroughputBelowArrival",
            "ThroughputBurstShortfall",
            "RotationSpansNextWindow",
            "OverrideGBelowK",
            "ZoneNotReplicated",
            "NoHeadroom",
            "ExclusionShortensLead",
        ),
        (POOL,),
    )
    | dict.fromkeys(
        (
            "ShortLead",
            "RotationFailed",
            "RotationExpired",
            "SurgeUnschedulable",
            "SurgeNotCreated",
            SURGE_CLAMPED,
            SURGE_CLAMP_REFUSED,
            SURGE_CLAMP_BAND_EXCEEDED,
            "DrainStuck",
        ),
        (CLAIM,),
    )
    | {"MalformedState": (POOL, CLAIM)}
)
"""Reason of each Event of a rotation, and the kinds of objects that it may be about."""

DRAIN_TRIGGERED: Final = "GracefulDrainTriggered"
DRAIN_COMPLETED: Final = "GracefulDrainCompleted"
DRAIN_TIMEOUT: Final = "GracefulDrainTimeout"
DRAIN_IMPOSSIBLE: Final = "GracefulDrainImpossible"
DEPLOYMENT: Final = "Deployment"
DRAIN_EVENTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        DRAIN_TRIGGERED: "Normal",
        DRAIN_COMPLETED: "Normal",
        DRAIN_TIMEOUT: "Warning",
        DRAIN_IMPOSSIBLE: "Warning",
    }
)
"""Reason of each Event of a graceful drain, and its type; all are about a Deployment, beside it."""


# --- Metrics, as ``/metrics`` shows them. ---
class Metric(NamedTuple):
    """One metric: ``kind`` is gauge, counter or histogram."""

    name: str
    kind: str
    labels: tuple[str, ...]
    meaning: str


def _gauge(name: str, meaning: str) -> Metric:
    return Metric(f"noderotation_{name}", "gauge", ("nodepool",), meaning)


CANDIDATES: Final = _gauge("candidates", "NodeClaims that are due and may be rotated.")
IN_PROGRESS: Final = _gauge("in_progress", "1 while a rotation is in flight.")
WINDOW_ACTIVE: Final = _gauge("window_active", "1 while a maintenance window is open.")
CONFLICT: Final = _gauge(
    "policy_conflict", "1 while policies tie, or the governing one is invalid."
)
FREEZE_UNTIL: Final = _gauge(
    "freeze_until_timestamp", "Until when a freeze holds (0: none; +Inf: it is unreadable)."
)
AGE_THRESHOLD: Final = _gauge("age_threshold_seconds", "A: the age at which nodes come due.")
CHANCES: Final = _gauge("rotation_chances", "G: windows that each node is sure to get.")
CAPACITY: Final = _gauge("throughput_capacity", "C: rotations that fit into one window.")
T_ROT_ESTIMATE: Final = _gauge("t_rot_estimate_seconds", "What one rotation is expected to take.")
T_ROT_BOUND: Final = _gauge("t_rot_bound_seconds", "What one rotation may take at most.")
WINDOW_PERIOD: Final = _gauge("window_period_seconds", "P: longest time from opening to opening.")
SHORT_LEAD: Final = _gauge("short_lead_nodes", "NodeClaims whose own expireAfter is too short.")
DRAIN_STUCK: Final = _gauge("drain_stuck", "1 while a drain takes longer than it ever should.")
MOST_RETRIES: Final = _gauge("retry_count", "Most failed attempts of any NodeClaim there is.")
NEXT_WINDOW: Final = _gauge("next_window_timestamp", "When a window opens next (0: never).")
DEADLINE_SLACK: Final = _gauge(
    "deadline_slack_seconds", "Time left until the nearest deadline (negative: it is over)."
)
REASON: Final = Metric(
    "noderotation_reason",
    "gauge",
    ("nodepool", "reason"),
    "1 for the reason of what the last pass did, or did not do.",
)
COMPLETED: Final = Metric(
    "noderotation_completed_total",
    "counter",
    ("nodepool", "outcome"),
    "Rotations and attempts that ended, by outcome: success, failure or expired.",
)
FALLBACKS: Final = Metric(
    "noderotation_forceful_fallback_total",
    "counter",
    ("nodepool",),
    "Nodes deleted without a successor, because a surge could no longer be in time.",
)
DURATION: Final = Metric(
    "noderotation_duration_seconds",
    "histogram",
    ("nodepool", "phase"),
    "What the phases of completed rotations took: surge_wait, drain.",
)
HOOK_DURATION: Final = Metric(
    "noderotation_hook_duration_seconds",
    "histogram",
    ("hook", "status"),
    "From the arrival of a hook's request to its answer, by HTTP status.",
)
HOOK_BYTES: Final = Metric(
    "noderotation_hook_request_bytes", "histogram", ("hook",), "Size of a hook's requests."
)
API_CALLS: Final = Metric(
    "noderotation_api_calls_total",
    "counter",
    ("verb", "resource", "result"),
    "Calls to the API server: ok, notFound, conflict, alreadyExists, refused, unavailable, ...",
)
EVICTIONS: Final = Metric(
    "gracefuldrain_evictions_total",
    "counter",
    ("decision", "reason"),
    "Answers to evictions: allow or deny, and why.",
)
ROLLOUTS: Final = Metric(
    "gracefuldrain_rollouts_total",
    "counter",
    ("outcome",),
    "Tracked rollouts that ended, by outcome: completed, timeout, or why they were given up.",
)
ROLLOUT_DURATION: Final = Metric(
    "gracefuldrain_rollout_duration_seconds",
    "histogram",
    (),
    "From the eviction that began it to the end of a completed rollout.",
)
CERTIFICATE_NOT_AFTER: Final = Metric(
    "gracefuldrain_certificate_not_after_timestamp",
    "gauge",
    (),
    "When the certificate ends that the webhook shows.",
)

POOL_GAUGES: Final = (
    CANDIDATES,
    IN_PROGRESS,
    WINDOW_ACTIVE,
    CONFLICT,
    FREEZE_UNTIL,
    AGE_THRESHOLD,
    CHANCES,
    CAPACITY,
    T_ROT_ESTIMATE,
    T_ROT_BOUND,
    WINDOW_PERIOD,
    SHORT_LEAD,
    DRAIN_STUCK,
    MOST_RETRIES,
    NEXT_WINDOW,
    DEADLINE_SLACK,
)
"""What is recomputed at every pass of a pool."""
METRICS_OF_HOOKS: Final = (
    *POOL_GAUGES,
    REASON,
    COMPLETED,
    FALLBACKS,
    DURATION,
    HOOK_DURATION,
    HOOK_BYTES,
    API_CALLS,
    ROLLOUTS,
    ROLLOUT_DURATION,
)
"""All that the hook server exports."""
METRICS_OF_EVICTION: Final = (EVICTIONS, CERTIFICATE_NOT_AFTER)
"""What the webhook's own deployment exports beside those of its hooks and calls."""
