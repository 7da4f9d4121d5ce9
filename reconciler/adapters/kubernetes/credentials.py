"""The headers that say who we are, fetched again before they run out."""

import asyncio
import base64
import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from reconciler.model.errors import Denied

TOKEN_FILE_SECONDS = 60.0
"""How long a token read from a file is used: projected tokens are replaced under us."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """Headers of a request, and for how many seconds they are good."""

    headers: Mapping[str, str]
    good_for_seconds: float = math.inf


class Credentials:
    """Headers from a source that is asked again when they run out, or were not accepted."""

    def __init__(
        self, source: Callable[[], Awaitable[Fetched]], clock: Callable[[], float]
    ) -> None:
        self._source = source
        self._clock = clock
        self._lock = asyncio.Lock()
        self._headers: Mapping[str, str] = {}
        self._until = -math.inf

    async def headers(self) -> Mapping[str, str]:
        """Return the headers to send now.

        Raises Denied when they cannot be had.
        """
        if self._clock() >= self._until:
            await self.renew(self._headers)
        return self._headers

    async def renew(self, refused: Mapping[str, str]) -> bool:
        """Fetch the headers again unless another request just did; True when they differ."""
        async with self._lock:
            if self._headers is refused:
                fetched = await self._source()
                self._until = self._clock() + fetched.good_for_seconds
                self._headers = dict(fetched.headers)
            return self._headers != refused


def bearer(token: str) -> dict[str, str]:
    """Return the header of a token."""
    return {"Authorization": f"Bearer {token.strip()}"}


def basic(username: str, password: str) -> dict[str, str]:
    """Return the header of a name and a password."""
    pair = base64.b64encode(f"{username}:{password}".encode()).decode()
    return {"Authorization": f"Basic {pair}"}


def fixed(headers: Mapping[str, str]) -> Callable[[], Awaitable[Fetched]]:
    """Return a source of headers that never change."""

    async def source() -> Fetched:
        return Fetched(headers)

    return source


def from_token_file(path: str) -> Callable[[], Awaitable[Fetched]]:
    """Return a source that reads a token from a file each minute."""

    async def source() -> Fetched:
        try:
            token = await asyncio.to_thread(Path(path).read_text, encoding="utf-8")
        except OSError as error:
            raise Denied(
                f"the token file {path} cannot be read ({error.strerror}): check that it is "
                "mounted and readable"
            ) from error
        return Fetched(bearer(token), TOKEN_FILE_SECONDS)

    return source
