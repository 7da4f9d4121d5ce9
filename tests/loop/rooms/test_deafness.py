"""An hour in which no report reaches us, every room full of players: nothing is removed."""

import asyncio
import random
from collections.abc import Callable
from functools import partial

import pytest

from reconciler.sandbox.players.natures import Nature, Voice
from tests.loop.rooms.house import Air, Playhouse, playhouse
from tests.loop.rooms.seeds import SEEDS
from tests.loop.rooms.truth import Laws
from tests.loop.rooms.wishes import (
    MATCHES,
    TRIO,
    VOICES,
    Wish,
)
from tests.loop.virtual_time import in_virtual_time
from tests.loop.wires import Weather
from tests.loop.world import World

pytestmark = pytest.mark.long

LAWS = Laws.of(TRIO)
HOUR_SECONDS = 3600.0
READY_SECONDS = 60.0
CONVERGED_SECONDS = 900.0
LONG = (2.0 * HOUR_SECONDS, 2.0 * HOUR_SECONDS)
SHORT = (60.0, 300.0)


def _natures(match_seconds: tuple[float, float]) -> dict[str, Callable[[], Nature]]:
    return {
        name: partial(
            Nature,
            voice=voice,
            matches=MATCHES[name],
            match_seconds=match_seconds,
            ping_seconds=5.0,
        )
        for name, voice in VOICES.items()
    }


def _stands(there: Playhouse, wish: Wish) -> bool:
    """Whether every wanted room runs and is marked."""
    for name, (rooms, _) in wish.wanted.items():
        if name not in there.world.namespaces():
            return False
        pods = there.world.pods(name)
        marked = [pod for pod in pods if "gamekeeper.dev/state" in pod["metadata"]["labels"]]
        if len(pods) != rooms or len(marked) != rooms:
            return False
    return True


def _uids(there: Playhouse) -> set[str]:
    return {actor.uid for actor in there.cast.playing()}


def _fill(there: Playhouse) -> None:
    for actor in there.cast.playing():
        assert there.cast.join(actor, 1), actor


async def _persons_commit(wish: Wish) -> None:
    """Scale in, roll out, delete: everything that asks for rooms to go."""
    wish.change("arena", 1, 1)
    await asyncio.sleep(600.0)
    wish.change("lobby", 3, 2)
    await asyncio.sleep(600.0)
    wish.change("duel", 0, 1)


@pytest.mark.parametrize("end", ["the leader stays", "the leader dies"])
def test_an_hour_of_deafness_with_every_room_occupied_removes_none(end: str) -> None:
    async def main() -> None:
        world = World()
        wish = Wish(world)
        air = Air(random.Random(1))
        weather = Weather(random.Random(1))
        async with playhouse(world, weather, _natures(LONG), air, LAWS) as there:
            first = there.start("one")
            await there.until("a fleet", lambda: _stands(there, wish), READY_SECONDS)
            _fill(there)
            await asyncio.sleep(20.0)
            occupied = _uids(there)
            assert len(occupied) == 10
            air.deaf = True
            began = there.world.time.at
            await _persons_commit(wish)
            if end == "the leader dies":
                await first.kill()
                there.start("two")
            await asyncio.sleep(HOUR_SECONDS - (there.world.time.at - began))
            assert occupied <= _uids(there), "a room full of players was removed"
            assert not [room for room in there.warden.removed_rooms if room]
            air.deaf = False
            await asyncio.sleep(300.0)
            assert occupied <= _uids(there)
            there.cast.end_all()

            def is_done() -> bool:
                return "duel" not in there.world.namespaces() and _stands(there, wish)

            await there.until("what was asked for", is_done, CONVERGED_SECONDS)
            there.judge()

    in_virtual_time(main())


@pytest.mark.parametrize("seed", SEEDS[::15])
def test_players_that_come_and_go_while_we_are_deaf_are_not_thrown_out(seed: int) -> None:
    async def main() -> None:
        chance = random.Random(seed)
        world = World(seed=seed)
        wish = Wish(world)
        air = Air(chance)
        weather = Weather(chance)
        async with playhouse(world, weather, _natures(SHORT), air, LAWS) as there:
            there.start("one")
            await there.until("a fleet", lambda: _stands(there, wish), READY_SECONDS)
            air.deaf = True
            for number in range(20):
                await asyncio.sleep(chance.uniform(5.0, 60.0))
                actor = chance.choice(sorted(there.cast.playing(), key=lambda each: each.uid))
                # The collections' games cannot be known to be silent: they are sent nobody.
                if actor.game.nature.voice is not Voice.COLLECTIONS:
                    there.cast.join(actor, 3)
                if number == 10:
                    wish.change("arena", 1, 1)
                    wish.change("lobby", 3, 2)
            there.judge()
            periodic = [name for name in VOICES if VOICES[name] is not Voice.COLLECTIONS]
            assert not [
                room for room in there.warden.removed_rooms if room.partition("/")[0] in periodic
            ]
            air.deaf = False
            await asyncio.sleep(60.0)
            there.judge()
            there.cast.end_all()
            await there.until("what was asked for", lambda: _stands(there, wish), CONVERGED_SECONDS)
            there.judge()

    in_virtual_time(main())
