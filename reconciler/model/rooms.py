"""Rooms: what their pods carry, what they report, and what both say together.

Two stores, on purpose (DESIGN §4, ADR 10). The cluster knows a room coarsely, by a label and a few
annotations of its pod; matches, players and the times of reports stay in memory. All that is in
memory is said again by the rooms, or stands in the pod, so nothing has to be kept elsewhere.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Mark(StrEnum):
    """The coarse state on a pod, the label `gamekeeper.dev/state`. Never rename a value."""

    NONE = ""
    """It has never been heard, or its workload does not report and it stays."""
    IDLE = "idle"
    BUSY = "busy"
    ALLOCATED = "allocated"
    DRAINING = "draining"
    """It was idle when the fence before its removal began: nobody is sent to it any more."""
    FAILED = "failed"
    """It failed and stays for a post-mortem, outside the count."""


BUSY_MARKS = frozenset({Mark.BUSY, Mark.ALLOCATED})
"""What no eviction may pass and nothing voluntary may remove."""


class Why(StrEnum):
    """Why a room is to leave, the annotation `gamekeeper.dev/leaving`. Never rename a value."""

    STAYS = ""
    SCALE_IN = "scale-in"
    ROLLOUT = "rollout"
    LEFT_GIT = "left-git"
    REQUEST = "request"
    """A person, a node drain of ours, or the game itself asked for it; only a request ends it."""
    FAILED = "failed"


class Said(StrEnum):
    """What a room says of itself: Maestro's four ping states."""

    READY = "ready"
    OCCUPIED = "occupied"
    TERMINATING = "terminating"
    TERMINATED = "terminated"


class Health(StrEnum):
    """The collections' health of a server."""

    CREATING = "Creating"
    HEALTHY = "Healthy"
    FAILED = "Failed"


class GameState(StrEnum):
    """The collections' state of a server: no count is decided by it, and some protect a while."""

    IDLE = "Idle"
    ASSIGNED = "Assigned"
    RUNNING = "Running"
    POST_MATCH = "PostMatch"


COMING = frozenset({GameState.ASSIGNED, GameState.RUNNING})
"""States in which players are on their way to a room, or load, of whom no count tells yet."""


@dataclass(frozen=True, slots=True)
class Report:
    """What one request says of its room; None says nothing of it.

    `periodic` is whether the game repeats itself (Maestro's pings, `/v1` reports), or reports on
    change only (the collections' paths), so that its silence tells nothing.
    """

    periodic: bool
    said: Said | None = None
    matches: int | None = None
    players: int | None = None
    health: Health | None = None
    game_state: GameState | None = None


@dataclass(frozen=True, slots=True)
class Heard:
    """What a room has said until now, all reports laid over each other.

    Times are seconds on this process's clock that never jumps, and mean nothing to another.
    `at` is when the last report that counted came in: one that
    changed something, the first after a silence, or the first since the room drained quietly
    (`confirmed_at`); of a silent room, the last of all. So it is never later than that. `silent` is
    whether a room that reports periodically said nothing for its ping time-out.
    `said_since` is when it first said what it says now.
    """

    at: float
    periodic: bool = True
    said: Said | None = None
    matches: int = 0
    players: int = 0
    health: Health | None = None
    game_state: GameState | None = None
    silent: bool = False
    said_since: float = 0.0
    confirmed_at: float = 0.0
    """When a report was sent that told of its players, once its pod had been seen draining for the
    quiet time, 0 for never: one of before tells nothing of who was on the way."""
    tells: bool = True
    """Whether it told who plays there, by `said`, `matches` or `players`. One that is known for its
    silence, its health or its game's state alone did not, nor one that says it terminates and names
    no number: it is never taken for empty, and the counts of 0 here are nobody's word."""
    untold_since: float = 0.0
    """When it last said something new on change that is not who plays there, 0 where it told that
    since: a match begins with such a word, and its players are counted when they have loaded."""
    mixed: bool = False
    """Whether it repeats itself on one path and tells things on change only on another: these are
    not said again, so its last report is kept on its pod all the same."""
    runs: tuple[int, ...] = ()
    """`LivePod.runs` when it told of its players on change: who began anew since has lost them."""
    counted: int = 0
    """When that was, in Unix seconds by the clock of whoever led then; 0 for never, or not known.
    It is kept on the pod, where an equal count that came later need not stand."""
    after_end: bool = False
    """Whether it told of its players on change after its pod told that its game ended for good.
    By order, never by clocks; it is kept on the pod."""
    defies: tuple[int, ...] | None = None
    """`LivePod.runs` of a pod that was seen not running when it told of players after all, None
    where it was seen running: the kubelet tells late that a container was started again."""
    over_runs: tuple[int, ...] | None = None
    """`LivePod.runs` when it said last that its game is over, None where it did not since it told
    of its players: of a process that began later it is no word. It is kept on the pod."""
    long_ago: bool = False
    """Whether its players were told of in vain, so long ago that another leader may have heard
    since that they left. It is kept on the pod."""
    begun: bool = True
    """False where all that it ever said is that it is being created, or over: then nobody played
    there. It is remembered beside the mark, which may be what could not be written."""

    @property
    def busy(self) -> bool:
        """Whether anybody plays there, by what it said itself; in one that is over nobody does."""
        there = self.said is Said.OCCUPIED or self.matches > 0 or self.players > 0
        return there and self.said is not Said.TERMINATED

    @property
    def told_players(self) -> int | None:
        """How many play there, for who looks at it: None where somebody does and none was told.

        Maestro's pings know of no players, and of a 0 it is not kept whether it was told: so 0
        beside a match is believed of no game, not of one that said it.
        """
        unknown = not self.tells or (self.busy and not self.players)
        return None if unknown else self.players


