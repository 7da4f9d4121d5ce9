"""Rooms in virtual time: the real desk over the real client, view and sandbox, with no socket."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Any

from reconciler.adapters.kubernetes.calls import Call
from reconciler.adapters.kubernetes.client import KubernetesCluster
from reconciler.kube.schemas import Schemas
from reconciler.loop.lane import Lane
from reconciler.loop.record_places import Kept
from reconciler.loop.store import RecordStore
from reconciler.model import labels
from reconciler.model.errors import Unavailable
from reconciler.model.live import LivePod
from reconciler.model.plans import Desired
from reconciler.model.records import Ordinals
from reconciler.model.refs import Json, ObjectRef, WorkloadKey
from reconciler.model.rooms import Mark, Report, Said
from reconciler.model.wanted import Wanted
from reconciler.room_ports import RoomView
from reconciler.service.lease import Leading
from reconciler.service.room_metrics import RoomObserver
from reconciler.service.rooms.desk import RoomDesk
from reconciler.service.views import ClusterView
from tests.loop.virtual_time import LoopTime, elapsed, in_virtual_time
from tests.loop.wires import WatchedTransport, Weather, held_wires
from tests.loop.world import World, definitions
from tests.unit.core.making import a_key, a_workload

READY = Report(periodic=True, said=Said.READY, matches=0)
OCCUPIED = Report(periodic=True, said=Said.OCCUPIED, matches=1)


class Stage:
    """One cluster with the rooms of `arena`, and a desk that keeps them."""

    def __init__(self, world: World, **workload: Any) -> None:
        self.world = world
        self.clock = LoopTime()
        self.leads = True
        self.overtaken = False
        """Whether another process leads, which this one knows when it has looked."""
        self.transport = WatchedTransport(world.sandbox, world.time.now, Weather(random.Random(1)))
        self.flows = held_wires(self.transport)
        """While it is not set no watch tells anything of a pod."""
        kube = KubernetesCluster(self.transport, "main", name="local")
        self.cluster = kube.fenced(lambda: self.leads)
        self.view = ClusterView(kube, "main", self.clock, lambda _: None, elapsed=elapsed)
        for each in (*self.view._needed, *self.view._useful):
            each._jitter = random.Random(1).random
        self.workload = a_workload(**{"reports": "required", **workload})
        self.lane = Lane(
            name="local",
            instance="main",
            cluster=self.cluster,
            view=self.view,
            store=RecordStore(self.cluster, "gamekeeper", "main"),
            schemas=Schemas(definitions()),
            content_kinds=(),
            wanted=Wanted(effective={a_key(): Desired(self.workload, (), "", {}, "")}),
        )
        self.woken: list[WorkloadKey] = []
        self.desk = self.new_desk()

    def new_desk(self, observer: RoomObserver | None = None) -> RoomDesk:
        """A process that starts anew, or begins another term."""
        desk = RoomDesk(
            self.lane,
            self.cluster,
            self.clock,
            Leading(lambda: self.leads, self.look),
            self.woken.append,
            observer,
            elapsed=elapsed,
        )
        self.view.room_changed = desk.room_changed
        return desk

    async def look(self) -> None:
        """See who leads."""
        self.leads = self.leads and not self.overtaken

    def listen(self) -> None:
        """Let the desk begin to listen, as the first request does."""
        self.desk.rooms()

    def want(self, **changes: Any) -> None:
        """Change the workload."""
        self.workload = replace(self.workload, **changes)
        self.lane.wanted = Wanted(effective={a_key(): Desired(self.workload, (), "", {}, "")})

    def pod(self, name: str = "arena-0") -> Json:
        """The pod as the server has it."""
        return self.world.ask(f"/api/v1/namespaces/arena/pods/{name}")

    def label(self, name: str = "arena-0") -> str:
        """Its state label."""
        return str(self.pod(name)["metadata"]["labels"].get(labels.STATE, ""))

    def note(self, key: str, name: str = "arena-0") -> str:
        """One of its annotations."""
        return str(self.pod(name)["metadata"]["annotations"].get(key, ""))

    def live(self, name: str = "arena-0") -> LivePod:
        """The pod as the view has it."""
        found = self.view.room("arena", name)
        assert found is not None
        return found[1]

    async def say(self, report: Report, name: str = "arena-0") -> RoomView:
        """Let a room report."""
        return await self.desk.report(self.desk.find("arena", name), report)

    async def patch(self, name: str = "arena-0", **metadata: Any) -> None:
        """Let somebody else change a room's pod behind our back."""
        ref = ObjectRef("v1", "Pod", "arena", name)
        await self.others().merge_patch(ref, {"metadata": metadata})

    def others(self) -> KubernetesCluster:
        """The cluster as somebody else speaks to it."""
        weather = Weather(random.Random(2))
        transport = WatchedTransport(self.world.sandbox, self.world.time.now, weather)
        transport.changed = self.transport.changed
        return KubernetesCluster(transport, "other")

    async def mark(self, mark: Mark, name: str = "arena-0", **notes: str) -> None:
        """Set its state label and annotations behind our back."""
        await self.patch(name, labels={labels.STATE: mark.value or None}, annotations=notes)

    async def seen(self, name: str = "arena-0") -> None:
        """Wait until the view shows the pod as it is."""
        for _ in range(200):
            version = self.pod(name)["metadata"]["resourceVersion"]
            if self.live(name).resource_version == version:
                return
            await asyncio.sleep(0.05)
        raise AssertionError("the watch does not show it")

    @property
    def patches(self) -> list[Call]:
        """What the desk wrote."""
        return [call for call in self.transport.calls if call.verb == "patch"]


