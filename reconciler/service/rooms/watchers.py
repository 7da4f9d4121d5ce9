"""Those who follow rooms: each gets what changed since, and is cut off where it is slow."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable
from weakref import WeakSet

from reconciler.model.live import LivePod
from reconciler.model.refs import WorkloadKey
from reconciler.model.rooms import Heard
from reconciler.room_ports import Change

log = logging.getLogger("gamekeeper")

COALESCE_SECONDS = 0.05
LONGEST_QUEUE = 20_000
"""So many changes may wait for one reader. In an outage all rooms change at once, ten thousand of
them: who reads as fast as anybody must not be cut off for it."""
TOLD_AT_ONCE = 250
"""So many changes are told in one stretch of the event loop: each room is judged for it."""
MOST_EVENTS = 1024
"""While so many changes wait for a reader it is told of no event: a game that sends thousands must
not cut off who follows the rooms' states."""

Known = tuple[LivePod, Heard | None, bool]
"""What is told of a room: its pod, what it said, and whether it is overdue."""


class Watcher(AsyncIterator[Change]):
    """One reader; ends when it is cut off or nobody leads here any more."""

    def __init__(self, workload: WorkloadKey | None) -> None:
        self.workload = workload
        self._lines: asyncio.Queue[Change | None] = asyncio.Queue(LONGEST_QUEUE)
        self._over = False

    async def __anext__(self) -> Change:
        """Return the next change."""
        line = None if self._over and self._lines.empty() else await self._lines.get()
        if line is None:
            self._over = True
            raise StopAsyncIteration
        return line

    def tell(self, change: Change) -> None:
        """Let it know, if it follows that workload."""
        if self._over or self.workload not in (None, change.room.key):
            return
        if change.type == "event" and self._lines.qsize() >= MOST_EVENTS:
            return
        try:
            self._lines.put_nowait(change)
        except asyncio.QueueFull:
            self.end()

    def end(self) -> None:
        """Cut it off: what it missed it finds in a list."""
        self._over = True
        while not self._lines.empty():
            self._lines.get_nowait()
        self._lines.put_nowait(None)


class Watchers:
    """Tells of changes of rooms, some at a time; looks at none but those that it is told of.

    `rooms_of` is what there is of a workload by uid, `room_of` what there is of one room by its
    name and uid, None where it is gone; `change_of` makes a line of it. All are without I/O.
    """

    def __init__(
        self,
        rooms_of: Callable[[WorkloadKey], dict[str, Known]],
        room_of: Callable[[WorkloadKey, str, str], Known | None],
        change_of: Callable[[WorkloadKey, LivePod, bool], Change],
        keys: Callable[[], Iterable[WorkloadKey]],
    ) -> None:
        self._rooms_of = rooms_of
        self._room_of = room_of
        self._change_of = change_of
        self._keys = keys
        # Whoever reads no more is not told either: nothing has to be closed.
        self._all: WeakSet[Watcher] = WeakSet()
        self._told: dict[WorkloadKey, dict[str, Known]] = {}
        self._dirty: dict[tuple[WorkloadKey, str], str] = {}
        self._news = asyncio.Event()

    def follow(self, workload: WorkloadKey | None) -> Watcher:
        """Begin to tell somebody."""
        if not self._all:
            self._told = {key: self._rooms_of(key) for key in self._keys()}
        watcher = Watcher(workload)
        self._all.add(watcher)
        return watcher

    def touched(self, key: WorkloadKey, name: str, uid: str) -> None:
        """Something of this room may have changed."""
        if self._all:
            self._dirty[key, uid] = name
            self._news.set()

    def tell(self, change: Change) -> None:
        """Tell everybody who follows that workload."""
        for watcher in list(self._all):
            watcher.tell(change)

    def end(self) -> None:
        """Cut everybody off."""
        for watcher in list(self._all):
            watcher.end()
        self._all.clear()
        self._told.clear()
        self._dirty.clear()

    async def run(self) -> None:
        """Tell what changed until cancelled."""
        while True:
            await self._news.wait()
            await asyncio.sleep(COALESCE_SECONDS)
            self._news.clear()
            dirty, self._dirty = self._dirty, {}
            for number, ((key, uid), name) in enumerate(dirty.items(), 1):
                if self._all:
                    self._look(key, name, uid)
                if number % TOLD_AT_ONCE == 0:
                    await asyncio.sleep(0)

    def _look(self, key: WorkloadKey, name: str, uid: str) -> None:
        try:
            self._compare(key, name, uid)
        except Exception:
            log.exception("a defect of Gamekeeper's own: who follows %s must list it anew", key)
            self.end()

    def _compare(self, key: WorkloadKey, name: str, uid: str) -> None:
        told = self._told.setdefault(key, {})
        before, now = told.get(uid), self._room_of(key, name, uid)
        if now is None:
            told.pop(uid, None)
            if not told:
                del self._told[key]
        else:
            told[uid] = now
        last = now or before
        if last is None or _same(before, now):
            return
        self.tell(self._change_of(key, last[0], now is None))


def _same(before: Known | None, now: Known | None) -> bool:
    """Whether a room is as it was told."""
    if before is None or now is None:
        return False
    return before[0] is now[0] and before[1] is now[1] and before[2] == now[2]
