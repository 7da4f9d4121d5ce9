"""Games tell one half of what they say to each of two that lead, for none holds a lease.

Those that report on change say it once: who heard that players came may be frozen right after it
was answered, and the other one has heard before that nobody plays there.
"""

import asyncio
import random
from functools import partial
from typing import Any

import pytest

from reconciler.sandbox.players.demand import Tide
from reconciler.sandbox.players.natures import Nature, Voice
from tests.loop.rooms.house import Air, playhouse
from tests.loop.rooms.parties import Parties
from tests.loop.rooms.rivals import disturb
from tests.loop.rooms.test_two_leaders import CONFIG, LeaselessHouse
from tests.loop.rooms.truth import Laws
from tests.loop.rooms.wishes import QUIET_SECONDS, Piece, Wish
from tests.loop.shares import share
from tests.loop.virtual_time import elapsed, in_virtual_time
from tests.loop.wires import Weather
from tests.loop.world import World
from tests.scorecard import score

pytestmark = pytest.mark.long

ROW = 10
SEEDS = 4
PLAYED_SECONDS = 400.0
PIECES = (Piece("duel", Voice.COLLECTIONS, 4), Piece("siege", Voice.BOTH, 2))


class SplitHouse(LeaselessHouse):
    """What is judged is who told of players and was answered: an empty room may tell the other."""

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        setattr(self.warden, self.warden._unasked.__name__, lambda *room: ())


async def _play(seed: int) -> None:
    chance = random.Random(seed)
    random.seed(seed)
    world = World(seed=seed)
    Wish(world, PIECES)
    world.commit({"gamekeeper.yaml": CONFIG})
    natures = {
        piece.place: partial(
            Nature, voice=piece.voice, matches=piece.matches, match_seconds=(30.0, 200.0)
        )
        for piece in PIECES
    }
    tides = {piece.place: Tide(5.0, seed=seed, period_seconds=300.0) for piece in PIECES}
    wanted = {place: partial(_players, tide, world) for place, tide in tides.items()}
    air = Air(chance, lost=0.02, slow=0.02, astray=0.5)
    weather = Weather(chance, fails=0.02, slow=0.03, wires=0.2, old=0.05)
    parties = Parties(random.Random(seed), QUIET_SECONDS)
    async with playhouse(world, weather, natures, air, Laws.of(PIECES), SplitHouse) as there:
        assert isinstance(there, SplitHouse)
        for name in ("one", "two"):
            there.enter(there._process(name))
        tasks = [
            asyncio.create_task(there.send_players(parties, wanted)),
            asyncio.create_task(disturb(there, chance)),
        ]
        while elapsed() < PLAYED_SECONDS:
            await asyncio.sleep(chance.uniform(20.0, 60.0))
            piece = chance.choice(PIECES)
            world.commit({piece.file: piece.text(chance.randint(1, 5), chance.randint(1, 3))})
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        there.judge()
        score(ROW, players=there.arrivals, laws_broken=len(there.unsafe))
        score(ROW, rooms_removed_that_ran=len(there.warden.removed_alive))
        assert there.arrivals
        assert there.warden.removed_alive, "no room was removed at all"


def _players(tide: Tide, world: World) -> int:
    return tide.players(world.time.at)


@pytest.mark.parametrize("seed", share(range(SEEDS), "split"), ids=lambda seed: f"seed-{seed}")
def test_reports_that_two_hear_half_of_each_end_no_match(seed: int) -> None:
    score(ROW, runs_of_split_reports=1, failed=1)
    in_virtual_time(_play(seed))
    score(ROW, failed=-1)
