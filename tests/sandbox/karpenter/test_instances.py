"""The instance types are KWOK's, and can be extended."""

from __future__ import annotations

from hooks.sandbox.karpenter.instances import instance_type, kwok_catalogue
from hooks.sandbox.karpenter.quantities import resource_list


def test_there_are_twelve_sizes_of_three_families_for_two_architectures_and_systems() -> None:
    names = [one.name for one in kwok_catalogue()]
    assert len(names) == len(set(names)) == 12 * 3 * 2 * 2
    assert names[:4] == [
        "c-1x-amd64-linux",
        "c-1x-arm64-linux",
        "c-1x-amd64-windows",
        "c-1x-arm64-windows",
    ]


def test_a_type_has_the_recorded_machines_figures() -> None:
    found = kwok_catalogue().find("c-4x-amd64-linux")
    assert found is not None
    assert resource_list(found.allocatable) == {
        "cpu": "3900m",
        "ephemeral-storage": "20Gi",
        "memory": "8182Mi",
        "pods": "64",
    }
    assert found.all_labels == {
        "karpenter.kwok.sh/instance-cpu": "4",
        "karpenter.kwok.sh/instance-family": "c",
        "karpenter.kwok.sh/instance-memory": "8Gi",
        "karpenter.kwok.sh/instance-size": "4",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": "c-4x-amd64-linux",
    }
    assert sorted(
        (one.zone, one.capacity_type, f"{one.price:f}") for one in found.offerings
    ) == sorted(
        (f"test-zone-{letter}", kind, price)
        for letter in "abcd"
        for kind, price in (("on-demand", "0.108590"), ("spot", "0.076013"))
    )


def test_huge_pages_come_off_the_memory_and_extended_resources_are_all_for_pods() -> None:
    special = instance_type(
        "gpu.large", cpu=8, memory="16Gi", more={"example.com/gpu": "2", "hugepages-2Mi": "4Gi"}
    )
    assert resource_list(special.allocatable) == {
        "cpu": "7900m",
        "ephemeral-storage": "20Gi",
        "example.com/gpu": "2",
        "hugepages-2Mi": "4Gi",
        "memory": "12278Mi",
        "pods": "128",
    }
    assert special.all_labels["karpenter.kwok.sh/instance-size"] == "large"
    assert special.all_labels["karpenter.kwok.sh/instance-family"] == "gpu"


def test_an_extended_catalogue_leaves_the_first_one_as_it_was() -> None:
    first = kwok_catalogue()
    special = instance_type("special", cpu=4, memory="8Gi")
    second = first.extended(special).sold_out("c-4x-amd64-linux")
    assert first.find("special") is None
    assert second.find("special") is special
    sold_out = second.find("c-4x-amd64-linux")
    assert sold_out is not None
    assert {one.available for one in sold_out.offerings} == {False}
