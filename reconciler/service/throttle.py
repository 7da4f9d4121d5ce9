"""How long what waits is not committed yet: at most one commit in the quiet time, of whomever."""

from collections.abc import Iterable

from reconciler.loop.head_lane import HeadLane
from reconciler.loop.landing import Terms
from reconciler.loop.tries import Tries
from reconciler.model.intents import Intent


class Throttle:
    """The quiet time of one branch: what has waited longest starts it, or the last commit."""

    def __init__(self, lane: HeadLane, tries: Tries) -> None:
        self._lane = lane
        self._tries = tries
        self._set_back_at: float | None = None
        """When it was seen that the clock was set back behind what waits, by that clock."""

    def left_seconds(self, waits: Iterable[Intent], terms: Terms, now: float) -> float | None:
        """Return how long it lasts, None where nothing waits; `now` is Unix seconds."""
        first = min((intent.waits_since for intent in waits), default=None)
        if first is None:
            return None
        begins = [first, self._tries.taken_at, self._others_at()]
        if max(begins) <= now:
            self._set_back_at = None
        else:
            # The clock was set back: nothing waits longer than the quiet time from here on. What
            # came after that counts as ever.
            self._set_back_at = min(self._set_back_at or now, now)
            begins = [self._set_back_at, *(each for each in begins if each <= now)]
        return max(begins) + terms.quiet_seconds - now

    def _others_at(self) -> float:
        """Return when another process put a commit on record last: it may stand there."""
        at = self._lane.home.store.repository.pushed_at
        return 0.0 if at == self._tries.recorded_at else at
