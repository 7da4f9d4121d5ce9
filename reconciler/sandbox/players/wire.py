"""How simulated games and their matchmaker reach the rooms' API: by HTTP, as everybody does."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import aiohttp

from reconciler.sandbox.players.sayings import Saying

ANSWER_SECONDS = 5.0
_HEADERS = {"Content-Type": "application/json"}


@asynccontextmanager
async def connected(url: Callable[[], str]) -> AsyncIterator[Wire]:
    """Keep connections to the address that `url` gives, "" while nobody listens yet."""
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0),
        timeout=aiohttp.ClientTimeout(total=ANSWER_SECONDS),
        trust_env=False,
    ) as session:
        yield Wire(session, url)


class Wire:
    """What games and their matchmaker say and ask over such connections."""

    def __init__(self, session: aiohttp.ClientSession, url: Callable[[], str]) -> None:
        self._session = session
        self._url = url

    async def say(self, saying: Saying) -> int:
        """Send what a game says; return the status of the answer, 0 for none."""
        return (await self._sent(saying.method, saying.path, saying.body))[0]

    async def listed(self) -> list[str]:
        """Return the rooms that take players as `namespace/name`; [] when nobody says."""
        status, body = await self._sent("GET", "/running")
        try:
            servers = [each["metadata"] for each in json.loads(body)] if status == 200 else []
            return [f"{each['namespace']}/{each['name']}" for each in servers]
        except (ValueError, TypeError, KeyError):
            return []

    async def _sent(self, method: str, path: str, body: bytes | None = None) -> tuple[int, bytes]:
        url = self._url()
        if not url:
            return 0, b""
        try:
            async with self._session.request(
                method, f"{url}{path}", data=body, headers=_HEADERS
            ) as answer:
                return answer.status, await answer.read()
        except (aiohttp.ClientError, TimeoutError):
            return 0, b""
