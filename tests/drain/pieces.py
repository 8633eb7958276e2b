"""The webhook and the sync hook on the model of a cluster, each able to stop between its steps.

What :mod:`hooks.admission` and :mod:`hooks.sync` do with the core, without bytes; kept so small that
a look shows it. The webhook's memory is the real one.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from hooks.admission.memory import Memory
from hooks.drain.consequences import Verdict
from hooks.drain.model import Case, Deployment, Kind, Read, Terms, Unread
from hooks.drain.progress import Step, confirm, progress
from hooks.drain.reasons import Answer, Reason
from hooks.drain.verdict import failed, judge
from hooks.drain.writes import PatchDeployment
from hooks.rotation.durations import parse_stamp
from tests.drain.cluster import Cluster, Conflict, Container, review_of
from tests.drain.things import TIMEOUT

OPT_IN: Final = "drain"


def terms(cluster: Cluster) -> Terms:
    """Now, and the settings: opting in is by annotation."""
    return Terms(cluster.now, TIMEOUT, OPT_IN)


@dataclass
class Asked:
    """An eviction whose verdict is made and whose patch, if any, hasn't been sent yet."""

    cluster: Cluster
    memory: Memory
    pod: Container
    case: Case
    verdict: Verdict
    landed: PatchDeployment | None = None

    @classmethod
    def about(cls, cluster: Cluster, pod: Container, memory: Memory | None = None) -> Asked:
        """Read and judge, as the process with this memory, or as one that has just started."""
        memory = memory or Memory(TIMEOUT)
        case, verdict = _judged(cluster, memory, Case(review_of(pod), terms(cluster)))
        return cls(cluster, memory, pod, case, verdict)

    @property
    def deployment(self) -> Deployment:
        """What the verdict rests on."""
        there = self.case.deployment
        assert isinstance(there, Deployment)
        return there

    def finish(self) -> Verdict:
        """Send the patch, once more when it is lost, note the answer, and give it."""
        self._write()
        if self.verdict.patch is None or self.landed is not None:
            self.memory.note(self.case, self.verdict)
        else:
            self.verdict = failed(Reason.TRACKING_NOT_WRITTEN, "lost twice")
        return self.verdict

    def _write(self) -> None:
        for _ in range(2):
            wanted = self.verdict.patch
            if wanted is None:
                return
            try:
                self.cluster.patch(wanted)
            except Conflict:
                again = self.memory.recall(replace(self.case, deployment=Unread.UNREAD))
                self.case, self.verdict = _judged(self.cluster, self.memory, again)
            else:
                self.landed = wanted
                return


def _judged(cluster: Cluster, memory: Memory, case: Case) -> tuple[Case, Verdict]:
    while isinstance(found := judge(case), Read):
        case = cluster.read(case, found)
        if found.kind is Kind.POD:
            case = memory.recall(case)
    return case, found


@dataclass
class Syncing:
    """A sync of a version that the cache has, whose patch, if any, hasn't been sent yet."""

    cluster: Cluster
    seen: Deployment
    begun: set[object] = field(default_factory=set)
    """The tracking values that this process began a rollout for."""
    step: Step = field(init=False)

    def __post_init__(self) -> None:
        now, seen = terms(self.cluster), self.seen
        self.step = progress(seen, now, begun=seen.restarted_at in self.begun)
        if self.step.patch is not None or self.step.ending is not None:
            live = self.cluster.deployment
            self.step = confirm(live, now, begun=live.restarted_at in self.begun)

    def send(self) -> PatchDeployment | None:
        """Send the patch; what landed."""
        if self.step.patch is None:
            return None
        try:
            self.cluster.patch(self.step.patch)
        except Conflict:
            return None
        self.begun.add(parse_stamp(self.step.patch.restarted_at))
        return self.step.patch

    def answer(self) -> bool:
        """Let Metacontroller have the answer; whether it cleared tracking."""
        return self.step.clear and self.cluster.clear(self.seen)


def is_denied(verdict: Verdict) -> bool:
    """Whether the evictor gets a 429."""
    return verdict.answer is Answer.DENY
