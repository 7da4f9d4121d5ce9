"""Wakes: keys marked dirty, coalesced for 20 ms. A wake says since when, and never what changed."""

import asyncio
from collections.abc import Iterable
from typing import Generic, TypeVar

COALESCE_SECONDS = 0.02

K = TypeVar("K")


class Wakes(Generic[K]):
    """A set of dirty keys that somebody waits for. Marking is cheap and never blocks."""

    def __init__(self) -> None:
        self._dirty: dict[K, float] = {}
        self.since: dict[K, float] = {}
        """When those that were taken last had been marked first, by the event loop's clock."""
        self._event = asyncio.Event()
        self._later: dict[K, asyncio.TimerHandle] = {}

    def mark(self, keys: Iterable[K], since: float | None = None) -> None:
        """Mark keys dirty, as if at `since`; a key marked twice is taken once."""
        at = asyncio.get_running_loop().time() if since is None else since
        for key in keys:
            self._dirty.setdefault(key, at)
        if self._dirty:
            self._event.set()

    def nudge(self) -> None:
        """Let `take` come round, even with no key: that is how a lane shows that it lives."""
        self._event.set()

    def mark_later(self, keys: Iterable[K], delay_seconds: float) -> None:
        """Mark keys dirty after a while, or sooner where that was asked for before."""
        loop = asyncio.get_running_loop()
        due_at = loop.time() + delay_seconds
        for key in keys:
            waiting = self._later.get(key)
            if waiting is not None:
                # One timer a key: each plan that asks to be looked at again would add another.
                if waiting.when() <= due_at:
                    continue
                waiting.cancel()
            self._later[key] = loop.call_at(due_at, self._due, key)

    def forget(self, key: K) -> None:
        """Wait for a key no more: it is gone, and nothing of it is due."""
        self.since.pop(key, None)
        waiting = self._later.pop(key, None)
        if waiting is not None:
            waiting.cancel()

    def _due(self, key: K) -> None:
        del self._later[key]
        self.mark((key,))

    async def take(self, join_seconds: float = COALESCE_SECONDS) -> set[K]:
        """Wait until a key is dirty, let others join for a moment, and take them all."""
        await self._event.wait()
        await asyncio.sleep(join_seconds)
        self._event.clear()
        self.since, self._dirty = self._dirty, {}
        return set(self.since)
