"""What a real API server and a real Metacontroller sent about evictions of a single-replica Deployment.

Byte for byte what was on the wire; the rollout is kept compressed. The requests are the norm; the
answers came from stubs. Source: design/cluster.md.
"""

from __future__ import annotations

import gzip
import json
from functools import lru_cache
from pathlib import Path
from typing import Any

Json = dict[str, Any]

FOLDER = Path(__file__).parents[1] / "fixtures" / "recorded"
REVIEWS = FOLDER / "eviction-reviews.jsonl"
ROLLOUT = FOLDER / "deployment-rollout.jsonl.gz"


@lru_cache(maxsize=1)
def review_lines() -> bytes:
    """The reviews, one exchange a line."""
    return REVIEWS.read_bytes()


@lru_cache(maxsize=1)
def rollout_lines() -> bytes:
    """The sync calls, one exchange a line."""
    return gzip.decompress(ROLLOUT.read_bytes())


def reviews() -> tuple[Json, ...]:
    """The exchanges, each with ``step`` and ``request``."""
    return tuple(json.loads(line) for line in review_lines().splitlines())


def rollout() -> tuple[Json, ...]:
    """The exchanges, each with ``step``, ``request`` and ``response``."""
    return tuple(json.loads(line) for line in rollout_lines().splitlines())
