"""A lock for each of many keys: whoever holds that of one makes nobody of another wait."""

import asyncio
from collections.abc import Hashable
from typing import Generic, TypeVar
from weakref import WeakValueDictionary

K = TypeVar("K", bound=Hashable)


class Locks(Generic[K]):
    """Locks by key, each of which lives as long as somebody holds or waits for it."""

    def __init__(self) -> None:
        self._locks = WeakValueDictionary[K, asyncio.Lock]()

    def of(self, key: K) -> asyncio.Lock:
        """Return the lock of a key, the same for all who ask while somebody holds it."""
        return self._locks.setdefault(key, asyncio.Lock())
