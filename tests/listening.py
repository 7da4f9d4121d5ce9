"""A real server of a few lines, on a free port of this machine."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def listening(handle: Handler) -> AsyncIterator[int]:
    """Serve each connection by `handle` for the length of a block; gives the port.

    A peer that goes away ends its connection alone. What still runs at the end is cancelled and
    awaited, and what was not sent by then is not sent: a test leaves no task behind and no
    connection, of which the garbage collector would tell whichever test ran then.
    """
    running: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        running.add(task)
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await handle(reader, writer)
            writer.close()
            await writer.wait_closed()
        writer.transport.abort()
        running.discard(task)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in list(running):
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
