"""Players of whom rooms told while nothing was taken in: a game may give up, and tell it no more.

They outlive the term in which nobody took them in: the next one of this process begins with them.
Nothing here empties a room. What is older than a count that was heard since, by whomever, or than
the process that runs in the room, is dropped, and so is a room that is no more.
"""

from collections.abc import Callable
from dataclasses import replace

from reconciler.core import hearing, kept_reports
from reconciler.model.live import LivePod
from reconciler.service.rooms import kept
from reconciler.service.rooms.lines import Line, Untaken

MOST_ROOMS = 65_536
"""Of so many rooms it is known; who was turned away first is forgotten beyond that."""
CLOCKS_APART_SECONDS = 2.0
"""So far apart the API server's clock may be read by two processes, in whole seconds each."""


def is_outdone(untaken: Untaken, pod: LivePod, line: Line | None) -> bool:
    """Whether a later count was heard, by us or by who kept it on the pod.

    Or whether whoever told it is no more: its game began anew since, or ended for good. A pod
    tells when in whole seconds, rounded down, by its node's clock.
    """
    if line is not None and line.counted_at >= untaken.at:
        return True
    if untaken.unix_seconds < pod.game_started_at - kept.CLOCKS_APART_SECONDS:
        return True
    if 0 < untaken.unix_seconds < pod.game_ended_at + kept.START_SECONDS:
        return True
    told = kept_reports.heard_of(pod.kept_report)
    return told is not None and told.counted > untaken.unix_seconds + CLOCKS_APART_SECONDS


class TurnedAway:
    """Keeps them. `elapsed` never jumps (seconds), `now` is Unix seconds."""

    def __init__(self, elapsed: Callable[[], float], now: Callable[[], float]) -> None:
        self._elapsed = elapsed
        self._now = now
        self._untaken: dict[str, Untaken] = {}

    def note(self, pod: LivePod, players: int, at: float) -> None:
        """Note what a room told `at` a moment, now at the latest: nobody ends what it told before.

        Then its last count that was heard stands as it did. One that came slowly is older than what
        came in whole meanwhile.
        """
        now = self._elapsed()
        at = min(at, now)
        known = self._untaken.get(pod.uid)
        if known is not None and at < known.at:
            return
        self.drop(pod.uid)
        if not players:
            return
        self._untaken[pod.uid] = Untaken(pod, players, at, self._now() - (now - at))
        if len(self._untaken) > MOST_ROOMS:
            del self._untaken[next(iter(self._untaken))]

    def keep(self, line: Line, pod: LivePod) -> None:
        """Note what a room told in a term that ends, and what does not stand on its pod yet."""
        if line.untaken is not None:
            return  # it is noted
        known = self._untaken.get(line.uid)
        if known is not None and line.counted_at >= known.at:
            self.drop(line.uid)
        heard, writes = line.heard, line.due_at is not None or line.lock.locked()
        if writes and heard is not None and heard.busy and heard.players and hearing.keeps(heard):
            self.note(replace(pod, runs=heard.runs), heard.players, line.counted_at)

    def drop(self, uid: str) -> None:
        """Forget what a room told."""
        self._untaken.pop(uid, None)

    def all(self) -> tuple[Untaken, ...]:
        """Return what was told in vain, as it came."""
        return tuple(self._untaken.values())
