"""The whole service over the sandbox's HTTP: what becomes of it when leadership comes and goes."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial

import pytest

from reconciler.adapters.git.memory import MemoryHost, MemoryRepository
from reconciler.adapters.kubernetes.calls import Limits
from reconciler.adapters.kubernetes.client import KubernetesCluster, open_cluster
from reconciler.adapters.kubernetes.connect import connect
from reconciler.adapters.kubernetes.kubeconfig import ConnectionFlags
from reconciler.kube.schemas import Schemas
from reconciler.loop.head_lane import HeadLane
from reconciler.loop.lane import Lane
from reconciler.loop.lost_records import ensure_namespace
from reconciler.loop.requests import request_ref
from reconciler.loop.store import RecordStore
from reconciler.model.specs import LOOSEST, Permissions
from reconciler.model.trees import Head
from reconciler.sandbox.behaviour import Behaviour, nodes
from reconciler.sandbox.cluster import Sandbox
from reconciler.sandbox.http import SandboxServer
from reconciler.service.app import App, Parts
from reconciler.service.relay import Relay
from reconciler.service.views import ClusterView
from reconciler.service.voices import Voices
from reconciler.wiring.clock import SystemClock
from tests.loop.compiler import InlineCompiler
from tests.loop.world import CONFIG, definitions, spec

PATIENCE_SECONDS = 20.0


class Turns:
    """Leadership that a test gives and takes."""

    def __init__(self) -> None:
        self.leading = False
        self.fails: Exception | None = None
        self._changed = asyncio.Event()
        self.app: App | None = None

    def give(self, leading: bool) -> None:
        self.leading = leading
        if self.app:
            self.app.leadership_changed()

    def fail(self, error: Exception) -> None:
        self.fails = error
        self._changed.set()

    rival = ""

    async def run(self) -> None:
        await self._changed.wait()
        if self.fails:
            raise self.fails

    async def look(self) -> None:
        """It knows."""


class SlowRepository(MemoryRepository):
    """A Git host that takes its time."""

    delay_seconds = 0.0

    async def fetch(self) -> Head:
        await asyncio.sleep(self.delay_seconds)
        return await super().fetch()


def client(url: str) -> KubernetesCluster:
    return open_cluster(connect(ConnectionFlags(server=url), {}), "main", limits=Limits(qps=0))


@asynccontextmanager
async def cluster() -> AsyncIterator[str]:
    behaviour = Behaviour(start_seconds=0.05, stop_seconds=0.05)
    async with SandboxServer(Sandbox(definitions(), nodes=nodes(4), behaviour=behaviour)) as server:
        yield server.url


@asynccontextmanager
async def served(url: str, host: MemoryHost) -> AsyncIterator[tuple[Turns, SlowRepository]]:
    """One process: an App with its own client, view and records."""
    turns, repository, kube = Turns(), SlowRepository(host), client(url)
    apps: list[App] = []
    clock = SystemClock()
    view = ClusterView(kube, "main", clock, lambda keys: apps[0].touched(keys))
    fenced = kube.fenced(lambda: apps[0].may_write())
    lane = Lane(
        name="local",
        instance="main",
        cluster=fenced,
        view=view,
        store=RecordStore(fenced, "gamekeeper", "main"),
        schemas=Schemas(definitions()),
        content_kinds=(),
    )
    head = HeadLane("memory", "main", repository, InlineCompiler(), Permissions(), LOOSEST, lane)
    found = partial(ensure_namespace, kube, "gamekeeper")
    pass_on = Relay(kube, request_ref("gamekeeper", "main"), "main", clock).ask
    turns.app = App(Parts(lane, head, view, clock, Voices([]), found, pass_on, poll_seconds=0.1))
    apps.append(turns.app)
    running = asyncio.create_task(turns.app.run(turns))
    try:
        yield turns, repository
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await kube.close()


async def names(watcher: KubernetesCluster) -> set[str]:
    listing = await watcher.list("v1", "Pod", "arena")
    return {
        pod["metadata"]["name"]
        for pod in listing.items
        if "deletionTimestamp" not in pod["metadata"]
    }


async def until(check: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            if await check():
                return
            await asyncio.sleep(0.02)


@pytest.mark.long
async def test_whoever_leads_again_does_not_act_on_what_was_wanted_before() -> None:
    host = MemoryHost()
    host.commit({"gamekeeper.yaml": CONFIG, "schedulers/arena.yaml": spec("arena", 3)})
    async with (
        cluster() as url,
        served(url, host) as (first, slow),
        served(url, host) as (second, _),
    ):
        watcher = client(url)
        first.give(True)

        async def has(number: int) -> bool:
            return len(await names(watcher)) == number

        await until(lambda: has(3))
        first.give(False)
        host.commit({"schedulers/arena.yaml": spec("arena", 9)})
        second.give(True)
        await until(lambda: has(9))
        second.give(False)
        before = await names(watcher)
        slow.delay_seconds = 1.0
        first.give(True)
        for _ in range(40):
            await asyncio.sleep(0.05)
            assert await names(watcher) == before
        await watcher.close()


async def test_a_lease_that_is_kept_up_no_more_ends_the_service() -> None:
    host = MemoryHost()
    host.commit({"gamekeeper.yaml": CONFIG})
    async with cluster() as url, served(url, host) as (turns, _):
        turns.give(True)
        await asyncio.sleep(0.2)
        assert turns.app is not None
        other = asyncio.create_task(turns.app.run(turns))
        await asyncio.sleep(0.2)
        turns.fail(KeyError("holder"))
        with pytest.raises(ExceptionGroup):
            await asyncio.wait_for(other, 30)
