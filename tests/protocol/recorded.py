"""The recorded rotation: what a real Metacontroller v4.17.2 sent with a real Karpenter v1.14.1.

Byte for byte what was on the wire, kept compressed. The requests are the norm; the answers in it
came from a stub. Source: design/cluster.md.
"""

from __future__ import annotations

import gzip
import json
from functools import lru_cache
from pathlib import Path
from typing import Any

Json = dict[str, Any]

RECORDING = (
    Path(__file__).parents[1] / "fixtures" / "recorded" / "rotation-with-pdb-blocked-drain.jsonl.gz"
)


@lru_cache(maxsize=1)
def lines() -> tuple[bytes, ...]:
    """The recording, one exchange a line."""
    return tuple(gzip.decompress(RECORDING.read_bytes()).splitlines())


@lru_cache(maxsize=1)
def exchanges() -> tuple[Json, ...]:
    """The exchanges, each with ``step``, ``request`` and ``response``; nobody may change them."""
    return tuple(json.loads(line) for line in lines())


def syncs() -> tuple[Json, ...]:
    """The exchanges that are sync calls."""
    return tuple(one for one in exchanges() if "object" in one["request"])


def body(request: Json) -> bytes:
    """A request as it is sent: compact, like Go's encoder."""
    return json.dumps(request, separators=(",", ":"), ensure_ascii=False).encode()
