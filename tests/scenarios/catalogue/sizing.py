"""What a successor must be like, and when there is no room for one."""

from __future__ import annotations

from tests.scenarios.catalogue.endings import WITHOUT_A_SURGE
from tests.scenarios.manifests import Shape
from tests.scenarios.registry import scenario
from tests.scenarios.stage import Object, Stage
from tests.scenarios.story import Story, begin

ZONE = "topology.kubernetes.io/zone"
SPECIAL = {"example.com/widget": "2", "hugepages-2Mi": "536870912"}
"""What the instance type with 7 CPUs has beside the usual, enough for one Pod."""


@scenario()
def extended_resources_and_hugepages(stage: Stage) -> None:
    """A placeholder asks for extended resources and huge pages as the Pods do, limits included."""
    story = begin(stage, Shape(cpu="7", extra=SPECIAL))
    story.govern()
    story.ask()
    resources = story.placeholder().object["spec"]["containers"][0]["resources"]
    story.finish()

    assert resources["limits"] == SPECIAL
    assert {key: resources["requests"][key] for key in SPECIAL} == SPECIAL
    assert story.complaints() == []
    assert sorted(story.reports()) == [("RotationCompleted", one) for one in story.originals]


@scenario(takes=80)
def a_successor_in_the_same_zone(stage: Stage) -> None:
    """Each successor is in the zone of the node that it replaces."""
    story = begin(stage, Shape(stateful=1, stateless=2))
    story.govern()
    story.ask()
    story.finish()

    zones = [
        (_zone(story, one.node), _zone(story, _host(story, one.claim))) for one in story.rotations()
    ]
    assert len(zones) == 3
    assert [before for before, _ in zones] == [after for _, after in zones]
    assert story.complaints() == []


@scenario()
def limits_leave_no_room(stage: Stage) -> None:
    """Nothing starts while the NodePool's limits have no room for a successor."""
    story = begin(stage)
    stage.wait_until("both nodes are counted", lambda: _used(story, "nodes") == "2")
    cpu = _used(story, "cpu")
    used = float(cpu[:-1]) / 1000 if cpu.endswith("m") else float(cpu)
    _limit(story, int(used) + 1)
    story.govern()
    story.ask()
    story.stays("nothing starts", story.unanchored, 8.0)
    _limit(story, 40)
    story.finish()

    assert story.complaints() == []
    assert sorted(story.reports()) == [("RotationCompleted", one) for one in story.originals]


@scenario(takes=90)
def a_static_pool(stage: Stage) -> None:
    """A static NodePool can't surge: nothing starts until a fallback is allowed."""
    story = begin(stage, Shape(static=2, lifetime="10m", grace="10s"))
    story.world.live_for("720h")
    story.govern(surge={"readyTimeout": "9m"})
    story.ask()
    story.stays("nothing starts", story.unanchored, 8.0)
    story.amend(surge={"forcefulFallback": {"enabled": True}})
    story.finish()

    assert story.complaints(without=WITHOUT_A_SURGE) == []
    assert sorted(story.reports()) == [("RotationCompleted", one) for one in story.originals]


def _used(story: Story, resource: str) -> str:
    used: str = story.world.pool().get("status", {}).get("resources", {}).get(resource, "0")
    return used


def _limit(story: Story, cpus: int) -> None:
    limits = {"limits": {"cpu": str(cpus)}}
    story.stage.api.patch("NodePool", story.pool, {"spec": limits})


def _zone(story: Story, node: str) -> str:
    zones = [c.object["metadata"]["labels"][ZONE] for c in story.changes if c.name == node]
    return zones[-1] if zones else ""


def _host(story: Story, claim: str) -> str:
    pods: list[Object] = [
        c.object for c in story.changes if c.name == f"noderotation-surge-{claim}"
    ]
    hosts: list[str] = [pod["spec"]["nodeName"] for pod in pods if "nodeName" in pod["spec"]]
    return hosts[-1]
