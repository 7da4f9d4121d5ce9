"""The HTTP shell of the sandbox: real time, real sockets, no rules of its own."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from aiohttp import StreamReader, web
from aiohttp.http import RawRequestMessage
from aiohttp.web_protocol import RequestHandler

from reconciler.sandbox import refusals
from reconciler.sandbox.cluster import Sandbox
from reconciler.sandbox.faults import Faults
from reconciler.sandbox.requests import Answer, Request, Response, Stream, first_values

_BODY_LIMIT_BYTES = 3 * 1024 * 1024
_LONGEST_WAIT_SECONDS = 3600.0

logger = logging.getLogger(__name__)


class SandboxServer:
    """Serves a sandbox over HTTP for as long as its `async with` block lasts; port 0 picks one."""

    def __init__(self, sandbox: Sandbox, host: str = "127.0.0.1", port: int = 0) -> None:
        self._sandbox = sandbox
        self._host, self._port = host, port
        self._runner: web.ServerRunner | None = None
        self._ticker: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()
        self._closing = False

    @property
    def url(self) -> str:
        """Give the address of the API."""
        return f"http://{self._host}:{self._port}"

    @property
    def faults(self) -> Faults:
        """Give the planted faults."""
        return self._sandbox.faults

    @property
    def sandbox(self) -> Sandbox:
        """Give the cluster itself."""
        return self._sandbox

    def notice(self, namespace: str, name: str) -> None:
        """Let the cluster look at a pod now: what runs in it has ended by itself."""
        self._sandbox.notice(namespace, name)
        self._changed.set()

    def write_kubeconfig(self, path: Path, token: str = "") -> None:
        """Write a kubeconfig that kubectl and clients can use."""
        user = {"token": token} if token else {}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "sandbox", "cluster": {"server": self.url}}],
            "users": [{"name": "sandbox", "user": user}],
            "contexts": [{"name": "sandbox", "context": {"cluster": "sandbox", "user": "sandbox"}}],
            "current-context": "sandbox",
        }
        path.write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")

    async def __aenter__(self) -> Self:
        server = web.Server(
            self._serve, request_factory=_request, handler_cancellation=True, access_log=None
        )
        self._runner = web.ServerRunner(server, shutdown_timeout=1.0)
        await self._runner.setup()
        site = web.TCPSite(self._runner, self._host, self._port, backlog=1024)
        await site.start()
        address = self._runner.addresses[0]
        self._port = int(address[1])
        self._ticker = asyncio.create_task(self._tick())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing = True
        self._changed.set()
        if self._ticker is not None:
            await self._ticker
        if self._runner is not None:
            await self._runner.cleanup()

    async def _tick(self) -> None:
        """Let the cluster live: after every request, and whenever something is due."""
        while not self._closing:
            self._changed.clear()
            try:
                due = self._sandbox.step(time.time())
            except Exception:
                # A controller that fails must not silence all the others for ever.
                logger.exception("a controller of the sandbox failed; it goes on in a second")
                due = time.time() + 1.0
            wait = _LONGEST_WAIT_SECONDS if due is None else max(0.0, due - time.time())
            if not wait:
                await asyncio.sleep(0)
                continue
            try:
                async with asyncio.timeout(wait):
                    await self._changed.wait()
            except TimeoutError:
                continue

    async def _serve(self, request: web.BaseRequest) -> web.StreamResponse:
        try:
            body = await request.read() if request.can_read_body else b""
        except web.HTTPRequestEntityTooLarge:
            return web.Response(status=413, text="the request body is larger than 3 MiB")
        answer = self._answer(_plain(request, body))
        if request.method != "GET":
            self._changed.set()
        if answer.delay_seconds:
            await asyncio.sleep(answer.delay_seconds)
        if isinstance(answer, Response):
            if answer.dropped and request.transport is not None:
                request.transport.close()
            return _whole(answer)
        return await self._stream(request, answer)

    def _answer(self, request: Request) -> Answer:
        try:
            return self._sandbox.handle(request, time.time())
        except Exception:
            # One request that the sandbox cannot bear must not cost the others their server.
            logger.exception("the sandbox failed at %s %s", request.method, request.path)
            message = "the sandbox failed at this request; its log says where"
            return refusals.failure(500, "InternalError", message).response()

    async def _stream(self, request: web.BaseRequest, stream: Stream) -> web.StreamResponse:
        ready = asyncio.Event()
        stream.wake = ready.set
        response = web.StreamResponse(headers={"Content-Type": stream.content_type})
        response.enable_chunked_encoding()
        try:
            await response.prepare(request)
            while True:
                ready.clear()
                chunk = stream.take(time.time())
                if chunk:
                    await response.write(chunk)
                if stream.ended:
                    break
                await _wait(ready, stream.due)
            await response.write_eof()
        except ConnectionResetError:
            logger.debug("the reader of %s has gone", request.path)
        finally:
            stream.close()
        return response


async def _wait(ready: asyncio.Event, due: float | None) -> None:
    if ready.is_set():
        await asyncio.sleep(0)
        return
    seconds = None if due is None else max(0.0, due - time.time())
    try:
        async with asyncio.timeout(seconds):
            await ready.wait()
    except TimeoutError:
        return


def _request(
    message: RawRequestMessage, payload: StreamReader, protocol: RequestHandler, *rest: Any
) -> web.BaseRequest:
    writer, task = rest
    return web.BaseRequest(
        message,
        payload,
        protocol,
        writer,
        task,
        asyncio.get_running_loop(),
        client_max_size=_BODY_LIMIT_BYTES,
    )


def _plain(request: web.BaseRequest, body: bytes) -> Request:
    headers: dict[str, str] = {}
    for name, text in request.headers.items():
        lowered = name.lower()
        said = lowered.startswith("impersonate-") and headers.get(lowered)
        headers[lowered] = f"{said}\n{text}" if said else text
    path, _, query = request.raw_path.partition("?")
    return Request(request.method, path, first_values(query), headers, body)


def _whole(answer: Response) -> web.Response:
    response = web.Response(status=answer.status, body=answer.body)
    response.headers["Content-Type"] = answer.content_type
    for name, value in answer.headers:
        response.headers.add(name, value)
    return response
