"""What a scenario may rely on, on the embedded cluster as on a real one."""

from __future__ import annotations

from datetime import timedelta

import pytest
from typing_extensions import override

from hooks.cluster.verbs import Api
from hooks.rotation.answer import Conclusion
from hooks.rotation.model import Observation
from hooks.sandbox.objects import Obj
from hooks.sync.nodepool import NodePoolSync
from tests.scenarios.catalogue.pools import idles
from tests.scenarios.embedded_hooks import STARTING
from tests.scenarios.embedded_stage import EmbeddedStage
from tests.scenarios.interposer import Sent
from tests.scenarios.manifests import Shape
from tests.scenarios.story import PLACEHOLDERS, Story, begin


def surging(stage: EmbeddedStage) -> Story:
    """A pool of one node that is to be rotated."""
    story = begin(stage, Shape(stateful=0))
    story.govern()
    story.ask()
    return story


def test_a_moment_is_seen_when_all_is_done() -> None:
    with EmbeddedStage("seen") as stage:
        name = surging(stage).placeholder().name
        (told,) = stage.api.get("Pod", name, PLACEHOLDERS)["status"]["conditions"]
    assert (told["type"], told["status"]) == ("PodScheduled", "False")


def test_what_happens_within_a_call_takes_no_time() -> None:
    dead: list[Sent] = []
    with EmbeddedStage("killed") as stage:
        story = begin(stage, Shape(stateful=0))
        story.govern()
        before = stage.now()

        def kill(sent: Sent) -> None:
            stage.hooks.kill()
            dead.append(sent)

        with stage.intercept(story.patch('"pending"', after=kill)):
            story.ask()
            stage.wait_until("the hook server is dead", lambda: bool(dead))
        assert stage.now() == before


def test_programs_take_their_time_to_start() -> None:
    with EmbeddedStage("started") as stage:
        before = stage.now()
        assert stage.command("abort", "nothing").status != 0
        stage.hooks.kill()
        stage.hooks.start()
        assert stage.now() - before == timedelta(seconds=2 * STARTING)


def test_deletions_are_in_the_background_unless_told_otherwise() -> None:
    with EmbeddedStage("deleted") as stage:
        begin(stage, Shape(stateful=0))
        stage.api.delete("Deployment", "deleted", "default", foreground=True)
        stage.api.delete("DaemonSet", "deleted", "default")
        kinds = ("Deployment", "DaemonSet")
        found = [stage.api.find_one(kind, "deleted", "default") for kind in kinds]
    assert [_finalizers(one) for one in found] == [["foregroundDeletion"], None]


def _finalizers(one: Obj | None) -> object:
    return one and one["metadata"]["finalizers"]


def test_a_write_in_each_pass_is_no_idling(monkeypatch: pytest.MonkeyPatch) -> None:
    carry_out = NodePoolSync.carry_out

    def chatter(self: NodePoolSync, obs: Observation, api: Api, request_id: str) -> Conclusion:
        done = carry_out(self, obs, api, request_id)
        api.create_event("default", _event(f"noderotation-{request_id}"))
        return done

    with EmbeddedStage("idle") as stage:
        story = surging(stage)
        story.finish()
        idles(story, 120.0)
        monkeypatch.setattr(NodePoolSync, "carry_out", chatter)
        with pytest.raises(AssertionError):
            idles(story, 120.0)


class Marking(EmbeddedStage):
    """A cluster on which, while time goes by, somebody marks each Node."""

    @override
    def pause(self, seconds: float) -> None:
        super().pause(seconds)
        marks = {"metadata": {"annotations": {"noderotation.io/surge-for": "somebody"}}}
        for node in self.api.find("Node"):
            self.api.patch("Node", node["metadata"]["name"], marks)


def test_a_mark_on_a_node_is_no_idling() -> None:
    with Marking("marked") as stage:
        story = begin(stage, Shape(stateful=0))
        with pytest.raises(AssertionError):
            idles(story, 1.0)


def _event(name: str) -> Obj:
    return {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": name, "namespace": "default"},
        "eventTime": "2026-11-30T02:00:00.000000Z",
        "reportingController": "noderotation.io/hooks",
        "reportingInstance": "noise",
        "action": "Noise",
        "reason": "Noise",
        "type": "Normal",
        "note": "noise",
        "regarding": {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "name": "idle"},
    }
