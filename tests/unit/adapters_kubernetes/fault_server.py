"""A server that answers what a test tells it: for faults that no real API server gives on order."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from time import monotonic

from aiohttp import web

from reconciler.adapters.kubernetes.calls import Limits
from reconciler.adapters.kubernetes.client import KubernetesCluster, open_cluster
from reconciler.adapters.kubernetes.connect import connect
from reconciler.adapters.kubernetes.kubeconfig import ConnectionFlags
from reconciler.model.refs import Json

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(slots=True)
class FaultServer:
    """Answers each request with the next of `answers`, the last one for ever."""

    answers: list[Answer]
    seen: list[tuple[float, str, str]] = field(default_factory=list)
    heard: list[tuple[str, str, int]] = field(default_factory=list)
    url: str = ""

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answer one request."""
        self.seen.append((monotonic(), request.method, request.path_qs))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return await answer(request)

    def note(self, verb: str, kind: str, code: int, seconds: float) -> None:
        """Hear what the client says of its requests."""
        assert seconds >= 0
        self.heard.append((verb, kind, code))


@asynccontextmanager
async def faulty(
    *answers: Answer, request_seconds: float = 5.0, silence_seconds: float = 5.0, token: str = "t"
) -> AsyncIterator[tuple[FaultServer, KubernetesCluster]]:
    """Serve these answers, with a client of them."""
    server = FaultServer(list(answers))
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", server.answer)
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    limits = Limits(qps=0, request_timeout_seconds=request_seconds, silence_seconds=silence_seconds)
    connection = connect(ConnectionFlags(server=server.url, token=token), {"HOME": "/none"})
    cluster = open_cluster(connection, "test", limits=limits, on_request=server.note)
    try:
        yield server, cluster
    finally:
        await cluster.close()
        await runner.cleanup()


def says(status: int, body: Json | None = None, **headers: str) -> Answer:
    """Answer with a status and a body."""

    async def answer(_: web.Request) -> web.StreamResponse:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return web.json_response(body or {}, status=status, headers=named)

    return answer


def hangs(seconds: float = 30.0) -> Answer:
    """Answer after a long time."""

    async def answer(_: web.Request) -> web.StreamResponse:
        await asyncio.sleep(seconds)
        return web.json_response({})

    return answer


def resets() -> Answer:
    """Break the connection instead of answering."""

    async def answer(request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    return answer


def streams(*chunks: bytes, then_hang: bool = False) -> Answer:
    """Stream these bytes as they are."""

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for chunk in chunks:
            await response.write(chunk)
            await asyncio.sleep(0.01)
        if then_hang:
            await asyncio.sleep(30)
        return response

    return answer


def line(type_: str, obj: Json) -> bytes:
    """Return a line of a watch."""
    return json.dumps({"type": type_, "object": obj}).encode() + b"\n"
