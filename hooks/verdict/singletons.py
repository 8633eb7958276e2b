"""Whether the only Pod of a Deployment stayed until its successor was Ready.

Owns which Deployments that is promised for: one replica, and a strategy that lets a successor come
first. A Pod that fails by itself breaks nothing, and a rollout that wasn't done in time excuses. Of the
software only the annotations are known with which it marks its intent. Source: seed 004.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta

from hooks.verdict.budgets import is_sent_away
from hooks.verdict.case import Case
from hooks.verdict.history import Moment, Object
from hooks.verdict.questions import World, annotation, is_leaving, is_ready, label, node_of
from hooks.verdict.rollouts import LAST_POD_UID, PREFIX
from hooks.verdict.times import SLACK, parse_duration

ROLLOUT_TIMEOUT = f"{PREFIX}rollout-timeout"
USUAL_TIMEOUT = timedelta(minutes=10)
SERVICE_NAME = "kubernetes.io/service-name"


def ready_pod_remains(case: Case) -> list[str]:
    """The Ready Pod of a singleton is sent away only while another one of it is Ready."""
    found: list[str] = []
    watch = _Watch()
    for moment in case.moments():
        watch.see(moment)
        pod = moment.change.object
        name = watch.promised_to(moment, pod)
        if name and is_sent_away(moment) and not ready_pods(moment.world, name):
            what = f"the only Ready Pod of Deployment {'/'.join(name)}"
            found.append(f"{moment.change.name} was sent away although it was {what}")
    return found


def ready_endpoint_remains(case: Case) -> list[str]:
    """The Service of a singleton has a ready endpoint, unless its Pod fails by itself."""
    found: list[str] = []
    watch = _Watch()
    for moment in case.moments():
        watch.see(moment)
        if moment.change.kind != "EndpointSlice" or ready_endpoints(moment):
            continue
        lost = [one for one in ready_in(moment.before) if _was_taken(moment.world, one)]
        names = [name for one in lost if (name := watch.promised_to(moment, one))]
        if names:
            service = label(moment.change.object, SERVICE_NAME)
            gone = f"Pod {lost[0]['metadata']['name']} went before a successor was Ready"
            found.append(f"Service {names[0][0]}/{service} had no ready endpoint: {gone}")
    return found


def singletons_there(case: Case) -> list[str]:
    """At one of the deletes at least, the node had the Ready Pod of a singleton behind a Service."""
    for moment in case.deletes():
        node = node_of(moment.change.object)
        for pod in moment.world["Pod"].values():
            if (
                pod.get("spec", {}).get("nodeName", "") == node != ""
                and is_ready(pod)
                and _singleton_of(moment.world, pod)
                and _is_behind_a_service(moment.world, pod)
            ):
                return []
    return ["no Pod on any of the deleted nodes was the only one of a Deployment, behind a Service"]


def ready_pods(world: World, deployment: tuple[str, str]) -> list[Object]:
    """The Ready Pods of a Deployment, by its namespace and name."""
    return [
        pod for pod in world["Pod"].values() if is_ready(pod) and owner_of(world, pod) == deployment
    ]


def owner_of(world: World, pod: Object) -> tuple[str, str] | None:
    """Namespace and name of the Deployment that a Pod belongs to, by way of its ReplicaSet."""
    namespace = pod["metadata"].get("namespace", "")
    replica_set = world["ReplicaSet"].get((namespace, _controller(pod, "ReplicaSet")))
    name = "" if replica_set is None else _controller(replica_set, "Deployment")
    return (namespace, name) if name else None


def ready_endpoints(moment: Moment) -> list[Object]:
    """What is ready of the Service whose EndpointSlice has changed: each as if it were the Pod."""
    namespace = moment.change.object["metadata"].get("namespace", "")
    service = label(moment.change.object, SERVICE_NAME)
    return [
        endpoint
        for (place, _), one in moment.world["EndpointSlice"].items()
        if place == namespace and label(one, SERVICE_NAME) == service
        for endpoint in ready_in(one)
    ]


def ready_in(endpoint_slice: Object | None) -> list[Object]:
    """The Pods that an EndpointSlice says are ready, by their names."""
    if endpoint_slice is None:
        return []
    namespace = endpoint_slice["metadata"].get("namespace", "")
    return [
        {"metadata": {"namespace": namespace, "name": one["targetRef"]["name"]}}
        for one in endpoint_slice.get("endpoints") or ()
        # Nothing said means ready.
        if one.get("conditions", {}).get("ready") is not False and "targetRef" in one
    ]


@dataclass(slots=True)
class _Watch:
    """Remembers whom each Pod belonged to, and since when a successor is asked for."""

    owners: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    uids: dict[tuple[str, str], str] = field(default_factory=dict)
    since: dict[str, float] = field(default_factory=dict)

    def see(self, moment: Moment) -> None:
        """Look at one more moment."""
        thing = moment.change.object
        if moment.change.kind == "Deployment":
            uid = annotation(thing, LAST_POD_UID)
            if uid is not None:
                self.since.setdefault(uid, moment.change.at)
        elif moment.change.kind == "Pod":
            owner = owner_of(moment.world, thing)
            if owner is not None:
                self.owners[_key(thing)] = owner
                self.uids[_key(thing)] = thing["metadata"].get("uid", "")

    def promised_to(self, moment: Moment, pod: Object) -> tuple[str, str] | None:
        """The singleton that was to keep the Pod; None where nothing was promised, or no longer."""
        owner = self.owners.get(_key(pod))
        deployment = None if owner is None else moment.world["Deployment"].get(owner)
        if deployment is None or not _is_singleton(deployment):
            return None
        since = self.since.get(self.uids[_key(pod)])
        waited = since is not None and timedelta(seconds=moment.change.at - since) + SLACK
        return None if waited and waited >= _timeout(deployment) else owner


def _key(thing: Object) -> tuple[str, str]:
    return thing["metadata"].get("namespace", ""), thing["metadata"]["name"]


def _controller(thing: Object, kind: str) -> str:
    """The name of the controller that it belongs to, if that is of the kind."""
    for one in thing["metadata"].get("ownerReferences", ()):
        if one.get("controller") and one["kind"] == kind:
            name: str = one["name"]
            return name
    return ""


def _singleton_of(world: World, pod: Object) -> bool:
    owner = owner_of(world, pod)
    deployment = None if owner is None else world["Deployment"].get(owner)
    return deployment is not None and _is_singleton(deployment)


def _is_singleton(deployment: Object) -> bool:
    """Whether it wants one Pod and lets another one come before that goes."""
    spec = deployment.get("spec", {})
    return (
        spec.get("replicas", 1) == 1
        and _comes_first(spec.get("strategy", {}))
        and not spec.get("paused")
        and not is_leaving(deployment)
    )


def _comes_first(strategy: Object) -> bool:
    """Whether a rollout of one Pod makes the new one before it takes the old one away."""
    if strategy.get("type", "RollingUpdate") != "RollingUpdate":
        return False
    limits = strategy.get("rollingUpdate", {})
    most, missing = limits.get("maxSurge", "25%"), limits.get("maxUnavailable", "25%")
    whole = 100
    if isinstance(missing, str):
        # Rounded down: all of one, or none of it.
        missing = int(missing.removesuffix("%")) >= whole
    return most not in {0, "0%"} and not missing


def _timeout(deployment: Object) -> timedelta:
    try:
        own = parse_duration(annotation(deployment, ROLLOUT_TIMEOUT) or "")
    except ValueError:
        own = None
    return USUAL_TIMEOUT if own is None else own


def _was_taken(world: World, pod: Object) -> bool:
    there = world["Pod"].get(_key(pod))
    return there is None or is_leaving(there)


def _is_behind_a_service(world: World, pod: Object) -> bool:
    slices: Iterator[Object] = iter(world["EndpointSlice"].values())
    return any(_key(pod) == _key(one) for each in slices for one in ready_in(each))
