"""One set of specs, several environments: each loop reads its own file of values over them."""

from dataclasses import replace

from reconciler.model.holds import HoldKind
from tests.loop.world import Process, World, spec

EU, DEV = "environments/eu.yaml", "environments/dev.yaml"
HEAD = "apiVersion: gamekeeper.dev/v1\nkind: Values\nspec:\n  workloads:\n"
SPECS = {f"schedulers/{name}.yaml": spec(name, 1) for name in ("arena", "lobby")}


def values(arena: object, lobby: int = 2) -> str:
    counts = {"arena": arena, "lobby": lobby}
    lines = (f"    Scheduler/{name}: {{replicas: {count}}}\n" for name, count in counts.items())
    return HEAD + "".join(lines)


async def standing(file: str) -> tuple[World, Process]:
    world = World()
    world.commit({**SPECS, EU: values(3), DEV: HEAD + "    {}\n"})
    process = await world.process()
    process.head.permissions = replace(process.head.permissions, values=(file,))
    await world.settle(process)
    return world, process


def rooms(world: World) -> tuple[int, int]:
    return len(world.pods("arena")), len(world.pods("lobby"))


async def turns(world: World, process: Process, number: int = 6) -> None:
    for _ in range(number):
        await process.turn()
        world.pass_time(2.0)


async def test_each_environment_has_what_its_own_file_says() -> None:
    assert rooms((await standing(EU))[0]) == (3, 2)
    world, process = await standing(DEV)
    assert rooms(world) == (1, 1)
    world.commit({EU: "}{"})
    world.commit({"schedulers/arena.yaml": spec("arena", 2)})
    await turns(world, process)
    assert rooms(world) == (2, 1), "what stands in another environment's file is not read"
    assert not process.lane.wanted.holds


async def test_a_mistake_in_values_holds_the_workloads_that_have_it_and_no_other() -> None:
    world, process = await standing(EU)
    world.commit({EU: values("many", 4)})
    await turns(world, process)
    assert rooms(world) == (3, 4)
    (hold,) = process.lane.wanted.holds
    assert (hold.kind, hold.key and hold.key.name) == (HoldKind.FINDING, "arena")
    assert hold.reason.startswith(f"{EU}:5: ")
    world.commit({EU: values(5, 4)})
    await turns(world, process)
    assert (rooms(world), process.lane.wanted.holds) == ((5, 4), ())


async def test_a_file_of_values_that_cannot_be_told_holds_everything() -> None:
    world, process = await standing(EU)
    for broken in (None, "}{", HEAD.replace("Values", "Config")):
        world.commit({EU: broken, "schedulers/lobby.yaml": None})
        await turns(world, process)
        assert rooms(world) == (3, 2)
        (whole,) = [hold for hold in process.lane.wanted.holds if hold.key is None]
        assert whole.kind is HoldKind.CONFIG
        assert f"the values of this environment cannot be told: {EU}" in whole.reason
    world.commit({EU: values(3)})
    await turns(world, process)
    assert rooms(world) == (3, 0), "what left Git goes when the values can be told again"


async def test_a_count_in_values_is_a_persons_word_under_the_budgets() -> None:
    world, process = await standing(EU)
    world.commit({EU: values(20)})
    await world.settle(process)
    world.commit({EU: values(5)})
    await turns(world, process)
    assert rooms(world) == (20, 2)
    assert [hold.kind for hold in process.lane.wanted.holds] == [HoldKind.OVER_BUDGET]
