"""One question by HTTP: a whole deadline, few bytes, no redirect, no proxy, no library error."""

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass

import aiohttp
from yarl import URL

from reconciler.adapters import unreached
from reconciler.adapters.outside.resolver import CheckedResolver, LedAstray

DEADLINE_SECONDS = 5.0
"""From looking up the name to the last byte."""
MOST_BYTES = 64 * 1024
"""Of an answer: one number or one count needs a hundredth of it."""
_PIECE_BYTES = 16 * 1024


class NoAnswer(Exception):
    """Nothing came that could be read; the message begins with whom was asked."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is sent to whom; `who` is how people are told of them. A body makes it a POST."""

    who: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back, whole."""

    status: int
    body: bytes
    retry_after: str = ""
    """What it says of when to ask again, as it came."""


class Exchange:
    """Asks, each time on a connection of its own: one that was kept may lead elsewhere by now."""

    def __init__(
        self,
        resolver: CheckedResolver,
        trust: ssl.SSLContext | None = None,
        deadline_seconds: float = DEADLINE_SECONDS,
    ) -> None:
        """Look names up by `resolver`; without `trust` the usual authorities vouch."""
        self._resolver = resolver
        self._deadline_seconds = deadline_seconds
        self._trust = trust
        self._session: aiohttp.ClientSession | None = None

    async def ask(self, question: Question) -> Answer:
        """Send one question and return its answer, whatever its status. Raises NoAnswer."""
        try:
            async with asyncio.timeout(self._deadline_seconds):
                return await self._asked(question)
        except TimeoutError:
            why = f"did not answer within {self._deadline_seconds:g} s"
        except (aiohttp.ClientError, OSError, ValueError) as error:
            why = _told(error)
        raise NoAnswer(f"{question.who} {why}")

    async def close(self) -> None:
        """End what is open."""
        if self._session is not None:
            await self._session.close()
        await self._resolver.close()

    async def _asked(self, question: Question) -> Answer:
        async with self._opened().request(
            "GET" if question.body is None else "POST",
            URL(question.url, encoded=True),
            data=question.body,
            headers=question.headers,
            allow_redirects=False,
        ) as answer:
            if 300 <= answer.status < 400:
                raise NoAnswer(
                    f"{question.who} answers {answer.status}, a redirect, which is not followed: "
                    "name the address where it leads"
                )
            body = await _read(answer, question.who)
            return Answer(answer.status, body, answer.headers.get("Retry-After", ""))

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            connector = aiohttp.TCPConnector(
                resolver=self._resolver,
                use_dns_cache=False,
                force_close=True,
                limit=0,
                ssl=self._trust or True,
            )
            self._session = aiohttp.ClientSession(
                connector=connector,
                cookie_jar=aiohttp.DummyCookieJar(),
                # The deadline is ours; a little that unpacks to much is not taken at all.
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),
                auto_decompress=False,
                headers={"User-Agent": "gamekeeper", "Accept-Encoding": "identity"},
                trust_env=False,
            )
        return self._session


async def _read(answer: aiohttp.ClientResponse, who: str) -> bytes:
    if answer.headers.get("Content-Encoding", "identity") != "identity":
        raise NoAnswer(f"{who} answers in a compressed form, which was not asked for")
    found = bytearray()
    async for piece in answer.content.iter_chunked(_PIECE_BYTES):
        found += piece
        if len(found) > MOST_BYTES:
            most = f"{MOST_BYTES // 1024} KiB"
            raise NoAnswer(f"{who} answers with more than {most}: one number is wanted")
    return bytes(found)


def _told(error: Exception) -> str:
    if isinstance(error, aiohttp.ClientConnectorDNSError) and isinstance(error.os_error, LedAstray):
        return str(error.os_error)
    return unreached.why(error)
