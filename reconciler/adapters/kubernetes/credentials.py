"""What says who we are, fetched again before it runs out."""

import asyncio
import base64
import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from reconciler.model.errors import Denied, Misconfigured, PortError

TOKEN_FILE_SECONDS = 60.0
"""How long a token read from a file is used: projected tokens are replaced under us."""
FAILURE_SECONDS = 5.0
"""How long a failure is told to all who ask, before the source is asked again."""


@dataclass(frozen=True, slots=True)
class Proof:
    """Headers of a request, the certificate (PEM) shown with it, and how long both are good."""

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    certificate: str = ""
    good_for_seconds: float = math.inf


Source = Callable[[], Awaitable[Proof]]


class Credentials:
    """A proof from a source that is asked again when it runs out, or was not accepted."""

    def __init__(self, source: Source, clock: Callable[[], float]) -> None:
        self._source = source
        self._clock = clock
        self._lock = asyncio.Lock()
        self._proof = Proof()
        self._until = -math.inf
        self._failure: PortError | None = None
        self._failed_at = -math.inf

    @property
    def certificate(self) -> str:
        """The newest certificate: connections that have shown another are of the past."""
        return self._proof.certificate

    async def proof(self) -> Proof:
        """Return what to send now.

        Raises the errors of ports when it cannot be had.
        """
        if self._clock() >= self._until:
            await self.renew(self._proof)
        return self._proof

    async def renew(self, refused: Proof) -> bool:
        """Fetch the proof again unless another request just did; True when it differs."""
        async with self._lock:
            if self._proof is refused:
                await self._fetch()
            newest = self._proof
        return (newest.headers, newest.certificate) != (refused.headers, refused.certificate)

    async def _fetch(self) -> None:
        if self._failure is not None and self._clock() < self._failed_at + FAILURE_SECONDS:
            # Many requests ask at once: not each of them is to start a program that fails.
            raise type(self._failure)(str(self._failure)) from self._failure
        try:
            self._proof = await self._source()
        except PortError as error:
            self._failure, self._failed_at = error, self._clock()
            raise
        self._failure = None
        self._until = self._clock() + self._proof.good_for_seconds


def bearer(token: str, origin: str) -> dict[str, str]:
    """Return the header of a token.

    Raises Misconfigured when no header can hold it; `origin` says where it comes from.
    """
    word = token.strip()
    if not word or not word.isascii() or not word.isprintable():
        raise Misconfigured(f"{origin}: the token is empty or holds what no token can: log in anew")
    return {"Authorization": f"Bearer {word}"}


def basic(username: str, password: str) -> dict[str, str]:
    """Return the header of a name and a password."""
    pair = base64.b64encode(f"{username}:{password}".encode()).decode()
    return {"Authorization": f"Basic {pair}"}


def fixed(headers: Mapping[str, str]) -> Source:
    """Return a source of headers that never change."""

    async def source() -> Proof:
        return Proof(headers)

    return source


def from_token_file(path: str) -> Source:
    """Return a source that reads a token from a file each minute."""

    async def source() -> Proof:
        try:
            token = await asyncio.to_thread(Path(path).read_text, encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is no text"
            raise Denied(
                f"the token file {path} cannot be read ({reason}): check that it is "
                "mounted and readable"
            ) from error
        return Proof(bearer(token, f"the token file {path}"), "", TOKEN_FILE_SECONDS)

    return source
