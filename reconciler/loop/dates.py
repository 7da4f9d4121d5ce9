"""Dates that Git speaks of: by which clock they are read, and when the next one comes."""

import logging
from dataclasses import dataclass, field

from reconciler import assets
from reconciler.core import sure_clock
from reconciler.core.calendar import Zones
from reconciler.core.sure_clock import JUMP_SECONDS, STEADY_SECONDS, SureClock

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Dates:
    """`due_at` (Unix seconds by `clock`) is the next date that changes what acts, None for none."""

    zones: Zones = field(default_factory=assets.TimeZones)
    clock: SureClock | None = None
    due_at: float | None = None

    def follow(self, unix_seconds: float, elapsed: float) -> None:
        """Read the machine's clock; one that jumps is not believed at once.

        Both are of one instant: what passes between the two would look like a clock that was set.
        """
        before = self.clock
        self.clock = sure_clock.followed(before, unix_seconds, elapsed)
        if before is not None:
            _tell(self.clock.told - before.told)

    def at(self, elapsed: float) -> float:
        """Return the time by which dates are read, carried on since the clock was; 0 before."""
        return self.clock.at(elapsed) if self.clock is not None else 0.0

    def due_in_seconds(self, elapsed: float) -> float | None:
        """Return when the next date comes, 0 where it has come, None where none does."""
        return None if self.due_at is None else max(0.0, self.due_at - self.at(elapsed))


def _tell(moved_seconds: float) -> None:
    """Say once of a clock that it was set."""
    if abs(moved_seconds) >= JUMP_SECONDS:
        log.warning(
            "the clock of this machine was set %.0f seconds %s: dates in Git are read by it once "
            "it has stayed so for %.0f minutes",
            abs(moved_seconds),
            "forward" if moved_seconds > 0.0 else "back",
            STEADY_SECONDS / 60.0,
        )
