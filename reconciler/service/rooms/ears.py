"""Who fell silent, and whether it is rather we who do not hear.

A report moves nothing: each room stands in the slot of the second in which its silence would be
worth a look. Only when that second comes is it looked at, and put further on where it has spoken
since. So a sweep costs by the rooms that are due, not by the rooms there are.
"""

import logging
import math
from collections.abc import Callable, Iterable, Iterator, Sequence, Set

from reconciler.ports import Clock
from reconciler.service.rooms.lines import Line
from reconciler.service.rooms.suspicion import UNSUSPECTED, Suspicion, Tally

log = logging.getLogger("gamekeeper")

SLICE = 250
"""So many rooms are looked at in one stretch of the event loop (about a millisecond)."""


class Silence:
    """Watches over rooms that report periodically.

    `limit_of` is the longest silence that a room is allowed, in seconds, None where its silence
    tells nothing: its pod is gone or ends, or its workload does not report. `lost` are the nodes of
    which Kubernetes itself does not hear.
    """

    def __init__(
        self,
        limit_of: Callable[[Line], float | None],
        elapsed: Callable[[], float],
        clock: Clock,
        lost: Callable[[], Set[str]],
    ) -> None:
        self.suspicion = UNSUSPECTED
        self.found_overdue = False
        """Whether any room was found overdue, or silent, in this term."""
        self.looks = 0
        """How many rooms were looked at until now: what the sweeps cost."""
        self._limit = limit_of
        self._lost = lost
        self._elapsed = elapsed
        self._clock = clock
        self._slots: dict[int, list[Line]] = {}
        self._tripped: set[str] = set()
        self._turned: dict[str, Line] = {}

    def forget(self) -> None:
        """Begin anew, with nobody to listen to."""
        self.suspicion = UNSUSPECTED
        self.found_overdue = False
        self._slots = {}
        self._tripped.clear()
        self._turned.clear()

    def follow(self, line: Line) -> None:
        """Listen to a room from `line.last_at` on."""
        if line.followed or not line.periodic:
            return
        limit = self._limit_of(line)
        if limit is not None:
            line.followed = True
            # The second after: then the silence is as long as that for certain.
            slot = math.floor(_next_look(line, limit, self._elapsed())) + 1
            self._slots.setdefault(slot, []).append(line)

    async def sweep(self, lines: Iterable[Line]) -> tuple[list[Line], list[Line]]:
        """Look at who is due; return who falls silent now, and whose silence is forgiven.

        `lines` are all rooms. `suspicion` is told before anybody is returned as silent. When we
        hear again, the silence of those who remain may have been ours too: it is counted anew.
        """
        now, late = self._elapsed(), []
        for number, line in enumerate(self._due(now), 1):
            await self._breathe(number)
            line.followed = False
            if self.is_late(line):
                self.found_overdue = True
                late.append(line)
            elif not line.silent:
                self._note(line)
                self.follow(line)
        before, forgiven = self.suspicion, []
        lost = self._lost()
        if late or before or lost:
            everybody = list(lines)
            mute = await self._mute(everybody, lost)
            if late or before or mute:
                due = {line.uid for line in late}
                self.suspicion = await self._suspected(everybody, now, lost, mute, due)
            forgiven = self._forgiven(everybody, late, before, now)
        # One that spoke while we looked at the others is not silent, and who is forgiven neither.
        return [line for line in late if self.is_late(line)], forgiven

    async def _mute(self, lines: Sequence[Line], lost: Set[str]) -> set[str]:
        """Return the lost nodes with rooms on them whose silence tells nothing: each asks once."""
        found: set[str] = set()
        for number, line in enumerate(lines if lost else (), 1):
            await self._breathe(number)
            if line.node in lost and line.node not in found and self._is_mute(line):
                found.add(line.node)
        return found

    def watches(self, line: Line) -> bool:
        """Whether a room's silence tells something, also of one that was found silent."""
        return line.followed or (line.silent and self._limit_of(line) is not None)

    def is_late(self, line: Line) -> bool:
        """Whether a room is silent for too long and not noted as silent yet."""
        if line.silent or not line.periodic:
            return False
        limit = self._limit_of(line)
        return limit is not None and line.last_at + limit <= self._elapsed()

    def spoke(self, line: Line) -> None:
        """Note that a room which was overdue has spoken."""
        line.overdue = False
        self._turned[line.uid] = line

    def turned(self) -> Iterable[Line]:
        """Return who became overdue, or is no more, since this was asked last."""
        turned, self._turned = self._turned, {}
        return turned.values()

    def _note(self, line: Line) -> None:
        if not line.overdue and self.is_overdue(line):
            line.overdue = self.found_overdue = True
            self._turned[line.uid] = line

    def _forgiven(
        self, lines: Sequence[Line], late: Sequence[Line], before: Suspicion, now: float
    ) -> list[Line]:
        """Count the silence of those anew whom we may not have heard, and hear by now."""
        hears = self.suspicion
        if hears.everywhere or not before:
            return []
        if before.everywhere:
            # What is left of it is no outage of a node or a workload: nobody was heard anywhere.
            self.suspicion = hears = UNSUSPECTED
        silent = [line for line in lines if line.silent]
        forgiven = [
            line
            for line in (*silent, *late)
            if before.of(line.key, line.node) and not hears.of(line.key, line.node)
        ]
        for line in forgiven:
            line.last_at = max(line.last_at, now)
        return forgiven

    def _due(self, now: float) -> Iterator[Line]:
        for slot in sorted(slot for slot in self._slots if slot <= now):
            yield from self._slots.pop(slot, ())  # the term may have ended meanwhile

    def is_overdue(self, line: Line) -> bool:
        """Whether a room that repeats itself has not been heard for longer than it ever paused.

        Its time-out need not be over: it is too early to call it silent, and too late to send
        anybody there.
        """
        limit = self._limit_of(line) if line.periodic else None
        return limit is not None and _overdue(line, limit, self._elapsed())

    def _is_mute(self, line: Line) -> bool:
        """Whether a room that is listened to repeats nothing, so that its silence tells nothing."""
        return not line.periodic and self._limit_of(line) is not None

    async def _suspected(
        self, lines: Sequence[Line], now: float, lost: Set[str], mute: Set[str], due: Set[str]
    ) -> Suspicion:
        """Say why we may be deaf, before the first room counts as silent.

        `due` are the uids of who is late now. Who was never heard, and is not listened to, tells
        nothing by its silence.
        """
        tally = Tally(self.suspicion)
        for number, line in enumerate(lines, 1):
            await self._breathe(number)
            listens = line.heard is not None or line.followed or line.uid in due
            limit = self._limit_of(line) if line.periodic and listens else None
            if limit is not None:
                news = not line.silent or now - line.last_at < 2 * limit
                late = _overdue(line, limit, now)
                tally.count(line.key, line.node, late, news, line.spoke_at >= 0.0)
        return tally.verdict(lost, mute)

    def _limit_of(self, line: Line) -> float | None:
        """Return the longest silence of a room; one that trips a defect must not cost the others.

        Its silence tells nothing then, and so it stays.
        """
        try:
            return self._limit(line)
        except Exception:
            if line.uid not in self._tripped:
                self._tripped.add(line.uid)
                log.exception(
                    "a defect of Gamekeeper's own: the silence of %s is not seen", line.ref
                )
            return None

    async def _breathe(self, number: int) -> None:
        self.looks += 1
        if number % SLICE == 0:
            await self._clock.sleep(0)


def _overdue(line: Line, limit: float, now: float) -> bool:
    return now - line.last_at >= _patience(line, limit)


def _patience(line: Line, limit: float) -> float:
    """Return after how many seconds of silence a room is overdue."""
    return min(limit, max(2 * line.gap, least_patience(limit)))


def least_patience(limit: float) -> float:
    """Return for how many seconds of silence no room is overdue, whatever pauses it made."""
    return limit / 2


def _next_look(line: Line, limit: float, now: float) -> float:
    """Return when a room that goes on saying nothing is to be looked at.

    First when it may be overdue, however short its pauses become; then when it is; then when it
    is silent.
    """
    silence = now - line.last_at
    waits = (limit / 2, _patience(line, limit))
    return line.last_at + next((wait for wait in waits if wait > silence), limit)
