"""What updates change, and what they leave."""

from __future__ import annotations

from datetime import timedelta

import pytest

from hooks.sandbox.objects import Obj
from hooks.sandbox.store.kinds import (
    DEPLOYMENTS,
    NODECLAIMS,
    NODEPOOLS,
    NODES,
    PODS,
    ROTATIONPOLICIES,
)
from hooks.sandbox.store.refusals import RefusedError
from tests.sandbox.store.worlds import World, node, pod, told


def test_an_old_version_is_a_conflict(world: World) -> None:
    first = world.store.create(NODES, node("n1"))
    world.store.update(NODES, first | {"spec": {"unschedulable": True}})
    with pytest.raises(RefusedError) as caught:
        world.store.update(NODES, first | {"spec": {"providerID": "x"}})
    assert told(caught.value) == (
        409,
        "Conflict",
        (
            'Operation cannot be fulfilled on nodes "n1": the object has been modified; please apply '
            "your changes to the latest version and try again"
        ),
    )
    assert caught.value.is_conflict


def test_without_a_version_the_last_writer_wins(world: World) -> None:
    world.store.create(NODES, node("n1"))
    world.store.update(NODES, node("n1") | {"spec": {"a": 1}})
    assert world.store.update(NODES, node("n1") | {"spec": {"b": 2}})["spec"] == {"b": 2}


def test_another_uid_is_a_conflict(world: World) -> None:
    world.store.create(NODES, node("n1"))
    with pytest.raises(RefusedError) as caught:
        world.store.update(NODES, node("n1", uid="other"))
    assert (caught.value.status, caught.value.reason) == (409, "Conflict")


def test_a_write_that_changes_nothing_is_no_event(world: World) -> None:
    first = world.store.create(NODES, node("n1", labels={"a": "b"}))
    assert world.store.update(NODES, first) is first
    assert world.store.update(NODES, node("n1", labels={"a": "b"}, annotations={})) is first
    assert not world.store.modify(NODES, "", "n1", lambda obj: obj["spec"].clear())
    assert world.store.revision == 1


def test_the_servers_own_metadata_can_not_be_written(world: World) -> None:
    first = world.store.create(NODECLAIMS, node("c1", generateName="c"))
    world.clock.advance(timedelta(hours=1))
    wanted = {"name": "c1", "labels": {"a": "b"}, "generation": 99, "creationTimestamp": "x"}
    updated = world.store.update(NODECLAIMS, first | {"metadata": wanted})
    assert updated["metadata"] == first["metadata"] | {
        "labels": {"a": "b"},
        "resourceVersion": "2",
    }


def test_a_status_write_leaves_the_spec_and_a_spec_write_the_status(world: World) -> None:
    world.store.create(NODEPOOLS, node("p"))
    both: Obj = node("p") | {"spec": {"weight": 1}, "status": {"nodes": 3}}
    told_status = world.store.update(NODEPOOLS, both, "status")
    assert ("weight" in told_status["spec"], told_status["status"]) == (False, {"nodes": 3})
    changed = world.store.update(NODEPOOLS, both | {"status": {"nodes": 9}})
    assert (changed["spec"]["weight"], changed["status"]) == (1, {"nodes": 3})


def test_a_status_without_metadata_of_its_own_is_a_status_all_the_same(world: World) -> None:
    world.store.create(NODES, node("n1", labels={"a": "b"}))
    assert world.store.modify(
        NODES, "", "n1", lambda obj: obj.update(metadata=None, status={"phase": "x"}), "status"
    )
    stored = world.store.get(NODES, "", "n1")
    assert (stored["metadata"]["name"], stored["status"]) == ("n1", {"phase": "x"})


def test_a_custom_kinds_status_write_leaves_its_metadata(world: World) -> None:
    world.store.create(NODEPOOLS, node("p"))
    sent = node("p", labels={"a": "b"}) | {"status": {"nodes": 1}}
    assert "labels" not in world.store.update(NODEPOOLS, sent, "status")["metadata"]


def test_a_built_in_kinds_status_write_takes_its_labels_along(world: World) -> None:
    world.store.create(NODES, node("n1"))
    sent = node("n1", labels={"a": "b"}) | {"status": {"phase": "x"}}
    assert world.store.update(NODES, sent, "status")["metadata"]["labels"] == {"a": "b"}


