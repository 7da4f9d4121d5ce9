"""A world of rooms, played in ticks of 10 s against a policy that sees what a running system sees.

In a tick rooms become ready, matches end, matches arrive and take a ready room or are lost; then
the tick is counted, and the policy decides. Misses are true ones: the policy only hears for how
long no room was ready. Waiting for the quiet time of removals and budgets are not played.
"""

import time
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from benchmarks.yardstick.demand import DAY_TICKS, TICK_SECONDS, Case, Demand, Floats, Ints
from reconciler.core import demand as history
from reconciler.model.scaling import Activity, Advice, Bounds, Load, Look

UNCOUNTED_TICKS = 3 * 3600 // TICK_SECONDS
HOUR_TICKS = 3600 / TICK_SECONDS
MOST_ROOMS = 100_000
NONE: Floats = np.empty(0)


class Policy(Protocol):
    """What is judged: it is asked after every tick."""

    def __call__(self, look: Look) -> Advice:
        """Return how many rooms there must be, those in play included."""


@dataclass(slots=True)
class Score:
    """What a run came to; hours are room-hours; the first three hours of it do not count."""

    arrivals: Ints
    misses: Ints
    """By day of the run; a last piece of less than half a day belongs to the day before it."""
    idle_hours: float = 0.0
    paid_idle_hours: float = 0.0
    busy_hours: float = 0.0
    starts: int = 0
    decisions: int = 0
    decision_seconds: float = 0.0
    """CPU that the policy took, in all."""

    @property
    def miss_rate(self) -> float:
        """Return the share of matches that found no room."""
        return float(self.misses.sum() / max(1, self.arrivals.sum()))


@dataclass(slots=True)
class Rooms:
    """The rooms of one moment, counted; the matches that are played in them, by index."""

    ready: int = 0
    live: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    asked: list[int] = field(default_factory=list)
    """The tick in which each room that starts was asked for, the earliest first."""


@dataclass(slots=True)
class Tick:
    """What one tick brought, as far as it can be seen; `misses` cannot."""

    starts: int
    ends: Floats
    readied: int
    dry_seconds: float
    misses: int


