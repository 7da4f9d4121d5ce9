"""One request to one API server: its turn, its credentials, its deadline, what its answer means."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import lru_cache
from random import SystemRandom
from typing import Any

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from reconciler.adapters.kubernetes.answers import (
    decoded,
    encoded,
    hang_up,
    no_answer,
    object_of,
    retry_after_seconds,
)
from reconciler.adapters.kubernetes.calls import Call, Limits, OnRequest
from reconciler.adapters.kubernetes.connect import Connection
from reconciler.adapters.kubernetes.credentials import Proof
from reconciler.adapters.kubernetes.pace import PATIENCE_SECONDS, Pace
from reconciler.adapters.kubernetes.refusals import refusal
from reconciler.adapters.kubernetes.sending import CheckedRequest, Errand, make_socket
from reconciler.adapters.kubernetes.server_clock import ServerClock
from reconciler.model.errors import Expired, Unanswered, Unavailable
from reconciler.model.refs import Json

ATTEMPTS = 4
BACKOFF_SECONDS = 0.2
CONNECTIONS = 256
_CHANCE = SystemRandom()


class Transport:
    """The connections to one API server, shared by all who speak to it."""

    def __init__(
        self,
        connection: Connection,
        limits: Limits,
        user_agent: str,
        on_request: OnRequest | None = None,
        clock: ServerClock | None = None,
    ) -> None:
        self.limits = limits
        self._user_agent = user_agent
        self._connection = connection
        self._on_request = on_request
        self._clock = clock or ServerClock()
        self._pace = Pace(limits.qps, limits.burst, time.monotonic)
        self._common = CIMultiDict(connection.impersonation)
        # Compressing answers of 5 KB costs the server more than the network saves.
        self._common["Accept-Encoding"] = "identity"
        self._common["User-Agent"] = user_agent
        self._prompt = aiohttp.ClientTimeout(total=limits.request_timeout_seconds)
        self._patient = aiohttp.ClientTimeout(
            total=None,
            sock_connect=limits.request_timeout_seconds,
            sock_read=limits.silence_seconds,
        )
        self._for_ever = aiohttp.ClientTimeout(
            total=None, sock_connect=limits.request_timeout_seconds
        )
        self._route: dict[str, Any] = {"allow_redirects": False}
        if connection.proxy:
            self._route["proxy"] = connection.proxy
        if connection.server_hostname:
            self._route["server_hostname"] = connection.server_hostname
        self._session: aiohttp.ClientSession | None = None
        self._certificate = ""
        self._retired: list[aiohttp.ClientSession] = []

    async def send(self, call: Call) -> tuple[int, Json]:
        """Send one request and return the status (below 300, or 404) and body of its answer.

        Raises the errors of `model.errors` for every other end.
        """
        data = None if call.body is None else encoded(call.body, call.what)
        attempt = 1
        while True:
            try:
                return await self._attempt(call, data)
            except Unavailable as error:
                hopeless = (
                    isinstance(error, Expired) or attempt == ATTEMPTS or _is_late(call, error)
                )
                wait = error.retry_after_seconds or 0.0
                if hopeless or not call.repeatable or wait > PATIENCE_SECONDS:
                    raise
            await asyncio.sleep(BACKOFF_SECONDS * 2**attempt * (0.5 + _CHANCE.random() / 2))
            attempt += 1

    @asynccontextmanager
    async def stream(self, call: Call) -> AsyncIterator[aiohttp.StreamReader]:
        """Open a stream that may be silent for `silence_seconds` and yield its bytes.

        Raises as `send`, also while the bytes are read.
        """
        credentials = self._connection.credentials
        proof = await credentials.proof()
        patience = self._for_ever if call.may_say_nothing else self._patient
        async with self._exchange(call, None, proof, patience) as answer:
            if answer.status < 300:
                try:
                    yield answer.content
                finally:
                    hang_up(answer)
                return
            # A refusal is no silent log, whatever was asked for.
            async with asyncio.timeout(patience.sock_read or patience.sock_connect):
                content = await answer.read()
        if answer.status == 401:
            await credentials.renew(proof)
        raise refusal(call.what, answer.status, decoded(content), retry_after_seconds(answer))

    def apart(self) -> "Transport":
        """Return the same with connections and a pace of its own, not yet open."""
        mine = self._connection, self.limits, self._user_agent
        return Transport(*mine, self._on_request, self._clock)

    async def close(self) -> None:
        """Close the connections; whoever reads a stream gets Unavailable."""
        for session in (self._session, *self._retired):
            if session is not None:
                await session.close()
        self._session = None
        self._retired.clear()

    async def _attempt(self, call: Call, data: bytes | None) -> tuple[int, Json]:
        credentials = self._connection.credentials
        proof = await credentials.proof()
        status, content, retry_after = await self._ask(call, data, proof)
        if status == 401 and await credentials.renew(proof):
            proof = await credentials.proof()
            status, content, retry_after = await self._ask(call, data, proof)
        if status < 300:
            return status, object_of(content, call.what)
        if status == 404:
            return status, decoded(content)
        raise refusal(call.what, status, decoded(content), retry_after)

    async def _ask(
        self, call: Call, data: bytes | None, proof: Proof
    ) -> tuple[int, bytes, float | None]:
        async with self._exchange(call, data, proof, self._prompt) as answer:
            return answer.status, await answer.read(), retry_after_seconds(answer)

    @asynccontextmanager
    async def _exchange(
        self,
        call: Call,
        data: bytes | None,
        proof: Proof,
        deadline: aiohttp.ClientTimeout,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        # True when it is to find out whether others may be sent.
        probes = await self._pace.turn(call.what)
        errand = Errand(call)
        started = time.monotonic()
        status = 0
        try:
            session = await self._open()
            async with session.request(
                call.method,
                _url(self._connection.url, call.path),
                data=data,
                headers=self._headers(call, proof),
                timeout=deadline,
                **self._route,
            ) as answer:
                status = answer.status
                if status < 500:  # one of those may be a proxy's own, by a clock of its own
                    self._clock.heard(answer.headers.get("Date", ""))
                self._listen(call, answer, started)
                if probes:
                    self._pace.found_out()
                yield answer
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            if not status and self._on_request is not None:
                self._on_request(call.verb, call.kind, 0, time.monotonic() - started)
            raise no_answer(call.what, self._connection, error, deadline) from error
        finally:
            errand.end(is_answered=bool(status))
            if probes and not status:
                if not errand.kept_back:
                    self._pace.pushed_back(None)
                self._pace.found_out()

    def _listen(self, call: Call, answer: aiohttp.ClientResponse, started: float) -> None:
        if answer.status == 429 or (answer.status == 503 and "Retry-After" in answer.headers):
            self._pace.pushed_back(retry_after_seconds(answer))
        else:
            self._pace.accepted()
        if self._on_request is not None:
            self._on_request(call.verb, call.kind, answer.status, time.monotonic() - started)

    def _headers(self, call: Call, proof: Proof) -> CIMultiDict[str]:
        headers = self._common.copy()
        headers["Accept"] = call.accept
        headers["Content-Type"] = call.content_type
        headers.update(proof.headers)
        return headers

    async def _open(self) -> aiohttp.ClientSession:
        newest = self._connection.credentials.certificate
        if self._session is not None and newest != self._certificate:
            # Open connections have shown the old certificate; who still reads there may end.
            self._retired.append(self._session)
            self._session = None
        if self._session is None:
            self._certificate = newest
            connector = aiohttp.TCPConnector(
                limit=CONNECTIONS, ssl=self._connection.ssl or True, socket_factory=make_socket
            )
            self._session = aiohttp.ClientSession(
                connector=connector,
                cookie_jar=aiohttp.DummyCookieJar(),
                request_class=CheckedRequest,
            )
        session = self._session
        if len(self._retired) > 1:
            await self._retired.pop(0).close()
        return session


def _is_late(call: Call, error: Unavailable) -> bool:
    """Whether something may be made yet by a request that was given up."""
    return call.verb == "apply" and not call.tries and isinstance(error, Unanswered)


@lru_cache(maxsize=256)
def _url(server: str, path: str) -> URL:
    return URL(server + path, encoded=True)
