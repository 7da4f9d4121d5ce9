"""Dates that Git speaks of: by which clock they are read, and when the next one comes."""

from dataclasses import dataclass, field

from reconciler import assets
from reconciler.core import sure_clock
from reconciler.core.calendar import Zones
from reconciler.core.sure_clock import SureClock


@dataclass(slots=True)
class Dates:
    """`due_at` (Unix seconds by `clock`) is the next date that changes what acts, None for none."""

    zones: Zones = field(default_factory=assets.TimeZones)
    clock: SureClock | None = None
    due_at: float | None = None

    def now(self, unix_seconds: float, elapsed: float) -> float:
        """Return the time by which dates are read; a clock that jumps is not believed at once."""
        self.clock = sure_clock.followed(self.clock, unix_seconds, elapsed)
        return self.clock.at(elapsed)

    def at(self, elapsed: float) -> float:
        """Return the time of the last look, carried on; 0 before the first."""
        return self.clock.at(elapsed) if self.clock is not None else 0.0

    def due_in_seconds(self, unix_seconds: float, elapsed: float) -> float | None:
        """Return when the next date comes, 0 where it has come, None where none does."""
        if self.due_at is None:
            return None
        return max(0.0, self.due_at - self.now(unix_seconds, elapsed))
