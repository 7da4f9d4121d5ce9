"""Follows the demand of a workload by quarters of an hour, and says when that goes on record.

A quarter counts once it is over, and where at least four fifths of it were seen: it is then taken
for whole. Any other is unknown, which is no demand of 0.

A history holds 28 days up to its newest quarter, so that one quarter by a clock that is wrong by
weeks would drop all of it. What is far from all that is known waits here, until a day of it was
seen; where the clock is set right before, nothing was lost.
"""

from dataclasses import dataclass

from reconciler.core import demand
from reconciler.core.demand import QUARTER_SECONDS, quarter_of

LEAST_SEEN_SECONDS = 0.8 * QUARTER_SECONDS
LONGEST_GAP_SECONDS = 120.0
"""Between looks that are further apart rooms may have turned occupied and empty again unseen."""
KEEP_SECONDS = 3600.0
"""No more often is a record written for the demand's sake, where anybody played."""
QUIET_KEEP_SECONDS = 6 * 3600.0
"""The same where nobody did."""
RETRY_SECONDS = 300.0
"""What could not be put on record for its own sake waits that long."""
MOST_BACK = 4
"""A clock that goes back by more quarters than that was wrong before."""

NEAR = 96
"""How many quarters the next one may be away from the last: a day without anybody who leads."""
BELIEVED = 96
"""So many of those that are further away are believed: then the clock was wrong before."""

Over = tuple[int, int]
"""The number of a quarter that is over, and how many rooms turned occupied in it."""


@dataclass(slots=True)
class Quarters:
    """The demand of one workload that is not on record yet. Times are Unix seconds."""

    kept_at: float
    """When the last of it went on record, or since when it is followed."""
    over: tuple[Over, ...] = ()
    quarter: int | None = None
    """The one that runs."""
    far: tuple[Over, ...] = ()
    """What is over, and too far from all that is known to be believed yet."""
    starts: int = 0
    seen_seconds: float = 0.0
    _recorded: bytes = b""
    _joined: tuple[Over, ...] = ()
    _history: bytes = b""

    def follow(self, since: float, now: float, starts: int | None) -> None:
        """Take in how many rooms turned occupied in (since, now]; None where nobody can tell."""
        here = quarter_of(now)
        if self.quarter is not None and self.quarter - MOST_BACK <= here < self.quarter:
            return  # the clock was set back: this time was counted before
        known = starts is not None and now - since <= LONGEST_GAP_SECONDS
        begun = float(here * QUARTER_SECONDS)
        if here != self.quarter:
            self.seen_seconds += max(0.0, begun - since) if known else 0.0
            self._end()
            self.quarter = here
        if known:
            self.seen_seconds += now - max(since, begun)
            self.starts += starts or 0

    def _end(self) -> None:
        if self.quarter is not None and self.seen_seconds >= LEAST_SEEN_SECONDS:
            seen = min(self.seen_seconds, float(QUARTER_SECONDS))
            whole = round(self.starts * QUARTER_SECONDS / seen)
            self._take((self.quarter, whole))
        self.starts, self.seen_seconds = 0, 0.0

    def _take(self, ended: Over) -> None:
        last = self.over[-1][0] if self.over else demand.newest_of(self._recorded)
        if last is not None and abs(ended[0] - last) > NEAR:
            self.far = (*self.far, ended)
            if len(self.far) < BELIEVED:
                return
            taken = self.far
        else:
            taken = (ended,)
        self.over, self.far = (*self.over, *taken)[-demand.QUARTERS :], ()

    def is_due(self, now: float) -> bool:
        """Whether what is over goes on record now, even where nothing else is written."""
        return bool(self.over) and not 0.0 <= now - self.kept_at < self._least_seconds

    @property
    def _least_seconds(self) -> float:
        return KEEP_SECONDS if any(count for _, count in self.over) else QUIET_KEEP_SECONDS

    def put_off(self, now: float) -> None:
        """Try again in a while: it could not be written."""
        self.kept_at = now - self._least_seconds + RETRY_SECONDS

    def history(self, recorded: bytes) -> bytes:
        """Return the history on record with what is over since; the same value until either grows.

        What was seen goes before what is on record of the same quarter.
        """
        if recorded is not self._recorded or self.over is not self._joined:
            history = recorded
            for quarter, count in self.over:
                history = demand.put(history, quarter, count)
            self._recorded, self._joined, self._history = recorded, self.over, history
        return self._history

    def keep(self, written: tuple[Over, ...], now: float) -> None:
        """Forget what went on record."""
        self.over = tuple(each for each in self.over if each not in written)
        self.kept_at = now
