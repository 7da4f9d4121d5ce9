"""Players of whom rooms told while nothing was taken in: a game may give up, and tell it no more.

They outlive the term in which nobody took them in: the next one of this process begins with them.
Nothing here empties a room. What is older than a count that was heard since, by whomever, or than
the process that runs in the room, is dropped, and so is a room that is no more.
"""

from collections.abc import Callable
from dataclasses import dataclass

from reconciler.core import hearing, kept_reports
from reconciler.model.live import LivePod
from reconciler.model.rooms import Report, Said
from reconciler.service.rooms import kept
from reconciler.service.rooms.lines import Line

MOST_ROOMS = 65_536
"""Of so many rooms it is known; who was turned away first is forgotten beyond that."""
CLOCKS_APART_SECONDS = 2.0
"""So far apart the API server's clock may be read by two processes, in whole seconds each."""


@dataclass(frozen=True, slots=True)
class Untaken:
    """The last count that a room told in vain; `at` is by the clock that never jumps."""

    namespace: str
    room: str
    uid: str
    report: Report
    at: float
    unix_seconds: float

    def is_outdone(self, pod: LivePod, line: Line | None) -> bool:
        """Whether a later count was heard, by us or by who kept it on the pod.

        Or whether whoever told it is no more: its game began anew since, or ended for good. A pod
        tells when in whole seconds, rounded down, by its node's clock.
        """
        if line is not None and (line.counted_at >= self.at or self._is_over_since(line)):
            return True
        if self.unix_seconds < pod.game_started_at - kept.CLOCKS_APART_SECONDS:
            return True
        if 0 < self.unix_seconds < pod.game_ended_at + kept.START_SECONDS:
            return True
        told = kept_reports.heard_of(pod.kept_report)
        return told is not None and told.counted > self.unix_seconds + CLOCKS_APART_SECONDS

    def _is_over_since(self, line: Line) -> bool:
        """Whether the last that the room said itself, after that count, is that it is over."""
        said = line.report.said if line.report is not None else None
        return said is Said.TERMINATED and line.told_at >= self.at


class TurnedAway:
    """Keeps them. `elapsed` never jumps (seconds), `now` is Unix seconds."""

    def __init__(self, elapsed: Callable[[], float], now: Callable[[], float]) -> None:
        self._elapsed = elapsed
        self._now = now
        self._untaken: dict[str, Untaken] = {}

    def note(self, pod: LivePod, players: int, at: float) -> None:
        """Note what a room told `at` a moment, now at the latest: nobody ends what it told before.

        Then its last count that was heard stands as it did.
        """
        self.drop(pod.uid)
        if not players:
            return
        now = self._elapsed()
        at = min(at, now)
        report = Report(periodic=False, players=players)
        self._untaken[pod.uid] = Untaken(
            pod.namespace, pod.name, pod.uid, report, at, self._now() - (now - at)
        )
        if len(self._untaken) > MOST_ROOMS:
            del self._untaken[next(iter(self._untaken))]

    def keep(self, line: Line, pod: LivePod) -> None:
        """Note what a room told in a term that ends, and what does not stand on its pod yet."""
        heard, writes = line.heard, line.due_at is not None or line.lock.locked()
        if writes and heard is not None and heard.players and hearing.keeps(heard):
            self.note(pod, heard.players, line.counted_at)

    def drop(self, uid: str) -> None:
        """Forget what a room told."""
        self._untaken.pop(uid, None)

    def all(self) -> tuple[Untaken, ...]:
        """Return what was told in vain, as it came."""
        return tuple(self._untaken.values())
