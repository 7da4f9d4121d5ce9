"""The generic Git webhook: a signed POST that only says *look now*; what it says is not read."""

import hashlib
import hmac
import logging
from collections.abc import Awaitable, Callable, Mapping

from aiohttp import web

from reconciler.model.errors import PortError

log = logging.getLogger(__name__)

SIGNATURES = ("X-Gamekeeper-Signature", "X-Hub-Signature-256")
RETRY_SECONDS = 10
BODY_LIMIT_BYTES = 3 * 1024 * 1024
_PREFIX = "sha256="


def is_signed(body: bytes, headers: Mapping[str, str], secret: bytes) -> bool:
    """Whether one of the signature headers is the HMAC-SHA256 of the body as it came."""
    wanted = hmac.new(secret, body, hashlib.sha256).hexdigest().encode()
    given = next((headers[name] for name in SIGNATURES if name in headers), "")
    digest = given.removeprefix(_PREFIX) if given.startswith(_PREFIX) else ""
    return hmac.compare_digest(digest.encode("utf-8", "replace"), wanted)


class Webhook:
    """`POST /webhook`. `secret` is asked at each request, so that it may rotate."""

    def __init__(self, secret: Callable[[], bytes], wake: Callable[[], Awaitable[None]]) -> None:
        self._secret = secret
        self._wake = wake

    async def receive(self, request: web.Request) -> web.Response:
        """Wake the repository's lane, whoever serves it, or refuse."""
        # aiohttp ends a body that is too large with 413 before it is held whole.
        body = await request.read()
        secret = self._secret()
        if not secret:
            return web.Response(status=404, text="no webhook here\n")
        if not is_signed(body, request.headers, secret):
            named = " or ".join(SIGNATURES)
            return web.Response(status=401, text=f"the signature in {named} is not right\n")
        try:
            await self._wake()
        except PortError as error:
            log.warning("a webhook was not passed on: %s", error)
            # Not why: whoever holds the secret of a webhook is told nothing of the cluster.
            retry = {"Retry-After": str(RETRY_SECONDS)}
            return web.Response(status=503, text="the leader is not told\n", headers=retry)
        return web.Response(status=202, text="looking\n")
