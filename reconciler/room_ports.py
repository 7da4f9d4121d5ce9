"""The seams between rooms and us: who asks at the HTTP server, and what answers behind it.

`adapters/http` speaks Maestro's paths, the collections' and our own, and knows of the rest only
these two Protocols. `service/rooms` is the desk, `service/doors` keeps the door.
"""

import math
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

from reconciler.core.fence import Verdict
from reconciler.model.errors import NotFound
from reconciler.model.live import LivePod
from reconciler.model.refs import Json, WorkloadKey
from reconciler.model.rooms import Heard, Judged, Report

Way = Literal["maestro", "collections", "v1"]
"""On whose paths somebody speaks."""
Taken = Literal["taken", "malformed", "refused", "limited", "unknown", "gone", "unavailable"]
"""What became of a report: 200, 4xx for its content, 401 or 403, 429, 404, 410, 503."""


@dataclass(frozen=True, slots=True)
class RoomView:
    """One room at one instant. `address` is its public address, "" until it has a node.

    `available` is whether a matchmaker may be told of it: ready or active, not leaving, and not
    `overdue`: one that repeats itself and has not been heard for longer than it ever paused, or one
    that repeats nothing while it may be heard by nobody.
    `matches_max` is how many matches it takes. `heard_at` is when the last report came in that
    changed something, in Unix seconds, 0 where none did: `heard` has a clock of its own.
    """

    key: WorkloadKey
    pod: LivePod
    judged: Judged
    heard: Heard | None
    address: str
    available: bool
    matches_max: int = 1
    heard_at: float = 0.0
    overdue: bool = False


@dataclass(frozen=True, slots=True)
class Happening:
    """Something that a room told: a room event or a player event, passed on and not judged."""

    kind: Literal["room", "player"]
    name: str
    metadata: Mapping[str, str] = field(default_factory=dict)
    at: float = 0.0


@dataclass(frozen=True, slots=True)
class Change:
    """One line of a watch: a room as it is now, gone, or something that it told."""

    type: Literal["room", "gone", "event"]
    room: RoomView
    happening: Happening | None = None


class Namesakes(NotFound):
    """A name that workloads of several `namespaces` have: it alone tells nobody which is meant."""

    def __init__(self, message: str, namespaces: Sequence[str]) -> None:
        super().__init__(message)
        self.namespaces = tuple(namespaces)


class Came(NamedTuple):
    """When a request came, in seconds of the clock that never jumps; infinite for at once.

    `begun` is when its first byte was read, after a pause of ours when we went on: by that reports
    are put in order. It may have been `sent` earlier, and surely was not before that: of what is
    read after a pause nobody knows when in the pause it came.
    """

    begun: float = math.inf
    sent: float = math.inf

    @property
    def in_pause(self) -> bool:
        """Whether this process stood still when it may have been sent."""
        return self.sent < self.begun


AT_ONCE = Came()


