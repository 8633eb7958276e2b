"""Every annotation, label and other name that this software writes or reads on a cluster.

Owns the spelling, and says for each key who writes it, who clears it, and its format. Leaves the
meaning to :mod:`hooks.rotation`. Source: seed 000 section 5.3, design/product.md.
"""

from __future__ import annotations

from typing import Final

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

# --- Karpenter's and Kubernetes' own. ---
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
POLICY_GROUP: Final = "noderotation.io"
POLICY_VERSION: Final = "v1alpha1"
POLICY_KIND: Final = "RotationPolicy"
REPORTING_CONTROLLER: Final = "noderotation.io/hooks"
EVENT_NAMESPACE: Final = "default"
"""Where Events about cluster-scoped objects must live."""

# --- Routes. ---
SYNC_NODEPOOL: Final = "/sync/nodepool"
CUSTOMIZE_NODEPOOL: Final = "/customize/nodepool"
HEALTHZ: Final = "/healthz"
READYZ: Final = "/readyz"

# --- How Metacontroller keys attachments and related objects (Kind.group/version). ---
POD_GROUP: Final = "Pod.v1"
NODE_GROUP: Final = "Node.v1"
NODECLAIM_GROUP: Final = "NodeClaim.karpenter.sh/v1"
ROTATIONPOLICY_GROUP: Final = f"{POLICY_KIND}.{POLICY_GROUP}/{POLICY_VERSION}"
