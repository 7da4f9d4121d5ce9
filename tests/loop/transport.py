"""The sandbox as a transport: the real client, no socket, virtual time, and numbered calls."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import orjson

from reconciler.adapters.kubernetes.answers import encoded
from reconciler.adapters.kubernetes.calls import Call
from reconciler.adapters.kubernetes.fence import WRITES
from reconciler.adapters.kubernetes.refusals import refusal
from reconciler.model.refs import Json
from reconciler.sandbox.cluster import Sandbox
from reconciler.sandbox.requests import Request, Response


class Killed(BaseException):
    """The process died here: no `except PortError` and no `finally` of ours may hide it."""


class SandboxTransport:
    """Answers calls from a sandbox at the time that `now` tells.

    `before` and `after` are called with the number and the call of each request; they may raise
    Killed, which is how a crash before a request, or after it took effect, is played. Requests
    that were on their way when the process died are in `late`: the server may yet carry them out.
    `pause` is waited for before each request, so that two processes can be interleaved.
    """

    def __init__(self, sandbox: Sandbox, now: Callable[[], float]) -> None:
        self.sandbox = sandbox
        self.now = now
        self.calls: list[Call] = []
        self.before: Callable[[int, Call], None] = lambda number, call: None
        self.after: Callable[[int, Call], None] = lambda number, call: None
        self.pause: Callable[[], Awaitable[None]] = _no_longer
        self.dead = False
        self.late: list[Call] = []

    def apart(self) -> "SandboxTransport":
        """Return itself: nothing is queued here."""
        return self

    async def send(self, call: Call) -> tuple[int, Json]:
        """Answer one call; raises the errors of ports, as the real transport does."""
        await asyncio.sleep(0)
        await self.pause()
        call.check()
        if self.dead:
            self.late.append(call)
            raise Killed(call.what)
        try:
            answer = self._numbered(call)
        except Killed:
            self.dead = True
            raise
        content: Any = orjson.loads(answer.body) if answer.body else {}
        if answer.status >= 300 and answer.status != 404:
            raise refusal(call.what, answer.status, content, _retry_after(answer))
        return answer.status, content

    def _numbered(self, call: Call) -> Response:
        number = len(self.calls)
        self.before(number, call)
        self.calls.append(call)
        answer = self.deliver(call)
        self.after(number, call)
        return answer

    def deliver(self, call: Call) -> Response:
        """Let the server carry out a call."""
        body = b"" if call.body is None else encoded(call.body, call.what)
        headers = {"content-type": call.content_type, "accept": call.accept}
        answer = self.sandbox.handle(Request.of(call.method, call.path, body, headers), self.now())
        assert isinstance(answer, Response), call
        return answer

    @asynccontextmanager
    async def stream(self, call: Call) -> AsyncIterator[Any]:
        """Loop tests read by lists: a watch has no place in virtual time that stands still."""
        raise AssertionError(f"a loop test opened a watch: {call.what}")
        yield

    async def close(self) -> None:
        """Nothing is open."""

    @property
    def writes(self) -> list[Call]:
        """The calls that change something."""
        return [call for call in self.calls if call.verb in WRITES]


async def _no_longer() -> None:
    return None


def _retry_after(answer: Response) -> float | None:
    values = [float(value) for name, value in answer.headers if name == "Retry-After"]
    return values[0] if values else None
