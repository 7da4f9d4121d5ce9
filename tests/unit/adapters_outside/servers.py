"""Servers of strangers: an HTTP one that answers as it is told, and one that knows only bytes."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.listening import listening

Answering = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


@dataclass
class Stranger:
    """Where it listens, and what it was asked."""

    origin: str
    asked: list[dict[str, Any]] = field(default_factory=list)


@asynccontextmanager
async def answering(
    answer: Answering, tls: ssl.SSLContext | None = None
) -> AsyncIterator[Stranger]:
    """Serve HTTP on the loopback address."""
    stranger = Stranger("")

    async def kept(request: web.BaseRequest) -> web.StreamResponse:
        text = await request.text()
        stranger.asked.append(
            {
                "method": request.method,
                "path": request.path,
                "query": dict(request.query),
                "headers": dict(request.headers),
                "text": text,
            }
        )
        return await answer(request)

    server = web.Server(kept)
    runner = web.ServerRunner(server, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls)
    await site.start()
    port = runner.addresses[0][1]
    stranger.origin = f"{'https' if tls else 'http'}://127.0.0.1:{port}"
    try:
        yield stranger
    finally:
        await runner.cleanup()


@asynccontextmanager
async def saying(words: bytes, *, hangs: bool = False) -> AsyncIterator[Stranger]:
    """Say these bytes to whoever asks, then hang up, or do not."""

    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(words)
        await writer.drain()
        if hangs:
            await asyncio.Event().wait()

    async with listening(speak) as port:
        yield Stranger(f"http://127.0.0.1:{port}")
