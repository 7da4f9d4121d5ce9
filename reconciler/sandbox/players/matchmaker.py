"""A matchmaker outside: it looks at the list of rooms now and then, and sends players by it.

What it knows is as old as it likes. That is the world in which a room must not be removed.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(slots=True)
class Matchmaker:
    """Sends players on what the list said up to `oldest_seconds` ago."""

    chance: random.Random
    oldest_seconds: float
    _lists: deque[tuple[float, tuple[str, ...]]] = field(default_factory=deque)

    def listed(self, rooms: Iterable[str], now: float) -> None:
        """Take in the list of rooms as it is now."""
        self._lists.append((now, tuple(sorted(rooms))))
        while len(self._lists) > 1 and self._lists[1][0] <= now - self.oldest_seconds:
            self._lists.popleft()

    def choose(self, now: float) -> str | None:
        """Name the room to which the next players are sent, by a list of a while ago."""
        asked_at = now - self.chance.uniform(0.0, self.oldest_seconds)
        known = [rooms for at, rooms in self._lists if at <= asked_at]
        rooms = known[-1] if known else (self._lists[0][1] if self._lists else ())
        return self.chance.choice(rooms) if rooms else None
