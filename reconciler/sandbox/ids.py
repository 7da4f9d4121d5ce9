"""Identifiers that look random and follow from a seed alone."""

from __future__ import annotations

from hashlib import blake2b
from uuid import UUID

_LETTERS = "bcdfghjklmnpqrstvwxz2456789"  # no vowels: generated names spell nothing


class Ids:
    """A source of uids and name suffixes; the same seed gives the same ones."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._count = 0

    @property
    def seed(self) -> int:
        """Give what everything here follows from."""
        return self._seed

    def _next(self) -> bytes:
        self._count += 1
        return blake2b(f"{self._seed}/{self._count}".encode(), digest_size=16).digest()

    def uid(self) -> str:
        """Give a fresh uid."""
        return str(UUID(bytes=self._next(), version=4))

    def suffix(self) -> str:
        """Give the five characters that end a generated name."""
        return "".join(_LETTERS[byte % len(_LETTERS)] for byte in self._next()[:5])

    def address(self) -> int:
        """Give a number below 65,000 for a simulated address."""
        return int.from_bytes(self._next()[:4], "big") % 65_000
