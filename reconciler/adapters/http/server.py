"""The listener of the rooms' API: a thin shell over aiohttp's low-level server.

Games ask every few seconds, so connections are kept. What a stranger may hold is bounded: bytes,
seconds, and connections (`connections`).
"""

import asyncio
import logging
import socket
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, cast

from aiohttp import StreamReader, web
from aiohttp.http import RawRequestMessage
from aiohttp.web_protocol import RequestHandler

from reconciler.adapters.http.ask import BODY_LIMIT_BYTES, Answer, Ask
from reconciler.adapters.http.connections import (
    HEAD_LIMIT_BYTES,
    REQUEST_SECONDS,
    SWEEP_SECONDS,
    Connection,
    Ledger,
)
from reconciler.adapters.http.pulse import BEAT_SECONDS, TURNS, Pulse
from reconciler.adapters.http.refusals import Refused, told
from reconciler.adapters.http.routes import way_of
from reconciler.adapters.http.writing import NAMELESS, last, written
from reconciler.model.errors import Misconfigured, PortError

BACKLOG = 2048
ACCEPTS_AT_ONCE = 64
"""So many connections come or go in one stretch of the loop: a crowd must not hold it up."""
FAREWELL_SECONDS = 2.0
MOST_HEADERS = 64
LINGERING_SECONDS = 0.5
"""How long the rest of a body that is not wanted is read, so that its sender sees the answer."""
log = logging.getLogger(__name__)


class Api(Protocol):
    """What answers."""

    async def answer(self, ask: Ask) -> Answer:
        """Answer a request; raises nothing."""

    def closed(self) -> str:
        """Why nothing is answered now, "" when it is: nobody is to wait here for better."""


@dataclass(frozen=True, slots=True)
class Caps:
    """The most connections at once, of all and of one address (but this machine's)."""

    connections: int = 16_384
    of_peer: int = 256


@asynccontextmanager
async def serving_rooms(
    api: Api, host: str, port: int, caps: Caps = Caps()
) -> AsyncIterator[tuple[str, int]]:
    """Serve and yield host and port; port 0 picks one. Raises Misconfigured."""
    loop = asyncio.get_running_loop()
    ledger = Ledger(caps.connections, caps.of_peer, time.monotonic)
    server = web.Server(_Shell(api, ledger).serve, request_factory=_request)
    # Nothing is unpacked: a small body could be a large one. No line for each request is kept.
    make = partial(
        Connection,
        server,
        ledger,
        loop=loop,
        access_log=None,
        auto_decompress=False,
        max_headers=MOST_HEADERS,
        lingering_time=LINGERING_SECONDS,
    )
    sock = _listening(host, port)
    listener = await loop.create_server(make, sock=sock, backlog=ACCEPTS_AT_ONCE)
    # The loop takes in as many at once as it thinks that the kernel keeps: it keeps more.
    sock.listen(BACKLOG)
    sweeping = asyncio.create_task(_sweep(ledger, api), name="rooms' connections")
    beating = asyncio.create_task(_beat(ledger.pulse), name="rooms' pulse")
    try:
        bound = listener.sockets[0].getsockname()
        yield bound[0], bound[1]
    finally:
        listener.close()
        for task in (sweeping, beating):
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        await server.shutdown(FAREWELL_SECONDS)


