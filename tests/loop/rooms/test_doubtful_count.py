"""A game that reports on change only crashes right after a word: whose word was it?"""

import asyncio
import random
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from itertools import chain, repeat

import pytest

from reconciler.model.refs import Json
from reconciler.sandbox.players import sayings
from reconciler.sandbox.players.games import Match
from reconciler.sandbox.players.natures import Nature, Voice
from reconciler.sandbox.players.sayings import Saying
from tests.loop.rooms.cast import OK, Actor
from tests.loop.rooms.house import Air, Playhouse, playhouse
from tests.loop.rooms.truth import Laws
from tests.loop.rooms.wishes import Piece, Wish
from tests.loop.virtual_time import in_virtual_time
from tests.loop.wires import Weather, held_wires
from tests.loop.world import World

NAME = "duel"
CRASHES_SECONDS, LIMIT_SECONDS = 60.0, 120
LONG = (7200.0, 7200.0)


@asynccontextmanager
async def _game(timeouts: Json) -> AsyncIterator[Playhouse]:
    """Open a house of one room whose game tells of a player, crashes at once, and tells no more."""
    world = World(backoff_seconds=0.001)  # as a kubelet starts it anew the first time
    piece = Piece(NAME, Voice.COLLECTIONS, 1, more={"timeouts": timeouts})
    Wish(world, [piece])
    crashes: Iterator[float | None] = chain([CRASHES_SECONDS], repeat(None))

    def nature() -> Nature:
        return Nature(
            voice=Voice.COLLECTIONS, match_seconds=LONG, crash_after_seconds=next(crashes)
        )

    weather, air = Weather(random.Random(1)), Air(random.Random(1))
    async with playhouse(world, weather, {NAME: nature}, air, Laws.of([piece])) as it:
        it.start("one")
        await it.until("a fleet", lambda: _state(it) == "idle", CRASHES_SECONDS)
        (actor,) = it.cast.playing(NAME)
        await asyncio.sleep(actor.game.began + CRASHES_SECONDS - 5.0 - it.world.time.at)
        assert it.cast.join(actor, 1)
        await it.until("it is busy", lambda: _state(it) == "busy", 4.0)
        _say_no_number(it, actor.uid)
        yield it
        it.judge()


def _state(it: Playhouse) -> str:
    states = [
        pod["metadata"]["labels"].get("gamekeeper.dev/state", "") for pod in it.world.pods(NAME)
    ]
    return ",".join(states)


def _say_no_number(it: Playhouse, uid: str) -> None:
    """Let the games in a pod tell nobody any more how many play."""
    say = it.cast._say

    async def carried(actor: Actor, saying: Saying) -> int:
        if actor.uid == uid and saying.path == sayings.COUNT:
            return OK
        return await say(actor, saying)

    it.cast._say = carried


def _uids(it: Playhouse) -> set[str]:
    return {pod["metadata"]["uid"] for pod in it.world.pods(NAME)}


def test_it_stands_where_no_limit_is_written_also_for_the_next_leader() -> None:
    async def main() -> None:
        async with _game({}) as it:
            first = _uids(it)
            await asyncio.sleep(300.0)
            await it.services[0].kill()
            it.start("two")
            await asyncio.sleep(600.0)
            assert (_state(it), _uids(it)) == ("busy", first)

    in_virtual_time(main())


def test_silent_busy_seconds_is_its_limit() -> None:
    async def main() -> None:
        async with _game({"silentBusySeconds": LIMIT_SECONDS}) as it:
            first = _uids(it)
            await asyncio.sleep(LIMIT_SECONDS - 20.0)
            assert _uids(it) == first
            await it.until(
                "another room",
                lambda: _state(it) == "idle" and not _uids(it) & first,
                120.0,
            )

    in_virtual_time(main())


@pytest.mark.long
@pytest.mark.parametrize("voice", [Voice.COLLECTIONS, Voice.BOTH])
@pytest.mark.parametrize("players", [2, 3])
def test_players_whom_the_new_process_tells_of_outlast_the_limit(
    voice: Voice, players: int
) -> None:
    """It gives its session back at once, and its pod tells of the restart after that."""

    async def main() -> None:
        world = World(backoff_seconds=0.001)
        piece = Piece(NAME, voice, 1, more={"timeouts": {"silentBusySeconds": LIMIT_SECONDS}})
        Wish(world, [piece])
        crashes: Iterator[float | None] = chain([CRASHES_SECONDS], repeat(None))

        def nature() -> Nature:
            return Nature(
                voice=voice,
                match_seconds=LONG,
                crash_after_seconds=next(crashes),
                warm_up_seconds=1.0,
            )

        weather, air = Weather(random.Random(1)), Air(random.Random(1))
        async with playhouse(world, weather, {NAME: nature}, air, Laws.of([piece])) as it:
            service = it._process("one")
            flows = held_wires(service.transport)
            it.enter(service)
            await it.until("a fleet", lambda: _state(it) == "idle", CRASHES_SECONDS)
            (before,) = it.cast.playing(NAME)
            assert it.cast.join(before, 3)
            await it.until("it is busy", lambda: _state(it) == "busy", 9.0)
            await asyncio.sleep(before.game.began + CRASHES_SECONDS - 0.2 - world.time.at)
            flows.clear()
            await asyncio.sleep(0.5)
            (since,) = it.cast.playing(NAME)
            assert since is not before
            since.game.matches.append(Match(world.time.at + LONG[0], players))
            since.game._moved(world.time.at)
            await it.until("it tells", lambda: since.told is not None, 9.0)
            await asyncio.sleep(1.0)
            flows.set()
            await asyncio.sleep(3 * LIMIT_SECONDS)
            assert _state(it) == "busy"
            it.judge()

    in_virtual_time(main())