async def _live(made: Stage) -> None:
    changed = asyncio.Event()
    made.transport.changed = changed.set
    while True:
        changed.clear()
        due = made.world.sandbox.step(made.world.time.at)
        wait = 3600.0 if due is None else max(0.001, due - made.world.time.at)
        with suppress(TimeoutError):
            async with asyncio.timeout(wait):
                await changed.wait()


@asynccontextmanager
async def stage(rooms: int = 1, **workload: Any) -> AsyncIterator[Stage]:
    """Open a stage with running rooms that were never heard; the desk runs."""
    world = World()
    world.time = LoopTime()
    made = Stage(world, **workload)
    _make_rooms(world, rooms)
    tasks = [asyncio.create_task(_live(made)), asyncio.create_task(made.view.run())]
    await made.view.synced()
    made.lane.store._ordinals[a_key()] = Kept(Ordinals(rooms))
    for _ in range(600):
        if all(made.live(f"arena-{n}").ready for n in range(rooms)):
            break
        await asyncio.sleep(0.1)
    tasks.append(asyncio.create_task(made.desk.run()))
    made.listen()
    try:
        yield made
    finally:
        await _ended(tasks)


@asynccontextmanager
async def another(it: Stage) -> AsyncIterator[Stage]:
    """Open another process beside the one room of a stage; it does not lead yet."""
    made = Stage(it.world)
    made.transport.changed = it.transport.changed
    made.leads = False
    tasks = [asyncio.create_task(made.view.run())]
    await made.view.synced()
    made.lane.store._ordinals[a_key()] = Kept(Ordinals(1))
    tasks.append(asyncio.create_task(made.desk.run()))
    try:
        yield made
    finally:
        await _ended(tasks)


async def _ended(tasks: Sequence["asyncio.Task[None]"]) -> None:
    for task in tasks:
        task.cancel()
    for task in tasks:
        with suppress(asyncio.CancelledError, Unavailable):
            await task


class Coded:
    """Codes that there are since a moment, or of which that is not known."""

    def __init__(self, made_at: float | None) -> None:
        self.since = made_at

    async def of(self, namespace: str, room: str) -> str:
        return "code"

    async def made_at(self) -> float:
        if self.since is None:
            raise Unavailable("not read yet")
        return self.since


def _make_rooms(world: World, rooms: int) -> None:
    world.create("/api/v1/namespaces", {"metadata": {"name": "arena"}})
    world.create("/api/v1/namespaces/arena/serviceaccounts", {"metadata": {"name": "default"}})
    for number in range(rooms):
        marks = {labels.INSTANCE: "main", labels.WORKLOAD: "arena", labels.KIND: "Scheduler"}
        notes = {labels.REVISION: "1-new"}
        metadata = {"name": f"arena-{number}", "labels": marks, "annotations": notes}
        spec = {"containers": [{"name": "game", "image": "game:1"}]}
        body = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
        world.create("/api/v1/namespaces/arena/pods", body)


def on_stage(act: Callable[[Stage], Coroutine[Any, Any, None]], rooms: int = 1) -> None:
    """Let a test play on a stage of its own."""

    async def main() -> None:
        async with stage(rooms) as it:
            await act(it)

    in_virtual_time(main())


def players(count: int) -> Report:
    """What a game says that reports on change, and only how many play."""
    return Report(periodic=False, players=count)
