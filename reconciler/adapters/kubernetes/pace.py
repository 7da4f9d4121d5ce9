"""When a request may be sent: a token bucket, and one shared pause when the server pushes back.

While the server pushes back, one request at a time finds out whether it still does; the others
wait for its answer. So a storm meets at most one request a second from us, whatever waits here.
"""

import asyncio
from collections.abc import Callable
from random import SystemRandom

from reconciler.core.backoff import doubled
from reconciler.model.errors import Unavailable

SHORTEST_PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 30.0
PATIENCE_SECONDS = 5.0
"""Who would have to wait longer for the end of a pause is told so instead."""

_CHANCE = SystemRandom()


class Pace:
    """The pace of all requests to one cluster. `qps` 0 means no limit; `burst` are requests."""

    def __init__(
        self,
        qps: float,
        burst: int,
        clock: Callable[[], float],
        *,
        jitter: Callable[[], float] = _CHANCE.random,
        patience_seconds: float = PATIENCE_SECONDS,
    ) -> None:
        self._qps = qps
        self._burst = float(max(burst, 1))
        self._clock = clock
        self._jitter = jitter
        self._patience_seconds = patience_seconds
        self._tokens = self._burst
        self._counted_at = clock()
        self._not_before = 0.0
        self._pauses = 0
        self._verdict: asyncio.Future[None] | None = None

    async def turn(self, what: str) -> bool:
        """Wait until a request, `what` for people, may be sent; True when it is to find out.

        Raises Unavailable when the server asked for a pause longer than anyone should wait.
        """
        if self._qps:
            await self._through_bucket()
        # Last, so that nobody who waited for a token is sent into a pause that began meanwhile.
        return await self._through_pause(what) if self._pauses else False

    def pushed_back(self, retry_after_seconds: float | None) -> None:
        """Take note of a 429 or 503: nobody sends before what the server asked for is over."""
        now = self._clock()
        if now >= self._not_before:
            self._pauses += 1
        grown = doubled(SHORTEST_PAUSE_SECONDS, self._pauses - 1, LONGEST_PAUSE_SECONDS)
        least = SHORTEST_PAUSE_SECONDS if retry_after_seconds is None else retry_after_seconds
        pause = max(least, grown) * (1 + 0.1 * self._jitter())
        self._not_before = max(self._not_before, now + pause)

    def accepted(self) -> None:
        """Take note of an answer that was no push-back; one from before it proves nothing."""
        if self._pauses and self._clock() >= self._not_before:
            self._pauses = 0

    def found_out(self) -> None:
        """Let the next one through; called when the request that finds out is over."""
        if self._verdict is not None:
            self._verdict.set_result(None)
            self._verdict = None

    async def _through_pause(self, what: str) -> bool:
        while self._pauses:
            wait = self._not_before - self._clock()
            if wait > self._patience_seconds:
                raise Unavailable(
                    f"{what}: not sent, as the API server asked us to wait for {wait:.0f} more "
                    "seconds",
                    wait,
                )
            if wait > 0:
                await asyncio.sleep(wait)
            elif self._verdict is None:
                self._verdict = asyncio.get_running_loop().create_future()
                return True
            else:
                await asyncio.shield(self._verdict)
        return False

    async def _through_bucket(self) -> None:
        now = self._clock()
        self._tokens = min(self._burst, self._tokens + (now - self._counted_at) * self._qps)
        self._counted_at = now
        self._tokens -= 1
        if self._tokens < 0:
            await asyncio.sleep(-self._tokens / self._qps)
