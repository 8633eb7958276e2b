"""The graceful drain as a whole on the embedded cluster: webhook, hook, rollout, and the verdict."""

from __future__ import annotations

from random import Random

import pytest

from hooks import names
from hooks.sandbox.controllers.kubelets import DEAD, KUBELET
from hooks.sandbox.objects import name_of
from hooks.sandbox.store.kinds import DEPLOYMENTS
from tests.planning.drains import NEW, OLD, SHOP, SPARE, TILL, Shop

DENIED, DONE = 429, 201
GAP = ["ready_pod_remains", "ready_endpoint_remains"]
ROLLED = [names.DRAIN_TRIGGERED, names.DRAIN_COMPLETED]


def test_the_only_pod_goes_after_its_successor_is_ready() -> None:
    with Shop() as shop:
        shop.drain(OLD)
        shop.wait(120)
        assert shop.broken == []
        assert set(shop.statuses) == {DENIED}, "the rollout itself takes the Pod away"
        assert shop.pod()["spec"]["nodeName"] == NEW
        assert sorted(shop.marks) == ["last-pod-uid", "rolled-for"]
        assert shop.told == ROLLED


def test_without_the_webhook_the_same_drain_makes_a_gap() -> None:
    with Shop(registered=False) as shop:
        shop.drain(OLD)
        shop.wait(120)
        assert (shop.broken, shop.statuses, shop.told) == (GAP, [DONE], [])


def test_a_webhook_that_is_away_holds_nobody_up() -> None:
    with Shop() as shop:
        shop.kill_webhook()
        shop.drain(OLD)
        shop.wait(120)
        assert (shop.broken, shop.statuses) == (GAP, [DONE])


def test_a_dry_run_writes_nothing() -> None:
    with Shop() as shop:
        before = shop.store.revision
        assert shop.evict(name_of(shop.pod()), "?dryRun=All") == DONE
        assert shop.store.revision == before


def test_a_hook_server_that_dies_goes_on_where_it_was() -> None:
    with Shop() as shop:
        shop.kill_hooks()
        shop.drain(OLD)
        shop.wait(30)
        shop.start_hooks()
        shop.wait(10)
        shop.kill_hooks()
        shop.wait(30)
        shop.start_hooks()
        shop.wait(120)
        assert (shop.broken, set(shop.statuses)) == ([], {DENIED})
        assert shop.told == ROLLED


def test_a_rollout_that_never_gets_ready_lets_the_drain_go_on_in_the_end() -> None:
    with Shop() as shop:
        shop.cordon(NEW)
        shop.node(SPARE, **{KUBELET: DEAD})
        shop.drain(OLD, every=10)
        shop.wait(590)
        assert set(shop.statuses) == {DENIED}
        shop.wait(60)
        assert shop.statuses[-1] == DONE
        assert shop.statuses.count(DONE) == 1, "and nobody is denied again"
        assert shop.broken == []
        assert shop.told == [names.DRAIN_TRIGGERED, names.DRAIN_TIMEOUT]


def test_the_successor_is_not_evicted_while_both_are_ready() -> None:
    with Shop() as shop:
        shop.node(SPARE)
        shop.drain(OLD)
        shop.wait(12)
        (successor,) = [pod for pod in shop.pods() if pod["spec"].get("nodeName") != OLD]
        shop.drain(successor["spec"]["nodeName"], every=1)
        shop.wait(180)
        assert (shop.broken, set(shop.statuses)) == ([], {DENIED, DONE})
        assert shop.pod()["spec"]["nodeName"] not in {OLD, successor["spec"]["nodeName"]}


def test_gitops_that_takes_the_restart_back_takes_the_protection_back() -> None:
    """The old Pod is the current one again; a second rollout for it would be a loop."""
    with Shop() as shop:
        shop.drain(OLD)
        shop.wait(8)
        shop.revert_restart()
        shop.wait(180)
        assert (shop.broken, shop.statuses) == (GAP, [DENIED, DENIED, DONE])
        assert shop.pod()["spec"]["nodeName"] == NEW


def test_an_autoscaler_that_goes_to_two_and_back() -> None:
    with Shop() as shop:
        shop.drain(OLD)
        shop.wait(6)
        shop.patch({"spec": {"replicas": 2}})
        shop.wait(60)
        shop.patch({"spec": {"replicas": 1}})
        shop.wait(120)
        assert shop.broken == []
        assert shop.pod()["spec"]["nodeName"] == NEW


def test_two_evictors_at_once_make_one_rollout() -> None:
    with Shop() as shop:
        shop.drain(OLD, every=3)
        shop.drain(OLD, every=2)
        shop.wait(120)
        revision = shop.store.get(DEPLOYMENTS, SHOP, TILL)["metadata"]["annotations"]
        assert (shop.broken, revision[names.REVISION]) == ([], "2")


@pytest.mark.parametrize("seed", range(6))
def test_whatever_happens_in_between_the_promises_are_kept(seed: int) -> None:
    """Drains of either Node, crashes of the hook server, at moments that chance picks."""
    chance = Random(seed)
    with Shop(ready_after=f"{chance.randrange(6)}s") as shop:
        shop.node(SPARE)
        shop.drain(OLD, every=chance.choice([1, 3, 10]))

        def drain_again() -> None:
            shop.drain(OLD, every=chance.choice([2, 7]))

        def drain_the_other() -> None:
            shop.drain(NEW, every=chance.choice([2, 7]))

        deeds = (shop.kill_hooks, drain_again, drain_the_other)
        for deed in chance.sample(deeds, len(deeds)):
            shop.wait(chance.uniform(0.1, 25))
            deed()
            shop.wait(chance.uniform(0.1, 25))
            shop.kill_hooks()
            shop.start_hooks()
        shop.wait(1200)
        assert shop.broken == []
        assert shop.pod()["spec"]["nodeName"] == SPARE
