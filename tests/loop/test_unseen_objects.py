"""What we made and no watch tells of, for an event was lost: its budget and record go last."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

import pytest

from reconciler.core.ending import LATE_SECONDS
from reconciler.loop import head
from reconciler.model.checks import Check, unchecked
from reconciler.model.errors import Denied, PortError, Unanswered, Unavailable
from reconciler.model.refs import Json, ObjectRef, WorkloadKey
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


def during(process: Process, what: str, does: Callable[[], None]) -> None:
    """Let something happen once, while a request of that kind about one namespace is answered."""
    done = list[bool]()
    look, delete = process.cluster.list_metadata, process.cluster.delete

    def do() -> None:
        if not done:
            done.append(True)
            does()

    async def answered(version: str, kind: str, namespace: str, marks: str = "") -> Listing:
        found = await look(version, kind, namespace, marks)
        do()
        return found

    async def deleted(ref: ObjectRef, uid: str, version: str, check: Check = unchecked) -> bool:
        found = await delete(ref, uid, version, check)
        if ref.kind != "Pod":
            do()
        return found

    setattr(process.cluster, what, deleted if what == "delete" else answered)


@pytest.mark.parametrize(
    ("what", "had"),
    [
        pytest.param("list_metadata", {"duel"}, id="after the list of rooms was answered"),
        pytest.param("delete", {"duel"}, id="after the account went, before the budget"),
        pytest.param("list_metadata", set(), id="after the last list"),
    ],
)
async def test_a_room_told_of_at_the_last_moment_keeps_what_is_left(
    what: str, had: set[str]
) -> None:
    world, process = await settled(BOTH)
    room = world.ask(f"{NAMESPACES}servers/pods/duel-0")
    world.commit({"schedulers/duel.yaml": None})
    while "duel-0" in world.names("servers") or budgets(world) != {*had, "quake"}:
        await process.turn()
        world.pass_time(2.0)
    late = {**room, "metadata": {**room["metadata"], "uid": "another", "name": "duel-9"}}
    during(process, what, lambda: process.view._pods.put(late))
    report = await process.turn()
    (failure,) = {item.failure for item in report.settled if item.failure}
    assert "planned anew" in failure
    assert FLEET in records(world)
    assert budgets(world) == {*had, "quake"}
    assert await left(world, process) == set()
    assert FLEET not in records(world)


async def test_what_went_meanwhile_is_in_nobody_s_way() -> None:
    world, process = await settled(BOTH)
    account, check, name = world.ask(ACCOUNT), process.lane.store.check_state, "check_state"

    async def gone(key: WorkloadKey) -> None:
        await check(key)
        if not world.names("servers").count("duel-0") and key == DUEL_KEY:
            setattr(process.lane.store, name, check)
            world.delete(ACCOUNT)

    setattr(process.lane.store, name, gone)
    during(process, "list_metadata", lambda: process.view._objects["ServiceAccount"].drop(account))
    world.commit({"schedulers/duel.yaml": None})
    assert await left(world, process) == set()
    assert FLEET not in records(world)
    assert budgets(world) == {"quake"}


@pytest.mark.parametrize("error", [Denied("list Pod: 403"), Unavailable("list Pod: 503")])
async def test_a_look_that_fails_is_told_and_nothing_goes(error: PortError) -> None:
    world, process = await settled(BOTH)
    look, name = process.cluster.list_metadata, "list_metadata"

    async def refused(*_: str) -> Listing:
        raise error

    setattr(process.cluster, name, refused)
    world.commit({"schedulers/duel.yaml": None})
    (failure,) = await left(world, process)
    assert failure == f"look for what is left of {DUEL_KEY}: {error}"
    assert told(process, DUEL_KEY) == {failure}
    assert budgets(world) == {"duel", "quake"}
    setattr(process.cluster, name, look)
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


async def test_what_a_server_makes_late_is_waited_for() -> None:
    """A request that was given up is carried out when nothing but the records is left."""
    world = World()
    world.commit({"schedulers/lobby.yaml": spec("lobby", 1), **BOTH})
    process = await world.process()
    apply, name, late = process.cluster.apply, "apply", list[Json]()

    async def given_up(body: Json, *, dry_run: bool = False, force: bool = False) -> Json:
        if (body["kind"], body["metadata"]["name"]) == ("ServiceAccount", "duel"):
            late.append(body)
            raise Unanswered("apply ServiceAccount servers/duel: no answer in 30 s")
        return await apply(body, dry_run=dry_run, force=force)

    setattr(process.cluster, name, given_up)
    await process.turn()
    setattr(process.cluster, name, apply)
    world.commit({"schedulers/duel.yaml": None})
    for _ in range(10):
        await process.turn()
        world.pass_time(2.0)
    assert FLEET in records(world)

    await apply(late[0], force=True)
    assert world.ask(ACCOUNT)
    world.pass_time(LATE_SECONDS)
    assert await left(world, process) == set()
    assert FLEET not in records(world)
    world.commit(dict.fromkeys(BOTH))
    assert await left(world, process) == set()
    assert "servers" not in world.namespaces()
