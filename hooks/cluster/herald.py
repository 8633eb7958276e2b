"""Creates Events, each once: what was announced is remembered, and a repeat costs no call.

What an API server that isn't available didn't take is tried again after a while; what it refuses is
not, as it would be refused each time.

Owns the memory, the limits and the shape of an Event of a rotation (that of a graceful drain is
:mod:`hooks.cluster.drain`'s). What an Event is about and when it is due is decided in
:mod:`hooks.rotation`. Source: design/rotation.md section 3 *Counting* and section 4.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final, Protocol

from hooks import names
from hooks.cluster.answers import Json
from hooks.cluster.errors import ClusterError, OutOfTime, Unavailable
from hooks.cluster.verbs import EVENT_TIME
from hooks.recent import Recent
from hooks.rotation.durations import format_stamp
from hooks.rotation.writes import Announce

LONGEST_NOTE: Final = 1000
"""In bytes; the API server refuses more than 1024."""
LONGEST_MEMORY: Final = 100_000
"""How many names are remembered; the oldest go first."""
PAUSE: Final = 10
"""How many passes an Event waits for its next attempt."""
MOST_AT_ONCE: Final = 20
"""How many Events a pass creates after its writes; the next pass goes on with the others."""


class EventApi(Protocol):
    """What a herald needs of an API view; see :class:`hooks.cluster.verbs.Api`."""

    def briefly(self, seconds: float) -> EventApi:
        """Give the same, with a deadline at most ``seconds`` from now."""

    def create_event(self, namespace: str, body: Json) -> bool:
        """Create an Event; False when one of that name is there already."""


class Announced:
    """The names of the Events that this process created, found there or may not create.

    Beside them, of which it has counted the transition: that happens once, also when an Event comes
    only at a later attempt. After a failed one it is passed over ``pause`` times: an Event API that
    hangs holds up no pass for long.
    """

    def __init__(self, pause: int = 0) -> None:
        self._pause = pause
        self._names: Recent[str, str] = Recent(LONGEST_MEMORY)
        self._failed: Recent[str, int] = Recent(LONGEST_MEMORY)
        self._counted: Recent[str, str] = Recent(LONGEST_MEMORY)

    def knows(self, name: str) -> bool:
        """Whether it was announced; what is asked for stays in mind."""
        return self._names.get(name) is not None

    def is_due(self, name: str) -> bool:
        """Whether it is to be created now; asking passes over what has failed."""
        if self.knows(name):
            return False
        pause = self._failed.get(name)
        if not pause:
            return True
        self._failed.note(name, pause - 1)
        return False

    def remember(self, name: str) -> None:
        """Keep the name."""
        self._names.note(name, name)

    def fail(self, name: str) -> None:
        """Keep in mind that it couldn't be created just now."""
        self._failed.note(name, self._pause)

    def count(self, name: str) -> bool:
        """Whether it has not been counted until now."""
        return self._counted.note(name, name) is None


class Herald:
    """Announces for one pass, through its API view.

    ``counted`` are the names of those Events that nobody else had created before (or that could not
    be created at all: a transition counts even when the Event API fails, once in each process).
    """

    def __init__(self, api: EventApi, announced: Announced) -> None:
        self._api = api
        self._announced = announced
        self.counted: set[str] = set()

    def announce(self, announce: Announce) -> None:
        """Create one Event; a failing Event API is no error. Raises OutOfTime: nothing was sent."""
        self.post(event_body(announce))

    def post(self, body: Json) -> None:
        """As :meth:`announce`, for an Event whose body is made already."""
        self._post(self._api, body)

    def tell(self, announces: Iterable[Announce]) -> None:
        """Create what tells of a pass that is over; all of it in a second, or later, or not at all.

        Never raises. What there was no time for is due again in the next pass.
        """
        due = [one for one in announces if self._announced.is_due(one.name)]
        if not due:
            return
        api = self._api.briefly(EVENT_TIME)
        try:
            for one in due[:MOST_AT_ONCE]:
                if not self._post(api, event_body(one)):
                    return
        except OutOfTime:
            return

    def _post(self, api: EventApi, body: Json) -> bool:
        """Create it if it is due; whether the Event API works."""
        name = body["metadata"]["name"]
        if not self._announced.is_due(name):
            return True
        created: bool | None = None
        try:
            created = api.create_event(body["metadata"]["namespace"], body)
            self._announced.remember(name)
        except OutOfTime:
            raise
        except Unavailable:
            self._announced.fail(name)
        except ClusterError:
            self._announced.remember(name)
        if created is not False and self._announced.count(name):
            self.counted.add(name)
        return created is not None


def event_body(write: Announce) -> Json:
    """The events.k8s.io/v1 Event; one about a cluster-scoped object lives in ``default``."""
    regarding = {
        "apiVersion": "karpenter.sh/v1",
        "kind": write.kind,
        "name": write.regarding,
        "uid": write.regarding_uid,
    }
    return {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": write.name, "namespace": names.EVENT_NAMESPACE},
        "reportingInstance": names.DECORATOR_CONTROLLER,
        "action": "Rotate",
        "reason": write.reason,
        "type": "Warning" if write.warning else "Normal",
        "regarding": {key: value for key, value in regarding.items() if value},
        **stamped(write.at, write.note),
    }


def stamped(at: datetime, note: str) -> Json:
    """The fields of an Event that look the same whatever it is about."""
    return {
        "eventTime": format_stamp(at).removesuffix("Z") + ".000000Z",
        "reportingController": names.REPORTING_CONTROLLER,
        "note": note.encode()[:LONGEST_NOTE].decode(errors="ignore"),
    }
