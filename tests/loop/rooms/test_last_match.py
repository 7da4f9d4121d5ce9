"""A game that says in its match that it ends after it plays on, whoever leads by then."""

import asyncio
import random

import pytest

from reconciler.sandbox.players.natures import Voice
from tests.loop.rooms.matches import full, in_match, marks
from tests.loop.rooms.wishes import Piece
from tests.loop.rooms.words import Tongue
from tests.loop.virtual_time import in_virtual_time

PIECES = (Piece("arena", Voice.MAESTRO, 2), Piece("lobby", Voice.NATIVE, 2, 3))


@pytest.mark.parametrize("follows", [False, True], ids=["the same leader", "another leader"])
def test_who_says_in_its_match_that_it_ends_after_it_stays_busy(follows: bool) -> None:
    async def main() -> None:
        async with in_match(PIECES) as (there, _):
            playing = full(there)
            for actor in there.cast.playing():
                actor.tongue = Tongue(actor.game, random.Random(1), is_ending=True)
            await asyncio.sleep(20.0)
            if follows:
                await there.services[-1].kill()
                there.start("another")
            await asyncio.sleep(60.0)
            assert set(marks(there).values()) == {"busy"}
            # Longer than terminateSeconds and what follows.
            await asyncio.sleep(300.0)
            assert set(marks(there)) == playing == full(there)

    in_virtual_time(main())
