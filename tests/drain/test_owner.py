from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hooks.drain.model import Kind, Owner, Revision, Unreadable
from hooks.drain.owner import is_older, owner_of, read_revision
from tests.drain.things import DEPLOYMENT, POD, REPLICA_SET

SET = Owner("apps/v1", "ReplicaSet", "web-1", "set-1", controller=True)


def owned(*owners: Owner) -> Any:
    return owner_of(replace(POD, owners=owners), Kind.REPLICA_SET)


def test_the_controller_of_a_pod_is_found_beside_other_owners() -> None:
    other = Owner("example.com/v1", "Backup", "nightly", "b-1")
    assert owned(other, SET) == SET
    assert owner_of(REPLICA_SET, Kind.DEPLOYMENT) == REPLICA_SET.owners[0]


@pytest.mark.parametrize(
    "changes",
    [
        {"controller": False},
        {"kind": "StatefulSet"},
        {"kind": "replicaset"},
        {"kind": "Deployment"},
        {"api_version": "argoproj.io/v1alpha1"},
        {"api_version": "apps.example.com/v1"},
        {"api_version": "extensions/v1beta1"},
        {"api_version": "apps"},
        {"api_version": "v1"},
        {"api_version": ""},
        {"api_version": "/v1"},
    ],
    ids=str,
)
def test_whoever_else_owns_the_pod_is_no_replica_set(changes: dict[str, Any]) -> None:
    assert owned(replace(SET, **changes)) is None


def test_any_version_of_the_group_will_do() -> None:
    later = replace(SET, api_version="apps/v2")
    assert owned(later) == later


def test_a_pod_of_nobody_has_no_owner() -> None:
    assert owned() is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, None),
        ("0", 0),
        ("12", 12),
        ("9" * 18, int("9" * 18)),
        ("9" * 19, Unreadable("9" * 19)),
        ("9" * 5000, Unreadable("9" * 5000)),
        ("", Unreadable("")),
        ("-1", Unreadable("-1")),
        (" 1", Unreadable(" 1")),
        ("1.0", Unreadable("1.0")),
        ("two", Unreadable("two")),
        ("\u0662", Unreadable("\u0662")),
        ("\u00b2", Unreadable("\u00b2")),
    ],
)
def test_a_revision_is_digits(text: str | None, expected: Revision) -> None:
    assert read_revision(text) == expected


@pytest.mark.parametrize(
    ("own", "newest", "older"),
    [
        (1, 2, True),
        (9, 10, True),
        (2, 2, False),
        (3, 2, False),
        (None, 2, False),
        (1, None, False),
        (Unreadable("x"), 2, False),
        (1, Unreadable("x"), False),
        (None, None, False),
    ],
)
def test_only_a_lower_revision_is_known_to_be_replaced(
    own: Revision, newest: Revision, *, older: bool
) -> None:
    replica_set = replace(REPLICA_SET, revision=own)
    present = replace(DEPLOYMENT, revision=newest, template={"spec": "new"})
    assert is_older(replica_set, present) is older
    assert not is_older(replica_set, replace(present, template=replica_set.template))