class Desk(Protocol):
    """The rooms that this process keeps, for whoever asks at the door.

    Raises NotFound (never was), Gone (is no more), Unavailable (not read yet, not the leader,
    the cluster does not take a write that must stand before the answer).
    """

    def closed(self) -> str:
        """Why nothing is answered now ("another process leads"), "" when it is: a 503."""

    def find(self, workload: str, room: str) -> RoomView:
        """Find a room by the name of its workload and its own, as Maestro's paths name it.

        Raises Namesakes where workloads of several namespaces have this name.
        """

    def find_in(self, namespace: str, room: str) -> RoomView:
        """Find a room by its namespace and name, as the collections' bodies name it."""

    async def report(self, room: RoomView, report: Report, came: Came = AT_ONCE) -> RoomView:
        """Take in what a room says of itself; return the room afterwards.

        What turns it busy stands on its pod before this returns. One that was sent before a
        draining room had been left alone for its quiet time does not say that it is empty since,
        and one that begun before players were told of empties it of none of them.
        """

    def last_seen(self, namespace: str, room: str) -> LivePod | None:
        """Return the pod of a room as it was seen last, though nothing is answered now."""

    def turned_away(self, pod: LivePod, players: int, came: Came) -> None:
        """Note how many players a room tells of while nothing is taken in.

        A game that reports on change may give up: whoever leads in this process next knows of it.
        """

    def spoke_at(self, room: RoomView) -> float:
        """When a room spoke last, whatever it said, in Unix seconds; 0 where it never did to us.

        Asked when it is shown: a view is not made anew for a report that says nothing new.
        """

    def fence(self, room: RoomView) -> Verdict | None:
        """Whether the loop may delete a room now that is to leave, and by what; None if it stays.

        Asked when it is shown: time alone changes the answer.
        """

    async def leave(self, room: RoomView, leaves: bool, by: str, *, own: bool) -> RoomView:
        """Ask that a room leave when it is empty, or take that back; `by` is told in the log.

        `own` is whether the room itself asks.
        """

    def happened(self, room: RoomView, happening: Happening) -> None:
        """Pass an event on to those who watch."""

    def rooms(self, workload: WorkloadKey | None = None) -> Iterable[RoomView]:
        """Every room of one workload, or of all; sorted by name."""

    def workloads(self) -> Iterable[WorkloadKey]:
        """Every workload that has rooms or is wanted."""

    def changes(self, workload: WorkloadKey | None = None) -> AsyncIterator[Change]:
        """Follow rooms from now on; ends when this process leads no more, or a reader is slow."""


@dataclass(frozen=True, slots=True)
class Credential:
    """What somebody showed. `kind` is how: a bearer token, or the collections' `code`."""

    kind: Literal["none", "bearer", "code"]
    secret: str = field(default="", repr=False)


class NotAdmitted(Exception):
    """Nobody is let in like that: `status` is 401 (unknown), 403 (not allowed) or 429 (guesses)."""

    def __init__(self, status: int, message: str, retry_after_seconds: float = 0.0) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after_seconds = retry_after_seconds


Verb = Literal["read", "drain", "commit"]


class Unmade(Exception):
    """No Fleet is made or removed like that: `status` is 400, 404, 409 or 503."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Fleets(Protocol):
    """Fleets that people make and remove: each by a commit. Raises Unmade."""

    def wanted(self, collection: Json) -> WorkloadKey:
        """Return which Fleet a collection asks for."""

    def known(self, name: str) -> WorkloadKey:
        """Return which Fleet has a name; one that is nowhere would have its own namespace."""

    async def make(self, collection: Json, by: str) -> str:
        """Commit the Fleet that a collection describes, as `by` asks; return the commit's id."""

    async def remove(self, fleet: WorkloadKey, by: str) -> str:
        """Commit that this very Fleet leaves Git, as `by` asks; return the commit's id."""


class Door(Protocol):
    """Who may speak for a room, who may look, who may act. Raises NotAdmitted, Unavailable."""

    async def admit_room(
        self, namespace: str, name: str, pod: LivePod | None, shown: Credential, peer: str
    ) -> None:
        """Let a room's own voice in; `pod` is the live room of that name, None where none is.

        The same answer, after the same work, for a room that is not there and for a credential
        that is not its own. Raises Gone where the credential is of an earlier pod of that name.
        """

    async def whose(
        self, namespaces: Sequence[str], name: str, shown: Credential, peer: str
    ) -> str:
        """Return in which of some namespaces the room `name` is that speaks, "" if nothing tells.

        It tells rooms of one name apart and lets nobody in: `admit_room` does.
        """

    async def admit_reader(self, shown: Credential, peer: str) -> bool:
        """Let somebody read the collections' lists, which are open unless a code is asked for.

        Returns whether it is somebody known, and no room.
        """

    async def admit_person(
        self, shown: Credential, peer: str, verb: Verb, workload: WorkloadKey | None
    ) -> str:
        """Let somebody administer; return who it is."""