def players_told(heard: Collection[Heard]) -> int | None:
    """Return how many play in these rooms, as far as they told.

    None where no number is anybody's: no room told of its players at all, or somebody plays and
    the sum is 0. Rooms that told that nobody plays there make no number of it.
    """
    numbers = [said.told_players for said in heard]
    told = [number for number in numbers if number is not None]
    total = sum(told)
    unknown = bool(numbers) and not told
    return None if unknown or (not total and any(said.busy for said in heard)) else total


NOTHING_HEARD: Mapping[str, Heard] = {}


@dataclass(frozen=True, slots=True)
class Ears:
    """What is heard of one workload's rooms at one instant, by pod uid; immutable.

    The same value is handed out again until something that counts changes. `deaf` says why our
    own ears are suspect, "" while they are not: then nothing is replaced for its silence.
    `since` is when this process began to listen, on its clock that never jumps. `deaf_on` says of
    single nodes why their rooms may be heard by nobody, `deaf_here` of this workload. `again_on`
    says since when those of a node are heard that were not, or, under "", those of all nodes.
    """

    rooms: Mapping[str, Heard] = field(default_factory=dict)
    deaf: str = ""
    since: float = 0.0
    deaf_on: Mapping[str, str] = field(default_factory=dict)
    deaf_here: str = ""
    again_on: Mapping[str, float] = field(default_factory=dict)

    def since_on(self, node: str) -> float:
        """Return since when the rooms on this node are listened to, with good ears."""
        again = self.again_on
        return max(self.since, again.get("", 0.0), again.get(node, 0.0)) if again else self.since

    def deaf_to(self, node: str) -> str:
        """Return why a room on this node may be heard by nobody, "" where nothing says so."""
        return self.deaf or self.deaf_here or self.deaf_on.get(node, "")


NO_EARS = Ears()


class RoomState(StrEnum):
    """The state of a room: its pod's state and what it reports, told together."""

    PENDING = "pending"
    """Not running yet: not scheduled, pulling its image, starting."""
    UNREADY = "unready"
    """Running, and not ready to take players, or never heard."""
    READY = "ready"
    ACTIVE = "active"
    """Partly full: some of its matches run."""
    OCCUPIED = "occupied"
    ALLOCATED = "allocated"
    DRAINING = "draining"
    TERMINATING = "terminating"
    TERMINATED = "terminated"
    ERROR = "error"


OPEN_STATES = frozenset({RoomState.READY, RoomState.ACTIVE})
"""In these a room takes players, unless it is to leave or is not heard."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What a room is, and the two answers that follow from it (DESIGN §4).

    `protected` says why it may not go by our own doing, "" when it may; `demand` is whether it
    serves players, as last recorded; `up` whether it counts as ready for a roll-out;
    `unheard` whether it was ready once, runs, and no valid report of it is known.
    `again_in_seconds` is when time alone may change the answer, None where it cannot.
    """

    state: RoomState
    reason: str
    protected: str = ""
    demand: bool = False
    up: bool = False
    unheard: bool = False
    again_in_seconds: float | None = None
