"""No room of one workload is heard, while others are: by a network policy, or because it hangs."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from itertools import chain, repeat

import pytest

from reconciler.sandbox.players.natures import Nature, Voice
from reconciler.sandbox.players.sayings import Saying
from tests.loop.rooms.cast import Actor
from tests.loop.rooms.house import Air, Playhouse, playhouse
from tests.loop.rooms.truth import Laws
from tests.loop.rooms.wishes import MATCHES, PINGS_SECONDS, Piece, Wish
from tests.loop.virtual_time import in_virtual_time
from tests.loop.wires import Weather
from tests.loop.world import World

CUT_SECONDS = 15.0 * PINGS_SECONDS
LONG = (7200.0, 7200.0)
CONVERGED_SECONDS = 900.0
HANGS_SECONDS = 60.0


def _natures(hang: Iterator[float | None]) -> dict[str, Callable[[], Nature]]:
    """What is played; a room of the lobby falls silent after the next of `hang`."""
    plain = partial(Nature, voice=Voice.NATIVE, matches=1, match_seconds=LONG)

    def lobby() -> Nature:
        return plain(matches=MATCHES["lobby"], hang_after_seconds=next(hang))

    return {"arena": plain, "lobby": lobby}


@asynccontextmanager
async def _game(rooms: int, hang: Iterator[float | None] | None = None) -> AsyncIterator[Playhouse]:
    """Open a house in which a lobby of so many rooms stands beside an arena."""
    pieces = (
        Piece("arena", Voice.NATIVE, 9),
        Piece("lobby", Voice.NATIVE, rooms, MATCHES["lobby"]),
    )
    world = World()
    Wish(world, pieces)
    air, weather = Air(random.Random(1)), Weather(random.Random(1))
    natures = _natures(hang or repeat(None))
    async with playhouse(world, weather, natures, air, Laws.of(pieces)) as it:
        it.start("one")
        await it.until("a fleet", lambda: _is_marked(it, 9 + rooms), 60.0)
        yield it
        it.judge()


def _is_marked(it: Playhouse, rooms: int) -> bool:
    pods = [pod for name in ("arena", "lobby") for pod in it.world.pods(name)]
    return len(pods) == rooms and all(
        "gamekeeper.dev/state" in pod["metadata"]["labels"] for pod in pods
    )


def _lobby(it: Playhouse) -> set[str]:
    return {pod["metadata"]["uid"] for pod in it.world.pods("lobby")}


def _cut_off(it: Playhouse, namespaces: set[str]) -> None:
    """Let nothing that rooms of `namespaces` say come to us."""
    say = it.cast._say

    async def carried(actor: Actor, saying: Saying) -> int:
        if actor.game.where.namespace in namespaces:
            await asyncio.sleep(2.0)
            return 0
        return await say(actor, saying)

    it.cast._say = carried


@pytest.mark.long
@pytest.mark.parametrize("rooms", [1, 2])
def test_rooms_that_fill_up_in_a_namespace_that_is_cut_off_are_not_replaced(rooms: int) -> None:
    async def main() -> None:
        async with _game(rooms) as it:
            first, cut = _lobby(it), {"lobby"}
            _cut_off(it, cut)
            await asyncio.sleep(PINGS_SECONDS / 2)
            for actor in it.cast.playing("lobby"):
                assert it.cast.join(actor, 1)
            await asyncio.sleep(CUT_SECONDS)
            assert first <= _lobby(it), "a room that players came to was removed"
            assert len(_lobby(it)) == rooms + 1, "one is made beside them, and no more"
            assert it.leader is not None
            assert [key.name for key in it.leader.desk.book.suspicion.to] == ["lobby"]
            cut.clear()
            await asyncio.sleep(120.0)
            assert first <= _lobby(it)
            it.cast.end_all()
            await it.until(
                "as many as are wanted", lambda: len(_lobby(it)) == rooms, CONVERGED_SECONDS
            )

    in_virtual_time(main())


def test_a_room_that_hangs_though_no_other_of_its_workload_is_heard_is_replaced() -> None:
    async def main() -> None:
        async with _game(1, chain([HANGS_SECONDS], repeat(None))) as it:
            first = _lobby(it)

            def is_replaced() -> bool:
                there = _lobby(it)
                return len(there) == 1 and not first & there

            await it.until("another room", is_replaced, CONVERGED_SECONDS)

    in_virtual_time(main())


@pytest.mark.long
def test_full_rooms_that_hang_with_their_whole_workload_stay_beside_one_that_is_heard() -> None:
    async def main() -> None:
        async with _game(1, chain([HANGS_SECONDS], repeat(None))) as it:
            first = _lobby(it)
            [actor] = it.cast.playing("lobby")
            assert it.cast.join(actor, 1)
            await asyncio.sleep(CUT_SECONDS)
            assert first == _lobby(it), "it stands as busy, and no limit is written"

    in_virtual_time(main())
