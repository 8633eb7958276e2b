"""What a status says: every reason of the Ready condition, every phase, every field left out.

Base figures as in ``findings``: nightly 18:00 to 22:00 UTC, NOW is Sunday 20:00, A 287h51m, C 15.
The pool has nothing that could be found wrong, so a status names findings only where a case says so.
"""

from __future__ import annotations

import copy
from typing import Any

from hooks import names
from tests.support.policyfolders import PolicyCase
from tests.support.world import Json, nodepool, policy

WEB = {"workload": "web"}


def _pool(name: str, marks: dict[str, str] | None = None, **labels: str) -> Json:
    made = nodepool(marks)
    made["metadata"] |= {"name": name, "uid": f"uid-{name}"}
    made["metadata"]["labels"] = {"workload": "api"} | labels
    return made


def _bare(name: str) -> Json:
    """As little as the hook needs."""
    whole = _pool(name)
    return {
        "apiVersion": whole["apiVersion"],
        "kind": whole["kind"],
        "metadata": {"name": name, "uid": f"uid-{name}", "labels": {"workload": "api"}},
        "spec": {"template": {"spec": {"expireAfter": "336h", "terminationGracePeriod": "2m"}}},
    }


def _crowded(name: str, nodes: int) -> Json:
    made = _pool(name)
    made["status"] |= {"nodes": nodes}
    return made


def _shown(made: Json, status: Any, *, generation: int = 1) -> Json:
    changed = copy.deepcopy(made)
    changed["status"] = status
    changed["metadata"]["generation"] = generation
    return changed


def _condition(status: str, since: object = "2026-11-20T08:00:00Z", kind: str = "Ready") -> Json:
    return {
        "type": kind,
        "status": status,
        "reason": "Some",
        "message": "thing",
        "lastTransitionTime": since,
    }


def _invalid(**spec: Any) -> Json:
    made = policy(**spec)
    made["spec"]["maintenanceWindows"][0]["timezone"] = "Mars/Base"
    return made


def _without_spec() -> Json:
    made = policy()
    del made["spec"]
    return made


def _no_selector() -> Json:
    made = policy()
    made["spec"]["nodePoolSelector"] = {"matchLabels": ["workload"]}
    return made


ALWAYS = [
    {
        "timezone": "UTC",
        "days": ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"],
        "start": "00:00",
        "end": "24:00",
    }
]

