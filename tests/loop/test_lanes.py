"""Two clusters, one of which does not answer: the other's lane waits for nobody."""

import asyncio
from contextlib import suppress

from reconciler.loop import head
from reconciler.model.plans import Plan
from reconciler.model.refs import WorkloadKey
from reconciler.model.reports import Report
from reconciler.service.cluster_lane import ClusterLane
from tests.loop.world import Process, World, spec

LONGEST_SECONDS = 5.0


class _Silent:
    """Hears of everything and keeps only what must not happen."""

    def __init__(self) -> None:
        self.crashes: list[Exception] = []

    def planned(self, cluster: str, plan: Plan) -> None: ...

    def settled(self, report: Report) -> None: ...

    def gone(self, cluster: str, key: WorkloadKey) -> None: ...

    def passed(self, cluster: str, keys: int, seconds: float) -> None: ...

    def crashed(self, cluster: str, key: WorkloadKey, error: Exception) -> None:
        self.crashes.append(error)


def _hang(process: Process) -> asyncio.Event:
    """Let a cluster answer nothing any more; tell when the first request waits."""
    waits, never = asyncio.Event(), asyncio.Event()

    async def pause() -> None:
        waits.set()
        await never.wait()

    process.transport.pause = pause
    return waits


async def test_a_cluster_that_hangs_holds_back_no_other() -> None:
    worlds = World(), World(seed=2)
    for world in worlds:
        world.commit({"schedulers/arena.yaml": spec("arena", 3)})
    healthy, hanging = [await world.process() for world in worlds]
    for process in (healthy, hanging):
        await process.view.read()
        await head.look(process.head, process.world.time.now())
    waits = _hang(hanging)
    observer = _Silent()
    lanes = [
        ClusterLane(process.lane, process.world.time, observer, lambda: True)
        for process in (hanging, healthy)
    ]
    serving = [asyncio.create_task(lane.run()) for lane in lanes]
    try:
        async with asyncio.timeout(LONGEST_SECONDS):
            for lane in lanes:
                lane.wake_all()
            await waits.wait()
            while not _is_converged(healthy.world):
                await healthy.view.read()
                lanes[1].wake_all()
                lanes[0].wake_all()
                healthy.world.pass_time(1.0)
                await asyncio.sleep(0.02)
    finally:
        for task in (*_settling(), *serving):
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
    assert not hanging.world.namespaces() & {"arena"}
    assert not observer.crashes


def _settling() -> list["asyncio.Task[object]"]:
    return [task for task in asyncio.all_tasks() if task.get_name().startswith("settle ")]


def _is_converged(world: World) -> bool:
    if "arena" not in world.namespaces():
        return False
    phases = [pod["status"].get("phase") for pod in world.pods("arena")]
    return phases == ["Running"] * 3


class _Deposes(_Silent):
    """Has the first pass given up right after it: no plan of it has taken a step yet."""

    def __init__(self) -> None:
        super().__init__()
        self.lane: ClusterLane | None = None
        self.deposed = asyncio.Event()

    def passed(self, cluster: str, keys: int, seconds: float) -> None:
        if self.lane is not None and not self.deposed.is_set():
            self.lane.abandon()
            self.deposed.set()


async def test_a_plan_given_up_before_its_first_step_holds_back_no_later_one() -> None:
    world = World()
    world.commit({"schedulers/arena.yaml": spec("arena", 3)})
    process = await world.process()
    await process.view.read()
    await head.look(process.head, world.time.now())
    observer = _Deposes()
    observer.lane = ClusterLane(process.lane, world.time, observer, lambda: True)
    serving = asyncio.create_task(observer.lane.run())
    try:
        async with asyncio.timeout(LONGEST_SECONDS):
            observer.lane.wake_all()
            await observer.deposed.wait()
            while not _is_converged(world):
                await process.view.read()
                observer.lane.wake_all()
                world.pass_time(1.0)
                await asyncio.sleep(0.02)
    finally:
        serving.cancel()
        with suppress(asyncio.CancelledError):
            await serving
    assert not observer.crashes
    assert not process.lane.reserved
