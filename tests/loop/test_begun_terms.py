"""A command that leads waits, as a loop does, for what whoever led before sent."""

from types import SimpleNamespace
from typing import Any

from reconciler.cli.lanes import Lanes
from reconciler.core.ending import LATE_SECONDS
from reconciler.loop import head
from reconciler.loop.tick import tick
from reconciler.loop.uninstall import remove_empty
from tests.loop.test_joining import BUSY, deleting
from tests.loop.test_late_requests import ACCOUNTS, DUEL, SPACE, begun, given_up, turns
from tests.loop.test_shared_namespace import BOTH
from tests.loop.world import Process, World


async def applies(world: World, turns: int) -> Process:
    """Go on as `gamekeeper apply` does once it has the Lease."""
    process = Process(world)
    one: Any = SimpleNamespace(view=process.view, lane=process.lane)
    lanes = Lanes(one, process.head, "")
    await lanes.begin_term()
    await head.look(lanes.head, world.time.now())
    for _ in range(turns):
        await process.view.read()
        await tick(process.lane, lanes.keys, world.time.now())
        world.pass_time(2.0)
    return process


def accounts(world: World) -> list[str]:
    return [item["metadata"]["name"] for item in world.objects(ACCOUNTS)]


async def test_apply_changes_a_namespace_whose_delete_is_under_way() -> None:
    world, _, late = await deleting()
    world.commit({DUEL: BOTH[DUEL]})
    process = await applies(world, 4)
    assert world.names("servers") == ["duel-0"]
    world.patch(f"{SPACE}/pods/duel-0", BUSY)
    assert process.transport.deliver(late[0]).status == 409
    assert "deletionTimestamp" not in world.ask(SPACE)["metadata"]


async def test_apply_ends_nothing_of_which_more_may_be_made() -> None:
    world, process = await begun()
    late = given_up(process, "apply", "ServiceAccount", "duel")
    world.commit({DUEL: BOTH[DUEL]})
    await process.turn()
    world.commit({DUEL: None})
    again = await applies(world, 12)
    assert again.transport.deliver(late[0]).status < 300
    await turns(world, await world.process(), 60)
    assert "duel" not in accounts(world)


async def test_uninstall_takes_away_what_is_made_while_it_waits() -> None:
    world, process = await begun()
    late = given_up(process, "apply", "ServiceAccount", "duel")
    world.commit({DUEL: BOTH[DUEL]})
    await process.turn()
    other, paused = Process(world), list[float]()

    async def pause(seconds: float) -> None:
        paused.append(seconds)
        assert other.transport.deliver(late[0]).status < 300
        world.pass_time(seconds)

    await remove_empty(other.lane, other.view.read, world.time.now(), pause)
    assert 0 < sum(paused) <= LATE_SECONDS
    assert "duel" not in accounts(world)
    assert "quake" in accounts(world), "it has a room"
