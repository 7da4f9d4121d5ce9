"""What kind of game a simulated room plays, how it reports, and what is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Voice(StrEnum):
    """By whose paths a game reports."""

    MAESTRO = "maestro"  # a ping every few seconds
    COLLECTIONS = "collections"  # on change only
    NATIVE = "native"  # our own, a report every few seconds


class Lie(StrEnum):
    """What a game says instead of the truth."""

    NONE = ""
    NAN = "NaN for a number"
    NEGATIVE = "fewer than nobody"
    HUGE = "more than there are people"
    GARBAGE = "bytes that are no JSON"
    OTHER_ROOM = "the name of another room"
    FLIPPING = "full and empty by turns, each second"
    EMPTY = "empty, though players are there"


@dataclass(frozen=True, slots=True)
class Nature:
    """A game. A match holds `seats` players and takes between the two `match_seconds`.

    It crashes that long after its start, or falls silent that long after it while it runs on, its
    players with it; None is never.
    """

    voice: Voice = Voice.MAESTRO
    lie: Lie = Lie.NONE
    ping_seconds: float = 5.0
    retry_seconds: float = 2.0
    matches: int = 1
    seats: int = 8
    match_seconds: tuple[float, float] = (30.0, 300.0)
    warm_up_seconds: float = 2.0
    crash_after_seconds: float | None = None
    hang_after_seconds: float | None = None
    leave_seconds: float = 1.0
    """How long it takes to end when it is told to."""

    @property
    def honest(self) -> bool:
        """Tell whether what it says is true."""
        return self.lie is Lie.NONE
