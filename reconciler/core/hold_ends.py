"""How long a person's number still holds, by a clock that never jumps.

The record keeps the end of a hold in Unix seconds: nothing else outlives a restart. Within a
process a clock that is set would end a hold early, or lengthen it: there it lasts as long as it
was meant to when it was first seen, and its end on record moves with the clock.
"""

from dataclasses import dataclass, replace

from reconciler.model.intents import Scaling

JUMP_SECONDS = 5.0
"""Two clocks that differ by less than that in a hold's time are only not quite alike."""


Hold = tuple[str, float]


@dataclass(frozen=True, slots=True)
class HoldEnd:
    """When a hold ends: `until` on record (Unix seconds), `ends` on the clock that never jumps.

    `hold` is what tells it from another one: the commit that began it, and when.
    """

    until: float
    ends: float
    hold: Hold = ("", 0.0)

    def at(self, now: float, elapsed: float) -> float:
        """Return when it ends by the clock as it is set now; `now` and the answer are Unix seconds.

        `elapsed` is the time of the clock that never jumps.
        """
        moved = now + self.ends - elapsed
        is_over = now >= self.until and elapsed >= self.ends
        return self.until if is_over or abs(moved - self.until) < JUMP_SECONDS else moved


def followed(
    known: HoldEnd | None, scaling: Scaling, now: float, elapsed: float, most_seconds: float
) -> HoldEnd:
    """Return the end of the hold on record: as it is known, or of one that is seen first.

    That one lasts for as long as its commit asked, or for `most_seconds` where that is not told:
    whoever led before may have had a clock ahead. Where the end on record moved and the hold is
    the same one, it ends when it was meant to: what moved it went by a clock that may have been
    wrong then, or is now.
    """
    until, hold = scaling.held_until, (scaling.held_by, scaling.held_at)
    if known is None or known.hold != hold:
        seconds = min(until - now, scaling.held_seconds or most_seconds)
        return HoldEnd(until, elapsed + seconds, hold)
    return known if known.until == until else replace(known, until=until)