def test_only_a_change_of_the_spec_is_a_new_generation(world: World) -> None:
    world.store.create(NODEPOOLS, node("p"))

    def generation() -> int:
        return int(world.store.get(NODEPOOLS, "", "p")["metadata"]["generation"])

    world.store.modify(NODEPOOLS, "", "p", lambda obj: obj["metadata"].update(labels={"a": "b"}))
    world.store.modify(NODEPOOLS, "", "p", lambda obj: obj.update(status={"a": 1}), "status")
    assert generation() == 1
    world.store.modify(NODEPOOLS, "", "p", lambda obj: obj["spec"].update(weight=2))
    assert generation() == 2


def test_the_annotations_of_a_deployment_are_a_new_generation(world: World) -> None:
    world.store.create(DEPLOYMENTS, pod("web"))
    world.store.modify(
        DEPLOYMENTS, "shop", "web", lambda obj: obj["metadata"].update(annotations={"a": "b"})
    )
    assert world.store.get(DEPLOYMENTS, "shop", "web")["metadata"]["generation"] == 2


def test_another_name_than_the_stored_one_is_a_bad_request(world: World) -> None:
    world.store.create(NODES, node("n1"))
    with pytest.raises(RefusedError) as caught:
        world.store.modify(NODES, "", "n1", lambda obj: obj["metadata"].update(name="n2"))
    assert (caught.value.status, caught.value.reason) == (400, "BadRequest")


@pytest.mark.parametrize("subresource", ["", "binding"])
def test_binding_a_pod_is_no_new_generation(world: World, subresource: str) -> None:
    world.store.create(PODS, pod("a"))
    world.store.modify(PODS, "shop", "a", lambda obj: obj["spec"].update(nodeName="n"), subresource)
    bound = world.store.get(PODS, "shop", "a")
    assert (bound["spec"]["nodeName"], bound["metadata"]["generation"]) == ("n", 1)


def test_binding_writes_spec_and_status_at_once(world: World) -> None:
    world.store.create(PODS, pod("a"))

    def bind(obj: Obj) -> None:
        obj["spec"]["nodeName"] = "n"
        obj["status"]["conditions"] = [{"type": "PodScheduled", "status": "True"}]

    assert world.store.modify(PODS, "shop", "a", bind, "binding")
    bound = world.store.get(PODS, "shop", "a")
    assert bound["status"]["conditions"] == [{"type": "PodScheduled", "status": "True"}]
    assert world.events() == [("ADDED", "Pod", "a"), ("MODIFIED", "Pod", "a")]


def test_the_spec_of_a_pod_is_fixed(world: World) -> None:
    world.store.create(PODS, pod("a"))
    with pytest.raises(RefusedError) as caught:
        world.store.modify(
            PODS, "shop", "a", lambda obj: obj["spec"].update(nodeSelector={"a": "b"})
        )
    assert (caught.value.status, caught.value.reason) == (422, "Invalid")
    assert str(caught.value).startswith('Pod "a" is invalid: spec: Forbidden: pod updates may not')


def test_the_spec_of_a_nodeclaim_is_fixed(world: World) -> None:
    world.store.create(NODECLAIMS, node("c"))
    with pytest.raises(RefusedError) as caught:
        world.store.modify(NODECLAIMS, "", "c", lambda obj: obj["spec"].update(expireAfter="1h"))
    assert told(caught.value) == (
        422,
        "Invalid",
        'NodeClaim.karpenter.sh "c" is invalid: spec: Invalid value: spec is immutable',
    )


def test_a_field_that_an_update_leaves_out_gets_its_default_back(world: World) -> None:
    world.store.create(ROTATIONPOLICIES, node("p") | {"spec": {"suspend": True}})
    assert world.store.update(ROTATIONPOLICIES, node("p"))["spec"]["suspend"] is False


def test_an_update_of_what_is_gone_is_not_found(world: World) -> None:
    with pytest.raises(RefusedError) as caught:
        world.store.update(NODES, node("n1"))
    assert caught.value.is_not_found
    assert not world.store.modify(NODES, "", "n1", lambda obj: obj.clear())


def test_a_dry_run_answers_as_if(world: World) -> None:
    first = world.store.create(NODES, node("n1"))
    dry = world.store.update(NODES, node("n1") | {"spec": {"unschedulable": True}}, dry_run=True)
    assert dry["spec"] == {"unschedulable": True}
    assert world.store.get(NODES, "", "n1") is first
