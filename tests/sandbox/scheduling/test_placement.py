"""Which Pod fits which Node, and why not."""

from __future__ import annotations

from typing import Any

import pytest

from hooks.sandbox.objects import Obj
from hooks.sandbox.scheduling.layout import Layout, Place, place_of
from hooks.sandbox.scheduling.placement import Fitting, Verdict, refusal, unavailable
from hooks.sandbox.scheduling.resources import amounts_of
from hooks.sandbox.scheduling.scoring import best

ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
NOT_SELECTED = "node(s) didn't match Pod's node affinity/selector"
TAINTED = "node(s) had untolerated taint(s)"
SKEWED = "node(s) didn't match pod topology spread constraints"


def place(name: str = "n", zone: str = "a", **fields: Any) -> Place:
    labels = {HOST: name, ZONE: zone, "cpus": "4", **fields.pop("labels", {})}
    allocatable = amounts_of(fields.pop("allocatable", {"cpu": "4", "pods": "3"}))
    return Place(name, labels, fields.pop("taints", ()), allocatable, **fields)


def pod(app: str = "web", cpu: str = "1", namespace: str = "default", **spec: object) -> Obj:
    container = {"resources": {"requests": {"cpu": cpu}}}
    metadata = {"name": app, "namespace": namespace, "labels": {"app": app}}
    return {"metadata": metadata, "spec": {"containers": [container], **spec}}


def required(kind: str, *terms: Obj) -> Obj:
    return {kind: {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}}


def node_affinity(*terms: Obj) -> Obj:
    selector = {"nodeSelectorTerms": list(terms)}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": selector}}


def expression(key: str, operator: str, *values: str) -> Obj:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


