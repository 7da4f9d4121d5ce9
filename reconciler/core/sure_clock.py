"""By which time dates in Git are read: the machine's clock, once it has been steady for a while.

A clock that is set jumps. For `STEADY_SECONDS` the time goes on as though it had not, so that no
freeze opens or ends, and nothing that is suspended acts, for a clock that was wrong for a moment.
"""

from dataclasses import dataclass, replace

STEADY_SECONDS = 300.0
"""So long a clock stays as it was set before it is believed."""
JUMP_SECONDS = 5.0
"""Two clocks that drift apart by less between two looks are only not quite alike."""


@dataclass(frozen=True, slots=True)
class SureClock:
    """`ahead` is how far Unix time is ahead of the clock that never jumps, as it is believed.

    `told` is what the machine's clock says since `since`, by the clock that never jumps.
    """

    ahead: float
    told: float
    since: float

    def at(self, elapsed: float) -> float:
        """Return the time (Unix seconds) when the clock that never jumps shows `elapsed`."""
        return self.ahead + elapsed


def followed(known: SureClock | None, now: float, elapsed: float) -> SureClock:
    """Return the clock at a look at `now` (Unix seconds); the first that is seen is believed."""
    told = now - elapsed
    if known is None:
        return SureClock(told, told, elapsed)
    if abs(told - known.told) >= JUMP_SECONDS:
        known = replace(known, since=elapsed)
        if abs(told - known.ahead) < JUMP_SECONDS:
            return SureClock(told, told, elapsed)  # it was wrong for a while, and is set right
        return replace(known, told=told)
    known = replace(known, told=told)
    is_believed = abs(told - known.ahead) < JUMP_SECONDS or elapsed - known.since >= STEADY_SECONDS
    return replace(known, ahead=told) if is_believed else known
