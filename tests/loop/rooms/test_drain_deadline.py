"""A drain deadline is counted by the API server's clock, whoever wrote when a room was told."""

import asyncio
import random
from functools import partial

import pytest

from reconciler.model.labels import LEAVING_SINCE
from reconciler.sandbox.players.natures import Nature, Voice
from tests.loop.rooms.house import Air, playhouse
from tests.loop.rooms.matches import full
from tests.loop.rooms.truth import Laws
from tests.loop.rooms.wishes import Piece, Wish
from tests.loop.virtual_time import elapsed, in_virtual_time
from tests.loop.wires import Weather
from tests.loop.world import World

NAME, LONG, DEADLINE_SECONDS = "duel", (9e6, 9e6), 600


@pytest.mark.parametrize("ahead", [-3000.0, 3000.0], ids=["behind", "ahead"])
@pytest.mark.parametrize("later", [-3000.0, 3000.0], ids=["then behind", "then ahead"])
def test_it_is_as_long_as_git_says_though_a_new_process_leads_and_machines_clocks_are_apart(
    ahead: float, later: float
) -> None:
    in_virtual_time(_play(ahead, later))


async def _play(ahead: float, later: float) -> None:
    limit = {"removal": {"drainDeadlineSeconds": DEADLINE_SECONDS}}
    world, piece = World(), Piece(NAME, Voice.MAESTRO, 2, more=limit)
    wish = Wish(world, [piece])
    nature = partial(Nature, match_seconds=LONG)
    weather, air = Weather(random.Random(1)), Air(random.Random(1))
    async with playhouse(world, weather, {NAME: nature}, air, Laws.of([piece])) as it:
        one, two = it._process("one"), it._process("two")
        one.clock.ahead, two.clock.ahead = ahead, later
        it.enter(one)
        await it.until("a fleet", lambda: len(list(it.cast.playing())) == 2, 90.0)
        await asyncio.sleep(30.0)
        for actor in it.cast.playing():
            assert it.cast.join(actor, 8)
        await it.until("they are busy", lambda: _marked(world, "busy") == 2, 30.0)
        wish.change(NAME, 1, 1)
        await it.until("one is told", lambda: bool(_told(world)), 60.0)
        told_at = elapsed()
        await asyncio.sleep(100.0)
        await one.kill()
        it.enter(two)
        while elapsed() < told_at + DEADLINE_SECONDS - 5.0:
            await asyncio.sleep(5.0)
            assert len(full(it)) == 2, f"it has {DEADLINE_SECONDS} s: {elapsed() - told_at:.0f}"
        await it.until("it is over", lambda: len(full(it)) == 1, 20.0)
        it.judge()


def _marked(world: World, mark: str) -> int:
    marks = [pod["metadata"]["labels"].get("gamekeeper.dev/state") for pod in world.pods(NAME)]
    return marks.count(mark)


def _told(world: World) -> list[str]:
    """When rooms were told to leave, as it stands on their pods."""
    notes = [pod["metadata"].get("annotations", {}) for pod in world.pods(NAME)]
    return [each[LEAVING_SINCE] for each in notes if LEAVING_SINCE in each]
