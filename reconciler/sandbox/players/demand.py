"""How many players there are: by a seeded model, or as they once were, by a trace."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Protocol, Self
from zlib import crc32

_DAY_SECONDS = 86_400.0
_HOLE = 0.5  # a reading below this share of both neighbours is none


class Demand(Protocol):
    """How many players want to play."""

    def players(self, now: float) -> int:
        """Tell how many, at a moment (Unix seconds)."""


@dataclass(frozen=True, slots=True)
class Tide:
    """Players by day and by night, and a share that nobody foresees; the same for a seed."""

    mean: float
    swing: float = 0.6
    noise: float = 0.1
    seed: int = 0
    period_seconds: float = _DAY_SECONDS

    def players(self, now: float) -> int:
        """Tell how many want to play."""
        wave = math.sin(2.0 * math.pi * now / self.period_seconds)
        unforeseen = 2.0 * crc32(f"{self.seed}:{int(now // 60)}".encode()) / 2**32 - 1.0
        count = self.mean * (1.0 + self.swing * wave + self.noise * unforeseen)
        return max(0, round(count))


@dataclass(frozen=True, slots=True)
class Trace:
    """Players as they once were, one after another in time, scaled; it begins again at its end."""

    moments: Sequence[float]
    counts: Sequence[float]
    began: float
    speed: float = 1.0

    @classmethod
    def read(cls, text: str, *, most: int, began: float, speed: float = 1.0) -> Self:
        """Read a file of `benchmarks/traces`, scaled so that `most` play at its peak.

        A 0 or a sudden hole is a failed reading, not an empty game: it is left out, and players
        are taken to come and go evenly in between. `speed` is how much faster time passes in it.
        Raises ValueError and IndexError for what is no such file.
        """
        rows = [line.split(",") for line in text.split()[1:]]
        readings = [(_moment(time), int(count)) for time, count in rows if int(count) > 0]
        sound = [
            here
            for before, here, after in zip(
                [readings[0], *readings], readings, [*readings[1:], readings[-1]], strict=False
            )
            if here[1] >= _HOLE * min(before[1], after[1])
        ]
        peak = max(count for _, count in sound)
        first = sound[0][0]
        moments = [moment - first for moment, _ in sound]
        if len(moments) < 2 or any(after <= before for before, after in pairwise(moments)):
            raise ValueError("fewer than two readings, or not one after another in time")
        return cls(moments, [count * most / peak for _, count in sound], began, speed)

    def players(self, now: float) -> int:
        """Tell how many played at the moment of the trace that `now` stands for."""
        at = ((now - self.began) * self.speed) % self.moments[-1]
        after = bisect_right(self.moments, at)
        before = after - 1
        share = (at - self.moments[before]) / (self.moments[after] - self.moments[before])
        return round(self.counts[before] + share * (self.counts[after] - self.counts[before]))


def _moment(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
