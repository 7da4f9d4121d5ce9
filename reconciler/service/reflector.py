"""List, then watch one kind into a shelf, for ever.

A list that fails leaves what is known standing and says that it may be stale: error is not empty.
"""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable, Sequence
from random import SystemRandom

from reconciler.core.backoff import doubled
from reconciler.model.errors import Denied, Expired, Misconfigured, PortError, Unavailable, Unserved
from reconciler.model.refs import Followed, Json
from reconciler.ports import Clock, Cluster, WatchEvent
from reconciler.service.shelves import Shelf, is_older

log = logging.getLogger(__name__)

FIRST_PAUSE_SECONDS = 0.8
LONGEST_PAUSE_SECONDS = 30.0
LONGEST_DENIED_SECONDS = 300.0
"""A repaired permission sends no event: it is tried again, at the latest after this."""
HEALTHY_SECONDS = 120.0
RELIST_SECONDS = 240.0
"""Whatever became of an event on its way, it is known five minutes later: a bookmark comes each
minute, and with it the look whether this time is over."""
OLDER_ACCEPTED_SECONDS = 300.0
"""A list older than what was seen is a lagging server's; after so long it is a restored one's."""
SILENT_SECONDS = 70.0
"""Longer than the minute in which a server that works tells of itself, by a bookmark."""
SLICE = 50
_CHANCE = SystemRandom()


