"""Games that say as soon as they begin that they are over: made anew at once, they say so again."""

import asyncio
import json
import random
from functools import partial

import pytest

from reconciler.sandbox.players import sayings
from reconciler.sandbox.players.natures import Nature, Voice
from reconciler.sandbox.players.sayings import Saying, Where
from tests.loop.rooms.house import Air, Playhouse, playhouse
from tests.loop.rooms.truth import Laws
from tests.loop.rooms.wishes import Piece, Wish
from tests.loop.virtual_time import elapsed, in_virtual_time
from tests.loop.wires import Weather
from tests.loop.world import World

NAME = "arena"
LONG_SECONDS, TERM_SECONDS = 600.0, 45.0


def _is_over(where: Where, nature: Nature, *_: float) -> Saying:
    """Say that the game is over, whoever plays there: for as long as its container runs."""
    path = f"/scheduler/{where.workload}/rooms/{where.room}/ping"
    return Saying("PUT", path, json.dumps({"status": "terminated", "timestamp": 1}).encode(), 0)


async def _made(there: Playhouse, led_anew: bool) -> int:
    names, ends = set[str](), elapsed() + LONG_SECONDS
    service, term_ends = there.start("0"), elapsed() + TERM_SECONDS
    while elapsed() < ends:
        await asyncio.sleep(1.0)
        names.update(pod["metadata"]["name"] for pod in there.world.pods(NAME))
        if led_anew and elapsed() > term_ends:
            await service.kill()
            service, term_ends = there.start(f"{elapsed():.0f}"), elapsed() + TERM_SECONDS
    return len(names)


@pytest.mark.parametrize("led_anew", [False, True])
def test_rooms_that_say_at_once_that_they_are_over_are_made_ever_more_seldom(
    led_anew: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        world, piece = World(), Piece(NAME, Voice.MAESTRO, 1)
        Wish(world, [piece])
        nature, air = partial(Nature, voice=Voice.MAESTRO), Air(random.Random(1))
        weather = Weather(random.Random(1))
        async with playhouse(world, weather, {NAME: nature}, air, Laws.of([piece])) as there:
            assert 4 < await _made(there, led_anew) < 10

    monkeypatch.setattr(sayings, "report", _is_over)
    in_virtual_time(main())
