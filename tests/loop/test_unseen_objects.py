"""What we made and no watch tells of, for an event was lost: its budget and record go last."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

import pytest

from reconciler.loop import head
from reconciler.model.errors import Denied, PortError, Unavailable
from reconciler.model.refs import Followed, Json, ObjectRef, WorkloadKey
from reconciler.ports import Listing
from reconciler.service.cluster_lane import ClusterLane
from tests.loop.test_lanes import _Silent
from tests.loop.test_shared_namespace import BOTH, budgets, records, settled
from tests.loop.world import Process, World, spec

SCHEDULER, FLEET = (
    "gamekeeper-main-local-scheduler-arena.arena",
    "gamekeeper-main-local-fleet-servers.duel",
)
ARENA = {"schedulers/arena.yaml": spec("arena", 1)}
DUEL = {"schedulers/duel.yaml": BOTH["schedulers/duel.yaml"]}
ARENA_KEY = WorkloadKey("Scheduler", "arena", "arena")
DUEL_KEY = WorkloadKey("Fleet", "servers", "duel")
NAMESPACES = "/api/v1/namespaces/"
BUDGET = "/apis/policy/v1/namespaces/servers/poddisruptionbudgets/duel"
ACCOUNT = f"{NAMESPACES}servers/serviceaccounts/duel"
UNSEEN = [
    pytest.param(ARENA, "Namespace", f"{NAMESPACES}arena", id="a namespace"),
    pytest.param(DUEL, "Namespace", f"{NAMESPACES}servers", id="a shared one, by the last"),
    pytest.param(BOTH, "PodDisruptionBudget", BUDGET, id="a budget in a namespace that stays"),
    pytest.param(BOTH, "Pod", f"{NAMESPACES}servers/pods/duel-0", id="a room in one that stays"),
    pytest.param(ARENA, "Pod", f"{NAMESPACES}arena/pods/arena-0", id="a room"),
]


def lose(process: Process, kind: str, lost: Json) -> Callable[[], None]:
    """Let no read show an object from now on; return what ends that."""
    read, name = process.view.read, "read"
    drop = process.view._pods.drop if kind == "Pod" else process.view._objects[kind].drop

    async def read_all_but_one() -> None:
        await read()
        drop(lost)

    setattr(process.view, name, read_all_but_one)
    return lambda: setattr(process.view, name, read)


async def left(world: World, process: Process) -> set[str]:
    """Let a workload leave Git; return what failed."""
    failures = set[str]()
    for _ in range(30):
        report = await process.turn()
        failures |= {item.failure for item in report.settled if item.failure}
        world.pass_time(2.0)
    return failures


def told(process: Process, key: WorkloadKey) -> set[str]:
    return {each.message for each in process.lane.store.state(key).conditions} - {""}


@pytest.mark.parametrize(("files", "kind", "path"), UNSEEN)
async def test_nothing_more_goes_before_what_was_not_seen(
    files: dict[str, str], kind: str, path: str
) -> None:
    world, process = await settled(files)
    record = SCHEDULER if files is ARENA else FLEET
    there = budgets(world)
    lost = world.ask(path)
    found = lose(process, kind, lost)
    world.commit({min(files): None})
    (failure,) = await left(world, process)
    assert f"{path.rpartition('/')[2]} is there, and no watch told of it" in failure
    assert told(process, ARENA_KEY if files is ARENA else DUEL_KEY) == {failure}
    assert world.ask(path)["metadata"]["uid"] == lost["metadata"]["uid"]
    assert record in records(world)
    assert kind != "Pod" or budgets(world) == there

    found()
    assert await left(world, process) == set()
    assert record not in records(world)
    assert budgets(world) == ({"quake"} if files is BOTH else set())
    assert world.namespaces() & {"arena", "servers"} == ({"servers"} if files is BOTH else set())


async def test_what_is_told_of_after_the_plan_was_made_is_known_in_time() -> None:
    world, process = await settled(BOTH)
    path = f"{NAMESPACES}servers/pods/duel-0"
    room = world.ask(path)
    found, check, name = lose(process, "Pod", room), process.lane.store.check_state, "check_state"

    async def told_meanwhile(key: WorkloadKey) -> None:
        await check(key)
        found()
        process.view._pods.put(world.ask(path))

    setattr(process.lane.store, name, told_meanwhile)
    world.commit({"schedulers/duel.yaml": None})
    await process.turn()
    assert world.ask(path)["metadata"]["uid"] == room["metadata"]["uid"]
    assert FLEET in records(world)
    assert budgets(world) == {"duel", "quake"}


@pytest.mark.parametrize("error", [Denied("list Pod: 403"), Unavailable("list Pod: 503")])
async def test_a_look_that_fails_is_told_and_nothing_goes(error: PortError) -> None:
    world, process = await settled(BOTH)
    pages, name = process.cluster.pages, "pages"

    async def refused(followed: Followed) -> AsyncIterator[Listing]:
        if followed.namespace:
            raise error
        async for page in pages(followed):
            yield page

    setattr(process.cluster, name, refused)
    world.commit({"schedulers/duel.yaml": None})
    (failure,) = await left(world, process)
    assert failure == f"look for what is left of {DUEL_KEY}: {error}"
    assert told(process, DUEL_KEY) == {failure}
    assert budgets(world) == {"duel", "quake"}
    setattr(process.cluster, name, pages)
    assert await left(world, process) == set()
    assert FLEET not in records(world)


async def test_it_is_not_asked_for_without_a_pause() -> None:
    world, process = await settled(BOTH)
    lose(process, "PodDisruptionBudget", world.ask(BUDGET))
    world.commit({"schedulers/duel.yaml": None})
    await left(world, process)
    await process.view.read()
    asked, get, name = list[ObjectRef](), process.cluster.get, "get"

    async def count(ref: ObjectRef) -> Json | None:
        asked.append(ref)
        return await get(ref)

    setattr(process.cluster, name, count)
    lane = ClusterLane(process.lane, world.time, _Silent(), lambda: True)
    serving = asyncio.create_task(lane.run())
    lane.wake_all()
    await asyncio.sleep(2.0)
    serving.cancel()
    with suppress(asyncio.CancelledError):
        await serving
    assert 1 <= [ref.kind for ref in asked].count("PodDisruptionBudget") <= 4


async def test_a_shared_namespace_is_not_for_who_leaves_others_in_it() -> None:
    world, process = await settled(BOTH)
    lose(process, "Namespace", world.ask(f"{NAMESPACES}servers"))
    world.commit({"schedulers/duel.yaml": None})
    assert await left(world, process) == set()
    assert FLEET not in records(world)


@pytest.mark.parametrize("path", [BUDGET, ACCOUNT])
@pytest.mark.parametrize(
    "marks",
    [
        pytest.param({"gamekeeper.dev/workload": None}, id="nobody's"),
        pytest.param({"gamekeeper.dev/instance": "other"}, id="another instance's"),
        pytest.param({"gamekeeper.dev/workload": "quake"}, id="another workload's"),
    ],
)
async def test_what_somebody_made_another_s_holds_no_record(path: str, marks: Json) -> None:
    world, process = await settled(BOTH)
    world.commit({"schedulers/duel.yaml": None})
    await process.turn()
    world.patch(path, {"metadata": {"labels": marks}})
    assert await left(world, process) == set()
    assert FLEET not in records(world)
    assert world.ask(path)


@pytest.mark.parametrize("kind", ["Namespace", "ConfigMap"])
async def test_its_record_stays_where_it_is_back_in_git_meanwhile(kind: str) -> None:
    world, process = await settled(ARENA)
    answered = process.cluster.get
    back = list[ObjectRef]()

    async def answer(ref: ObjectRef) -> Json | None:
        found = await answered(ref)
        if not back and found is None and ref.kind == kind and "arena" not in world.namespaces():
            back.append(ref)
            world.commit(dict(ARENA))
            await head.look(process.head, world.time.now())
            assert not process.lane.store.state(ARENA_KEY).deleting
        return found

    name = "get"
    setattr(process.cluster, name, answer)
    world.commit({"schedulers/arena.yaml": None})
    for _ in range(20):
        await process.turn()
        world.pass_time(2.0)
        if back:
            break
    assert back
    assert SCHEDULER in records(world)
    await world.settle(process)
    assert world.names("arena") != []