class Reflector:
    """Keeps a shelf the image of one kind."""

    def __init__(
        self,
        cluster: Cluster,
        followed: Followed,
        shelf: Shelf,
        clock: Clock,
        jitter: Callable[[], float] = _CHANCE.random,
        elapsed: Callable[[], float] = time.monotonic,
    ) -> None:
        self.followed = followed
        self.synced = asyncio.Event()
        self.looked = asyncio.Event()
        """Whether it was read, or the server said that it has no such kind."""
        self.unserved = False
        self.failures: Counter[str] = Counter()
        """How often a watch or a list failed, by the name of the error."""
        self._cluster = cluster
        self._shelf = shelf
        self._clock = clock
        self._jitter = jitter
        self._elapsed = elapsed
        self._told_at = elapsed()
        self._failing = False
        self._opened = False
        self._in_a_row = 0
        self._version = ""
        self._highest = ""
        self._older_since: float | None = None
        self._listed_at = 0.0

    @property
    def complete(self) -> bool:
        """Whether everything was read and is still followed."""
        return self.synced.is_set() and not self._failing

    @property
    def highest(self) -> int:
        """The newest resourceVersion seen, 0 before any (or where a server has no numbers)."""
        return int(self._highest) if self._highest.isdecimal() else 0

    @property
    def silent_seconds(self) -> float:
        """Since the server last told something: a list, an event or a bookmark."""
        return self._elapsed() - self._told_at

    async def run(self, *, gives_up: bool = False) -> None:
        """Follow until cancelled.

        One that `gives_up` raises Denied and Misconfigured until the first watch has opened: who
        began by hand what may not be, and looks on, had better be told than wait for a permission.
        """
        while True:
            started = self._clock.now()
            try:
                if not self._version or started - self._listed_at >= RELIST_SECONDS:
                    await self.read()
                await self._watch()
                if self._clock.now() - started >= HEALTHY_SECONDS:
                    self._in_a_row = 0
            except PortError as error:
                if gives_up and not self._opened and isinstance(error, Denied | Misconfigured):
                    raise
                await self._recover(error, self._clock.now() - started)

    async def read(self) -> None:
        """Read everything once. Raises the cluster's errors; what was known then still stands."""
        uids: set[str] = set()
        version = ""
        restored = False
        held_back: list[Json] = []
        async for page in self._cluster.pages(self.followed):
            if not version:
                restored = self._is_restored(page.resource_version)
            version = page.resource_version
            uids.update(item["metadata"]["uid"] for item in page.items)
            if restored:
                held_back.extend(page.items)
            else:
                await self._put_all(page.items)
            del page  # to let go of fifty pods takes milliseconds: not where the next are parsed
        if restored:
            # Versions began anew, so none can be compared: one step from the old image to the new.
            self._shelf.keep_only(())
            for item in held_back:
                self._shelf.put(item)
        self._shelf.keep_only(uids, version)
        self._version = self._highest = version
        self._listed_at = self._clock.now()
        self._told_at = self._elapsed()
        self._seen()
        self.unserved = False
        self.synced.set()
        self.looked.set()

    async def _put_all(self, items: Sequence[Json]) -> None:
        for number, item in enumerate(items):
            if number % SLICE == 0:  # before the first one too: the page has just been parsed
                await asyncio.sleep(0)
            self._shelf.put(item)

    def _is_restored(self, version: str) -> bool:
        """Whether a list older than what was seen must be believed.

        Raises Unavailable while it need not be: behind a load balancer one server may lag.
        """
        now = self._clock.now()
        if not is_older(version, self._highest):
            self._older_since = None
            return False
        if self._older_since is None:
            self._older_since = now
        if now - self._older_since < OLDER_ACCEPTED_SECONDS:
            raise Unavailable(
                f"list {self.followed.kind}: the answer (version {version}) is older than what was "
                f"seen before ({self._highest}): it is not believed yet"
            )
        self._older_since = None
        return True

    async def _watch(self) -> None:
        started = self._clock.now()
        events = self._cluster.watch(self.followed, self._version)
        opened = False  # the first event is the client's own, which says that it is
        async for event in events:
            self._take(event)
            self._opened = True
            if opened:
                self._told_at = self._elapsed()
            opened = True
            if self._clock.now() - self._listed_at >= RELIST_SECONDS:
                return
        if self._clock.now() - started < FIRST_PAUSE_SECONDS:
            raise Unavailable(f"watch {self.followed.kind}: the server ends it at once")

    def _take(self, event: WatchEvent) -> None:
        version = (event.object.get("metadata") or {}).get("resourceVersion", "")
        if event.type == "DELETED":
            self._shelf.drop(event.object)
        elif event.type != "BOOKMARK":
            self._shelf.put(event.object)
        if version:
            self._version = version
            if not is_older(version, self._highest):
                self._highest = version
        self._seen()

    def _seen(self) -> None:
        if self._failing:
            log.info("%s of %s are followed again", self.followed.kind, self._cluster.name)
        self._failing = False

    async def _recover(self, error: PortError, lasted_seconds: float) -> None:
        if not isinstance(error, Unserved):  # asked for ever again, and no failure
            self.failures[type(error).__name__] += 1
        self._in_a_row = 1 if lasted_seconds >= HEALTHY_SECONDS else self._in_a_row + 1
        if not self._failing:
            log.warning("no watch tells of %s now: %s", self.followed.kind, error)
        elif self._in_a_row > 1:
            # Twice without a single event: the position itself may be what is wrong.
            self._version = ""
        if self.silent_seconds >= SILENT_SECONDS:
            # The next watch may open and say nothing as well, whatever changes: only a list tells.
            self._version = ""
        self._failing = True
        if isinstance(error, Unserved):
            self.unserved = True
            self.looked.set()
        elif isinstance(error, Denied | Misconfigured):
            self.unserved = False  # it is refused for another cause by now
        if isinstance(error, Expired):
            self._version = ""
        denied = isinstance(error, Denied | Misconfigured)
        longest = LONGEST_DENIED_SECONDS if denied else LONGEST_PAUSE_SECONDS
        pause = doubled(FIRST_PAUSE_SECONDS, self._in_a_row - 1, longest) * self._jitter()
        asked = error.retry_after_seconds if isinstance(error, Unavailable) else None
        await self._clock.sleep(max(pause, asked or 0.0))