def _listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens, for both families where all addresses are meant."""
    both = host in ("", "::") and socket.has_dualstack_ipv6()
    family = socket.AF_INET6 if both or ":" in host else socket.AF_INET
    try:
        return socket.create_server(
            (host, port), family=family, backlog=BACKLOG, dualstack_ipv6=both
        )
    except OSError as error:
        raise Misconfigured(
            f"rooms cannot be heard at {host}:{port} ({error.strerror}): "
            "choose another --rooms-listen"
        ) from error


async def _sweep(ledger: Ledger, api: Api) -> None:
    while True:
        await asyncio.sleep(SWEEP_SECONDS)
        # Games ask on the connection that they have: those of a process that leads no more would
        # never be heard by the one that does.
        idle = ledger.idle() if api.closed() else []
        for number, (connection, last_words) in enumerate((*ledger.late(), *idle), 1):
            connection.hang_up(last_words)
            if number % ACCEPTS_AT_ONCE == 0:
                await asyncio.sleep(0)


async def _beat(pulse: Pulse) -> None:
    while True:
        await asyncio.sleep(BEAT_SECONDS)
        at = time.monotonic()
        for _ in range(TURNS):
            await asyncio.sleep(0)
        pulse.beat(at)


class _Shell:
    """Between aiohttp's requests and ours."""

    def __init__(self, api: Api, ledger: Ledger) -> None:
        self._api = api
        self._ledger = ledger

    async def serve(self, request: web.BaseRequest) -> web.StreamResponse:
        connection = cast(Connection, request.protocol)
        self._ledger.serve(connection)
        try:
            body = await _body_of(request, connection)
            self._ledger.whole(connection, len(body), "Transfer-Encoding" in request.headers)
            path, _, query = _origin_form(request.raw_path).partition("?")
            who, came = connection.peer, connection.came
            ask = Ask(request.method, path, query, request.headers, body, who, came)
            answer = await self._api.answer(ask)
            if answer.stream is None:
                return written(answer, request)
            if answer.endless:
                self._ledger.stream(connection)
            async with aclosing(answer.stream) as stream:
                return await _streamed(request, connection, answer, stream)
        except Refused as no:
            # What it still sends is not read.
            return last(told(no, way_of(request.raw_path)))
        finally:
            self._ledger.done(connection)


def _origin_form(target: str) -> str:
    """Return path and query of a request; what is sent through a proxy may name the host too."""
    scheme, mark, rest = target.partition("://")
    return "/" + rest.partition("/")[2] if mark and scheme in ("http", "https") else target


async def _streamed(
    request: web.BaseRequest,
    connection: Connection,
    answer: Answer,
    stream: AsyncGenerator[bytes, None],
) -> web.StreamResponse:
    headers = {"Content-Type": answer.content_type, **answer.headers, **NAMELESS}
    response = web.StreamResponse(status=answer.status, headers=headers)
    if request.version >= (1, 1):
        response.enable_chunked_encoding()
    try:
        await response.prepare(request)
        if request.method == "HEAD":
            return response
        async for piece in stream:
            # A reader that takes nothing more is let go of.
            async with asyncio.timeout(REQUEST_SECONDS):
                await response.write(piece)
        await response.write_eof()
    except TimeoutError:
        connection.hang_up()
    except ConnectionError:
        log.debug("the reader of %s has gone", request.path)
    except PortError as error:
        # Half a list must not pass for a whole one.
        log.debug("%s ends early: %s", request.path, error)
        connection.hang_up()
    return response


async def _body_of(request: web.BaseRequest, connection: Connection) -> bytes:
    """Read the body. Raises Refused where it, or what stands before it, is too large."""
    if connection.head_bytes > HEAD_LIMIT_BYTES:
        size = sum(len(name) + len(value) for name, value in request.raw_headers)
        if size > HEAD_LIMIT_BYTES:
            raise Refused(431, "the headers are larger than 16 KiB", "Send fewer of them")
    if not request.can_read_body:
        return b""
    if (request.content_length or 0) > BODY_LIMIT_BYTES:
        raise Refused(413, f"the body is larger than {BODY_LIMIT_BYTES} bytes")
    asks = "Expect" in request.headers and request.version >= (1, 1)
    if asks and request.transport is not None:
        request.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    try:
        if request.content.is_eof():
            # A report comes whole with its head, almost always: there is nothing to wait for.
            return request.content.read_nowait()
        return await request.read()
    except web.HTTPRequestEntityTooLarge:
        raise Refused(413, f"the body is larger than {BODY_LIMIT_BYTES} bytes") from None
    except (web.RequestPayloadError, ConnectionError):
        # The sender hung up in the middle, or was hung up on: no defect of ours, so no trace.
        raise Refused(400, "the body cannot be read") from None


def _request(
    message: RawRequestMessage, payload: StreamReader, protocol: RequestHandler, *rest: Any
) -> web.BaseRequest:
    writer, task = rest
    loop = asyncio.get_running_loop()
    return web.BaseRequest(
        message, payload, protocol, writer, task, loop, client_max_size=BODY_LIMIT_BYTES + 1
    )
