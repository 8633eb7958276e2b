"""How a placeholder says where it must go, would rather go, and had better not go."""

from __future__ import annotations

from hooks.rotation.affinity import Manifest, node_affinity
from hooks.rotation.model import Requirement

ZONE_A = Requirement("topology.kubernetes.io/zone", "In", ("a",))
LARGE = Requirement("node.kubernetes.io/instance-type", "In", ("m7.large", "m7.xlarge"))
MORE = Requirement("example.com/cpu", "Gt", ("3",))
LESS = Requirement("example.com/cpu", "Lt", ("9",))

ZONE_A_TERM = {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["a"]}
LARGE_TERM = {
    "key": "node.kubernetes.io/instance-type",
    "operator": "In",
    "values": ["m7.large", "m7.xlarge"],
}
MORE_TERM = {"key": "example.com/cpu", "operator": "Gt", "values": ["3"]}
LESS_TERM = {"key": "example.com/cpu", "operator": "Lt", "values": ["9"]}


def soft(weight: int, *expressions: Manifest) -> Manifest:
    return {"weight": weight, "preference": {"matchExpressions": list(expressions)}}


def avoiding(*hosts: str) -> Manifest:
    hostname = {"key": "kubernetes.io/hostname", "operator": "NotIn", "values": list(hosts)}
    return soft(25, hostname)


def preferred(affinity: Manifest) -> object:
    assert set(affinity) == {"preferredDuringSchedulingIgnoredDuringExecution"}
    return affinity["preferredDuringSchedulingIgnoredDuringExecution"]


def test_nothing_to_say() -> None:
    assert node_affinity((), (), ()) == {}


def test_all_that_is_required_stands_in_one_term() -> None:
    assert node_affinity((ZONE_A, MORE, LESS), (), ()) == {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": [ZONE_A_TERM, MORE_TERM, LESS_TERM]}]
        }
    }


def test_one_preferred_key() -> None:
    assert preferred(node_affinity((), (MORE, LESS), ())) == [soft(100, MORE_TERM, LESS_TERM)]


def test_preferred_keys_come_together_first_then_each_alone_then_the_hosts() -> None:
    assert preferred(node_affinity((), (LARGE, MORE, LESS), ("n1",))) == [
        soft(100, LARGE_TERM, MORE_TERM, LESS_TERM),
        soft(50, LARGE_TERM),
        soft(50, MORE_TERM, LESS_TERM),
        avoiding("n1"),
    ]


def test_hosts_are_avoided_softly_each_once_and_in_one_order() -> None:
    assert preferred(node_affinity((), (), ("n2", "n1", "n2"))) == [avoiding("n1", "n2")]


def test_at_most_a_hundred_hosts_are_named_and_the_first_ones_count() -> None:
    hosts = [f"n{number:03}" for number in range(150, 0, -1)]
    kept = [f"n{number:03}" for number in range(51, 151)]
    assert preferred(node_affinity((), (), hosts)) == [avoiding(*kept)]


def test_a_name_that_is_no_label_value_is_not_named() -> None:
    good = "a" * 63
    bad = ("a" * 64, "", "-n1", "n1-", "n_\u00e9", "n 1", "n1\n")
    assert preferred(node_affinity((), (), (*bad, good))) == [avoiding(good)]
    assert node_affinity((), (), bad) == {}
