"""Those who follow rooms: each gets what changed since, and is cut off where it is slow."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from weakref import WeakSet

from reconciler.model.live import LivePod
from reconciler.model.refs import WorkloadKey
from reconciler.model.rooms import Heard
from reconciler.room_ports import Change

COALESCE_SECONDS = 0.05
LONGEST_QUEUE = 4096
"""So many changes may wait for one reader: more than a crowd of rooms makes in a second."""

Known = dict[str, tuple[LivePod, Heard | None]]
"""What was told of the rooms of one workload, by uid."""


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
    """Tells of changes of rooms, some at a time.

    `rooms_of` is what there is of a workload, `change_of` makes a line of it; both without I/O.
    """

    def __init__(
        self,
        rooms_of: Callable[[WorkloadKey], Known],
        change_of: Callable[[WorkloadKey, LivePod, bool], Change | None],
        keys: Callable[[], Iterable[WorkloadKey]],
    ) -> None:
        self._rooms_of = rooms_of
        self._change_of = change_of
        self._keys = keys
        # Whoever reads no more is not told either: nothing has to be closed.
        self._all: WeakSet[Watcher] = WeakSet()
        self._told: dict[WorkloadKey, Known] = {}
        self._dirty: set[WorkloadKey] = set()
        self._news = asyncio.Event()

    def follow(self, workload: WorkloadKey | None) -> Watcher:
        """Begin to tell somebody."""
        if not self._all:
            self._told = {key: self._rooms_of(key) for key in self._keys()}
        watcher = Watcher(workload)
        self._all.add(watcher)
        return watcher

    def touched(self, keys: Iterable[WorkloadKey]) -> None:
        """Something of these workloads changed."""
        if self._all:
            self._dirty.update(keys)
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
            dirty, self._dirty = self._dirty, set()
            for key in sorted(dirty):
                if self._all:
                    self._compare(key)
                await asyncio.sleep(0)

    def _compare(self, key: WorkloadKey) -> None:
        before, now = self._told.get(key, {}), self._rooms_of(key)
        self._told[key] = now
        for uid, (pod, heard) in now.items():
            known = before.get(uid)
            if known is None or known[0] is not pod or known[1] is not heard:
                self._tell_of(key, pod, gone=False)
        for uid in before.keys() - now.keys():
            self._tell_of(key, before[uid][0], gone=True)

    def _tell_of(self, key: WorkloadKey, pod: LivePod, gone: bool) -> None:
        change = self._change_of(key, pod, gone)
        if change is not None:
            self.tell(change)
