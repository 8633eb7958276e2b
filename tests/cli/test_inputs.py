"""Which objects ``windows`` and ``check`` take, which they leave aside, and which they refuse."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click
import pytest
from typing_extensions import override

from hooks.cli import inputs
from hooks.cli.documents import UnreadableError
from hooks.cli.inputs import moment, read_inputs
from hooks.cluster.errors import Unreadable
from hooks.rotation.model import BrokenPolicy

POLICY = """
apiVersion: noderotation.io/v1alpha1
kind: RotationPolicy
metadata: {name: NAME}
spec:
  nodePoolSelector: {}
  maintenanceWindows: [{timezone: UTC, days: [Mon], start: 02:00, end: 04:00}]
"""
POOL = """
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: NAME}
spec: {template: {spec: {expireAfter: 336h}}, limits: {cpu: 4, memory: 1.5Gi}}
"""
CLAIM = """
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata:
  name: NAME
  creationTimestamp: 2026-11-29T00:00:00Z
  labels: {karpenter.sh/nodepool: api}
spec: {expireAfter: 336h}
"""


def file(folder: Path, *texts: str, name: str = "file.yaml") -> str:
    path = folder / name
    path.write_text("\n---\n".join(texts), encoding="utf-8")
    return str(path)


def named(text: str, name: str) -> str:
    return text.replace("NAME", name)


def test_each_kind_by_name(tmp_path: Path) -> None:
    names = ("b", "a")
    path = file(tmp_path, *(named(text, name) for text in (CLAIM, POOL, POLICY) for name in names))
    found = read_inputs((path,), (), None, None)
    assert [policy.name for policy in found.policies] == ["a", "b"]
    assert [pool.name for pool in found.pools] == ["a", "b"]
    assert [(claim.name, claim.uid, claim.pool) for claim in found.claims] == [
        ("a", "a", "api"),
        ("b", "b", "api"),
    ]
    assert found.claims[0].created == datetime(2026, 11, 29, tzinfo=UTC)
    assert found.pools[0].expire_after == timedelta(14)
    assert found.notes == ()


def test_what_is_left_aside_is_said(tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    file(tmp_path, named(POLICY, "api"), "kind: Deployment", "kind: Secret", "kind: Deployment")
    file(tmp_path, "apiVersion: hypershift.openshift.io/v1beta1\nkind: NodePool", name="other.yaml")
    values = file(tmp_path, "replicas: 2", name="values.yaml")
    found = read_inputs((str(tmp_path),), (), None, None)
    assert found.notes == (
        "2 Deployment ignored",
        "1 NodePool of hypershift.openshift.io/v1beta1 ignored",
        "1 Secret ignored",
        f"1 object without a kind ({values}) ignored",
        f"folder {tmp_path / 'base'} not entered",
    )


@pytest.mark.parametrize(
    ("texts", "problem"),
    [
        (("kind: Deployment",), "no RotationPolicy there"),
        (("metadata: {name: api}",), "holds an object without a kind"),
        (("kind: 1",), "holds an object without a kind"),
        (("kind: NodePool",), "apiVersion of this NodePool must be karpenter.sh/v1, not None"),
        (
            ("kind: NodePool\napiVersion: karpenter.sh/v1beta1",),
            "apiVersion of this NodePool must be karpenter.sh/v1, not 'karpenter.sh/v1beta1'",
        ),
        (("kind: NodeClaim\napiVersion: karpenter.sh/v1",), "NodeClaim without metadata.name"),
        (
            (named(POLICY, "api"), named(POLICY, "api")),
            "RotationPolicy api stands in {path} already",
        ),
        (
            (named(POLICY, "api"), named(POOL, "api").replace("cpu: 4", "cpu: many")),
            "NodePool api: spec.limits.cpu: ",
        ),
        (
            (named(POLICY, "api"), named(CLAIM, "c").replace("creationTimestamp", "created")),
            "NodeClaim c: metadata.creationTimestamp: is missing",
        ),
    ],
)
def test_what_is_refused(tmp_path: Path, texts: tuple[str, ...], problem: str) -> None:
    path = file(tmp_path, *texts)
    with pytest.raises(UnreadableError) as refused:
        read_inputs((path,), (), None, None)
    assert refused.value.message.startswith(f"{path}: {problem.format(path=path)}")


def test_a_broken_policy_is_no_unreadable_file(tmp_path: Path) -> None:
    path = file(tmp_path, named(POLICY, "api").replace("timezone", "timezones"))
    (policy,) = read_inputs((path,), (), None, None).policies
    assert isinstance(policy, BrokenPolicy)


def test_further_files_need_the_flag_once(tmp_path: Path) -> None:
    policy = file(tmp_path, named(POLICY, "api"))
    pool = file(tmp_path, named(POOL, "api"), name="pool.yaml")
    assert len(read_inputs((policy,), (pool,), None, None).pools) == 1
    with pytest.raises(click.UsageError, match=r"name files with -f, as in -f pool\.yaml"):
        read_inputs((), ("pool.yaml",), None, None)


class Cluster:
    def list_policies(self) -> list[dict[str, Any]]:
        return [{"metadata": {"name": "b"}}, {"metadata": {"name": "a"}}]

    def list_nodepools(self) -> list[dict[str, Any]]:
        return [{"metadata": {"name": "api"}, "spec": {}}]

    def list_nodeclaims(self) -> list[dict[str, Any]]:
        born = "2026-11-29T00:00:00Z"
        return [{"metadata": {"name": "c", "uid": "u", "creationTimestamp": born}}]


class BrokenCluster(Cluster):
    @override
    def list_nodeclaims(self) -> list[dict[str, Any]]:
        return [{"metadata": {"name": "c"}}]


def connected(monkeypatch: pytest.MonkeyPatch, cluster: Cluster) -> None:
    @contextmanager
    def reached(kubeconfig: str | None, context: str | None) -> Iterator[Cluster]:
        assert (kubeconfig, context) == ("config", "there")
        yield cluster

    monkeypatch.setattr(inputs, "reached", reached)


def test_the_cluster_is_read_without_files(monkeypatch: pytest.MonkeyPatch) -> None:
    connected(monkeypatch, Cluster())
    found = read_inputs((), (), "config", "there")
    assert [policy.name for policy in found.policies] == ["a", "b"]
    assert [pool.name for pool in found.pools] == ["api"]
    assert [claim.uid for claim in found.claims] == ["u"]


def test_an_object_of_the_cluster_that_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    connected(monkeypatch, BrokenCluster())
    with pytest.raises(Unreadable, match=r"NodeClaim c can't be read: metadata\.uid: is missing"):
        read_inputs((), (), "config", "there")


def test_the_moment() -> None:
    assert moment("2026-11-29T22:00:00+09:00") == datetime(2026, 11, 29, 13, tzinfo=UTC)
    before = datetime.now(UTC)
    assert before <= moment(None) <= datetime.now(UTC)


@pytest.mark.parametrize(
    "at", ["", "now", "2026-11-29", "1969-12-31T23:59:59Z", "3000-01-01T00:00:00Z", "x" * 10_000]
)
def test_moments_that_are_refused(at: str) -> None:
    with pytest.raises(click.BadParameter, match="isn't an RFC 3339 time"):
        moment(at)
