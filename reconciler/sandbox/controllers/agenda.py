"""What is to be done when: a heap of keys by their time."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush


class Agenda:
    """Keys and the moments (Unix seconds) at which they are due; the newest moment counts."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, str]] = []
        self._due: dict[str, float] = {}

    def put(self, key: str, due: float) -> None:
        """Set when a key is due."""
        if self._due.get(key) != due:
            self._due[key] = due
            heappush(self._heap, (due, key))

    def drop(self, key: str) -> None:
        """Take a key off."""
        self._due.pop(key, None)

    def __contains__(self, key: str) -> bool:
        return key in self._due

    def take(self, now: float, most: int) -> Iterator[str]:
        """Take the keys that are due, the earliest first."""
        while most and self._heap and self._heap[0][0] <= now:
            due, key = heappop(self._heap)
            if self._due.get(key) == due:
                del self._due[key]
                most -= 1
                yield key

    @property
    def next(self) -> float | None:
        """Tell when the next key is due."""
        while self._heap and self._due.get(self._heap[0][1]) != self._heap[0][0]:
            heappop(self._heap)
        return self._heap[0][0] if self._heap else None
