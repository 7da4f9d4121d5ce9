"""A commit wakes whom it concerns: of many workloads one is planned, and nobody by a quiet look."""

import asyncio
import random
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
import yaml

from reconciler.loop import head
from reconciler.model.plans import Plan
from reconciler.model.readings import Rendered
from reconciler.model.refs import WorkloadKey
from reconciler.model.specs import Workload
from reconciler.service.app import App, Parts
from reconciler.service.cluster_lane import ClusterLane
from reconciler.service.notifications.seen import Seen
from reconciler.service.publishing import Publishing
from reconciler.service.voices import Voices
from tests.loop.compiler import InlineCompiler
from tests.loop.safety import Bounds, Watchman
from tests.loop.service import Service, Theatre, theatre
from tests.loop.virtual_time import in_virtual_time
from tests.loop.wires import Weather
from tests.loop.world import Process, World, spec

pytestmark = pytest.mark.usefixtures("no_time_of_this_machine")
NAMES = [f"arena-{number:02d}" for number in range(12)]
POLL_SECONDS, RESYNC_SECONDS = 60.0, 300.0
CONFIG = yaml.safe_dump(
    {
        "apiVersion": "gamekeeper.dev/v1",
        "kind": "Config",
        "spec": {"pollSeconds": int(POLL_SECONDS), "resyncSeconds": int(RESYNC_SECONDS)},
    }
)


def _fleet(name: str, replicas: int) -> str:
    document = yaml.safe_load(spec(name, replicas))
    document["kind"] = "Fleet"
    document["spec"]["namespace"] = "shared"
    return yaml.safe_dump(document)


def _world() -> World:
    world = World()
    world.commit({"gamekeeper.yaml": CONFIG})
    world.commit({f"schedulers/{name}.yaml": spec(name, 1) for name in NAMES})
    world.commit({f"schedulers/{name}.yaml": _fleet(name, 1) for name in ("blue", "green")})
    return world


async def _woken(process: Process, publishing: Publishing, lane: ClusterLane) -> set[str]:
    await process.view.read()
    await head.look(process.head, process.world.time.now())
    publishing.wake()
    return {key.name for key in await lane.wakes.take(0.0)}


@pytest.mark.long
async def test_a_publish_wakes_whom_it_concerns() -> None:
    world = _world()
    process = await world.process()
    lane = ClusterLane(process.lane, world.time, Voices([]), lambda: True)
    publishing = Publishing(lane)
    everybody = {*NAMES, "blue", "green"}
    assert await _woken(process, publishing, lane) == everybody
    await world.settle(process)

    assert await _woken(process, publishing, lane) == set(), "nothing was committed"
    world.commit({"schedulers/arena-03.yaml": spec("arena-03", 2)})
    assert await _woken(process, publishing, lane) == {"arena-03"}
    world.commit({"schedulers/arena-04.yaml": "no spec: ["})
    assert await _woken(process, publishing, lane) == {"arena-04"}, "it is held"
    world.commit({"schedulers/arena-05.yaml": None})
    assert await _woken(process, publishing, lane) == {"arena-05"}, "it goes"
    world.commit({"schedulers/arena-99.yaml": spec("arena-99", 1)})
    assert await _woken(process, publishing, lane) == {"arena-99"}, "it is new"
    world.commit({"README.md": "nothing that acts"})
    assert await _woken(process, publishing, lane) == set()
    world.commit({"schedulers/blue.yaml": _fleet("blue", 2)})
    assert await _woken(process, publishing, lane) == {"blue", "green"}, "they share a namespace"

    publishing.forget()
    assert await _woken(process, publishing, lane) == everybody | {"arena-99"}, "a new term"


class _Recording(InlineCompiler):
    """Keeps whom it was asked to render."""

    def __init__(self) -> None:
        self.rendered: list[str] = []

    async def render(
        self, workloads: Sequence[Workload], instance: str
    ) -> Mapping[WorkloadKey, Rendered]:
        self.rendered.extend(workload.key.name for workload in workloads)
        return await super().render(workloads, instance)


async def test_whom_nothing_changed_is_the_same_value_and_is_not_rendered_again() -> None:
    world = _world()
    process = await world.process()
    compiler = process.head.compiler = _Recording()
    await process.turn()
    before = dict(process.lane.wanted.effective)
    compiler.rendered.clear()
    world.commit({"schedulers/arena-03.yaml": spec("arena-03", 2)})
    await process.turn()
    after = process.lane.wanted.effective
    assert {key.name for key in after if after[key] is not before[key]} == {"arena-03"}
    assert compiler.rendered == ["arena-03"]


class _Plans(Seen):
    """Hears of every plan."""

    def __init__(self, service: "_Counting") -> None:
        super().__init__()
        self._service = service

    def planned(self, cluster: str, plan: Plan) -> None:
        self._service.planned.append(plan.key)


class _Counting(Service):
    """Keeps whose plans were asked for, in order."""

    def __init__(self, world: World, name: str, weather: Weather) -> None:
        super().__init__(world, name, weather)
        self.planned: list[WorkloadKey] = []

    def _app(self, parts: Parts) -> App:
        return App(replace(parts, voice=Voices([parts.voice, _Plans(self)])))

    def taken(self) -> set[str]:
        """Return who was planned since the last time."""
        names = {key.name for key in self.planned}
        self.planned.clear()
        return names


@asynccontextmanager
async def _stage() -> AsyncIterator[tuple[Theatre, _Counting]]:
    world = _world()
    watchman = Watchman(world, {name: Bounds(3, 0) for name in NAMES})
    async with theatre(world, Weather(random.Random(1), slow=0.0, wires=0.0), watchman) as there:
        service = _Counting(world, "one", there.weather)
        there.enter(service)
        await there.until("fleets", lambda: all(_stands(world, name) for name in NAMES), 120.0)
        yield there, service
        there.judge()


def _stands(world: World, name: str, rooms: int = 1) -> bool:
    if name not in world.namespaces():
        return False
    return [pod["status"].get("phase") for pod in world.pods(name)] == ["Running"] * rooms


async def _just_resynced(there: Theatre, service: _Counting) -> None:
    """Wait until a full pass has been made, and what came of it is over."""
    service.taken()
    await there.until(
        "a full pass",
        lambda: {key.name for key in service.planned} >= set(NAMES),
        2 * RESYNC_SECONDS,
    )
    await asyncio.sleep(POLL_SECONDS / 2)
    service.taken()


@pytest.mark.long
def test_a_commit_of_one_scheduler_plans_it_alone_and_a_full_pass_plans_all() -> None:
    async def main() -> None:
        async with _stage() as (there, service):
            await _just_resynced(there, service)
            there.world.commit({"schedulers/arena-03.yaml": spec("arena-03", 2)})
            await asyncio.sleep(2 * POLL_SECONDS)
            assert _stands(there.world, "arena-03", 2)
            assert service.taken() == {"arena-03"}
            await asyncio.sleep(2 * RESYNC_SECONDS)
            assert service.taken() >= set(NAMES)
            service.app.leadership_changed()
            await asyncio.sleep(1.0)
            assert service.taken() >= set(NAMES), "a new term takes nothing for known"
            # What an earlier term's look had published by then is no word for the next one.
            service.app._judge_anew()
            service.app.head_service.wake()
            await asyncio.sleep(1.0)
            assert service.taken() >= set(NAMES), "nor does who has read the records"

    in_virtual_time(main())
