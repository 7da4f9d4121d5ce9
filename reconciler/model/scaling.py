"""What autoscaling decides from and what it says: all of it values, gathered before it is asked.

A policy is pure: parameters, what the rooms tell, bounds, what was remembered and the time go in,
a count with its reason comes out (DESIGN §5). The envelope around it (bounds, cool-downs,
stabilisation, steps, holds) is one for all policies and stands in `core/scaling.py`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from reconciler.model.refs import Json
from reconciler.model.shares import Share

if TYPE_CHECKING:
    # A type only: a command that reckons nothing does not wait for numpy.
    import numpy as np
    from numpy.typing import NDArray

    Times = Sequence[float] | NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Bounds:
    """The counts that people reviewed, both included."""

    minimum: int
    maximum: int

    def clamp(self, replicas: int) -> int:
        """Return the nearest count inside."""
        return max(self.minimum, min(self.maximum, replicas))


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast a count may move one way: spec `scaleUp` and `scaleDown`.

    `cooldown_seconds` is the least time between two changes this way. The count moves only as far
    as every advice of the last `stabilization_seconds` allowed. `step` is the most of one change,
    a share being of the count before it; None is no limit.
    """

    cooldown_seconds: float = 0.0
    stabilization_seconds: float = 0.0
    step: Share | None = None


@dataclass(frozen=True, slots=True)
class PolicySpec:
    """One policy as a spec writes it: a map of one key, `{buffer: {rooms: 5}}`."""

    name: str
    parameters: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Autoscaling:
    """Spec `autoscaling`. Switched off, it is shown what would be advised, and nothing acts."""

    enabled: bool
    bounds: Bounds
    policy: PolicySpec
    scale_up: Pace = Pace()
    scale_down: Pace = Pace(stabilization_seconds=300.0)


@dataclass(frozen=True, slots=True)
class Load:
    """What the rooms of one workload tell together, at one instant.

    Rooms that leave, failed, are kept or terminate count nowhere, save in `occupied`, `matches`
    and `players` as long as somebody plays there: demand is demand wherever it is.
    `replicas` is the count that is effective now.
    """

    replicas: int
    ready: int
    """Ready members in which nobody plays: a match that comes now has a place."""
    active: int
    """Members in which some of several matches run."""
    occupied: int
    """Rooms in which all matches run, or that are busy and tell no number."""
    allocated: int
    """Rooms handed out to players who have not come yet."""
    starting: int
    """Members that are not ready yet."""
    matches: int
    """Matches that run in all rooms; a busy room that tells no number counts as one."""
    matches_max: int
    """How many matches one room holds."""
    players: int
    unheard: int
    """Rooms that were ready once, run, and of which no valid report is known."""
    trouble: str = ""
    """Why these numbers are no ground for taking rooms away, "" when they are."""
    healthy: bool = True
    """The collections' latch: every member is healthy and runs."""
    crowds: tuple[int, ...] = ()
    """The players of each room that tells of any: `players` is their sum, as it was told."""
    busy_heard: int = 0
    """Those of `busy` that are heard: of one that fell silent, or that nobody hears, nobody knows
    whether it still serves players."""

    @property
    def told_players(self) -> int | None:
        """How many play, for who looks at it: None where matches run and no room told a player.

        A policy reckons with `players`, which is what was told.
        """
        return None if self.matches and not self.players else self.players

    @property
    def members(self) -> int:
        """Rooms that count."""
        return self.ready + self.active + self.occupied + self.allocated + self.starting

    @property
    def busy(self) -> int:
        """Rooms that serve players or are about to."""
        return self.active + self.occupied + self.allocated


@dataclass(frozen=True, slots=True)
class Signal:
    """What was asked of somebody else for a policy: a webhook, a Prometheus query.

    `value` is a finite number for a metric, a JSON answer for a webhook. `at` is Unix seconds of
    when it was true. `trouble` says why there is none, and then the policy holds. Beside a value
    it says why there is no newer one: that is no ground for taking rooms away any more.
    """

    at: float
    value: float | Json | None = None
    trouble: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Activity:
    """What happened in the rooms since the last decision, and what goes on: times in Unix seconds.

    A room is the unit: it *starts* when it turns occupied and *ends* when it is empty again.
    The sequences may be arrays: those of thousands of rooms are then read in microseconds.
    """

    since: float
    """When the decision before was made."""
    starts: "Times" = ()
    """When rooms turned occupied, in (since, now]."""
    ends: "Times" = ()
    """How long the rooms that turned empty in (since, now] had been occupied, seconds."""
    begun: "Times" = ()
    """When those that are occupied now turned so, the earliest first."""
    asked: "Times" = ()
    """When those that start now were asked for, the earliest first."""
    startups: "Times" = ()
    """How long those took that turned ready in (since, now], from asked to ready, seconds."""
    dry_seconds: float = 0.0
    """For how long of (since, now] no room was ready: who came then is not seen."""


@dataclass(frozen=True, slots=True)
class Look:
    """All that a policy may know. `now` is Unix seconds."""

    now: float
    bounds: Bounds
    load: Load
    activity: Activity
    history: bytes = b""
    """The demand of the last 28 days (`core/demand.py`), b"" where nothing is known."""
    signals: Mapping[str, Signal] = field(default_factory=dict)
    """By the name under which the policy asked for each."""
    memory: bytes = b""
    """What this policy's last advice gave to remember, b"" where nothing is known."""
    shared_now: float | None = None
    """`now` by the API server's clock, None where that is not known."""

    @property
    def spent_at(self) -> float:
        """The time by which budgets count (Unix seconds): the next leader's clock is another."""
        return self.now if self.shared_now is None else self.shared_now


Ground = Literal["rooms", "others", "clock"]
"""What a count was reckoned from: what rooms tell, what others were asked, or a time-table."""


@dataclass(frozen=True, slots=True)
class Advice:
    """How many rooms a policy wants, and the sentence with the numbers that led there.

    `hold` says why it wants nothing changed (a missing or absurd signal); `replicas` is then the
    effective count. `may_remove` is False where the policy wants no fewer rooms for now, whatever
    its number says.
    """

    replicas: int
    reason: str
    hold: str = ""
    may_remove: bool = True
    memory: bytes = b""
    """What the policy wants to be given back at the next decision, as it is kept on record."""
    missing: str = ""
    """Which of several policies cannot tell, and why: `replicas` is what the others want."""
    ground: Ground = "rooms"
    contradicted: bool = False
    """Whether it holds for a zero that rooms with players contradict. Beside a policy that counts
    those rooms that hinders nobody: of a queue a zero is as good as a number."""
    said: str = ""
    """What others said with it in their own words. It is shown and never committed, as `reason` is:
    it may name a player, and Git keeps that for ever."""


Direction = Literal["up", "down"]
