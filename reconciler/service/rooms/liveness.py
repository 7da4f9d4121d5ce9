"""Who fell silent, and whether it is we who do not hear: looked at about once a second.

Whoever says nothing is told of as silent after our own ears were suspected, and forgiven before
they are trusted again.
"""

import logging
from collections.abc import Callable, Iterable
from typing import Protocol

from reconciler.model.refs import WorkloadKey
from reconciler.model.rooms import Ears, Heard
from reconciler.ports import Clock
from reconciler.service.room_metrics import RoomObserver
from reconciler.service.rooms.ears import SLICE, Silence
from reconciler.service.rooms.lines import Line
from reconciler.service.rooms.pages import Pages
from reconciler.service.rooms.presence import Presence
from reconciler.service.rooms.suspicion import UNSUSPECTED

AGE_EVERY_SWEEPS = 10

log = logging.getLogger("gamekeeper")


class Listener(Protocol):
    """The book, as it is told of what is found."""

    def news(self, line: Line) -> None:
        """Take in that something else may be known of a room."""

    def tell(self, key: WorkloadKey) -> None:
        """Take in that something that counts is heard of a workload."""

    def hears_anew(self) -> None:
        """Take in that all rooms are listened to since a moment ago."""

    def asked(self) -> Iterable[WorkloadKey]:
        """Return the workloads of which somebody was told how well they are heard."""


class Liveness:
    """Keeps, for one term, since when rooms are heard well. `elapsed` never jumps (seconds)."""

    def __init__(
        self,
        pages: Pages,
        silence: Silence,
        clock: Clock,
        elapsed: Callable[[], float],
        book: Listener,
        observer: RoomObserver,
    ) -> None:
        self.presence = Presence(elapsed)
        self.suspicion = UNSUSPECTED
        """Why our own ears are suspect."""
        self._pages = pages
        self._silence = silence
        self._clock = clock
        self._elapsed = elapsed
        self._book = book
        self._observer = observer
        self._sweeps = 0

    def forget(self) -> None:
        """The term is over."""
        self.presence.end()
        self.suspicion = UNSUSPECTED
        self._observer.swept(0.0)
        self._silence.forget()

    def ears(self, key: WorkloadKey, rooms: dict[str, Heard]) -> Ears:
        """Return what is heard of some rooms of a workload, and how well they are heard."""
        since = self.presence.since or 0.0
        return self.suspicion.ears(key, rooms, since, self.presence.again_on)

    def is_unsure(self, line: Line) -> bool:
        """Whether a room that repeats nothing may be full by now, and nobody would hear of it."""
        on_change = line.heard is not None and not line.heard.periodic
        return on_change and bool(self.suspicion.of(line.key, line.node))

    def spoke(self, line: Line) -> None:
        """Note that a room has just spoken."""
        self.presence.heard_anybody = True
        if line.overdue:
            self._silence.spoke(line)

    async def sweep(self) -> None:
        """Take note of who fell silent."""
        if self.presence.has_read:
            await self._sweep()
        self._sweeps += 1
        if self._sweeps % AGE_EVERY_SWEEPS == 0:
            now = self._elapsed()
            heard = (line.last_at for line in self._pages.all() if self._silence.watches(line))
            self._observer.swept(max(0.0, now - min(heard, default=now)))

    async def _sweep(self) -> None:
        silent, forgiven = await self._silence.sweep(self._pages.all())
        if self.presence.since is None:
            return  # the term ended while we looked
        if self._silence.found_overdue and not self.presence.heard_anybody:
            self._hear_from_now_on()
        # Told before anybody counts as silent, and until everybody is forgiven.
        before, self.suspicion = self.suspicion, self._silence.suspicion | self.suspicion
        for number, line in enumerate((*silent, *forgiven), 1):
            if number % SLICE == 0:
                await self._clock.sleep(0)
            if line.closed:
                continue  # it is gone, or the term ended
            if number > len(silent):
                line.forgive()
                self._silence.follow(line)
            elif self._silence.is_late(line):  # it may have spoken since
                line.fall_silent(self.presence.since or 0.0)
            self._book.news(line)
        keys = dict.fromkeys(line.key for line in (*silent, *forgiven))
        self.suspicion = self._silence.suspicion
        if self.suspicion != before:
            self.suspicion.say(before)
            self.presence.hear_again(self.suspicion.ended(before))
            # Also of those no room of which was ever heard: nor does their silence count now.
            keys.update(dict.fromkeys((*self._pages.workloads(), *self._book.asked())))
            await self._tell_unsure()
        for key in keys:
            self._book.tell(key)

    def _hear_from_now_on(self) -> None:
        """Wait on for rooms that report on change: who began to lead may hear nobody at all.

        One or two that repeat themselves are too few to suspect our ears for their silence. No time
        ends it: after any, nobody who is cut off has heard that players came.
        """
        if not self.presence.waits_for_a_word:
            self.presence.waits_for_a_word = True
            log.warning(
                "no room was heard since this process began to lead, and one that repeats itself "
                "is overdue: rooms that report on change only, and are to leave, stay until "
                "pingSeconds after the first word of any room. Look whether rooms reach "
                "--rooms-url; where they do, the one made in place of a room that hangs ends it"
            )
        self.presence.hear_again(("",))
        self._book.hears_anew()

    async def _tell_unsure(self) -> None:
        """Tell of each room that repeats nothing: what is suspected of it may have changed."""
        for number, line in enumerate(list(self._pages.all()), 1):
            if number % SLICE == 0:
                await self._clock.sleep(0)
            if not line.periodic and not line.closed:
                self._book.news(line)
