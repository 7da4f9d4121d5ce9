"""The fence around writes: whoever does not lead any more writes nothing more.

Asked right before each write is sent, after all its waits, since a lease may run out between the
stages of one plan. The uid and version that every delete carries are the fence beyond that.
"""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace

import aiohttp

from reconciler.adapters.kubernetes.calls import Call, Sends
from reconciler.model.errors import Unavailable
from reconciler.model.refs import Json

WRITES = frozenset({"create", "update", "apply", "patch", "delete"})


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
        return await self._behind.send(replace(call, check=check))

    def stream(self, call: Call) -> AbstractAsyncContextManager[aiohttp.StreamReader]:
        """Open a stream."""
        return self._behind.stream(call)

    def apart(self) -> "Fence":
        """Return the same with connections and a pace of its own."""
        return Fence(self._behind.apart(), self._may_write)

    async def close(self) -> None:
        """Close the connections."""
        await self._behind.close()
