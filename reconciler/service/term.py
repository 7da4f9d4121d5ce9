"""The time in which this process leads without a break: it begins with what is on record."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from reconciler.loop.lane import Lane
from reconciler.model.errors import PortError, Unreadable
from reconciler.ports import Clock
from reconciler.service.leader_label import LeaderLabel
from reconciler.service.retries import Retries

STEP_DOWN_SECONDS = 3.0


class Term:
    """Reads the records whenever we begin to lead; `known` is whether it has.

    `label` leads rooms to this process, None where we run in no pod. `blind` is told of what went
    wrong, `begun` is called when a term has begun.
    """

    def __init__(
        self,
        lane: Lane,
        clock: Clock,
        label: LeaderLabel | None,
        leads: Callable[[], bool],
        blind: Callable[[PortError], None],
        begun: Callable[[], None],
    ) -> None:
        self.known = False
        self._lane = lane
        self._clock = clock
        self._label = label
        self._leads = leads
        self._blind = blind
        self._begun = begun
        self._changed = asyncio.Event()

    def end(self) -> None:
        """Take nothing for known any more: who leads has changed, or may have."""
        self.known = False
        self._changed.set()

    async def run(self) -> None:
        """Begin a term whenever we lead, for as long as that takes; until cancelled."""
        retries = Retries(longest_seconds=30.0)
        while True:
            await self._changed.wait()
            self._changed.clear()
            if not self._leads():
                await self.step_down()
                continue
            try:
                await self._begin()
            except PortError as error:
                self._blind(error)
                await self._clock.sleep(retries.failed())
                self._changed.set()
                continue
            retries.succeeded()
            if self._changed.is_set():
                continue  # what was read is of an earlier term
            self.known = True
            self._begun()

    async def _begin(self) -> None:
        if self._label is not None:
            await self._label.take()
        try:
            await self._lane.begin_term()
        except Unreadable as error:
            # The repository's record alone: nothing is wanted until a look finds it mended. The
            # others were read, and by these rooms are heard.
            self._blind(error)

    async def step_down(self) -> None:
        """Lead no more rooms to this process."""
        if self._label is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(STEP_DOWN_SECONDS):
                    await self._label.drop()
