"""What the adaptive policy remembers: one row of numbers, kept as bytes, each part a view of it.

A row that is missing, of another version or not finite is forgotten: the policy is safe without.
"""

from math import isfinite

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

VERSION = 5.0
FILTERS, LINES = 13, 3
"""Of the filters of the rate the first are lines (adaptive_rates)."""
AGES = 28
LEADS = 12
"""Horizons that are looked at, evenly up to the start-up time and one decision."""


class Part:
    """A part of the row: a view of it, in rows of equal length where it is a table."""

    def __init__(self, after: "Part | None", size: int, rows: int = 1) -> None:
        start = after.stop if after else 1
        self.stop: int = start + size * rows
        self.place = slice(start, self.stop)
        self.shape = (rows, size) if rows > 1 else (size,)

    def __get__(self, memory: "Memory", owner: type) -> Floats:
        part = memory.row[self.place]
        return part if len(self.shape) == 1 else part.reshape(self.shape)


class Memory:
    """The row and its parts; the parts are written in place."""

    __slots__ = ("row",)

    clock = Part(None, 10)
    """Unix seconds of the last decision; seconds, starts and dry seconds since the last forecast;
    forecasts made; how often rooms ran out since the last; rooms ready at the last decision, -1
    where no room was wanted; the dry seconds since the last forecast that nobody is charged with;
    of the seconds and the starts since then those that earn."""
    startup = Part(clock, 3)
    """Learned start-up time, its mean deviation (seconds), and how many starts taught it."""
    budget = Part(startup, 6)
    """Matches and estimated misses of a month and of a day, fading; the sums that weigh busy hours
    (adaptive_budget)."""
    moments = Part(budget, 3)
    """Squared errors of counts and the counts expected, both fading; the rate a second."""
    forecast = Part(moments, 7)
    """What the needs were made of: matches to start, to end, the deviation, the share that may be
    missed, what was missed and allowed so far, and the last lead in seconds."""
    needs = Part(forecast, LEADS)
    """By lead: the rooms that must be ready by then."""
    levels = Part(needs, FILTERS, 2)
    """By filter: the discounted sums of exposure and of counts (adaptive_rates)."""
    slopes = Part(levels, LINES, 3)
    """By line: the sums that tell how it grows, of exposure by age and by its square, and of counts
    by age."""
    weights = Part(slopes, FILTERS)
    """By filter: the logarithm of how well it predicted."""
    lines = Part(weights, FILTERS, 2)
    """By filter: the rate that it told last (a second), and how that grows (a second again)."""
    ended = Part(lines, AGES)
    """By age: matches that ended, fading."""
    exposed = Part(ended, AGES)
    """By age: seconds that matches were played, fading."""
    leaving = Part(exposed, LEADS, AGES)
    """By age and lead: the share of matches that will have ended, reckoned now and then."""

    def __init__(self, row: Floats) -> None:
        self.row = row

    @property
    def is_new(self) -> bool:
        """Whether nothing was decided yet."""
        return bool(self.row[1] == 0.0)


LENGTH: int = Memory.__dict__["leaving"].stop


def decode(data: bytes) -> Memory:
    """Return the memory that was kept, or an empty one."""
    if len(data) == 8 * LENGTH:
        row = np.frombuffer(data).copy()
        if row[0] == VERSION and isfinite(np.add.reduce(row)):
            return Memory(row)
    row = np.zeros(LENGTH)
    row[0] = VERSION
    return Memory(row)


def encode(memory: Memory) -> bytes:
    """Return the memory as bytes, a few KiB."""
    return memory.row.tobytes()
