"""Players come to a room that leaves, by an older list, while nobody leads and nobody listens."""

import asyncio
import random
from functools import partial

import pytest

from reconciler.sandbox.players.natures import Nature, Voice
from tests.loop.rooms.house import Air, Playhouse, playhouse
from tests.loop.rooms.truth import Laws
from tests.loop.rooms.wishes import Piece, Wish
from tests.loop.virtual_time import elapsed, in_virtual_time
from tests.loop.wires import Weather
from tests.loop.world import World

NAME, LONG = "duel", (9e6, 9e6)


def _marks(it: Playhouse) -> dict[str, str]:
    return {
        pod["metadata"]["name"]: pod["metadata"]["labels"].get("gamekeeper.dev/state", "")
        for pod in it.world.pods(NAME)
        if "deletionTimestamp" not in pod["metadata"]
    }


@pytest.mark.parametrize("standby", [True, False], ids=["a standby", "a new process"])
@pytest.mark.parametrize("retry_seconds", [2.0, 8.0, 60.0])
def test_a_game_that_tells_of_them_again_keeps_its_room(
    retry_seconds: float, standby: bool
) -> None:
    in_virtual_time(_played(retry_seconds, standby))


async def _played(retry_seconds: float, standby: bool) -> None:
    world, piece = World(), Piece(NAME, Voice.COLLECTIONS, 3)
    wish = Wish(world, [piece])
    nature = partial(
        Nature, voice=Voice.COLLECTIONS, match_seconds=LONG, retry_seconds=retry_seconds
    )
    weather, air = Weather(random.Random(1)), Air(random.Random(1))
    async with playhouse(world, weather, {NAME: nature}, air, Laws.of([piece])) as it:
        first = it.start("one")
        await it.until("a fleet", lambda: list(_marks(it).values()) == ["idle"] * 3, 90)
        if standby:
            it.start("two")
            await asyncio.sleep(60)
        wish.change(NAME, 2, 1)
        await it.until("one leaves", lambda: "draining" in _marks(it).values(), 120)
        name = next(name for name, mark in _marks(it).items() if mark == "draining")
        await first.kill()
        await asyncio.sleep(1.0)
        actor = it.cast.named(f"{NAME}/{name}")
        assert actor is not None
        assert it.cast.join(actor, 4)
        if not standby:
            it.start("two")
        await it.until("it is busy", lambda: _marks(it)[name] == "busy", 20 + retry_seconds)
        assert actor.game.players == 4
        it.judge()


@pytest.mark.long
@pytest.mark.parametrize("voice", [Voice.MAESTRO, Voice.NATIVE])
@pytest.mark.parametrize("phase_seconds", [0.0, 2.5, 5.0, 7.5])
def test_players_who_come_within_the_quiet_time_and_are_told_of_by_the_next_ping_stay(
    phase_seconds: float, voice: Voice
) -> None:
    in_virtual_time(_pinged(phase_seconds, voice))


async def _pinged(phase_seconds: float, voice: Voice) -> None:
    world, piece = World(), Piece(NAME, voice, 3)
    wish = Wish(world, [piece])
    nature = partial(Nature, voice=voice, match_seconds=LONG, ping_seconds=10.0)
    weather, air = Weather(random.Random(1)), Air(random.Random(1))
    async with playhouse(world, weather, {NAME: nature}, air, Laws.of([piece])) as it:
        it.start("one")
        await it.until("a fleet", lambda: list(_marks(it).values()) == ["idle"] * 3, 90)
        await asyncio.sleep(phase_seconds)
        wish.change(NAME, 2, 1)
        await it.until("one leaves", lambda: "draining" in _marks(it).values(), 120)
        name = next(name for name, mark in _marks(it).items() if mark == "draining")
        await asyncio.sleep(4.0)
        actor = it.cast.named(f"{NAME}/{name}")
        assert actor is not None
        # Its game is busy with its map: the next ping is the first that tells of them.
        assert actor.game.join(4, world.time.at)
        await it.until("it is busy", lambda: _marks(it)[name] == "busy", 20)
        await asyncio.sleep(60.0)
        assert actor.game.players == 4
        it.judge()


@pytest.mark.parametrize("voice", [Voice.MAESTRO, Voice.NATIVE])
def test_a_game_that_says_nothing_while_it_loads_a_map_keeps_its_room(voice: Voice) -> None:
    """It was told that it is to leave, said that it is empty, and then its players came."""
    in_virtual_time(_loading(voice))


async def _loading(voice: Voice) -> None:
    world, piece = World(), Piece(NAME, voice, 3, more={"removal": {"quietSeconds": 5}})
    wish = Wish(world, [piece])
    nature = partial(Nature, voice=voice, match_seconds=LONG, ping_seconds=2.0, loads_seconds=30.0)
    weather, air = Weather(random.Random(1)), Air(random.Random(1))
    async with playhouse(world, weather, {NAME: nature}, air, Laws.of([piece])) as it:
        it.start("one")
        await it.until("a fleet", lambda: list(_marks(it).values()) == ["idle"] * 3, 90)
        wish.change(NAME, 2, 1)
        await it.until("one leaves", lambda: "draining" in _marks(it).values(), 120)
        name = next(name for name, mark in _marks(it).items() if mark == "draining")
        await asyncio.sleep(2.5)
        actor = it.cast.named(f"{NAME}/{name}")
        assert actor is not None
        assert it.cast.join(actor, 4)
        joined = elapsed()
        await it.until("it is busy", lambda: _marks(it).get(name) == "busy", 35)
        assert elapsed() - joined > 29
        assert actor.game.players == 4
        it.judge()
