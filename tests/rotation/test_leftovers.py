"""What a dead rotation left: never anything that an anchor still refers to."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256

import pytest

from hooks import names
from hooks.rotation.leftovers import (
    CLAIM_KEYS,
    POOL_KEYS,
    Mark,
    is_forgotten,
    is_stale,
    mark_of,
)
from hooks.rotation.model import Claim, ClaimState, Malformed, Node, Pool

LONG = "api-" + "x" * 80

IDLE = Pool("idle")
API = Pool("api", anchor="api-1", anchor_uid="u1")
CLAIM = Claim("api-1", "u1", datetime(2026, 11, 1, tzinfo=UTC), state=ClaimState.PENDING)


@pytest.mark.parametrize(
    ("mark", "pools", "stale"),
    [
        # The annotation names the claim in full.
        (Mark("api-1", "api-1", "api"), [API], False),
        (Mark("api-1", "api-1", "idle"), [IDLE, API], False),
        (Mark("api-1", None, None), [API], False),
        (Mark("api-2", "api-2", "api"), [API], True),
        (Mark("api-2", "api-1", "api"), [API], True),
        (Mark("api-1", "api-1", "api"), [IDLE], True),
        (Mark("api-1", "api-1", "api"), [], True),
        (Mark("", "api-1", "api"), [API], True),
        # Only the label is left.
        (Mark(None, "api-1", "api"), [API], False),
        (Mark(None, "api-2", "api"), [API], True),
        # Only the owned or cordoned marker is left: whatever its pool rotates may need it.
        (Mark(None, None, "api"), [API], False),
        (Mark(None, None, "idle"), [IDLE, API], True),
        (Mark(None, None, "gone"), [API], True),
        # Not even the pool is known.
        (Mark(None, None, None), [IDLE, API], False),
        (Mark(None, None, None), [IDLE], True),
    ],
)
def test_stale_is_what_no_anchor_refers_to(mark: Mark, pools: list[Pool], *, stale: bool) -> None:
    assert is_stale(mark, pools) is stale


def test_a_long_name_is_known_by_its_cut_label() -> None:
    label = f"{LONG[:54]}-{sha256(LONG.encode()).hexdigest()[:8]}"
    assert len(label) == 63
    assert not is_stale(Mark(None, label, "api"), [replace(API, anchor=LONG)])
    assert is_stale(Mark(None, LONG[:54] + "-f0e1d2c3", "api"), [replace(API, anchor=LONG)])


def test_the_mark_of_a_node() -> None:
    node = Node("n", labels={names.NODEPOOL_LABEL: "api"}, surge_for="c", surge_for_label="l")
    assert mark_of(node) == Mark("c", "l", "api")
    assert mark_of(Node("n", cordoned_by_us=True)) == Mark(None, None, None)


@pytest.mark.parametrize(
    ("claim", "pools", "forgotten"),
    [
        (CLAIM, [API], False),
        (CLAIM, [replace(API, anchor_uid=None)], False),
        (CLAIM, [IDLE], True),
        (CLAIM, [], True),
        # The anchor's claim was another one of the same name.
        (CLAIM, [replace(API, anchor_uid="u0")], True),
        (replace(CLAIM, state=ClaimState.DRAINING), [IDLE], True),
        # These keep their annotations: backoff, and the end.
        (replace(CLAIM, state=ClaimState.FAILED), [IDLE], False),
        (replace(CLAIM, state=ClaimState.EXPIRED), [IDLE], False),
        (replace(CLAIM, state=None), [IDLE], False),
        (replace(CLAIM, state=Malformed("odd")), [IDLE], False),
        # Whoever deletes it, Karpenter ends it.
        (replace(CLAIM, deleting_since=CLAIM.created), [IDLE], False),
    ],
)
def test_forgotten_is_a_claim_in_flight_without_anchor(
    claim: Claim, pools: list[Pool], *, forgotten: bool
) -> None:
    assert is_forgotten(claim, pools) is forgotten


def test_uninstalling_takes_every_key_of_ours_and_leaves_the_operators_freeze() -> None:
    assert set(POOL_KEYS) == {
        "noderotation.io/" + key
        for key in (
            "active-rotation",
            "active-rotation-uid",
            "active-rotation-state",
            "draining-at",
            "surge-wait",
            "rotation-mode",
            "abort",
            "last-rotation-at",
            "last-failure-at",
            "due-before",
        )
    }
    assert set(CLAIM_KEYS) == {
        "noderotation.io/" + key
        for key in ("state", "started-at", "failed-at", "retry-count", "surge-claim", "due")
    }
