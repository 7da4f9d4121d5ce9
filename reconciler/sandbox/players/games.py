"""One simulated room: players come, matches end, it reports, it crashes, hangs or ends.

A state machine over time that is told: nothing here reads a clock or waits. Whoever drives it
calls `step` when it is `due`, sends what that returns, and tells with `answered` what came of it.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from reconciler.sandbox.players import sayings
from reconciler.sandbox.players.natures import ON_CHANGE, REPEATING, Lie, Nature
from reconciler.sandbox.players.sayings import Saying, Where

CRASHED, STOPPED, OK = 139, 0, 200


@dataclass(slots=True)
class Match:
    """Some players in one game."""

    ends_at: float
    players: int


@dataclass(slots=True)
class Game:
    """A room's game; times are Unix seconds. Its `players` are the truth, whatever it says.

    `occupied_since` is when the first of the players who are there now came, None while nobody
    is. `neighbour` is the room in whose name one of `Lie.OTHER_ROOM` speaks.
    """

    where: Where
    nature: Nature
    chance: random.Random
    began: float
    neighbour: Where | None = None
    matches: list[Match] = field(default_factory=list)
    occupied_since: float | None = None
    exit_code: int | None = None
    hung: bool = False
    _next_say: float = 0.0
    _loaded_at: float = 0.0
    _ends_at: float | None = None
    _acknowledged: int | None = None
    _heard: bool = False
    _tries: int = 0
    _gave_up: bool = False
    _healthy: bool = False
    _recovered: bool = False

    def __post_init__(self) -> None:
        self._next_say = self.began + self.nature.warm_up_seconds

    @property
    def players(self) -> int:
        """Count who is there, in truth."""
        return sum(match.players for match in self.matches)

    @property
    def over(self) -> bool:
        """Tell whether it has ended."""
        return self.exit_code is not None

    @property
    def up_at(self) -> float:
        """Tell from when on players can come."""
        return self.began + self.nature.warm_up_seconds

    @property
    def due(self) -> float | None:
        """Tell when it is to be stepped next, None when never."""
        if self.over:
            return None
        moments = [match.ends_at for match in self.matches]
        if self.nature.crash_after_seconds is not None and not self.hung:
            moments.append(self.began + self.nature.crash_after_seconds)
        if self.nature.hang_after_seconds is not None and not (self.hung or self._recovered):
            moments.append(self.began + self.nature.hang_after_seconds)
        if self._ends_at is not None:
            moments.append(self._ends_at)
        if not self.hung:
            moments.append(self._next_say)
        return min(moments, default=None)

    def join(self, players: int, now: float) -> int:
        """Let players in; tell how many found a seat."""
        if self.over or self._ends_at is not None or now < self.up_at:
            return 0
        left = players
        for match in self.matches:
            room = min(left, self.nature.seats - match.players)
            match.players += room
            left -= room
        while left and len(self.matches) < self.nature.matches:
            seated = min(left, self.nature.seats)
            ends_at = now + self.chance.uniform(*self.nature.match_seconds)
            self.matches.append(Match(ends_at, seated))
            self._loaded_at = now + self.nature.loads_seconds
            left -= seated
        if left < players:
            self._moved(now)
        return players - left

    def empty(self, now: float) -> None:
        """Let everybody leave."""
        self.matches.clear()
        self._moved(now)

    def recover(self, now: float) -> None:
        """Let a game that hangs go on."""
        if self.hung:
            self.hung, self._recovered, self._next_say = False, True, now

    @property
    def gave_up(self) -> bool:
        """Tell whether it says no more how many are there, though nobody took that in."""
        return self._gave_up

    def insist(self) -> None:
        """Let it say again what it gave up."""
        if self._gave_up:
            self._acknowledged, self._gave_up = None, False

    def stop(self, now: float) -> None:
        """Tell it to end, as SIGTERM does."""
        if not self.over and self._ends_at is None:
            self._ends_at = now + self.nature.leave_seconds
            self._next_say = now

    def step(self, now: float) -> list[Saying]:
        """Live until `now`; return what is said, in order."""
        if self.over:
            return []
        self._live(now)
        if self.over or self.hung or now < self._next_say:
            return []
        self._next_say = now + self._pause()
        if self._ends_at is not None:
            said = sayings.ends(self.where, self.nature, now)
            return [said] if said else []
        return self._says(now)

    def answered(self, saying: Saying, status: int, now: float) -> None:
        """Hear the answer to what was said; 0 is none."""
        if saying.path not in (sayings.HEALTH, sayings.COUNT) or self.over:
            return
        if status != OK:
            if saying.path != sayings.HEALTH:
                self._acknowledged = None  # it may have been taken in all the same
                self._give_up(saying.players)
            self._next_say = min(self._next_say, now + self.nature.retry_seconds)
        elif saying.path == sayings.HEALTH:
            self._healthy = True
        else:
            self._acknowledged, self._heard = saying.players, True
            self._tries, self._gave_up = 0, False
            if saying.players != self.players:
                self._next_say = now

    def _give_up(self, players: int | None) -> None:
        """Say a count no more that was tried often enough."""
        self._tries += 1
        most = self.nature.gives_up_after
        if self._heard and most is not None and self._tries >= most:
            self._acknowledged, self._tries, self._gave_up = players, 0, True

    def _live(self, now: float) -> None:
        nature = self.nature
        if self._ends_at is not None and self._ends_at <= now:
            self._end(STOPPED, now)
        elif _has_passed(nature.crash_after_seconds, self.began, now) and not self.hung:
            self._end(CRASHED, now)
        else:
            before = len(self.matches)
            self.matches = [match for match in self.matches if match.ends_at > now]
            if len(self.matches) < before:
                self._moved(now)
            hangs = _has_passed(nature.hang_after_seconds, self.began, now)
            self.hung = hangs and not self._recovered

    def _end(self, code: int, now: float) -> None:
        self.matches.clear()
        self.occupied_since = None
        self.exit_code = code

    def _moved(self, now: float) -> None:
        """Players came or went: a game says so at once."""
        if not self.matches:
            self.occupied_since = None
        elif self.occupied_since is None:
            self.occupied_since = now
        self._next_say = max(self.up_at, self._loaded_at, min(self._next_say, now))

    def _pause(self) -> float:
        nature = self.nature
        if nature.lie is Lie.FLIPPING:
            return 1.0
        pause = nature.ping_seconds if nature.voice in REPEATING else float("inf")
        if nature.voice in ON_CHANGE:
            owes = not self._healthy or self._acknowledged != self.players
            return min(pause, nature.retry_seconds) if owes or not nature.honest else pause
        return pause

    def _says(self, now: float) -> list[Saying]:
        where = self.where
        if self.nature.lie is Lie.OTHER_ROOM and self.neighbour is not None:
            where = self.neighbour
        there = (self.nature, len(self.matches), self.players, now)
        voice, said = self.nature.voice, []
        if voice in REPEATING:
            said.append(sayings.report(where, *there))
        if voice in ON_CHANGE and not self._healthy:
            said.append(sayings.healthy(self.where))
        if voice in ON_CHANGE and (self._acknowledged != self.players or not self.nature.honest):
            said.append(sayings.count(where, *there))
        return said


def _has_passed(after: float | None, began: float, now: float) -> bool:
    return after is not None and now >= began + after