class World:
    """One run: the rooms, and the clock of ticks."""

    def __init__(self, case: Case, demand: Demand, seed: int) -> None:
        self.startup_ticks = case.startup_seconds // TICK_SECONDS
        self.demand = demand
        self.rooms = Rooms()
        self.ends = np.repeat(np.arange(demand.ticks), demand.arrivals) + demand.lasts
        self.begins = demand.start + TICK_SECONDS * np.repeat(
            np.arange(1.0, demand.ticks + 1), demand.arrivals
        )
        self.leaving = np.bincount(self.ends, minlength=demand.ticks)[: demand.ticks].tolist()
        self.rng = np.random.default_rng([seed, 1])
        self.history, self.quarter, self.quarter_starts = b"", history.quarter_of(demand.start), 0

    def play(self, tick: int, arrivals: int, first: int) -> Tick:
        """Let a tick happen: `arrivals` matches come, the first of which has index `first`."""
        rooms, ends = self.rooms, NONE
        readied = 0
        while readied < len(rooms.asked) and rooms.asked[readied] + self.startup_ticks <= tick:
            readied += 1
        if readied:
            del rooms.asked[:readied]
        if self.leaving[tick]:
            over = self.ends[rooms.live] <= tick
            ends = np.asarray(self.demand.lasts[rooms.live[over]] * TICK_SECONDS, dtype=np.float64)
            rooms.live = rooms.live[~over]
        ready = rooms.ready + readied + len(ends)
        taken = min(ready, arrivals)
        dry = self._dry(ready, arrivals)
        for lost in range(first + taken, first + arrivals):
            if self.ends[lost] < self.demand.ticks:
                self.leaving[self.ends[lost]] -= 1
        if taken:
            rooms.live = np.concatenate((rooms.live, np.arange(first, first + taken)))
        rooms.ready = ready - taken
        return Tick(taken, ends, readied, dry, arrivals - taken)

    def _dry(self, ready: int, arrivals: int) -> float:
        """Return for how long of a tick no room was ready, matches coming evenly by chance."""
        if ready > arrivals:
            return 0.0
        if ready == 0:
            return float(TICK_SECONDS)
        if arrivals == 0:
            return 0.0
        return TICK_SECONDS * (1.0 - float(self.rng.beta(ready, arrivals - ready + 1)))

    def _remember(self, now: float, starts: int) -> None:
        """Keep the demand history as a running system does: quarters that are over."""
        quarter = history.quarter_of(now)
        if quarter != self.quarter:
            self.history = history.append(self.history, self.quarter, self.quarter_starts)
            self.quarter, self.quarter_starts = quarter, 0
        self.quarter_starts += starts

    def look(self, tick: int, seen: Tick, memory: bytes) -> Look:
        """Return what a running system would see after a tick."""
        rooms, now = self.rooms, self.demand.start + TICK_SECONDS * (tick + 1.0)
        self._remember(now, seen.starts)
        asked = np.array(rooms.asked, dtype=np.float64)
        busy = len(rooms.live)
        load = Load(
            replicas=rooms.ready + busy + len(asked),
            ready=rooms.ready,
            active=0,
            occupied=busy,
            allocated=0,
            starting=len(asked),
            matches=busy,
            matches_max=1,
            players=0,
            unheard=0,
        )
        activity = Activity(
            since=now - TICK_SECONDS,
            starts=(now,) * seen.starts,
            ends=seen.ends,
            begun=self.begins[rooms.live],
            asked=self.demand.start + TICK_SECONDS * (asked + 1.0),
            startups=(float(self.startup_ticks * TICK_SECONDS),) * seen.readied,
            dry_seconds=seen.dry_seconds,
        )
        return Look(now, BOUNDS, load, activity, self.history, {}, memory)

    def obey(self, tick: int, advice: Advice) -> int:
        """Ask for rooms or remove ready ones, as advised; return how many were asked for."""
        rooms = self.rooms
        more = advice.replicas - rooms.ready - len(rooms.live) - len(rooms.asked)
        if more > 0:
            rooms.asked.extend([tick] * more)
        elif more < 0 and advice.may_remove:
            rooms.ready -= min(rooms.ready, -more)
        return max(0, more)


BOUNDS = Bounds(1, MOST_ROOMS)


def run(case: Case, demand: Demand, seed: int, policy: Policy) -> Score:
    """Play the whole curve against a policy and return what it came to."""
    world = World(case, demand, seed)
    days = max(1, round(demand.ticks / DAY_TICKS))
    score = Score(np.zeros(days, dtype=np.int64), np.zeros(days, dtype=np.int64))
    arrivals, first = demand.arrivals.tolist(), demand.first.tolist()
    rooms, memory = world.rooms, b""
    idle = starting = busy = 0
    for tick in range(demand.ticks):
        seen = world.play(tick, arrivals[tick], first[tick])
        if tick >= UNCOUNTED_TICKS:
            day = min(days - 1, tick // DAY_TICKS)
            score.arrivals[day] += arrivals[tick]
            score.misses[day] += seen.misses
            idle += rooms.ready
            starting += len(rooms.asked)
            busy += len(rooms.live)
        look = world.look(tick, seen, memory)
        begun = time.thread_time()
        advice = policy(look)
        score.decision_seconds += time.thread_time() - begun
        memory = advice.memory
        asked = world.obey(tick, advice)
        score.starts += asked if tick >= UNCOUNTED_TICKS else 0
    score.decisions = demand.ticks
    score.idle_hours = idle / HOUR_TICKS
    score.paid_idle_hours = (idle + starting) / HOUR_TICKS
    score.busy_hours = busy / HOUR_TICKS
    return score
