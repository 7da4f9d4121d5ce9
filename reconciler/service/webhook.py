"""The Git webhook: a POST that its sender signed only says *look now*; what it says is not read."""

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable

from aiohttp import web

from reconciler.core.hook_signatures import BODY_SIGNATURES, GITLAB, is_signed
from reconciler.model.errors import PortError

log = logging.getLogger(__name__)

RETRY_SECONDS = 10
REPEAT_SECONDS = 10.0
"""What was said before makes us look this long after the last look, and not at once."""
MOST_REMEMBERED = 10_000
BODY_LIMIT_BYTES = 3 * 1024 * 1024


class Webhook:
    """`POST /webhook`. `secret` is asked at each request, so that it may rotate.

    A body that came before may be somebody's replay: however many of those come, they make us
    look once in `repeat_seconds`, the last of them included.
    """

    def __init__(
        self,
        secret: Callable[[], bytes],
        wake: Callable[[], Awaitable[None]],
        now: Callable[[], float],
        repeat_seconds: float = REPEAT_SECONDS,
    ) -> None:
        self._secret = secret
        self._wake = wake
        self._now = now
        self._repeat_seconds = repeat_seconds
        self._known: dict[bytes, None] = {}
        self._free_at = 0.0
        self._later: asyncio.Task[None] | None = None

    async def receive(self, request: web.Request) -> web.Response:
        """Wake the repository's lane, whoever serves it, or refuse."""
        try:
            # aiohttp ends a body that is too large with 413 before it is held whole.
            body = await request.read()
        except (web.RequestPayloadError, ConnectionError):
            # No defect of ours: anybody who reaches the port would fill the log with traces of it.
            return web.Response(status=400, text="the body cannot be read\n")
        secret = self._secret()
        if not secret:
            return web.Response(status=404, text="no webhook here\n")
        if not is_signed(body, request.headers, secret, self._now()):
            named = ", ".join(BODY_SIGNATURES)
            text = f"neither {named}, webhook-signature nor {GITLAB} shows the secret\n"
            return web.Response(status=401, text=text)
        digest = hashlib.sha256(body).digest()
        if digest in self._known and (self._later is not None or self._rest_seconds() > 0):
            self._later = self._later or asyncio.create_task(self._look_later(), name="webhook")
            return web.Response(status=202, text="looking in a moment\n")
        try:
            await self._look()
        except PortError as error:
            log.warning("a webhook was not passed on: %s", error)
            # Not why: whoever holds the secret of a webhook is told nothing of the cluster.
            retry = {"Retry-After": str(RETRY_SECONDS)}
            return web.Response(status=503, text="the leader is not told\n", headers=retry)
        self._remember(digest)
        return web.Response(status=202, text="looking\n")

    async def close(self, _: web.Application) -> None:
        """Drop the look that is due, if one is: the process ends."""
        if self._later is not None:
            self._later.cancel()
            await asyncio.gather(self._later, return_exceptions=True)

    async def _look(self) -> None:
        self._free_at = asyncio.get_running_loop().time() + self._repeat_seconds
        await self._wake()

    async def _look_later(self) -> None:
        try:
            await asyncio.sleep(self._rest_seconds())
            # Also where another body made us look meanwhile: what came again since waits for this.
            # Whatever is said again from here on may be of a commit that this look misses.
            self._later = None
            await self._look()
        except PortError as error:
            log.warning("a webhook was not passed on: %s", error)

    def _rest_seconds(self) -> float:
        return self._free_at - asyncio.get_running_loop().time()

    def _remember(self, digest: bytes) -> None:
        self._known[digest] = None
        if len(self._known) > MOST_REMEMBERED:
            del self._known[next(iter(self._known))]
