"""Whether this process is alive: not whether it answers, but whether it still gets round.

`/healthz` fails on a silent freeze, so that Kubernetes starts us again; it knows nothing of Git
or the API server being down, for a restart repairs neither.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from reconciler.model.errors import PortError
from reconciler.model.plans import Plan
from reconciler.model.readings import Reading
from reconciler.model.refs import WorkloadKey
from reconciler.model.reports import Report
from reconciler.model.wanted import Wanted

FREEZE_INTERVALS = 3
BEAT_SECONDS = 0.25
DEAD_SECONDS = 30.0
_GRACE_SECONDS = 30.0
LONGEST_BACKOFF_SECONDS = 400.0
"""Between two tries of a Git host that is down: the longest back-off, and the try itself."""


@dataclass(slots=True)
class _Round:
    """Something that must come round; `interval_seconds` is asked anew, since Git may set it."""

    interval_seconds: Callable[[], float]
    due: Callable[[], bool]
    last: float
    backing_off: bool = False


class Health:
    """A voice that listens for signs of life. `elapsed` is a monotonic clock, in seconds."""

    def __init__(self, elapsed: Callable[[], float]) -> None:
        self._elapsed = elapsed
        self._rounds: dict[str, _Round] = {}
        self._beat = elapsed()

    def expect(
        self, name: str, interval_seconds: Callable[[], float], due: Callable[[], bool]
    ) -> None:
        """Demand that `name` comes round every so often while `due` (while we lead)."""
        self._rounds[name] = _Round(interval_seconds, due, self._elapsed())

    def came_round(self, name: str, *, backing_off: bool = False) -> None:
        """Note a sign of life; what backs off may take longer until the next one."""
        if name in self._rounds:
            self._rounds[name].last = self._elapsed()
            self._rounds[name].backing_off = backing_off

    def beat(self) -> None:
        """Note that the event loop turns. What is not due now starts to count when it is."""
        self._beat = self._elapsed()
        for item in self._rounds.values():
            if not item.due():
                item.last = self._beat

    def problem(self) -> str:
        """Say what has frozen, "" when nothing has."""
        now = self._elapsed()
        if now - self._beat > DEAD_SECONDS:
            return f"the heartbeat stopped {now - self._beat:.0f} s ago"
        for name, item in self._rounds.items():
            allowed = FREEZE_INTERVALS * item.interval_seconds() + _GRACE_SECONDS
            if item.backing_off:
                allowed = max(allowed, LONGEST_BACKOFF_SECONDS)
            if item.due() and now - item.last > allowed:
                return (
                    f"{name} has not come round for {now - item.last:.0f} s, "
                    f"{allowed:.0f} s are allowed"
                )
        return ""

    def passed(self, cluster: str, keys: int, seconds: float) -> None:
        """A cluster's lane came round."""
        self.came_round(cluster)

    def looked(self, wanted: Wanted, reading: Reading | None, seconds: float) -> None:
        """The repository's lane came round."""
        self.came_round("repository")

    def blind(self, error: PortError) -> None:
        """The repository's lane came round too: it lives, and Git does not."""
        self.came_round("repository", backing_off=True)

    def planned(self, cluster: str, plan: Plan) -> None:
        """No sign of a whole round."""

    def settled(self, report: Report) -> None:
        """No sign of a whole round."""

    def stumbled(self, error: Exception) -> None:
        """No sign of a whole round: if it goes on, starting anew is all that can help."""

    def gone(self, cluster: str, key: WorkloadKey) -> None:
        """No sign of a whole round."""

    def crashed(self, cluster: str, key: WorkloadKey, error: Exception) -> None:
        """No sign of a whole round."""


async def keep_beating(
    health: Health,
    lagged: Callable[[float], None],
    elapsed: Callable[[], float],
) -> None:
    """Beat for ever, and report how late each beat was: that is the event loop's lag."""
    while True:
        due = elapsed() + BEAT_SECONDS
        await asyncio.sleep(BEAT_SECONDS)
        lagged(max(0.0, elapsed() - due))
        health.beat()
