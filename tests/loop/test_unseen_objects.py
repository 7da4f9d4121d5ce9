"""What we made and no watch tells of, for an event was lost: its budget and record go last."""

from collections.abc import Callable

import pytest

from reconciler.loop import head
from reconciler.model.holds import HoldKind
from reconciler.model.refs import Json, ObjectRef, WorkloadKey
from tests.loop.test_shared_namespace import BOTH, budgets, records, settled
from tests.loop.world import Process, World, spec

SCHEDULER, FLEET = (
    "gamekeeper-main-local-scheduler-arena.arena",
    "gamekeeper-main-local-fleet-servers.duel",
)
ARENA = {"schedulers/arena.yaml": spec("arena", 1)}
DUEL = {"schedulers/duel.yaml": BOTH["schedulers/duel.yaml"]}
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


async def left(world: World, process: Process) -> list[str]:
    """Let a workload leave Git; return what was held in the end, and all that failed."""
    failures, holds = [], list[str]()
    for _ in range(30):
        report = await process.turn()
        failures += [item.failure for item in report.settled if item.failure]
        holds = [
            hold.reason
            for item in report.settled
            for hold in item.holds
            if hold.kind is HoldKind.INCOMPLETE_READ
        ]
        world.pass_time(2.0)
    return [*failures, *holds]


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
    (held,) = await left(world, process)
    assert f"{path.rpartition('/')[2]} is there, and no watch told of it" in held
    assert world.ask(path)["metadata"]["uid"] == lost["metadata"]["uid"]
    assert record in records(world)
    assert kind != "Pod" or budgets(world) == there

    found()
    assert await left(world, process) == []
    assert record not in records(world)
    assert budgets(world) == ({"quake"} if files is BOTH else set())
    assert world.namespaces() & {"arena", "servers"} == ({"servers"} if files is BOTH else set())


async def test_a_shared_namespace_is_not_for_who_leaves_others_in_it() -> None:
    world, process = await settled(BOTH)
    lose(process, "Namespace", world.ask(f"{NAMESPACES}servers"))
    world.commit({"schedulers/duel.yaml": None})
    assert await left(world, process) == []
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
    assert await left(world, process) == []
    assert FLEET not in records(world)
    assert world.ask(path)


@pytest.mark.parametrize("kind", ["Namespace", "ConfigMap"])
async def test_its_record_stays_where_it_is_back_in_git_meanwhile(kind: str) -> None:
    world, process = await settled(ARENA)
    key, answered = WorkloadKey("Scheduler", "arena", "arena"), process.cluster.get
    back = list[ObjectRef]()

    async def answer(ref: ObjectRef) -> Json | None:
        found = await answered(ref)
        if not back and found is None and ref.kind == kind and "arena" not in world.namespaces():
            back.append(ref)
            world.commit(dict(ARENA))
            await head.look(process.head, world.time.now())
            assert not process.lane.store.state(key).deleting
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
