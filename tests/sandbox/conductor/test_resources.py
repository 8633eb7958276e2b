"""Resources are looked up by plural or by kind, and remembered."""

from __future__ import annotations

import pytest

from hooks.sandbox.apiport import Resource
from hooks.sandbox.conductor.resources import Discovery
from hooks.sandbox.failures import ApiError, UnknownResourceError
from tests.sandbox.conductor.memory_api import MemoryApi
from tests.sandbox.conductor.world import PODS, SERVED


def test_a_resource_is_found_by_plural_and_by_kind_and_asked_for_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    api = MemoryApi(*SERVED)
    discovery = Discovery(api)
    assert discovery.by_plural("v1", "pods") == PODS

    def refuse(_api_version: str) -> list[Resource]:
        raise AssertionError("asked again")

    monkeypatch.setattr(api, "resources", refuse)
    assert discovery.by_kind("v1", "Pod") == PODS


def test_a_miss_asks_again_so_that_later_kinds_are_found() -> None:
    api = MemoryApi(*SERVED)
    discovery = Discovery(api)
    with pytest.raises(UnknownResourceError, match="can't find kind 'Late' in apiVersion 'v1'"):
        discovery.by_kind("v1", "Late")
    late = Resource("v1", "lates", "Late", namespaced=True)
    api.served.append(late)
    assert discovery.by_kind("v1", "Late") == late


def test_a_group_that_is_not_served_is_unknown_but_a_failing_server_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    api = MemoryApi(*SERVED)
    discovery = Discovery(api)
    with pytest.raises(UnknownResourceError):
        discovery.by_plural("nobody.io/v1", "things")

    def fail(_api_version: str) -> list[Resource]:
        raise ApiError(503, "ServiceUnavailable", "not now")

    monkeypatch.setattr(api, "resources", fail)
    with pytest.raises(ApiError, match="not now"):
        discovery.by_plural("nobody.io/v1", "things")
