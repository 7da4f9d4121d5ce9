"""Our end of one worker: send it frames, hear its answers, learn how it ended."""

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

from reconciler.adapters.compiler import frames
from reconciler.adapters.compiler.limits import EXIT_CRASHED, EXIT_GARBLED, Ending, Limits
from reconciler.adapters.compiler.zygote import Zygote
from reconciler.model.errors import Unavailable

_STATUS_BYTES = 4096
_GRACE_SECONDS = 30.0
"""Longer than its deadline by so much: then the zygote that should have killed it is stuck."""


class WorkerLost(Exception):
    """The worker ended before it answered; `ending` says how."""

    def __init__(self, ending: Ending) -> None:
        super().__init__(str(ending))
        self.ending = ending


class Worker:
    """A worker at its task."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, status: socket.socket
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._status = status

    async def tell(self, questions: Iterable[Any]) -> None:
        """Send `questions` one by one, made as they are sent; a worker that is gone is no error."""
        with contextlib.suppress(ConnectionError):
            for question in questions:
                self._writer.write(frames.packed(question))
                await self._writer.drain()
                await asyncio.sleep(0)  # drain alone yields to nobody while the buffer has room
            self._writer.write_eof()

    async def answer(self) -> dict[str, Any]:
        """Return the next answer.

        Raises WorkerLost.
        """
        await asyncio.sleep(0)  # answers that have all arrived would else be read at one stretch
        try:
            said = await frames.receive_from(self._reader)
        except frames.Garbled:
            said = None  # it is not to be trusted any more: as good as dead
        if said is None:
            raise WorkerLost(await self._ending())
        if not isinstance(said, dict):
            raise WorkerLost(Ending(code=EXIT_GARBLED))
        if "crashed" in said:
            raise WorkerLost(Ending(code=EXIT_CRASHED, words=str(said["crashed"])))
        return said

    async def _ending(self) -> Ending:
        loop = asyncio.get_running_loop()
        with contextlib.suppress(OSError, ValueError, TypeError):
            return Ending(**json.loads(await loop.sock_recv(self._status, _STATUS_BYTES)))
        return Ending(heard=False)


@asynccontextmanager
async def hired(zygote: Zygote, limits: Limits, questions: Iterable[Any]) -> AsyncIterator[Worker]:
    """Hire a worker and feed it `questions`; it is killed, if it still runs, on leaving.

    Raises Unavailable.
    """
    data, status = zygote.hire(limits)
    status.setblocking(False)
    try:
        reader, writer = await asyncio.open_connection(sock=data)
        worker = Worker(reader, writer, status)
        feeding = asyncio.ensure_future(worker.tell(questions))
        try:
            async with asyncio.timeout(limits.wall_seconds + _GRACE_SECONDS):
                yield worker
        except TimeoutError as error:
            zygote.kill()
            raise Unavailable("The compiler's process does not answer; it is restarted.") from error
        finally:
            feeding.cancel()
            await asyncio.gather(feeding, return_exceptions=True)
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()
    finally:
        status.close()
