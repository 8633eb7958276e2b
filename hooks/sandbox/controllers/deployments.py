"""Deployments: from one template to the next, by way of ReplicaSets.

Owns the ReplicaSets of each Deployment, revisions included. Leaves sizes to
:mod:`hooks.sandbox.controllers.rollout` and the status to
:mod:`hooks.sandbox.controllers.deploymentstatus`. Seen in Kubernetes v1.36.3
``pkg/controller/deployment/deployment_controller.go`` (syncDeployment) and ``sync.go``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar, Final

from typing_extensions import override

from hooks.sandbox.apiport import Resource
from hooks.sandbox.controllers.conditions import condition_of
from hooks.sandbox.controllers.deploymentstatus import (
    CREATED,
    FOUND,
    PAUSED,
    PROGRESSING,
    RESUMED,
    deadline_of,
    is_complete,
    note,
    progress,
    report,
    times_out_at,
)
from hooks.sandbox.controllers.levels import LevelController
from hooks.sandbox.controllers.rollout import (
    DESIRED,
    HASH,
    MOST,
    Family,
    count_of,
    first_size,
    is_scaled,
    recreated,
    rescaled,
    rolled,
    size_of,
)
from hooks.sandbox.controllers.template import hash_of, owner_reference
from hooks.sandbox.objects import (
    annotations_of,
    controller_ref,
    generation_of,
    is_terminating,
    labels_of,
    metadata_of,
    name_of,
    namespace_of,
    uid_of,
)
from hooks.sandbox.scheduling.layout import is_finished
from hooks.sandbox.store.identity import copied
from hooks.sandbox.store.kinds import DEPLOYMENTS, PODS, REPLICASETS

if TYPE_CHECKING:
    from hooks.sandbox.objects import Obj

REVISION: Final = "deployment.kubernetes.io/revision"
_HISTORY: Final = "deployment.kubernetes.io/revision-history"
_NOT_COPIED: Final = frozenset(
    {
        "kubectl.kubernetes.io/last-applied-configuration",
        "deprecated.deployment.rollback.to",
        REVISION,
        _HISTORY,
        DESIRED,
        MOST,
    }
)


class Deployments(LevelController):
    """Brings each Deployment one step further."""

    watches: ClassVar[frozenset[Resource]] = frozenset({DEPLOYMENTS, REPLICASETS, PODS})

    @override
    def reconcile(self, now: datetime) -> None:
        for deployment in self.store.all(DEPLOYMENTS):
            self._note_pause(deployment, now)
            is_rollout = self._act(self._family(deployment), now)
            self._report(deployment, now, is_rollout=is_rollout)

    def _family(self, deployment: Obj) -> Family:
        """Read a Deployment and its ReplicaSets as they are now."""
        namespace = namespace_of(deployment)
        present = self.store.get(DEPLOYMENTS, namespace, name_of(deployment))
        owned = [
            one for one in self.store.all(REPLICASETS, namespace) if _is_owned(one, uid_of(present))
        ]
        return Family.of(present, owned)

    def _act(self, family: Family, now: datetime) -> bool:
        """Change ReplicaSets; tell whether this is a rollout, whose progress counts."""
        deployment = family.deployment
        if is_terminating(deployment):
            return False
        if self._sync_new(family, now):
            return True
        is_paused = deployment["spec"].get("paused") is True
        if is_paused or is_scaled(family):
            self._resize(family, rescaled(family))
            if is_paused:
                self._clean_up(family)
            return False
        if self._create_or_resize(family, now):
            return True
        if is_complete(family, deployment.get("status") or {}):
            self._clean_up(family)
        return True

    def _create_or_resize(self, family: Family, now: datetime) -> bool:
        """Do what the strategy does next; tell whether it did anything."""
        if not family.is_rolling:
            down = recreated(family)
            if down or self._old_pods_run(family):
                return self._resize(family, down)
        if family.new is None:
            self._create(family, now)
            return True
        if family.is_rolling:
            return self._resize(family, rolled(family))
        return self._resize(family, {name_of(family.new): family.desired})

    def _old_pods_run(self, family: Family) -> bool:
        if any(count_of(one, "replicas") > 0 for one in family.old):
            return True
        owners = {uid_of(one) for one in family.old}
        return any(
            (controller_ref(pod) or {}).get("uid") in owners and not is_finished(pod)
            for pod in self.store.all(PODS, namespace_of(family.deployment))
        )

    # --- ReplicaSets ---

    def _resize(self, family: Family, sizes: Mapping[str, int]) -> bool:
        before = self.store.revision
        for name, size in sizes.items():

            def resized(it: Obj, size: int = size) -> None:
                it["spec"]["replicas"] = size
                annotations = annotations_of(it)
                it["metadata"]["annotations"] = {**annotations, **_size_notes(family)}

            self.store.modify(REPLICASETS, namespace_of(family.deployment), name, resized)
        return self.store.revision > before

    def _sync_new(self, family: Family, now: datetime) -> bool:
        """Give the new ReplicaSet its annotations; tell whether it had to be written."""
        new, deployment = family.new, family.deployment
        if new is None:
            return False

        def synced(it: Obj) -> None:
            it["metadata"]["annotations"] = _annotations(deployment, it, _next_revision(family))
            if "minReadySeconds" in deployment["spec"]:
                it["spec"]["minReadySeconds"] = deployment["spec"]["minReadySeconds"]

        if self.store.modify(REPLICASETS, namespace_of(new), name_of(new), synced):
            return True
        self._note_revision(
            deployment,
            annotations_of(new)[REVISION],
            progress("True", FOUND, f'Found new replica set "{name_of(new)}"'),
            now,
            is_news=condition_of(deployment, PROGRESSING) is None,
        )
        return False

    def _create(self, family: Family, now: datetime) -> None:
        deployment = family.deployment
        template = copied(deployment["spec"]["template"])
        digest = hash_of(template)
        template["metadata"] = {
            **metadata_of(template),
            "labels": {**labels_of(template), HASH: digest},
        }
        selector = copied(deployment["spec"]["selector"])
        selector["matchLabels"] = {**(selector.get("matchLabels") or {}), HASH: digest}
        revision = _next_revision(family)
        name = f"{name_of(deployment)}-{digest}"
        min_ready = deployment["spec"].get("minReadySeconds")
        new = {
            "metadata": {
                "name": name,
                "namespace": namespace_of(deployment),
                "labels": labels_of(template),
                "annotations": {**_annotations(deployment, {}, revision), **_size_notes(family)},
                "ownerReferences": [owner_reference(deployment)],
            },
            "spec": {
                "replicas": first_size(family),
                **({"minReadySeconds": min_ready} if min_ready else {}),
                "selector": selector,
                "template": template,
            },
        }
        if self.attempt(uid_of(deployment), lambda: self.store.create(REPLICASETS, new)) is None:
            condition = progress("True", CREATED, f'Created new replica set "{name}"')
            self._note_revision(deployment, str(revision), condition, now, is_news=True)

    def _clean_up(self, family: Family) -> None:
        """Delete the oldest of the old ReplicaSets that are beyond the history limit."""
        limit: int = family.deployment["spec"].get("revisionHistoryLimit", 10)
        cleanable = sorted((one for one in family.old if not is_terminating(one)), key=_revision)
        for one in cleanable[: max(0, len(cleanable) - limit)]:
            observed = count_of(one, "observedGeneration") >= generation_of(one)
            if observed and size_of(one) == 0 and count_of(one, "replicas") == 0:
                self.store.delete(REPLICASETS, namespace_of(one), name_of(one), uid=uid_of(one))

    # --- The Deployment ---

    def _note_revision(
        self, deployment: Obj, revision: str, condition: Obj, now: datetime, *, is_news: bool
    ) -> None:
        def noted(it: Obj) -> None:
            it["metadata"]["annotations"] = {**annotations_of(it), REVISION: revision}
            if is_news and deadline_of(it) is not None:
                note(it, condition, now)

        if is_news or annotations_of(deployment).get(REVISION) != revision:
            where = (DEPLOYMENTS, namespace_of(deployment), name_of(deployment))
            self.store.modify(*where, noted, "status")

    def _note_pause(self, deployment: Obj, now: datetime) -> None:
        """Tell a pause and its end, so that it doesn't count as lack of progress."""
        known: Obj = condition_of(deployment, PROGRESSING) or {}
        is_paused = deployment["spec"].get("paused") is True
        reason = known.get("reason")
        is_known = (reason == PAUSED) is is_paused or reason == "ProgressDeadlineExceeded"
        if is_known or is_terminating(deployment) or deadline_of(deployment) is None:
            return
        told = (PAUSED, "Deployment is paused") if is_paused else (RESUMED, "Deployment is resumed")

        def noted(it: Obj) -> None:
            note(it, progress("Unknown", *told), now)

        where = (DEPLOYMENTS, namespace_of(deployment), name_of(deployment))
        self.store.modify(*where, noted, "status")

    def _report(self, deployment: Obj, now: datetime, *, is_rollout: bool) -> None:
        family = self._family(deployment)
        told = dict(family.deployment)
        report(told, family, now, is_rollout=is_rollout)
        self.put_status(DEPLOYMENTS, family.deployment, told["status"])
        timeout = times_out_at(told)
        if is_rollout and timeout is not None and timeout > now:
            self.wake_at(timeout)


def _is_owned(replica_set: Obj, uid: str) -> bool:
    owner = controller_ref(replica_set)
    return owner is not None and bool(owner["uid"] == uid)


def _revision(replica_set: Obj) -> int:
    return int(annotations_of(replica_set).get(REVISION) or 0)


def _next_revision(family: Family) -> int:
    return max(map(_revision, family.old), default=0) + 1


def _size_notes(family: Family) -> dict[str, str]:
    return {DESIRED: str(family.desired), MOST: str(family.most)}


def _annotations(deployment: Obj, replica_set: Obj, revision: int) -> dict[str, str]:
    """Return the annotations of a new ReplicaSet: the Deployment's, and the highest revision."""
    mine = annotations_of(replica_set)
    theirs = annotations_of(deployment).items()
    copied_over = {key: value for key, value in theirs if key not in _NOT_COPIED}
    result = {**mine, **copied_over}
    if _revision(replica_set) < revision:
        result[REVISION] = str(revision)
        if REVISION in mine:
            result[_HISTORY] = ",".join(_earlier(mine))
    return result


def _earlier(annotations: Mapping[str, str]) -> Sequence[str]:
    return [text for text in (annotations.get(_HISTORY), annotations[REVISION]) if text]
