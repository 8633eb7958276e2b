"""What the audit log tells of each call, and what the manifests allow; this needs no cluster."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.audit import UNUSED, Asked, Call, Right, asked, calls, excesses, granted, idle
from tests.manifest_files import ALL, EVICTION, HOOKS, SYSTEM

RIGHTS = granted(ALL, HOOKS)


def test_the_audit_log(tmp_path: Path) -> None:
    log = tmp_path / "audit.log"
    ours = '"user": {"username": "system:serviceaccount:node-rotation-system:%s"}'
    entry = (
        f'{{"verb": "%s", {ours % HOOKS},'
        ' "objectRef": {%s "name": "n"}, "responseStatus": {"code": %d}}\n'
    )
    other = f'{{"verb": "get", {ours % EVICTION}, "objectRef": {{"resource": "pods"}}}}\n'
    node, pool = '"resource": "nodes",', '"resource": "nodepools", "apiGroup": "karpenter.sh",'
    pod = f'"resource": "pods", "subresource": "eviction", "namespace": "{SYSTEM}",'
    lines = (
        ("patch", node, 200),
        ("update", pool, 200),
        ("get", node, 403),
        ("create", pod, 201),
    )
    nothing = f'{{"verb": "get", {ours % HOOKS}}}\n'
    log.write_text("".join(entry % line for line in lines) + other + nothing)
    made = asked(log)
    assert made == [
        Asked(Call("patch", "nodes", "n", 200), "", ""),
        Asked(Call("update", "nodepools", "n", 200), "karpenter.sh", ""),
        Asked(Call("get", "nodes", "n", 403), "", ""),
        Asked(Call("create", "pods/eviction", "n", 201), "", SYSTEM),
    ]
    assert calls(log) == [one.call for one in made]
    assert asked(log, EVICTION) == [Asked(Call("get", "pods", "", 0), "", "")]
    assert excesses(made, RIGHTS) == made[1:]
    assert [one.call.writes for one in made] == [True, True, False, True]


def test_rights_are_those_of_the_manifests() -> None:
    assert Right("delete", "", "pods", SYSTEM) in RIGHTS
    assert Right("list", "", "pods") in RIGHTS
    assert Right("create", "events.k8s.io", "events", "default") in RIGHTS
    assert {one.namespace for one in RIGHTS} == {"", SYSTEM, "default"}
    assert granted(ALL, "somebody") == frozenset()


def test_a_right_is_bound_to_its_group_and_its_namespace() -> None:
    made = [
        Asked(Call("delete", "pods", "n", 200), "", SYSTEM),
        Asked(Call("delete", "pods", "n", 200), "", "default"),
        Asked(Call("create", "events", "n", 201), "events.k8s.io", "default"),
        Asked(Call("create", "events", "n", 201), "", "default"),
        Asked(Call("create", "events", "n", 201), "events.k8s.io", SYSTEM),
        Asked(Call("list", "pods", "", 200), "", "anywhere"),
    ]
    assert excesses(made, RIGHTS) == [made[1], made[3], made[4]]


def test_a_right_that_nobody_needs_is_found() -> None:
    needed = [
        Asked(Call(right.verb, right.resource, "n", 200), right.group, right.namespace)
        for right in RIGHTS
    ]
    assert idle(needed, RIGHTS) == set()
    more = {Right("watch", "", "secrets"), Right("create", "events.k8s.io", "events", SYSTEM)}
    assert idle(needed, RIGHTS | more) == more


def test_what_stays_unused_is_granted_and_has_its_reason() -> None:
    assert set(UNUSED) <= RIGHTS
    assert all(UNUSED.values())
