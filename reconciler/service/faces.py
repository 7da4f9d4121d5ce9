"""The HTTP server: /healthz, /readyz, /metrics and, where there is a secret, /webhook.

A connection carries one request and lives for seconds, so a slow sender holds nothing for long.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.web_protocol import RequestHandler

from reconciler.model.errors import Misconfigured
from reconciler.service.health import Health
from reconciler.service.metrics import Metrics
from reconciler.service.webhook import BODY_LIMIT_BYTES, Webhook

log = logging.getLogger(__name__)
_protocol_log = logging.getLogger(f"{__name__}.protocol")
"""Where aiohttp tells what it could not answer."""

CONNECTION_SECONDS = 30.0
BODY_SECONDS = 10.0
CONNECTIONS = 256


@dataclass(frozen=True, slots=True)
class Faces:
    """What the server shows. `ready` says why not yet, "" when ready; it knows of no leader.

    `wake` makes whoever leads look at Git; it raises the cluster's errors.
    """

    health: Health
    metrics: Metrics
    ready: Callable[[], str]
    wake: Callable[[], Awaitable[None]]
    webhook_secret_file: str = ""


def _is_ours(record: logging.LogRecord) -> bool:
    """Whether a record tells of a mistake of ours, and not of what is no HTTP.

    Anybody who reaches the port would fill the log with tracebacks; they are answered 400.
    """
    return not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError))


@asynccontextmanager
async def serving(faces: Faces, listen: str) -> AsyncIterator[str]:
    """Serve at `host:port` and yield the address; port 0 picks one. Raises Misconfigured."""
    host, port = address_of(listen)
    _protocol_log.addFilter(_is_ours)  # the same one is added once
    runner = web.AppRunner(
        _app(faces),
        access_log=None,
        logger=_protocol_log,
        shutdown_timeout=1.0,
        auto_decompress=False,  # a signature is of what is sent; nothing is unpacked before
    )
    await runner.setup()
    protocol = cast(web.Server, runner.server)
    loop = asyncio.get_running_loop()
    accepted: list[tuple[RequestHandler, float]] = []

    def connected() -> asyncio.BaseProtocol:
        now = loop.time()
        # One that was accepted just now has no transport yet.
        accepted[:] = [known for known in accepted if known[0].transport or now - known[1] < 1]
        if len(accepted) >= CONNECTIONS:
            # The oldest goes, not the newest: who holds connections must not keep probes away.
            _hang_up(accepted.pop(0)[0])
        handler = protocol()
        accepted.append((handler, now))
        loop.call_later(CONNECTION_SECONDS, _hang_up, handler)
        return handler

    try:
        server = await loop.create_server(connected, host, port)
    except OSError as error:
        await runner.cleanup()
        raise Misconfigured(
            f"cannot listen at {listen} ({error.strerror}): choose another --listen"
        ) from error
    try:
        yield address_text(*server.sockets[0].getsockname()[:2])
    finally:
        server.close()
        await runner.cleanup()


def _hang_up(handler: RequestHandler) -> None:
    if handler.transport is not None:
        handler.transport.abort()  # uvloop's is no asyncio.Transport, and has it too


def _app(faces: Faces) -> web.Application:
    app = web.Application(client_max_size=BODY_LIMIT_BYTES, middlewares=[_one_request])

    async def healthz(_: web.Request) -> web.Response:
        return _verdict(faces.health.problem())

    async def readyz(_: web.Request) -> web.Response:
        return _verdict(faces.ready())

    async def metrics(_: web.Request) -> web.Response:
        return web.Response(
            # With a thousand workloads writing the page would hold up the loop for 50 ms and more.
            body=await asyncio.to_thread(faces.metrics.text),
            headers={"Content-Type": "text/plain; version=0.0.4"},
        )

    app.on_response_prepare.append(_nameless)
    app.router.add_get("/healthz", healthz)
    app.router.add_get("/readyz", readyz)
    app.router.add_get("/metrics", metrics)
    if faces.webhook_secret_file:
        secret = Path(faces.webhook_secret_file)
        why = _why_none(secret)
        if why:
            log.info("/webhook answers 404 until a secret is in %s: %s", secret, why)
        webhook = Webhook(lambda: _read(secret), faces.wake, time.time)
        app.router.add_post("/webhook", webhook.receive)
        app.on_cleanup.append(webhook.close)
    return app


@web.middleware
async def _one_request(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    try:
        async with asyncio.timeout(BODY_SECONDS):
            answer = await handler(request)
    except TimeoutError:
        answer = web.Response(status=408, text="too slow\n")
    answer.force_close()
    return answer


async def _nameless(_: web.Request, answer: web.StreamResponse) -> None:
    """Tell nobody which versions of what answer."""
    answer.headers["Server"] = "gamekeeper"


def _verdict(problem: str) -> web.Response:
    return web.Response(status=503 if problem else 200, text=f"{problem or 'ok'}\n")


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes().strip()
    except OSError:
        return b""


def _why_none(path: Path) -> str:
    """Say why there is no secret, "" where there is one: it may come later, or is mistyped."""
    try:
        return "" if path.read_bytes().strip() else "the file is empty"
    except OSError as error:
        return error.strerror or repr(error)


def address_text(host: str, port: int) -> str:
    """Return an address as it is written: one of IPv6 in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def address_of(listen: str, flag: str = "--listen") -> tuple[str, int]:
    """Return host and port of `HOST:PORT`. Raises Misconfigured."""
    host, colon, port = listen.rpartition(":")
    if not colon or not port.isdigit() or int(port) > 65535:
        raise Misconfigured(f'{flag} "{listen}" is no address: write HOST:PORT')
    return host.strip("[]"), int(port)
