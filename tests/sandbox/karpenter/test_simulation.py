"""Where the scheduling simulation puts Pods, without any cluster."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hooks.sandbox.karpenter.claimplan import Template
from hooks.sandbox.karpenter.instances import Catalogue, instance_type
from hooks.sandbox.karpenter.simulation import Plan, Simulation
from hooks.sandbox.karpenter.view import Machine
from hooks.sandbox.objects import Obj, name_of
from tests.sandbox.karpenter.cluster import pod as pod_of
from tests.sandbox.karpenter.cluster import pool as pool_of
from tests.sandbox.karpenter.cluster import within

ZONE = "topology.kubernetes.io/zone"
CATALOGUE = Catalogue(
    [
        instance_type("small", cpu=2, memory="8Gi", zones=("a", "b")),
        instance_type("large", cpu=8, memory="32Gi", zones=("b", "c")),
    ]
)
ON_DEMAND = [within("karpenter.sh/capacity-type", "on-demand")]


def pod(name: str, cpu: str, **spec: Any) -> Obj:
    made = pod_of(name, cpu, **spec)
    made["metadata"]["uid"] = name
    return made


def template(name: str = "api", daemons: Iterable[Obj] = (), **spec: Any) -> Template:
    spec.setdefault("requirements", ON_DEMAND)
    return Template(pool_of(name, **spec), CATALOGUE, list(daemons))


def machine(name: str, cpu: str, *pods: Obj, **more: Any) -> Machine:
    """A machine that is up, or a foreign Node."""
    amounts = {"cpu": cpu, "memory": "16Gi", "pods": "20"}
    node = {
        "metadata": {
            "name": name,
            "labels": {
                "karpenter.sh/registered": "true",
                "karpenter.sh/initialized": "true",
                "karpenter.sh/nodepool": more.pop("pool", "api"),
                **more.pop("labels", {}),
            },
        },
        "spec": {"providerID": f"kwok://{name}", **more.pop("spec", {})},
        "status": {"allocatable": amounts, "capacity": amounts},
    }
    claim = {"metadata": {"name": name}, "status": {"providerID": f"kwok://{name}"}}
    return Machine(claim, node, pods, is_given_up=False)


def coming(name: str, cpu: str) -> Machine:
    """A machine whose Node isn't there yet."""
    amounts = {"cpu": cpu, "memory": "16Gi", "pods": "20"}
    claim = {
        "metadata": {"name": name, "labels": {"karpenter.sh/nodepool": "api"}},
        "status": {"providerID": f"kwok://{name}", "allocatable": amounts, "capacity": amounts},
    }
    return Machine(claim, None, (), is_given_up=False)


def solve(
    pods: Iterable[Obj],
    machines: Iterable[Machine] = (),
    templates: Iterable[Template] | None = None,
    daemons: Iterable[Obj] = (),
) -> Plan:
    chosen = [template()] if templates is None else list(templates)
    return Simulation(machines, chosen, list(daemons)).solve(pods)


def outcome(plan: Plan) -> dict[str, list[str]]:
    """Pods by where they went: a machine, a new claim, or nowhere."""
    places = {key.removeprefix("kwok://"): pods for key, pods in plan.placed.items()}
    for number, claim in enumerate(plan.claims, 1):
        places[f"new-{number}"] = claim.pods
    if plan.homeless:
        places["nowhere"] = plan.homeless
    return {place: [name_of(one) for one in pods] for place, pods in sorted(places.items())}


def test_the_biggest_pod_is_placed_first() -> None:
    plan = solve([pod("small", "500m"), pod("big", "3")], [machine("m", "3")])
    assert outcome(plan) == {"m": ["big"], "new-1": ["small"]}


def test_machines_that_are_up_are_filled_before_those_on_their_way() -> None:
    machines = [coming("a", "4"), machine("b", "4"), machine("c", "4")]
    plan = solve([pod("p", "3"), pod("q", "3"), pod("r", "3")], machines)
    assert outcome(plan) == {"a": ["r"], "b": ["p"], "c": ["q"]}


def test_a_new_machine_keeps_only_the_types_that_are_big_enough() -> None:
    plan = solve([pod("p", "1"), pod("q", "500m")])
    assert outcome(plan) == {"new-1": ["p", "q"]}
    assert plan.claims[0].instances == ["small", "large"]
    plan = solve([pod("p", "1"), pod("q", "1500m")])
    assert outcome(plan) == {"new-1": ["q", "p"]}
    assert plan.claims[0].instances == ["large"]


