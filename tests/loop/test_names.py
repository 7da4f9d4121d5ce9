"""Where numbering starts: at 0 for what is new, at the Unix time for what may have been before."""

from contextlib import suppress
from dataclasses import replace
from itertools import count

import pytest

from reconciler.adapters.kubernetes.calls import Call
from reconciler.model.errors import Conflict, PortError
from reconciler.model.refs import WorkloadKey
from tests.loop.convergence import bury
from tests.loop.transport import Killed
from tests.loop.world import START, Process, World, spec

ARENA = WorkloadKey("Scheduler", "arena", "arena")
REPOSITORY = "/api/v1/namespaces/gamekeeper/configmaps/gamekeeper-main"
STATE = f"{REPOSITORY}-local-scheduler-arena.arena"
ORDINALS = "/api/v1/namespaces/arena/configmaps/gamekeeper-arena"
TWO = {"schedulers/arena.yaml": spec("arena", 2), "schedulers/lobby.yaml": spec("lobby", 2)}


def numbers(world: World, name: str = "arena") -> list[int]:
    return sorted(int(each.removeprefix(f"{name}-")) for each in world.names(name))


async def fleet() -> tuple[World, Process]:
    world = World()
    world.commit(dict(TWO))
    process = await world.process()
    await world.settle(process)
    return world, process


async def turns(world: World, process: Process) -> None:
    for _ in range(10):
        with suppress(PortError):
            await process.turn()
        world.pass_time(2.0)


def lose(world: World, *paths: str) -> None:
    """Delete records by hand, and every room of arena."""
    for path in paths:
        world.delete(path)
    for name in world.names("arena"):
        world.delete(f"/api/v1/namespaces/arena/pods/{name}")
    world.pass_time(5.0)


async def test_a_new_fleet_is_numbered_from_0_and_so_is_who_comes_later() -> None:
    world, process = await fleet()
    assert (numbers(world), numbers(world, "lobby")) == ([0, 1], [0, 1])
    world.commit({"schedulers/plaza.yaml": spec("plaza", 3)})
    await world.settle(await world.process())
    assert numbers(world, "plaza") == [0, 1, 2]
    world.delete("/api/v1/namespaces/arena/pods/arena-0")
    await world.settle(process)
    assert numbers(world) == [1, 2]


@pytest.mark.parametrize(
    ("lost", "first"),
    [
        pytest.param([ORDINALS], 2, id="after the highest on record"),
        pytest.param([STATE], 2, id="as the ordinal record says"),
        pytest.param([STATE, ORDINALS], START, id="at the Unix time where both are lost"),
        pytest.param([REPOSITORY, STATE, ORDINALS], START, id="the more so where all are"),
    ],
)
async def test_where_records_are_lost_numbering_goes_on(lost: list[str], first: float) -> None:
    world, _ = await fleet()
    lose(world, *lost)
    await world.settle(await world.process())
    assert len(numbers(world)) == 2
    assert numbers(world)[0] >= first
    assert (numbers(world)[0] >= START) is (first == START)


async def test_who_left_and_returns_starts_at_the_unix_time() -> None:
    world, process = await fleet()
    world.commit({"schedulers/arena.yaml": None})
    await world.settle(process)
    assert "arena" not in world.namespaces()
    world.commit(dict(TWO))
    await world.settle(await world.process())
    assert numbers(world)[0] >= START


async def test_after_the_repository_record_was_lost_nobody_is_new() -> None:
    world, _ = await fleet()
    world.delete(REPOSITORY)
    world.commit({"schedulers/plaza.yaml": spec("plaza", 1)})
    await world.settle(await world.process())
    assert numbers(world, "plaza")[0] >= START
    assert numbers(world) == [0, 1]


async def test_a_workload_is_known_before_its_first_room_is_made() -> None:
    world = World()
    world.commit(dict(TWO))
    process = await world.process()
    known: list[bool] = []

    def look(number: int, call: Call) -> None:
        if call.what.startswith("create Pod arena/"):
            known.append(bool(process.lane.store.repository.known))
            assert world.ask(STATE)["data"]

    process.transport.before = look
    await world.settle(process)
    assert known == [True, True]


@pytest.mark.long
async def test_at_whatever_call_a_process_dies_no_clock_is_asked() -> None:
    """A new fleet is numbered low all the same; at worst names are skipped."""
    deaths = 0
    for at in count():
        world = World()
        world.commit(dict(TWO))
        dying = Process(world)

        def die(number: int, call: Call, at: int = at) -> None:
            if number == at:
                raise Killed(call.what)

        dying.transport.after = die
        try:
            await dying.start()
            await world.settle(dying)
        except Killed:
            await bury(dying.transport)
        else:
            break
        deaths += 1
        await world.settle(await world.process())
        assert numbers(world)[1] < 10, f"after call {at}"
        assert numbers(world, "lobby")[1] < 10, f"after call {at}"
    assert deaths > 20


async def test_who_sleeps_while_a_workload_comes_and_goes_makes_none_of_its_names_again() -> None:
    """It judged the commit that brings it, and writes what it found long after."""
    world = World()
    process = await world.process()
    world.commit({"schedulers/lobby.yaml": spec("lobby", 1)})
    await world.settle(process)
    sleeper = await world.process()
    await world.settle(sleeper)
    world.commit(dict(TWO))
    await turns(world, process)
    assert numbers(world) == [0, 1]
    world.commit({"schedulers/arena.yaml": None})
    await turns(world, process)
    assert "arena" not in world.namespaces()
    world.commit(dict(TWO))
    await turns(world, sleeper)
    assert numbers(world)[0] >= START


async def test_known_is_raised_by_compare_and_swap() -> None:
    world, process = await fleet()
    late = await world.process()
    world.commit({"schedulers/plaza.yaml": spec("plaza", 1)})
    await process.turn()
    store = late.lane.store
    with pytest.raises(Conflict):
        await store.change_repository(lambda newest: replace(newest, known=frozenset({1})))
