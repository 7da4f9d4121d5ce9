"""`gamekeeper run` in virtual time: the App with its lanes, watches, Lease and Events."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any, cast

from reconciler.adapters.git.memory import MemoryRepository
from reconciler.adapters.kubernetes.calls import Call
from reconciler.adapters.kubernetes.client import KubernetesCluster
from reconciler.kube.schemas import Schemas
from reconciler.loop.head_lane import HeadLane
from reconciler.loop.lane import Lane
from reconciler.loop.lost_records import ensure_namespace
from reconciler.loop.requests import request_ref
from reconciler.loop.store import RecordStore
from reconciler.model.refs import ObjectRef, WorkloadKey
from reconciler.model.specs import LOOSEST, Permissions
from reconciler.service.app import App, Parts
from reconciler.service.events import Events
from reconciler.service.health import Health
from reconciler.service.lease import API_VERSION, Lease
from reconciler.service.relay import Relay
from reconciler.service.views import ClusterView
from reconciler.service.voice import LogVoice
from reconciler.service.voices import Voices
from tests.loop.compiler import InlineCompiler
from tests.loop.safety import Unsafe, Watchman
from tests.loop.virtual_time import LoopTime, elapsed
from tests.loop.wires import WatchedTransport, Weather
from tests.loop.world import World, definitions

LEASE = ObjectRef(API_VERSION, "Lease", "gamekeeper", "gamekeeper-main")


class _Defects(LogVoice):
    """Says what there is to say, and keeps the defects."""

    def __init__(self, events: Events) -> None:
        super().__init__(events)
        self.met: list[Exception] = []

    def crashed(self, cluster: str, key: WorkloadKey, error: Exception) -> None:
        self.met.append(error)

    def stumbled(self, error: Exception) -> None:
        self.met.append(error)


class Service:
    """One process. `clock` is its machine's; `transport` its connection to the API server.

    What the cluster's objects tell is read by the API server's clock, as in production.
    """

    def __init__(self, world: World, name: str, weather: Weather) -> None:
        self.clock = LoopTime()
        self.transport = self._connected(world, weather)
        self.kube = kube = KubernetesCluster(self.transport, "main", name="local")
        self.view = ClusterView(
            kube,
            "main",
            world.time,
            self._touched,
            self._record_changed,
            elapsed=elapsed,
            kinds=world.kinds,
        )
        fenced = kube.fenced(lambda: self.app.may_write())
        self.lane = Lane(
            name="local",
            instance="main",
            cluster=fenced,
            view=self.view,
            store=RecordStore(fenced, "gamekeeper", "main"),
            schemas=Schemas(definitions()),
            content_kinds=(("v1", "Service"), ("v1", "ConfigMap"), ("v1", "ServiceAccount")),
            kinds=world.kinds,
            copy_from=world.copy_from,
            server_now=world.time.now,
        )
        self.head = HeadLane(
            url="memory",
            branch="main",
            path=world.path,
            repository=MemoryRepository(world.host, path=world.path),
            compiler=InlineCompiler(),
            permissions=Permissions(kinds=world.kinds, instance="main", copy_from=world.copy_from),
            ceiling=LOOSEST,
            home=self.lane,
        )
        for each in (*self.view._needed, *self.view._useful):
            each._jitter = random.random
        self.health = Health(elapsed)
        self.voice = _Defects(Events(kube, "main", self.clock))
        relay = Relay(kube, request_ref("gamekeeper", "main"), "main", self.clock, elapsed)
        self.world = world
        self.app = self._app(
            Parts(
                lane=self.lane,
                head=self.head,
                view=self.view,
                clock=self.clock,
                voice=Voices([self.voice, self.health]),
                found=partial(ensure_namespace, kube, "gamekeeper"),
                pass_on=relay.ask,
            )
        )
        self.health.expect("repository", lambda: self.app.head_service.poll_seconds, self.may_act)
        self.health.expect("local", self.app.resync_seconds, self.may_act)
        lane, serve, name_of = self.app.cluster_lane, self.app.cluster_lane._pass, "_pass"
        # Of a set of strings the order is another one in every process of this machine.
        setattr(lane, name_of, lambda keys: serve(cast(Any, sorted(keys))))
        changed = self.app.leadership_changed
        apart = kube.apart()
        self.lease = Lease(
            apart, LEASE, name, self.clock, changed=changed, elapsed=self.clock.elapsed
        )
        self.task: asyncio.Task[None] | None = None
        self.killed = False

    def _connected(self, world: World, weather: Weather) -> WatchedTransport:
        return WatchedTransport(world.sandbox, world.time.now, weather)

    def _app(self, parts: Parts) -> App:
        return App(parts)

    def may_act(self) -> bool:
        """Whether it decides."""
        return self.app.may_act()

    def start(self) -> None:
        """Start it."""
        self.task = asyncio.create_task(self.app.run(self.lease))

    async def stop(self) -> None:
        """Send it SIGTERM, and wait for its end."""
        assert self.task is not None
        self.task.cancel()
        await asyncio.wait({self.task})
        if not self.task.cancelled():
            self.task.result()

    async def kill(self) -> None:
        """End it with nothing more sent."""
        self.killed = True
        self.transport.down = "this process is dead"
        await self.stop()

    def _touched(self, keys: Iterable[WorkloadKey]) -> None:
        self.app.touched(keys)

    def _record_changed(self, ref: ObjectRef, gone: bool) -> None:
        self.app.record_changed(ref, gone)


class Theatre:
    """A world that lives by itself in virtual time, the services in it, and who watches them."""

    def __init__(self, world: World, weather: Weather, watchman: Watchman) -> None:
        self.world = world
        self.weather = weather
        self.watchman = watchman
        self.services: list[Service] = []
        self.unsafe: list[Unsafe] = []
        self._changed = asyncio.Event()

    def start(self, name: str) -> Service:
        """Start a process."""
        return self.enter(self._process(name))

    def enter(self, service: Service) -> Service:
        """Start a process that was made."""
        service.transport.changed = self._changed.set
        service.transport.before = lambda number, call: self._judge(call)
        service.transport.sends = self.watchman.on_its_way
        service.transport.after = lambda number, call: self._look()
        self.services.append(service)
        service.start()
        return service

    def _process(self, name: str) -> Service:
        return Service(self.world, name, self.weather)

    async def until(
        self, promise: str, check: Callable[[], bool], seconds: float, every: float = 0.5
    ) -> float:
        """Wait until `check`, made `every` so many seconds, holds; return how long that took."""
        began = elapsed()
        while not check():
            assert elapsed() - began < seconds, f"{promise}: not within {seconds:.0f} s"
            await asyncio.sleep(every)
        return elapsed() - began

    def judge(self) -> None:
        """Say what was never to happen, and did."""
        defects = [error for each in self.services for error in each.voice.met]
        assert not self.unsafe, self.unsafe[0]
        assert not defects, defects[0]

    @property
    def writes(self) -> list[Call]:
        """All that was written by anybody, but the lease."""
        return [
            call
            for service in self.services
            for call in service.transport.writes
            if call.kind != "Lease"
        ]

    async def live(self) -> None:
        """Let the cluster live."""
        while True:
            self._changed.clear()
            due = self.world.sandbox.step(self.world.time.at)
            self._look()
            wait = 3600.0 if due is None else max(0.001, due - self.world.time.at)
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._changed.wait()

    def _judge(self, call: Call) -> None:
        try:
            self.watchman.before(call)
        except Unsafe as error:
            self.unsafe.append(error)

    def _look(self) -> None:
        try:
            self.watchman.look()
        except Unsafe as error:
            self.unsafe.append(error)


@asynccontextmanager
async def theatre(
    world: World, weather: Weather, watchman: Watchman, made: type[Theatre] = Theatre
) -> AsyncIterator[Theatre]:
    """Open a theatre; all services end with it."""
    world.time = LoopTime()
    there = made(world, weather, watchman)
    living = asyncio.create_task(there.live())
    try:
        yield there
    finally:
        for service in there.services:
            if service.task is not None and not service.task.done():
                await service.kill()
        living.cancel()
        with suppress(asyncio.CancelledError):
            await living
