"""Parties whom a matchmaker outside sends by the last list of rooms that it was given.

They are on their way for a while, so that their list is old when they come. That of half of them
is then as old as a list may be, to the millisecond: a room is left alone for quietSeconds so that
nobody of those is thrown out.
"""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from reconciler.sandbox.players.games import Game, Match

ROUND_SECONDS = 0.001
MOST_PLAYERS = 4


@dataclass(frozen=True, slots=True)
class Party:
    """Players who are sent to a room (`namespace/name`); times are those of the loop."""

    room: str
    players: int
    listed_at: float
    comes_at: float

    @property
    def namespace(self) -> str:
        """Where they want to play."""
        return self.room.partition("/")[0]


@dataclass(frozen=True, slots=True)
class Guest:
    """Who came into a match by a list that was so old then."""

    match: Match
    list_seconds: float

    def plays(self, game: Game) -> bool:
        """Whether they are there yet."""
        return any(match is self.match for match in game.matches)


class Parties:
    """Draws parties; `coming` is how many players are on their way, by namespace.

    Lists are up to `oldest_seconds` old where a list was answered in that time, else as old as the
    last one is.
    """

    def __init__(
        self, chance: random.Random, quiet_seconds: float, oldest_seconds: float = 0.0
    ) -> None:
        self.coming: Counter[str] = Counter()
        self._chance = chance
        self._promised_seconds = quiet_seconds - ROUND_SECONDS
        self._oldest_seconds = max(oldest_seconds, self._promised_seconds)
        self._rooms: Sequence[str] = ()
        self._listed_at = 0.0

    def listed(self, rooms: Sequence[str], now: float) -> None:
        """Take in a list as it was answered now."""
        self._rooms, self._listed_at = sorted(rooms), now

    def set_out(self, namespace: str, now: float) -> Party | None:
        """Send a party; None where no room of a namespace is known."""
        rooms = [room for room in self._rooms if room.startswith(f"{namespace}/")]
        if not rooms:
            return None
        age = self._promised_seconds
        if self._chance.random() < 0.5:
            age = self._chance.uniform(0.0, self._oldest_seconds)
        players = self._chance.randint(1, MOST_PLAYERS)
        self.coming[namespace] += players
        comes_at = max(now, self._listed_at + age)
        return Party(self._chance.choice(rooms), players, self._listed_at, comes_at)