def test_a_pod_goes_to_the_new_machine_with_the_fewest_pods() -> None:
    taint = {"key": "dedicated", "effect": "NoSchedule"}
    welcome = {"tolerations": [{"key": "dedicated", "operator": "Exists"}]}
    pods = [
        pod("a", "7"),
        pod("b", "6"),
        pod("c", "500m"),
        pod("d", "400m", **welcome),
    ]
    plan = solve(pods, templates=[template(taints=[taint]), template("other")])
    assert outcome(plan) == {"new-1": ["b", "d"], "new-2": ["a", "c"]}


def test_nothing_is_preempted() -> None:
    placeholder = pod("placeholder", "3", priority=-1000)
    plan = solve([pod("p", "3", priority=1000)], [machine("m", "3", placeholder)])
    assert outcome(plan) == {"new-1": ["p"]}


def test_finished_pods_take_no_room_and_terminating_ones_do() -> None:
    finished = {**pod("f", "3"), "status": {"phase": "Succeeded"}}
    leaving = pod("l", "3")
    leaving["metadata"]["deletionTimestamp"] = "2026-11-29T20:00:00Z"
    machines = [machine("m", "3", finished), machine("n", "3", leaving)]
    assert outcome(solve([pod("p", "3"), pod("q", "3")], machines)) == {
        "m": ["p"],
        "new-1": ["q"],
    }


def test_a_cordoned_or_tainted_machine_takes_nothing() -> None:
    disrupted = {"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}
    machines = [
        machine("cordoned", "4", spec={"unschedulable": True}),
        machine("tainted", "4", spec={"taints": [disrupted]}),
    ]
    assert outcome(solve([pod("p", "1")], machines)) == {"new-1": ["p"]}


def test_room_is_kept_only_for_daemons_that_are_not_there_yet() -> None:
    daemon = pod("daemon", "1")
    there = pod("daemon-x", "1")
    there["metadata"]["ownerReferences"] = [{"apiVersion": "apps/v1", "kind": "DaemonSet"}]
    machines = [machine("without", "3"), machine("with", "3", there)]
    plan = solve([pod("p", "2"), pod("q", "2"), pod("r", "2")], machines, daemons=[daemon])
    assert outcome(plan) == {"new-1": ["r"], "with": ["p"], "without": ["q"]}


def test_a_daemon_counts_only_on_the_types_it_would_run_on() -> None:
    selective = pod("daemon", "1", nodeSelector={"node.kubernetes.io/instance-type": "small"})
    plan = solve([pod("p", "1500m")], templates=[template(daemons=[selective])])
    assert plan.claims[0].instances == ["large"]
    both = solve([pod("p", "500m")], templates=[template(daemons=[selective])])
    assert both.claims[0].claim()["spec"]["resources"]["requests"]["cpu"] == "500m"


def test_limits_count_what_is_there_and_the_greatest_that_may_come() -> None:
    bounded = template(limits={"cpu": "11"})
    plan = solve([pod("p", "7"), pod("q", "1500m")], [machine("m", "1")], [bounded])
    assert outcome(plan) == {"new-1": ["p"], "new-2": ["q"]}
    assert plan.claims[1].instances == ["small"]
    plan = solve(
        [pod("p", "7"), pod("q", "1500m")], [machine("m", "2", pod("there", "1"))], [bounded]
    )
    assert outcome(plan) == {"new-1": ["p"], "nowhere": ["q"]}
    full = template(limits={"nodes": "1"})
    assert outcome(solve([pod("p", "7")], [machine("m", "2")], [full])) == {"nowhere": ["p"]}


def test_the_alternatives_of_required_affinity_are_all_open() -> None:
    terms = [{"matchExpressions": [within(ZONE, zone)]} for zone in ("a", "c")]
    affinity = {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}
        }
    }
    plan = solve([pod("p", "1", affinity=affinity)])
    offers = {(o.instance.name, o.labels[ZONE]) for o in plan.claims[0].offers}
    assert offers == {("small", "a"), ("large", "c")}
    assert within(ZONE, "a", "c") in plan.claims[0].claim()["spec"]["requirements"]


def test_a_zone_without_machines_counts_as_empty_for_spread() -> None:
    there = pod("app", "100m")
    constraint = {
        "topologyKey": ZONE,
        "maxSkew": 1,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "app"}},
    }
    one_more = pod("app", "100m", topologySpreadConstraints=[constraint])
    one_more["metadata"]["uid"] = "one more"
    plan = solve([one_more], [machine("m", "4", there, labels={ZONE: "a"})])
    assert [offer.labels[ZONE] for offer in plan.claims[0].offers] == ["b", "b"]
