"""A wake that reached a process which does not lead, passed on to the one that does.

A Git host tells one replica behind the Service, and does not tell it again. What is written is
what `gamekeeper reconcile` writes; whoever leads hears of it by its watch.
"""

import asyncio
import secrets
from collections.abc import Callable

from reconciler.loop import requests
from reconciler.model.errors import Unavailable
from reconciler.model.refs import ObjectRef
from reconciler.ports import Clock, Cluster
from reconciler.service.lease import elapsed

PAUSE_SECONDS = 1.0
"""Between two writes: whoever asks meanwhile is served by the second."""
LONGEST_SECONDS = 5.0
"""Less than a Git host waits for its answer."""


class Relay:
    """Asks the leader to look, at most once a second however often it is asked itself."""

    def __init__(
        self,
        cluster: Cluster,
        ref: ObjectRef,
        instance: str,
        clock: Clock,
        elapsed: Callable[[], float] = elapsed,
    ) -> None:
        """Write to `ref` through `cluster`, which must not be fenced."""
        self._cluster = cluster
        self._ref = ref
        self._instance = instance
        self._clock = clock
        self._elapsed = elapsed
        self._free_at = 0.0
        self._next: asyncio.Task[None] | None = None

    async def ask(self) -> None:
        """Return once the request is written. Raises the cluster's errors."""
        if self._next is None:
            self._next = asyncio.create_task(self._write(), name="relay")
            self._next.add_done_callback(_heard)
        # Shielded: a sender that hangs up takes nothing from the others that wait.
        await asyncio.shield(self._next)

    async def _write(self) -> None:
        await self._clock.sleep(max(0.0, self._free_at - self._elapsed()))
        self._free_at = self._elapsed() + PAUSE_SECONDS
        # Whoever comes from here on may know of a commit that the leader no longer sees.
        self._next = None
        request = f"{self._clock.now():.3f}-{secrets.token_hex(4)}"
        try:
            async with asyncio.timeout(LONGEST_SECONDS):
                await requests.ask(self._cluster, self._ref, self._instance, request)
        except TimeoutError:
            raise Unavailable(f"{self._ref}: not written in {LONGEST_SECONDS:.0f} s") from None


def _heard(task: "asyncio.Task[None]") -> None:
    """Look at a failure that nobody waits for any more, lest asyncio complain of it."""
    if not task.cancelled():
        task.exception()