CASES = (
    PolicyCase("idle", "the first status of all", "Accepted"),
    PolicyCase(
        "surging",
        "an anchor makes a pool rotating; the claim's name is told",
        "Accepted",
        rotating=1,
        pools=(_pool("api", {"active-rotation": "api-1", "last-rotation-at": "2026-11-28T19:00:00Z"}),
               _pool("batch")),
        matched=2,
    ),
    PolicyCase(
        "draining",
        "the mirror tells that the claim is about to go, or going",
        "Accepted",
        rotating=1,
        pools=(_pool("api", {"active-rotation": "api-1", "active-rotation-state": "draining"}),),
    ),
    PolicyCase("before-the-window", "closed, opens in a second, looked at then", "Accepted",
               look_again=1, now="2026-11-29T17:59:59Z"),
    PolicyCase("window-opens", "the very moment counts as open", "Accepted",
               now="2026-11-29T18:00:00Z"),
    PolicyCase("window-closes", "the very moment counts as closed", "Accepted",
               now="2026-11-29T22:00:00Z"),
    PolicyCase("before-the-end", "open, and half a second later no more", "Accepted",
               look_again=0.5, now="2026-11-29T21:59:59.500Z"),
    PolicyCase("never-closes", "there is no next opening to tell", "Accepted",
               parent=policy(maintenanceWindows=ALWAYS)),
    PolicyCase("excluded", "the window is open, and the message says why nothing starts", "Accepted",
               look_again=600, parent=policy(exclusions=[
                   {"start": "2026-11-29T00:00:00Z", "end": "2026-11-29T20:10:00Z",
                    "reason": "release"}])),
    PolicyCase("held-by-its-own-words", "suspend and dryRun are told", "Accepted",
               parent=policy(suspend=True, dryRun=True)),
    PolicyCase("selects-nothing", "the usual slip: labels of nodes instead of the NodePool's",
               "Accepted", matched=0, pools=(), parent=policy(labels={"karpenter.sh/nodepool": "api"})),
    PolicyCase("related-pools-of-others", "pools that it doesn't select are of no matter", "Accepted",
               pools=(nodepool(), _pool("web", {"active-rotation": "w"}, workload="web"))),
    PolicyCase("outranked", "a catch-all loses to any keyed selector", "Accepted", matched=0,
               parent=policy("all", labels={}), others=(policy(),)),
    PolicyCase("outranks", "the other side of it", "Accepted", others=(policy("all", labels={}),)),
    PolicyCase("tie", "equally many constraints: nobody governs the pool", "Conflict", matched=0,
               others=(policy("other"), policy("web", labels=WEB))),
    PolicyCase("tie-on-one-of-two", "one contested pool is a conflict; the other is governed",
               "Conflict", pools=(_pool("api"), _pool("both", team="x")),
               others=(policy("other", labels={"team": "x"}),)),
    PolicyCase("tie-with-an-invalid-one", "a policy that can't be read still wins by its selector",
               "Conflict", matched=0, others=(_invalid() | {"metadata": policy("other")["metadata"]},)),
    PolicyCase("invalid-time-zone", "what the API server lets in and the hooks can't read", "Invalid",
               parent=_invalid()),
    PolicyCase("invalid-while-rotating", "it still wins: its pools are told, without figures",
               "Invalid", rotating=1, parent=_invalid(),
               pools=(_pool("api", {"active-rotation": "api-1",
                                    "last-rotation-at": "2026-11-28T19:00:00Z"}),)),
    PolicyCase("invalid-before-conflict", "both hold: first things first", "Invalid", matched=0,
               parent=_invalid(), others=(policy("other"),)),
    PolicyCase("invalid-in-several-fields", "all problems at once, each by its field", "Invalid",
               parent=_invalid(readyTimeout="soon", suspend="yes", typo=1)),
    PolicyCase("invalid-selector", "it governs nothing, for nobody knows what", "Invalid", matched=0,
               parent=_no_selector()),
    PolicyCase("without-spec", "written by hand past the schema", "Invalid", matched=0,
               parent=_without_spec()),
    PolicyCase("spec-is-a-text", "written by hand past the schema", "Invalid", matched=0,
               parent=policy() | {"spec": "nightly"}),
    PolicyCase("infeasible-for-a-pool", "A = 40h - (2*24h + 9m): the pool can't be rotated in time",
               "Invalid", matched=2, pools=(nodepool(), _pool("short") | {
                   "spec": nodepool(expireAfter="40h")["spec"]})),
    PolicyCase("findings", "codes, in their order", "Accepted",
               parent=policy(minRotationChances=1),
               pools=(nodepool(terminationGracePeriod=None, expireAfter="504h"),)),
    PolicyCase("static-pool", "no surge can rotate it, and no fallback may", "Accepted",
               pools=(nodepool(replicas=3),)),
    PolicyCase("never-expires", "without E there is no A", "Accepted",
               pools=(nodepool(expireAfter="Never"),)),
    PolicyCase("unreadable-annotations", "left out: no API server would store them in a status",
               "Accepted", rotating=1,
               pools=(nodepool({"active-rotation": "a" * 300, "last-rotation-at": "yesterday",
                                "freeze": "for a while"}),)),
    PolicyCase("more-pools-than-are-told", "fifty by name; the counts are of all", "Accepted",
               matched=60, pools=tuple(_bare(f"pool-{n:02}") for n in reversed(range(60)))),
    PolicyCase("edited", "a new generation, the same verdict: the time stays", "Accepted",
               parent=_shown(policy(), {"observedGeneration": 3, "conditions": [
                   _condition("True")]}, generation=4)),
    PolicyCase("became-invalid", "the verdict changed: the time is now", "Invalid",
               parent=_shown(_invalid(), {"conditions": [_condition("True")]})),
    PolicyCase("became-valid", "the verdict changed: the time is now", "Accepted",
               parent=_shown(policy(), {"conditions": [_condition("False")]})),
    PolicyCase("still-in-conflict", "another reason of the same verdict: the time stays", "Conflict",
               matched=0, others=(policy("other"),),
               parent=_shown(policy(), {"conditions": [_condition("False")]})),
    PolicyCase("among-other-conditions", "only the own type counts", "Accepted",
               parent=_shown(policy(), {"conditions": [
                   _condition("True", "2026-11-01T00:00:00Z", "Synced"), _condition("True")]})),
    PolicyCase("unreadable-status", "whoever wrote it: it is written anew", "Accepted",
               parent=_shown(policy(), {"conditions": [
                   7, _condition("True", "a while ago"), _condition("True", None),
                   {"type": "Ready"}]})),
    PolicyCase("status-is-a-text", "whoever wrote it: it is written anew", "Accepted",
               parent=_shown(policy(), "fine")),
    PolicyCase("conditions-are-a-text", "whoever wrote it: it is written anew", "Accepted",
               parent=_shown(policy(), {"conditions": "fine"})),
    PolicyCase("zone-not-required", "a finding of the policy stands at each of its pools", "Accepted",
               matched=2, parent=policy(matchNodeRequirements={"required": [names.ARCH_LABEL]}),
               pools=(_pool("a"), _pool("b"))),
    PolicyCase("nodes-come-due-at-once", "the least ageThreshold, and what it asks of the windows: no"
               " calendar holds windows that long", "Accepted", parent=policy(ageThreshold="1us"),
               pools=(_crowded("api", 1000),)),
    PolicyCase("a-service-of-centuries", "the longest cooldownAfter, in a pool of a thousand nodes",
               "Accepted", parent=policy(ageThreshold="1h",
                                         cooldownAfter="2562047h47m16.854775807s"),
               pools=(_crowded("api", 1000),)),
)  # fmt: skip
