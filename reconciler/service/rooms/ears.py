"""Who fell silent, and whether it is rather we who do not hear.

A report moves nothing: each room stands in the slot of the second in which its silence would be
too long. Only when that second comes is it looked at, and put further on where it has spoken
since. So a sweep costs by the rooms that are due, not by the rooms there are.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence

from reconciler.ports import Clock
from reconciler.service.rooms.lines import Line

SLICE = 250
"""So many rooms are looked at in one stretch of the event loop (about a millisecond)."""
DEAF_ROOMS = 3
DEAF_SHARE = 0.2
"""So many rooms at least, and more than this share, that fall silent together make us suspect."""


class Silence:
    """Watches over rooms that report periodically.

    `limit_of` is the longest silence that a room is allowed, in seconds, None where its silence
    tells nothing: its pod is gone or ends, or its workload does not report.
    """

    def __init__(
        self,
        limit_of: Callable[[Line], float | None],
        elapsed: Callable[[], float],
        clock: Clock,
    ) -> None:
        self.deaf = ""
        """Why our ears are suspect, "" while they are not."""
        self.looks = 0
        """How many rooms were looked at until now: what the sweeps cost."""
        self._limit_of = limit_of
        self._elapsed = elapsed
        self._clock = clock
        self._slots: dict[int, list[Line]] = {}

    def forget(self) -> None:
        """Begin anew, with nobody to listen to."""
        self.deaf = ""
        self._slots = {}

    def follow(self, line: Line) -> None:
        """Listen to a room from `line.last_at` on."""
        if line.followed or not line.periodic:
            return
        limit = self._limit_of(line)
        if limit is not None:
            line.followed = True
            # The second after: then the silence is as long as that for certain.
            slot = math.floor(line.last_at + limit) + 1
            self._slots.setdefault(slot, []).append(line)

    async def sweep(self, lines: Iterable[Line]) -> tuple[list[Line], list[Line]]:
        """Look at who is due; return who falls silent now, and whose silence is forgiven.

        `lines` are all rooms. `deaf` is told before anybody is returned as silent. When we hear
        again, the silence of those who remain may have been ours too: it is counted anew.
        """
        now, late = self._elapsed(), []
        for number, line in enumerate(self._due(now), 1):
            await self._breathe(number)
            line.followed = False
            if self.is_late(line):
                late.append(line)
            elif not line.silent:
                self.follow(line)
        was_deaf = self.deaf
        if late or was_deaf:
            everybody = list(lines)
            self.deaf = await self._suspicion(everybody, now)
            if was_deaf and not self.deaf:
                return [], self._forgiven(everybody, late, now)
        # One that spoke while we looked at the others is not silent.
        return [line for line in late if self.is_late(line)], []

    def is_late(self, line: Line) -> bool:
        """Whether a room is silent for too long and not noted as silent yet."""
        if line.silent or not line.periodic:
            return False
        limit = self._limit_of(line)
        return limit is not None and line.last_at + limit <= self._elapsed()

    def _forgiven(self, lines: Sequence[Line], late: Sequence[Line], now: float) -> list[Line]:
        silent = [line for line in lines if line.silent]
        for line in (*silent, *late):
            line.last_at = max(line.last_at, now)
        return [*silent, *late]

    def _due(self, now: float) -> Iterator[Line]:
        for slot in sorted(slot for slot in self._slots if slot <= now):
            yield from self._slots.pop(slot, ())  # the term may have ended meanwhile

    async def _suspicion(self, lines: Sequence[Line], now: float) -> str:
        """Say why we may be deaf: before the first room counts as silent, by those overdue.

        Rooms of one outage fall silent over as long as the pause between their reports. Whoever
        waited for the share to be silent would meanwhile have replaced the first of them.
        """
        listening = overdue = 0
        for number, line in enumerate(lines, 1):
            await self._breathe(number)
            limit = self._limit_of(line) if line.periodic else None
            if limit is None:
                continue
            listening += 1
            quiet = now - line.last_at
            if quiet >= min(limit, max(2 * line.gap, limit / 2)):
                # Who was noted as silent long before tells nothing of an outage that begins now.
                overdue += bool(self.deaf) or not line.silent or quiet < 2 * limit
        if overdue < DEAF_ROOMS or overdue <= DEAF_SHARE * listening:
            return ""
        # The numbers of the beginning: a text that changes each second would be news each second.
        return self.deaf or (
            f"{overdue} of {listening} rooms that report fell silent together: "
            "rather we do not hear them than that all of them hang"
        )

    async def _breathe(self, number: int) -> None:
        self.looks += 1
        if number % SLICE == 0:
            await self._clock.sleep(0)
