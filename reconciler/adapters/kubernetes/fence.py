"""The fence around writes: whoever does not lead any more writes nothing more.

Asked right before each write is sent, after all its waits, since a lease may run out between the
stages of one plan. What is not answered by the end of the lease is called back: from a line that
was cut it would arrive when another process leads (ADR 35). The uid and version that every delete
carries are the fence beyond that.
"""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace

import aiohttp

from reconciler.adapters.kubernetes.calls import Call, Sends
from reconciler.model.errors import Unanswered, Unavailable
from reconciler.model.refs import Json

WRITES = frozenset({"create", "update", "apply", "patch", "delete"})
LOOK_SECONDS = 1.0
"""So often it is looked whether a write that waits for its answer may still be. Whoever waits for
the lease waits for longer after it has run out."""


class Fence:
    """A transport that carries every read and dry run, and writes only while `may_write` says so.

    It shares the connections of the transport behind it. A write that may not be raises
    Unavailable.
    """

    def __init__(self, behind: Sends, may_write: Callable[[], bool]) -> None:
        self._behind = behind
        self._may_write = may_write

    async def send(self, call: Call) -> tuple[int, Json]:
        """Send one request, or keep it back."""
        if call.tries or call.verb not in WRITES:
            return await self._behind.send(call)

        def check() -> None:
            if not self._may_write():
                raise Unavailable(
                    f"{call.what}: another process leads now, so nothing is written here"
                )
            call.check()

        # At once too: who does not lead waits for no turn.
        check()
        return await self._while_it_may(replace(call, check=check))

    def stream(self, call: Call) -> AbstractAsyncContextManager[aiohttp.StreamReader]:
        """Open a stream."""
        return self._behind.stream(call)

    def apart(self) -> "Fence":
        """Return the same with connections and a pace of its own."""
        return Fence(self._behind.apart(), self._may_write)

    async def close(self) -> None:
        """Close the connections."""
        await self._behind.close()

    async def _while_it_may(self, call: Call) -> tuple[int, Json]:
        try:
            async with asyncio.timeout(None) as patience:
                looks = _Looks(self._may_write, patience)
                try:
                    return await self._behind.send(call)
                finally:
                    looks.end()
        except TimeoutError as error:
            if not patience.expired():
                raise
            raise Unanswered(
                f"{call.what}: the server had not answered when this process led no more"
            ) from error


class _Looks:
    """Looks from time to time whether a write may still be, and ends the patience with it if not.

    Almost every write is answered before the first: a timer that is dropped is all it costs.
    """

    def __init__(self, may_write: Callable[[], bool], patience: asyncio.Timeout) -> None:
        self._may_write = may_write
        self._patience = patience
        self._loop = asyncio.get_running_loop()
        self._wait()

    def end(self) -> None:
        """Look no more."""
        self._next.cancel()

    def _wait(self) -> None:
        self._next = self._loop.call_later(LOOK_SECONDS, self._look)

    def _look(self) -> None:
        if self._may_write():
            self._wait()
        else:
            self._patience.reschedule(self._loop.time())
