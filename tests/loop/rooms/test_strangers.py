"""Somebody else changes what is ours, or adds to rooms: it is healed, and no room goes for it."""

import asyncio
import random
from functools import partial
from itertools import repeat
from typing import cast

import pytest

from tests.loop.injecting import INJECTORS, MESH
from tests.loop.rooms.matches import PIECES, full, in_match, marks
from tests.loop.rooms.strangers import DEEDS, THEIRS, unhealed
from tests.loop.rooms.wild import WildHouse
from tests.loop.virtual_time import in_virtual_time

TIMES = 5
"""How often each is done: there is more than one way to do most."""
HEALED_SECONDS = 120.0
FREE = 1
HOUSE = partial(WildHouse, False, random.Random(1))


@pytest.mark.long
@pytest.mark.parametrize("what", DEEDS)
def test_what_is_ours_is_made_again_and_set_back_and_what_is_theirs_stays(what: str) -> None:
    async def main() -> None:
        async with in_match(made=HOUSE, free=FREE) as (house, _):
            there = cast(WildHouse, house)
            assert not unhealed(there, PIECES)
            before, playing, wrong = set(marks(there)), full(there), 0
            for number in range(TIMES):
                assert DEEDS[what](there, random.Random(number))
                wrong += bool(unhealed(there, PIECES))
                there.changed()
                await there.until("healed", lambda: not unhealed(there, PIECES), HEALED_SECONDS)
                await asyncio.sleep(30.0)
            assert bool(wrong) is ("marked" not in what)
            assert set(marks(there)) == before
            assert full(there) == playing
            found = str(there.world.objects("/api/v1/pods") + there.world.objects(SPACES))
            assert (THEIRS in found) is ("marked" in what)

    in_virtual_time(main())


SPACES = "/api/v1/namespaces"


@pytest.mark.long
@pytest.mark.parametrize("what", INJECTORS)
def test_rooms_into_which_something_is_injected_are_rooms_as_others_are(what: str) -> None:
    async def main() -> None:
        async with in_match(made=HOUSE, free=FREE) as (there, wish):
            before = set(marks(there))
            for piece in PIECES:
                there.weather.injected[piece.place] = repeat(what)
                wish.change(piece.name, piece.rooms + 1, 1)
            grown = len(before) + len(PIECES)
            await there.until("more rooms", lambda: len(marks(there)) == grown, 120.0)
            there.weather.calm()
            await asyncio.sleep(120.0)
            pods = there.world.objects("/api/v1/pods")
            added = [each for each in pods if each["metadata"]["uid"] not in before]
            assert len(added) == len(PIECES)
            assert all(MESH in each["metadata"]["labels"] for each in added)
            assert {marks(there)[each["metadata"]["uid"]] for each in added} == {"idle"}
            for piece in PIECES:
                wish.change(piece.name, piece.rooms, 1)
            await there.until("as before", lambda: len(marks(there)) == len(before), 180.0)

    in_virtual_time(main())
