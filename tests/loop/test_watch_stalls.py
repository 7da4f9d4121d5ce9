"""Row 25, watches: one that stays open and says nothing is known in 75 s, and is to be seen.

Each resource that is followed, in virtual time: with a connection that is swallowed, with a watch
cache that froze, and with a server that tells nothing more of a kind at all. Rooms report and two
of them are played in throughout: nobody there may notice.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from reconciler.adapters.kubernetes.calls import Call
from reconciler.model.errors import Unavailable
from reconciler.model.refs import Json
from reconciler.sandbox.players.natures import Voice
from reconciler.service.metrics import Metrics
from reconciler.service.reflector import LONGEST_PAUSE_SECONDS
from reconciler.service.voices import Voices
from reconciler.service.watch_metrics import WatchMetrics
from tests.loop.rooms.house import Playhouse
from tests.loop.rooms.lines import FarRepository, Line
from tests.loop.rooms.matches import full, in_match
from tests.loop.rooms.wishes import Piece, Wish
from tests.loop.service import Service
from tests.loop.virtual_time import elapsed, in_virtual_time
from tests.loop.wires import SILENCE_SECONDS
from tests.scorecard import score

pytestmark = pytest.mark.usefixtures("no_time_of_this_machine")
ROW = 25
PIECE = Piece("arena", Voice.MAESTRO, 5)
FREE, FEWER = 3, 2
NEEDED = ("Pod", "Namespace", "ServiceAccount", "PodDisruptionBudget")
KINDS = (*NEEDED, "Node", "ConfigMap")
INTERVAL_SECONDS = 60.0
"""Between two bookmarks, and between two looks at Git."""
TOLD_SECONDS = 3 * INTERVAL_SECONDS
"""Within this each stall is told."""
PAUSE_SECONDS = 2.0
LONG_SECONDS = 1800.0
AGE, FAILURES = "gamekeeper_watch_age_seconds", "gamekeeper_watch_failures_total"


class Stalls:
    """What is swallowed between a process and its server, by kind."""

    def __init__(self, service: Service) -> None:
        self.silent: set[str] = set()
        """What comes on these watches gets lost, on those that are opened now, too."""
        self.reopens = False
        """Whether what is opened anew is well."""
        self.unlisted = ""
        """A kind whose lists are swallowed, too."""
        self._transport = service.transport
        self._opened, self._sent = service.transport.stream, service.transport.send
        stream, send = "stream", "send"
        setattr(service.transport, stream, self._stream)
        setattr(service.transport, send, self._send)

    @asynccontextmanager
    async def _stream(self, call: Call) -> AsyncIterator[Any]:
        is_well = self.reopens and bool(self.silent)
        async with self._opened(call) as wire:
            yield wire if is_well else _Swallows(wire, lambda: call.kind in self.silent)

    async def _send(self, call: Call) -> tuple[int, Json]:
        if call.verb == "list" and call.kind == self.unlisted:
            await _swallowed(30.0)
        return await self._sent(call)


class _Swallows:
    """A wire of which nothing arrives for as long as `silent` says so."""

    def __init__(self, wire: Any, silent: Callable[[], bool]) -> None:
        self._wire, self._silent = wire, silent

    async def readany(self) -> bytes:
        begun = elapsed()
        met: bytes = await self._wire.readany()
        if self._silent():
            await _swallowed(max(0.0, begun + SILENCE_SECONDS - elapsed()))
        return met


async def _swallowed(seconds: float) -> None:
    await asyncio.sleep(seconds)
    raise Unavailable("the server said nothing for so long")


class StalledHouse(Playhouse):
    """A playhouse between whose process and its server something may be swallowed."""

    stalls: Stalls

    def _process(self, name: str) -> Service:
        service = super()._process(name)
        self.stalls = Stalls(service)
        return service


class Stalled:
    """A loop with five rooms, whose stalls a test plays, and the page that tells of them."""

    def __init__(self, there: StalledHouse, wish: Wish) -> None:
        self.there, self.wish, self.stalls = there, wish, there.stalls
        (self.service,) = there.services
        self.world = there.world
        self._registry = CollectorRegistry()
        WatchMetrics("local", self.service.view, self._registry)

    def reads(self, name: str, kind: str, **labels: str) -> float:
        """Return what the page says of a kind, 0 where it says nothing."""
        asked = {"cluster": "local", "kind": kind, **labels}
        return self._registry.get_sample_value(name, asked) or 0.0

    def failures(self, kind: str) -> float:
        return self.reads(FAILURES, kind, reason="Unavailable")

    def knows(self, kind: str, version: int) -> bool:
        """Whether the process has seen what the server had at this version."""
        (one,) = (each for each in self.service.view.followed if each.followed.kind == kind)
        return one.highest >= version

    def write_something(self) -> int:
        """Change something of no kind of ours: a room goes in which nobody plays.

        Return the version from then on.
        """
        playing = full(self.there)
        pods = [each["metadata"] for each in self.world.pods("arena")]
        free = min(each["name"] for each in pods if each["uid"] not in playing)
        self.world.delete(f"/api/v1/namespaces/arena/pods/{free}")
        return self.world.sandbox.world.store.revision

    async def until_rooms(self, count: int, seconds: float) -> None:
        await self.there.until("rooms", lambda: len(self.world.names("arena")) == count, seconds)

    async def until_known(self, kind: str, version: int) -> float:
        return await self.there.until(kind, lambda: self.knows(kind, version), 3600.0)

    async def until_told(self, is_told: Callable[[], bool], seconds: float = TOLD_SECONDS) -> None:
        """Wait until a stall is told, and count how long that took."""
        took = await self.there.until("told", is_told, seconds)
        score(ROW, most_ms_until_a_stall_is_told=round(1000 * took))


@asynccontextmanager
async def stalled() -> AsyncIterator[Stalled]:
    """Open a house that may be stalled, and count what came of it."""
    score(ROW, stalls=1, stalls_gone_wrong=1)
    random.seed(25)
    async with in_match((PIECE,), free=FREE, made=StalledHouse) as (there, wish):
        assert isinstance(there, StalledHouse)
        playing = full(there)
        await asyncio.sleep(400.0)
        yield Stalled(there, wish)
        lost = playing - full(there)
        score(ROW, matches_in_stalls=len(playing), matches_ended_in_stalls=len(lost))
        assert playing
        assert not lost
    score(ROW, stalls_gone_wrong=-1)


@pytest.mark.parametrize("kind", KINDS)
def test_row_25_a_watch_that_is_swallowed_is_opened_anew_in_75_seconds(kind: str) -> None:
    async def play() -> None:
        async with stalled() as here:
            before, began = here.failures(kind), elapsed()
            here.stalls.silent, here.stalls.reopens = {kind}, True
            version = here.write_something()
            await here.until_told(lambda: here.failures(kind) > before)
            score(ROW, most_ms_until_a_silent_watch_is_known=round(1000 * (elapsed() - began)))
            assert elapsed() - began <= SILENCE_SECONDS
            await here.until_known(kind, version)
            score(ROW, most_ms_until_a_stall_is_caught_up_with=round(1000 * (elapsed() - began)))
            assert elapsed() - began <= SILENCE_SECONDS + PAUSE_SECONDS
            assert here.failures(kind) == before + 1

    in_virtual_time(play())


@pytest.mark.parametrize("kind", KINDS)
def test_row_25_watches_that_open_and_say_nothing_are_read_around_and_told(kind: str) -> None:
    async def play() -> None:
        async with stalled() as here:
            before, began = here.failures(kind), elapsed()
            here.stalls.silent = {kind}
            oldest = 0.0
            await here.until_told(lambda: here.failures(kind) > before)
            while elapsed() - began < LONG_SECONDS:
                oldest = max(oldest, await here.until_known(kind, here.write_something()))
            score(ROW, most_ms_read_around_a_stall=round(1000 * oldest))
            assert oldest <= SILENCE_SECONDS + LONGEST_PAUSE_SECONDS + PAUSE_SECONDS
            assert here.failures(kind) - before >= LONG_SECONDS / TOLD_SECONDS

    in_virtual_time(play())


@pytest.mark.parametrize("kind", NEEDED)
def test_row_25_nothing_goes_while_nothing_is_told_of_a_kind_and_the_page_says_so(
    kind: str,
) -> None:
    async def play() -> None:
        async with stalled() as here:
            world, here.stalls.silent, here.stalls.unlisted = here.world, {kind}, kind
            await here.until_told(lambda: bool(here.service.app.not_ready()), 76.0)
            here.wish.change("arena", FEWER, 1)
            here.service.app.head_service.wake()
            await asyncio.sleep(TOLD_SECONDS)
            assert here.reads(AGE, kind) > TOLD_SECONDS
            assert all(here.reads(AGE, each) < 76.0 for each in KINDS if each != kind)
            await asyncio.sleep(LONG_SECONDS)
            assert here.service.app.not_ready()
            here.service.health.beat()  # as `keep_beating` does
            assert here.service.health.problem() == "", "a restart would not repair it"
            assert len(world.names("arena")) == 5
            here.stalls.silent, here.stalls.unlisted = set(), ""
            await here.until_rooms(FEWER, SILENCE_SECONDS + 60.0)
            assert here.reads(AGE, kind) < 76.0

    in_virtual_time(play())


def test_row_25_a_git_host_that_says_nothing_is_told_within_three_intervals() -> None:
    async def play() -> None:
        async with stalled() as here:
            service, line, metrics = here.service, Line(stalls=True), Metrics()
            service.head.repository = FarRepository(here.world.host, line)
            service.app.head_service._observer = Voices([metrics, service.health])
            here.world.commit({"schedulers/arena.yaml": None})
            began, polls = elapsed(), service.app.head_service.poll_seconds
            assert polls <= INTERVAL_SECONDS
            told = {"reason": "Unavailable"}
            name = "gamekeeper_git_failures_total"
            read = metrics.registry.get_sample_value
            await here.until_told(lambda: bool(read(name, told)))
            while elapsed() - began < LONG_SECONDS:
                before = read(name, told) or 0.0
                await asyncio.sleep(3 * polls)
                assert (read(name, told) or 0.0) > before
                service.health.beat()
                assert service.health.problem() == "", "a restart would not repair it"
            assert len(here.world.names("arena")) == 5
            assert read("gamekeeper_last_success_timestamp_seconds") == 0.0

    in_virtual_time(play())
