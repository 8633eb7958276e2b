"""The customize hook of RotationPolicies: which objects come along with each sync of one.

Owns the two rules: all policies, for ties, and the NodePools that this one selects; never
NodeClaims, whose every change would send all of them again. The selector is part of the spec, so
Metacontroller's memory by UID and generation holds. Source: design/product.md *Beyond the seeds*,
design/rotation.md section 1.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

from hooks import names
from hooks.protocol.policy_calls import parse_policy_customize
from hooks.rotation.model import Selector

_SUBDOMAIN: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_LONGEST_SUBDOMAIN: Final = 253


def customize(body: bytes) -> bytes:
    """Answer one customize call, in the same bytes for the same selector.

    Raises ShapeError when the body names no parent. Of a policy whose selector can't be read, or
    not by Metacontroller, all NodePools come along: it must get its status all the same.
    """
    pools: dict[str, object] = {"apiVersion": "karpenter.sh/v1", "resource": "nodepools"}
    constraints = _constraints(parse_policy_customize(body))
    if constraints:
        pools["labelSelector"] = constraints
    policies = {
        "apiVersion": f"{names.POLICY_GROUP}/{names.POLICY_VERSION}",
        "resource": "rotationpolicies",
    }
    return json.dumps({"relatedResources": [policies, pools]}, separators=(",", ":")).encode()


def _constraints(selector: Selector | None) -> dict[str, object]:
    """The selector as it is written; empty when it selects all, or can't be handed on."""
    if selector is None or not all(_is_label_key(key) for key in _keys(selector)):
        return {}
    made: dict[str, object] = {}
    if selector.match_labels:
        made["matchLabels"] = dict(selector.match_labels)
    if selector.match_expressions:
        made["matchExpressions"] = [
            {"key": one.key, "operator": one.operator}
            | ({"values": list(one.values)} if one.values else {})
            for one in selector.match_expressions
        ]
    return made


def _keys(selector: Selector) -> Iterator[str]:
    yield from (key for key, _ in selector.match_labels)
    yield from (expression.key for expression in selector.match_expressions)


def _is_label_key(key: str) -> bool:
    """Whether Kubernetes' own parser takes it too; our grammar lets odd dots in a prefix pass."""
    prefix, slash, _ = key.rpartition("/")
    if not slash:
        return True
    return len(prefix) <= _LONGEST_SUBDOMAIN and _SUBDOMAIN.fullmatch(prefix) is not None