def web(**more: object) -> Obj:
    return {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": ZONE, **more}


def asked(request: Obj, where: Place, *others: Place, **there: list[Obj]) -> str | None:
    return refusal(request, where, Layout((where, *others), there))


def test_a_pod_fits_an_empty_node() -> None:
    assert asked(pod(), place()) is None


def test_all_that_lacks_is_told() -> None:
    greedy = pod(cpu="3")
    greedy["spec"]["containers"][0]["resources"]["requests"]["example.com/gpu"] = "1"
    there = [pod(), pod(), pod()]
    told = "Insufficient cpu, Insufficient example.com/gpu, Too many pods"
    assert asked(greedy, place(), n=there) == told


@pytest.mark.parametrize(
    ("affinity", "outcome"),
    [
        (node_affinity(expression("cpus", "In", "2", "4")), None),
        (node_affinity(expression("cpus", "NotIn", "4")), NOT_SELECTED),
        (node_affinity(expression("cpus", "Exists")), None),
        (node_affinity(expression("cpus", "DoesNotExist")), NOT_SELECTED),
        (node_affinity(expression("cpus", "Gt", "3")), None),
        (node_affinity(expression("cpus", "Lt", "4")), NOT_SELECTED),
        (node_affinity(expression(ZONE, "Gt", "1")), NOT_SELECTED),
        (node_affinity(expression("none", "Lt", "1")), NOT_SELECTED),
        # One of several alternatives is enough; an empty one is none.
        (node_affinity(expression("cpus", "In", "2"), expression("cpus", "In", "4")), None),
        (node_affinity({}), NOT_SELECTED),
        (
            node_affinity(
                {"matchFields": expression("metadata.name", "In", "n")["matchExpressions"]}
            ),
            None,
        ),
    ],
)
def test_required_node_affinity(affinity: Obj, outcome: str | None) -> None:
    assert asked(pod(affinity=affinity), place()) == outcome


def test_the_node_selector_is_asked_beside_the_affinity() -> None:
    affinity = node_affinity(expression("cpus", "Exists"))
    assert asked(pod(nodeSelector={ZONE: "b"}, affinity=affinity), place()) == NOT_SELECTED


def test_a_node_that_is_not_named_is_not_looked_at() -> None:
    fields = expression("metadata.name", "In", "other")["matchExpressions"]
    affinity = node_affinity({"matchFields": fields})
    told = "node(s) didn't satisfy plugin(s) [NodeAffinity]"
    assert asked(pod(affinity=affinity), place()) == told


@pytest.mark.parametrize(
    ("taint", "toleration", "outcome"),
    [
        ({"key": "k", "effect": "NoSchedule"}, None, TAINTED),
        ({"key": "k", "effect": "NoExecute"}, None, TAINTED),
        ({"key": "k", "effect": "PreferNoSchedule"}, None, None),
        ({"key": "k", "effect": "NoSchedule"}, {"key": "k", "operator": "Exists"}, None),
        ({"key": "k", "effect": "NoSchedule"}, {"operator": "Exists"}, None),
        ({"key": "k", "effect": "NoSchedule"}, {"key": "k"}, None),
        ({"key": "k", "value": "v", "effect": "NoSchedule"}, {"key": "k"}, TAINTED),
        ({"key": "k", "value": "v", "effect": "NoSchedule"}, {"key": "k", "value": "v"}, None),
        (
            {"key": "k", "effect": "NoSchedule"},
            {"key": "k", "operator": "Exists", "effect": "NoExecute"},
            TAINTED,
        ),
    ],
)
def test_taints_and_tolerations(taint: Obj, toleration: Obj | None, outcome: str | None) -> None:
    tolerations = [] if toleration is None else [toleration]
    assert asked(pod(tolerations=tolerations), place(taints=(taint,))) == outcome


def test_a_cordon_keeps_away_who_does_not_tolerate_it() -> None:
    taint = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
    cordoned = place(unschedulable=True, taints=(taint,))
    assert asked(pod(), cordoned) == "node(s) were unschedulable"
    assert asked(pod(tolerations=[{**taint, "operator": "Exists"}]), cordoned) is None


def test_anti_affinity_keeps_pods_apart_in_both_directions() -> None:
    shy = pod(affinity=required("podAntiAffinity", web()))
    near, far = place("n"), place("m", zone="b")
    told = "node(s) didn't match pod anti-affinity rules"
    assert (asked(shy, near, far, n=[pod()]), asked(shy, far, near, n=[pod()])) == (told, None)
    told = "node(s) didn't satisfy existing pods anti-affinity rules"
    assert (asked(pod(), near, far, n=[shy]), asked(pod(), far, near, n=[shy])) == (told, None)


def test_affinity_wants_company_in_the_same_domain() -> None:
    social = pod("db", affinity=required("podAffinity", web()))
    near, far = place("n"), place("m", zone="b")
    told = "node(s) didn't match pod affinity rules"
    assert (asked(social, near, far, n=[pod()]), asked(social, far, near, n=[pod()])) == (
        None,
        told,
    )
    assert asked(social, near) == told


def test_the_first_of_its_kind_may_be_alone() -> None:
    assert asked(pod(affinity=required("podAffinity", web())), place()) is None


@pytest.mark.parametrize(
    ("term", "outcome"),
    [
        ({}, None),
        ({"namespaces": ["other"]}, "node(s) didn't match pod anti-affinity rules"),
        ({"namespaceSelector": {}}, "node(s) didn't match pod anti-affinity rules"),
        (
            {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "default"}}},
            None,
        ),
    ],
)
def test_terms_are_about_the_own_namespace_unless_they_name_others(
    term: Obj, outcome: str | None
) -> None:
    shy = pod(affinity=required("podAntiAffinity", web(**term)))
    assert asked(shy, place(), n=[pod(namespace="other")]) == outcome


def spread(**more: object) -> Obj:
    constraint = web(maxSkew=1, whenUnsatisfiable="DoNotSchedule", **more)
    return pod(topologySpreadConstraints=[constraint])


def test_a_spread_refuses_the_domain_that_is_ahead() -> None:
    near, far = place("n"), place("m", zone="b")
    outcomes = [asked(spread(), one, near, far, n=[pod()]) for one in (near, far)]
    assert outcomes == [SKEWED, None]


def test_a_spread_leaves_out_who_is_leaving_and_nodes_that_the_pod_may_not_be_on() -> None:
    leaving = pod()
    leaving["metadata"]["deletionTimestamp"] = "2026-11-30T00:00:00Z"
    near, far = place("n"), place("m", zone="b")
    assert asked(spread(), near, far, n=[leaving]) is None
    picky = spread()
    picky["spec"]["nodeSelector"] = {ZONE: "a"}
    assert asked(picky, near, far, n=[pod()]) is None


def test_a_spread_counts_tainted_nodes_unless_it_is_told_not_to() -> None:
    near = place("n")
    far = place("m", zone="b", taints=({"key": "k", "effect": "NoSchedule"},))
    assert asked(spread(), near, far, n=[pod()]) == SKEWED
    assert asked(spread(nodeTaintsPolicy="Honor"), near, far, n=[pod()]) is None


def test_a_spread_over_too_few_domains_starts_from_nothing() -> None:
    assert asked(spread(minDomains=2), place(), n=[pod()]) == SKEWED
    assert asked(spread(), place(), n=[pod()]) is None


