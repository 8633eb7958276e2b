"""NodePools, NodeClaims and Nodes look as they did in the recorded rotation, at each step."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

from hooks.sandbox.objects import Obj, name_of
from hooks.sandbox.store.identity import copied
from hooks.sandbox.store.kinds import NODECLAIMS, NODEPOOLS, NODES
from tests.sandbox.karpenter.cluster import Cluster

RECORDED = Path(__file__).parents[2] / "fixtures/recorded/rotation-with-pdb-blocked-drain.jsonl.gz"
NEW_CLAIM, OLD_CLAIM = "api-cqtm9", "api-t77jf"
OURS = ("noderotation.io/", "karpenter.sh/do-not-disrupt", "kick", "kubectl.kubernetes.io/")


@cache
def recorded() -> dict[tuple[str, str], dict[int, Obj]]:
    """Every version of each object that was recorded, by kind and name."""
    versions: dict[tuple[str, str], dict[int, Obj]] = {}
    with gzip.open(RECORDED, "rt", encoding="utf-8") as lines:
        for line in lines:
            for obj in objects(json.loads(line)):
                meta = obj["metadata"]
                versions.setdefault((obj["kind"], meta["name"]), {})[
                    int(meta["resourceVersion"])
                ] = obj
    return versions


def objects(value: Any) -> Iterator[Obj]:
    if isinstance(value, dict):
        if value.get("kind") in {"Node", "NodeClaim", "NodePool"} and "metadata" in value:
            yield value
        for item in value.values():
            yield from objects(item)
    elif isinstance(value, list):
        for item in value:
            yield from objects(item)


def versions_of(kind: str, name: str) -> list[Obj]:
    found = recorded()[kind, name]
    return [found[number] for number in sorted(found)]


@cache
def lived() -> tuple[Cluster, str]:
    """The same story here: one machine comes, and goes while a budget blocks it for a while."""
    cluster = Cluster()
    pool = copied(versions_of("NodePool", "api")[0])
    pool["metadata"] = {"name": "api", "labels": {"workload": "api"}}
    pool["spec"]["disruption"]["consolidateAfter"] = "Never"
    # As it was applied: the defaults and Go's "2m0s" came later.
    del pool["status"], pool["spec"]["disruption"]["budgets"]
    pool["spec"]["template"]["spec"]["terminationGracePeriod"] = "2m"
    cluster.store.create(NODEPOOLS, pool)
    cluster.add_deployment("api", 1, cpu="3")
    cluster.add_budget("api", minAvailable=1)
    cluster.until(lambda: cluster.is_calm(1))
    (claim,) = cluster.claims()
    cluster.run(timedelta(minutes=1))
    cluster.delete(claim)
    cluster.run(timedelta(seconds=20))
    cluster.set_budget("api", minAvailable=0)
    cluster.until(lambda: not cluster.is_there(claim))
    return cluster, name_of(claim)


def history(kind: str) -> list[Obj]:
    cluster, name = lived()
    resource = {"NodeClaim": NODECLAIMS, "Node": NODES}[kind]
    return [
        event.obj
        for event in cluster.store.events_after(0)
        if event.resource == resource and name in name_of(event.obj)
    ]


def conditions(obj: Obj) -> dict[str, tuple[str, str, str]]:
    told = (obj.get("status") or {}).get("conditions") or []
    return {one["type"]: (one["status"], one["reason"], one["message"]) for one in told}


def own(pairs: dict[str, str]) -> set[str]:
    return {key for key in pairs if not key.startswith(OURS)}


def shape(obj: Obj) -> dict[str, Any]:
    """What must be equal: everything but names, times, versions and what the hooks wrote."""
    meta = obj["metadata"]
    owners = [
        {key: value for key, value in owner.items() if key not in {"uid", "name"}}
        for owner in meta.get("ownerReferences") or []
    ]
    return {
        "metadata": own(meta) - {"managedFields"},
        "labels": own(meta.get("labels") or {}),
        "annotations": own(meta.get("annotations") or {}),
        "finalizers": meta.get("finalizers"),
        "owners": owners,
        "spec": set(obj["spec"]),
        "status": set(obj.get("status") or {}),
        "conditions": conditions(obj),
    }


def steps(objs: list[Obj]) -> list[dict[str, tuple[str, str, str]]]:
    """The different states of the conditions, in order."""
    result: list[dict[str, tuple[str, str, str]]] = []
    for obj in objs:
        if not result or result[-1] != conditions(obj):
            result.append(conditions(obj))
    return result


def test_a_new_claim_begins_as_recorded() -> None:
    first, with_finalizer, launched = versions_of("NodeClaim", NEW_CLAIM)[:3]
    ours = history("NodeClaim")
    assert [shape(one) for one in ours[:3]] == [
        shape(one) for one in (first, with_finalizer, launched)
    ]
    assert sorted(one["key"] for one in ours[0]["spec"]["requirements"]) == sorted(
        # Its Pod asked for a zone.
        one["key"]
        for one in first["spec"]["requirements"]
        if one["key"] != "topology.kubernetes.io/zone"
    )


def test_the_conditions_take_the_recorded_steps_up_to_ready() -> None:
    theirs = steps(versions_of("NodeClaim", NEW_CLAIM))
    ours = steps(history("NodeClaim"))[: len(theirs)]
    # Here the Node isn't Ready yet when it is registered; KWOK was quicker than Karpenter's cache.
    waiting = ("Unknown", "KnownEphemeralTaintsExist")
    assert theirs[3]["Initialized"][:2] == waiting
    assert ours[3]["Initialized"] == (
        "Unknown",
        "AwaitingReconciliation",
        "object is awaiting reconciliation",
    )
    assert ours[4]["Initialized"] == ("Unknown", "NodeNotReady", "Node status is NotReady")
    assert ours[:3] == theirs[:3]
    assert steps(history("NodeClaim"))[5] == theirs[4]


def test_a_ready_claim_and_its_node_have_the_recorded_shape() -> None:
    ready = next(one for one in history("NodeClaim") if "lastPodEventTime" in one.get("status", ()))
    theirs = versions_of("NodeClaim", OLD_CLAIM)[0]
    assert shape(ready) == shape(theirs)
    assert ready["status"]["allocatable"] == theirs["status"]["allocatable"]
    node = next(
        one for one in history("Node") if "karpenter.sh/initialized" in one["metadata"]["labels"]
    )
    recorded_node = next(
        obj
        for (kind, name), found in recorded().items()
        if kind == "Node" and OLD_CLAIM in name
        for obj in found.values()
    )
    assert shape(node) == shape(recorded_node)
    assert set(node["status"]["nodeInfo"].items()) == set(
        recorded_node["status"]["nodeInfo"].items()
    )


def test_the_end_of_a_claim_and_its_node_takes_the_recorded_steps() -> None:
    theirs = [
        one for one in versions_of("NodeClaim", OLD_CLAIM) if "deletionTimestamp" in one["metadata"]
    ]
    ours = [one for one in history("NodeClaim") if "deletionTimestamp" in one["metadata"]]
    assert steps(ours) == steps(theirs)
    assert shape(ours[-1]) == shape(theirs[-1])
    deadline = "karpenter.sh/nodeclaim-termination-timestamp"
    deleted = ours[-1]["metadata"]["deletionTimestamp"]
    assert (deleted, ours[-1]["metadata"]["annotations"][deadline]) == (
        "2026-11-29T19:53:07Z",
        "2026-11-29T19:55:07Z",
    )
    node = history("Node")[-1]
    assert node["spec"]["taints"] == [{"effect": "NoSchedule", "key": "karpenter.sh/disrupted"}]
    label = "node.kubernetes.io/exclude-from-external-load-balancers"
    assert node["metadata"]["labels"][label] == "karpenter"


def test_a_pool_has_the_recorded_shape() -> None:
    cluster, _ = lived()
    theirs = versions_of("NodePool", "api")[0]
    ours = cluster.store.get(NODEPOOLS, "", "api")
    assert shape(ours) == shape(theirs)
    assert ours["spec"]["disruption"]["budgets"] == theirs["spec"]["disruption"]["budgets"]
    # The recorded one was written anew (generation 2, 2m0s) by somebody else than Karpenter, which
    # on the real control plane leaves the spec alone: docs/decisions/0006.
    as_applied = theirs["spec"]["template"]["spec"] | {"terminationGracePeriod": "2m"}
    assert ours["spec"]["template"]["spec"] == as_applied
    assert ours["metadata"]["generation"] == 1
    assert set(ours["status"]["resources"]) == set(theirs["status"]["resources"])
