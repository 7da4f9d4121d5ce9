"""Row 25, watches: one that stays open and says nothing is known in 75 s, and is to be seen.

Each resource that is followed, in virtual time: with a connection that is swallowed, with a watch
cache that froze, and with a server that tells nothing more of a kind at all.
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
from reconciler.service.metrics import Metrics
from reconciler.service.reflector import LONGEST_PAUSE_SECONDS
from reconciler.service.voices import Voices
from reconciler.service.watch_metrics import WatchMetrics
from tests.loop.rooms.test_git_faults import FarRepository, Line
from tests.loop.safety import Watchman
from tests.loop.service import Service, Theatre, theatre
from tests.loop.virtual_time import elapsed, in_virtual_time
from tests.loop.wires import SILENCE_SECONDS, Weather
from tests.loop.world import CONFIG, World, spec

pytestmark = pytest.mark.usefixtures("no_time_of_this_machine")
NEEDED = ("Pod", "Namespace", "ServiceAccount", "PodDisruptionBudget")
KINDS = (*NEEDED, "Node", "ConfigMap")
INTERVAL_SECONDS = 60.0
"""Between two bookmarks: within three of these each stall is told."""
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


class Stalled:
    """A loop with five rooms, whose stalls a test plays, and the page that tells of them."""

    def __init__(self, there: Theatre, service: Service) -> None:
        self.there, self.service, self.world = there, service, there.world
        self.stalls = Stalls(service)
        self._registry = CollectorRegistry()
        WatchMetrics("local", service.view, self._registry)

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

    async def until_rooms(self, count: int, seconds: float) -> None:
        await self.there.until("rooms", lambda: len(self.world.names("arena")) == count, seconds)

    async def until_known(self, kind: str, version: int) -> float:
        return await self.there.until(kind, lambda: self.knows(kind, version), 3600.0)


@asynccontextmanager
async def stalled() -> AsyncIterator[Stalled]:
    random.seed(25)
    world = World(seed=25)
    world.commit({"gamekeeper.yaml": CONFIG, "schedulers/arena.yaml": spec("arena", 5)})
    async with theatre(world, Weather(random.Random(25)), Watchman(world, {})) as there:
        service = there._process("process-0")
        made = Stalled(there, service)
        there.enter(service)
        await made.until_rooms(5, 300.0)
        await asyncio.sleep(400.0)
        yield made
        there.judge()


def _writes_something(world: World) -> int:
    """Change something of no kind of ours, and return the version from then on."""
    world.delete(f"/api/v1/namespaces/arena/pods/{world.names('arena')[0]}")
    return world.sandbox.world.store.revision


@pytest.mark.parametrize("kind", KINDS)
def test_row_25_a_watch_that_is_swallowed_is_opened_anew_in_75_seconds(kind: str) -> None:
    async def play() -> None:
        async with stalled() as here:
            before = here.failures(kind)
            here.stalls.silent, here.stalls.reopens = {kind}, True
            version = _writes_something(here.world)
            assert await here.until_known(kind, version) <= SILENCE_SECONDS + PAUSE_SECONDS
            assert here.failures(kind) == before + 1

    in_virtual_time(play())


@pytest.mark.parametrize("kind", KINDS)
def test_row_25_watches_that_open_and_say_nothing_are_read_around_and_told(kind: str) -> None:
    async def play() -> None:
        async with stalled() as here:
            before, began = here.failures(kind), elapsed()
            here.stalls.silent = {kind}
            oldest = 0.0
            await asyncio.sleep(3 * INTERVAL_SECONDS)
            assert here.failures(kind) > before
            while elapsed() - began < LONG_SECONDS:
                oldest = max(oldest, await here.until_known(kind, _writes_something(here.world)))
            assert oldest <= SILENCE_SECONDS + LONGEST_PAUSE_SECONDS + PAUSE_SECONDS
            assert here.failures(kind) - before >= LONG_SECONDS / (3 * INTERVAL_SECONDS)

    in_virtual_time(play())


@pytest.mark.parametrize("kind", NEEDED)
def test_row_25_nothing_goes_while_nothing_is_told_of_a_kind_and_the_page_says_so(
    kind: str,
) -> None:
    async def play() -> None:
        async with stalled() as here:
            world, here.stalls.silent, here.stalls.unlisted = here.world, {kind}, kind
            await here.there.until("known", lambda: bool(here.service.app.not_ready()), 76.0)
            world.commit({"schedulers/arena.yaml": spec("arena", 2)})
            here.service.app.head_service.wake()
            await asyncio.sleep(3 * INTERVAL_SECONDS)
            assert here.reads(AGE, kind) > 3 * INTERVAL_SECONDS
            assert all(here.reads(AGE, each) < 76.0 for each in KINDS if each != kind)
            await asyncio.sleep(LONG_SECONDS)
            assert here.service.app.not_ready()
            here.service.health.beat()  # as `keep_beating` does
            assert here.service.health.problem() == "", "a restart would not repair it"
            assert len(world.names("arena")) == 5
            here.stalls.silent, here.stalls.unlisted = set(), ""
            await here.until_rooms(2, SILENCE_SECONDS + 60.0)
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
            told = {"reason": "Unavailable"}
            name = "gamekeeper_git_failures_total"
            read = metrics.registry.get_sample_value
            await here.there.until("told", lambda: bool(read(name, told)), 3 * polls)
            while elapsed() - began < LONG_SECONDS:
                before = read(name, told) or 0.0
                await asyncio.sleep(3 * polls)
                assert (read(name, told) or 0.0) > before
                service.health.beat()
                assert service.health.problem() == "", "a restart would not repair it"
            assert len(here.world.names("arena")) == 5
            assert read("gamekeeper_last_success_timestamp_seconds") == 0.0

    in_virtual_time(play())
