"""The repository's lane: looks at Git when woken or when the poll is due, and tells the others."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Protocol

from reconciler.core.waits import soonest
from reconciler.loop import head, requests
from reconciler.loop.approvals import approval_prefix
from reconciler.loop.config import config_in_force
from reconciler.loop.head_lane import HeadLane
from reconciler.model.errors import Conflict, PortError, Unavailable
from reconciler.model.readings import Reading
from reconciler.model.refs import ObjectRef
from reconciler.model.wanted import Wanted
from reconciler.ports import Clock
from reconciler.service.retries import Retries
from reconciler.service.wakes import Wakes

FIRST_SECONDS = 1.0
CONFLICT_SECONDS = 0.05
DUE_SECONDS = 0.05
LONGEST_SECONDS = 300.0
"""A repaired host or credential sends no event: it is looked for, at the latest after this, or
when a look is due by the poll, where that is sooner: a host that is well bears as many."""


class HeadObserver(Protocol):
    """Who hears of heads: logs, metrics, the health check."""

    def looked(self, wanted: Wanted, reading: Reading | None, seconds: float) -> None:
        """A head was taken in."""

    def blind(self, error: PortError) -> None:
        """Git, or what stands behind it, did not answer; what was wanted stays wanted."""

    def stumbled(self, error: Exception) -> None:
        """Taking a head in met a defect of ours."""


class HeadService:
    """Serves the repository lane; `published` is called with what is wanted after each look."""

    def __init__(
        self,
        lane: HeadLane,
        clock: Clock,
        observer: HeadObserver,
        leading: Callable[[], bool],
        published: Callable[[Wanted], None],
        poll_seconds: float = 0.0,
    ) -> None:
        self.lane = lane
        self.wakes: Wakes[str] = Wakes()
        self._clock = clock
        self._observer = observer
        self._leading = leading
        self._published = published
        self._poll_seconds = poll_seconds
        self._retries = Retries(FIRST_SECONDS, LONGEST_SECONDS)
        self._conflicts = Retries(CONFLICT_SECONDS, LONGEST_SECONDS)
        self._asked = False

    def wake(self) -> None:
        """Look at Git soon."""
        self.wakes.mark((self.lane.branch,))

    @property
    def request_ref(self) -> ObjectRef:
        """Where `gamekeeper reconcile` writes."""
        home = self.lane.home
        return requests.request_ref(home.store.repository_ref.namespace, home.instance)

    def record_changed(self, ref: ObjectRef, gone: bool = False) -> None:
        """Look soon when a person wrote: a request, or an approval. Our own writes wake nobody.

        What is gone is looked after too: perhaps nobody but a person deleted it.
        """
        if ref == self.request_ref:
            self._asked = True
            self.wake()
        elif ref.name.startswith(approval_prefix(self.lane.home.instance)):
            self.lane.approvals_changed = True
            self.wake()
        elif gone and self._leading():
            self.lane.home.store.suspected.add(ref)
            self.wake()

    def forget(self) -> None:
        """Judge the head anew: what is on record may have been written by somebody else."""
        self.lane.home.wanted = Wanted()
        self.lane.judged_at = 0.0
        self.lane.approvals_changed = True

    @property
    def poll_seconds(self) -> float:
        """How often to look without being woken: as the process says, else as the Config does."""
        if self._poll_seconds:
            return self._poll_seconds
        config = config_in_force(self.lane.reading, self.lane.home.store.repository)
        return float(config.poll_seconds)

    async def run(self) -> None:
        """Serve until cancelled."""
        wait_seconds = 0.0
        while True:
            # `wait_for` of Python 3.11 forgets a cancellation that meets the end of its wait.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait_seconds):
                    await self.wakes.take()
            wait_seconds = await self._look() if self._leading() else 1.0

    async def _look(self) -> float:
        """Look once; return the seconds after which to look again unless woken."""
        started = self._clock.now()
        asked, self._asked = self._asked, False
        try:
            request = await self._request() if asked else ""
            self.lane.records_doubted |= asked
            wanted = await head.look(self.lane, self._clock.now())
            if request:
                await requests.answer(self.lane.home.cluster, self.request_ref, request)
        except Conflict as error:
            # Somebody else wrote our records, which have been read again: judge at once.
            self._asked = self._asked or asked
            self.lane.home.store.doubted = True
            pause_seconds = self._conflicts.failed()
            if pause_seconds > FIRST_SECONDS:
                self._observer.blind(error)  # one that goes on is nobody who was faster
            return pause_seconds
        except PortError as error:
            # What was asked for is answered by the look that succeeds.
            self._asked = self._asked or asked
            self._observer.blind(error)
            if not self.lane.home.wanted.commit:
                await self._resume()
            wait_seconds = error.retry_after_seconds if isinstance(error, Unavailable) else None
            return max(wait_seconds or 0.0, self._pause_seconds())
        except Exception as error:
            # A defect of ours in judging a head must not end what is wanted already.
            self._observer.stumbled(error)
            return self._pause_seconds()
        self._retries.succeeded()
        self._conflicts.succeeded()
        self._observer.looked(wanted, self.lane.reading, self._clock.now() - started)
        self._published(wanted)
        due_seconds = head.due_in_seconds(self.lane, self._clock.now())
        # What came due while this look was made is looked at in the next one.
        return max(DUE_SECONDS, soonest(self.poll_seconds, due_seconds) or 0.0)

    def _pause_seconds(self) -> float:
        """Count a look that failed, and return the seconds until the next."""
        return min(self._retries.failed(), max(FIRST_SECONDS, self.poll_seconds))

    async def _request(self) -> str:
        """Return what `gamekeeper reconcile` asked for; read only when its object changed."""
        return await requests.pending(self.lane.home.cluster, self.request_ref)

    async def _resume(self) -> None:
        """Work from what was accepted before, while Git does not answer at a start."""
        try:
            self._published(await head.resume(self.lane, self._clock.now()))
        except PortError as error:
            self._observer.blind(error)
