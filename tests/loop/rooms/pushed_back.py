"""Processes that speak to the sandbox through the real transport: its pace, pauses and new tries.

An API server that pushes back answers nothing but 429. Each way of a process has a pace of its
own, as in production: rooms' reports and the Lease wait for no queue of creates.
"""

import asyncio
import json
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from multidict import CIMultiDict

from reconciler.adapters.kubernetes.calls import Call, Limits
from reconciler.adapters.kubernetes.connect import Connection
from reconciler.adapters.kubernetes.credentials import Credentials, Proof
from reconciler.adapters.kubernetes.pace import Pace
from reconciler.adapters.kubernetes.transport import Transport
from reconciler.model.refs import Json
from reconciler.sandbox.requests import Request, Response
from tests.loop.rooms.house import Playhouse
from tests.loop.rooms.service import RoomService
from tests.loop.service import Service
from tests.loop.virtual_time import elapsed
from tests.loop.wires import WatchedTransport, Weather, Wire
from tests.loop.world import World

PUSHED_BACK = 429
CARRIED_SECONDS = 0.002
REFUSAL = json.dumps({"kind": "Status", "reason": "TooManyRequests", "code": PUSHED_BACK}).encode()
_CALL: ContextVar[Call] = ContextVar("the call that is sent")


@dataclass
class Server:
    """What an API server hears, and whether it pushes back. Times are virtual seconds.

    `early` are the requests that came on a way before the server would hear of it again.
    """

    pushes_back: bool = False
    retry_after_seconds: int | None = None
    heard: list[float] = field(default_factory=list)
    early: int = 0

    def within(self, since: float, until: float) -> int:
        """Count what was heard in a time."""
        return sum(since <= at < until for at in self.heard)

    def peak(self, since: float, until: float, seconds: float) -> int:
        """Return the most that was heard in so many seconds."""
        times = [at for at in self.heard if since <= at < until]
        return max((self.within(at, at + seconds) for at in times), default=0)


@dataclass
class Answer:
    """An answer as aiohttp tells of it."""

    status: int
    body: bytes = b""
    headers: CIMultiDict[str] = field(default_factory=CIMultiDict)
    content: Any = None
    connection: None = None

    async def read(self) -> bytes:
        """Return its body."""
        return self.body


class Way(Transport):
    """The real transport; in place of a socket it has a server in this process."""

    def __init__(self, door: "PacedTransport") -> None:
        async def nobody() -> Proof:
            return Proof()

        nowhere = Connection("http://sandbox", None, Credentials(nobody, elapsed), "a test")
        limits = Limits()
        super().__init__(nowhere, limits, "gamekeeper")
        self._pace = Pace(limits.qps, limits.burst, elapsed, jitter=random.random)
        self._door = door
        self._quiet_until = 0.0

    async def send(self, call: Call) -> tuple[int, Json]:
        """Send one request."""
        _CALL.set(call)
        return await super().send(call)

    @asynccontextmanager
    async def stream(self, call: Call) -> AsyncIterator[Any]:
        """Open a stream."""
        _CALL.set(call)
        async with super().stream(call) as content:
            yield content

    def apart(self) -> "Way":
        """Return the same with a pace of its own."""
        return Way(self._door)

    async def _open(self) -> Any:
        return self

    async def close(self) -> None:
        """Nothing is open."""

    @asynccontextmanager
    async def request(self, *_words: Any, **_more: Any) -> AsyncIterator[Answer]:
        """Carry the call of this task to the server, as aiohttp's session would."""
        server, call = self._door.server, _CALL.get()
        server.heard.append(elapsed())
        server.early += elapsed() < self._quiet_until
        if self._door.down:
            raise ConnectionResetError(self._door.down)
        await asyncio.sleep(CARRIED_SECONDS)
        if server.pushes_back:
            after = server.retry_after_seconds
            self._quiet_until = elapsed() + (after or 0)
            more = {} if after is None else {"Retry-After": str(after)}
            yield Answer(PUSHED_BACK, REFUSAL, CIMultiDict(more))
            return
        async with self._door.answered(call) as answer:
            yield answer


class PacedTransport(WatchedTransport):
    """Answers calls that came over one of its ways."""

    def __init__(self, world: World, weather: Weather, server: Server) -> None:
        super().__init__(world.sandbox, world.time.now, weather)
        self.server = server
        self._way = Way(self)

    def apart(self) -> Any:
        """Return a way of its own to the same server."""
        return self._way.apart()

    async def send(self, call: Call) -> tuple[int, Json]:
        """Answer one call; raises the errors of ports."""
        return await self._way.send(call)

    def stream(self, call: Call) -> Any:
        """Open a wire."""
        return self._way.stream(call)

    @asynccontextmanager
    async def answered(self, call: Call) -> AsyncIterator[Answer]:
        """Answer one call, or open a wire."""
        if call.verb != "watch":
            answer = self._numbered(call)
            self.changed()
            yield Answer(answer.status, answer.body, CIMultiDict(answer.headers))
            return
        request = Request.of(call.method, call.path, b"", {"accept": call.accept})
        opened = self.sandbox.handle(request, self.now())
        if isinstance(opened, Response):
            yield Answer(opened.status, opened.body, CIMultiDict(opened.headers))
            return
        try:
            yield Answer(200, content=Wire(opened, self.now, "", 0))
        finally:
            opened.close()


class PacedService(RoomService):
    """One process that speaks to the server at the pace of the real transport."""

    def __init__(self, world: World, name: str, weather: Weather, server: Server) -> None:
        self._server = server
        super().__init__(world, name, weather)

    def _connected(self, world: World, weather: Weather) -> WatchedTransport:
        return PacedTransport(world, weather, self._server)


class PacedHouse(Playhouse):
    """A playhouse of such processes, and one server for all."""

    def __init__(self, *parts: Any) -> None:
        self.server = Server()
        super().__init__(*parts)

    def _process(self, name: str) -> Service:
        return PacedService(self.world, name, self.weather, self.server)