def test_a_node_without_the_topology_label_is_in_no_domain() -> None:
    bare = Place("n", {}, (), amounts_of({"cpu": "4", "pods": "3"}))
    assert asked(spread(), bare) == f"{SKEWED} (missing required label)"


def test_only_a_spread_over_pods_of_the_same_revision_counts_them_alone() -> None:
    new = spread(matchLabelKeys=["revision"])
    new["metadata"]["labels"]["revision"] = "2"
    assert asked(new, place("n"), place("m", zone="b"), n=[pod()]) is None


def test_a_refusal_is_final_when_the_pods_that_are_there_have_no_part_in_it() -> None:
    where = place()
    layout = Layout([where], {"n": [pod(cpu="3")]})
    verdicts = [Fitting(pod(cpu=cpu), layout).verdict(where) for cpu in ("1", "2", "5")]
    assert verdicts == [
        Verdict(),
        Verdict(("Insufficient cpu",), is_final=False),
        Verdict(("Insufficient cpu",), is_final=True),
    ]


def test_the_message_counts_the_nodes_by_reason() -> None:
    reasons = {
        "a": ["Insufficient cpu"],
        "b": ["Insufficient cpu", "Insufficient memory"],
        "c": [NOT_SELECTED],
    }
    assert unavailable(reasons) == (
        "0/3 nodes are available: 1 Insufficient memory, "
        "1 node(s) didn't match Pod's node affinity/selector, 2 Insufficient cpu."
    )
    assert unavailable({}) == "no nodes available to schedule pods"


def test_a_layout_knows_what_its_pods_take() -> None:
    node = {
        "metadata": {"name": "n", "labels": {"a": "b"}},
        "spec": {"unschedulable": True},
        "status": {"allocatable": {"cpu": "4", "pods": "3"}},
    }
    bound, done, free = pod(nodeName="n"), pod(nodeName="n"), pod()
    done["status"] = {"phase": "Succeeded"}
    layout = Layout.of([node], [bound, done, free])
    assert layout.places == {"n": place_of(node)}
    assert layout.used_at("n") == amounts_of({"cpu": "1", "pods": "1"})
    trial = layout.copy()
    trial.put(free, "n")
    assert trial.used_at("n") == amounts_of({"cpu": "2", "pods": "2"})
    trial.take(bound, "n")
    assert (trial.pods_at("n"), layout.pods_at("n")) == ([free], [bound])


def preferring(key: str, operator: str, *values: str) -> Obj:
    term = {"weight": 1, "preference": expression(key, operator, *values)}
    return {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [term]}}


@pytest.mark.parametrize(
    ("request_", "there", "chosen"),
    [
        # Nothing tells them apart.
        (pod(), {}, ["m", "n", "t"]),
        (pod(affinity=preferring(ZONE, "In", "b")), {}, ["m"]),
        (pod(affinity=preferring(HOST, "NotIn", "m", "t")), {}, ["n"]),
        # The emptiest.
        (pod(), {"m": [pod()], "n": [pod()]}, ["t"]),
    ],
)
def test_of_the_nodes_that_fit_the_one_with_most_to_say_for_it_is_taken(
    request_: Obj, there: dict[str, list[Obj]], chosen: list[str]
) -> None:
    places = [place("m", zone="b"), place("n"), place("t")]
    found = best(request_, places, Layout(places, there))
    assert [one.name for one in found] == chosen


def test_a_node_whose_taint_says_rather_not_is_taken_last() -> None:
    places = [place("m", taints=({"key": "k", "effect": "PreferNoSchedule"},)), place("n")]
    assert [one.name for one in best(pod(), places, Layout(places))] == ["n"]


def test_pods_of_a_workload_are_spread_without_asking_for_it() -> None:
    mine = pod(cpu="0")
    mine["metadata"]["ownerReferences"] = [{"controller": True, "uid": "rs"}]
    places = [place("m"), place("n", zone="b"), place("t")]
    assert [one.name for one in best(mine, places, Layout(places, {"m": [mine]}))] == ["n"]


def test_a_spread_that_may_be_broken_is_kept_where_it_can_be() -> None:
    constraint = web(maxSkew=1, whenUnsatisfiable="ScheduleAnyway")
    mine = pod(cpu="0", topologySpreadConstraints=[constraint])
    places = [place("m"), place("n", zone="b"), place("t")]
    assert [one.name for one in best(mine, places, Layout(places, {"m": [mine]}))] == ["n"]
