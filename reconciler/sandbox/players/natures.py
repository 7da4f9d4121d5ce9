"""What kind of game a simulated room plays, how it reports, and what is wrong with it."""

from __future__ import annotations

import random
from dataclasses import dataclass
from enum import StrEnum


class Voice(StrEnum):
    """By whose paths a game reports."""

    MAESTRO = "maestro"  # a ping every few seconds
    COLLECTIONS = "collections"  # on change only
    NATIVE = "native"  # our own, a report every few seconds
    BOTH = "both"  # Maestro's pings, and the collections' words on change beside them


REPEATING = frozenset({Voice.MAESTRO, Voice.NATIVE, Voice.BOTH})
"""Voices that say every few seconds how it is."""
ON_CHANGE = frozenset({Voice.COLLECTIONS, Voice.BOTH})
"""Voices that speak when something changes, and again until it was taken in."""


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
    gives_up_after: int | None = None
    """After so many tries in a row that came to nothing it says a count no more, until that
    changes: the collections' sample games do so. None is never; what was never heard is said on."""
    matches: int = 1
    seats: int = 8
    match_seconds: tuple[float, float] = (30.0, 300.0)
    warm_up_seconds: float = 2.0
    loads_seconds: float = 0.0
    """For how long it says nothing once a match begins: its one thread loads the map."""
    crash_after_seconds: float | None = None
    hang_after_seconds: float | None = None
    leave_seconds: float = 1.0
    """How long it takes to end when it is told to."""

    @property
    def honest(self) -> bool:
        """Tell whether what it says is true."""
        return self.lie is Lie.NONE


def drawn(chance: random.Random, voice: Voice, odd: float) -> Nature:
    """Draw a game: the share `odd` of them, 0 to 1, crash, hang or lie one day."""
    if chance.random() >= odd:
        return Nature(voice=voice)
    after_seconds = chance.uniform(20.0, 300.0)
    match chance.randrange(3):
        case 0:
            return Nature(voice=voice, crash_after_seconds=after_seconds)
        case 1:
            return Nature(voice=voice, hang_after_seconds=after_seconds)
        case _:
            return Nature(voice=voice, lie=chance.choice([lie for lie in Lie if lie]))
