"""Wakes: keys marked dirty, coalesced for 20 ms. A wake never says what changed."""

import asyncio
from collections.abc import Iterable
from typing import Generic, TypeVar

COALESCE_SECONDS = 0.02

K = TypeVar("K")


class Wakes(Generic[K]):
    """A set of dirty keys that somebody waits for. Marking is cheap and never blocks."""

    def __init__(self) -> None:
        self._dirty: set[K] = set()
        self._event = asyncio.Event()

    def mark(self, keys: Iterable[K]) -> None:
        """Mark keys dirty; a key marked twice is taken once."""
        self._dirty.update(keys)
        if self._dirty:
            self._event.set()

    def mark_later(self, keys: Iterable[K], delay_seconds: float) -> None:
        """Mark keys dirty after a while."""
        marked = tuple(keys)
        asyncio.get_running_loop().call_later(delay_seconds, self.mark, marked)

    async def take(self) -> set[K]:
        """Wait until a key is dirty, let others join for 20 ms, and take them all."""
        await self._event.wait()
        await asyncio.sleep(COALESCE_SECONDS)
        self._event.clear()
        taken, self._dirty = self._dirty, set()
        return taken
