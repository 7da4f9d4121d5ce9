"""Games that report on change, and give up, tell of players while the API server is away."""

import asyncio
import random
from functools import partial

import pytest

from reconciler.sandbox.players.natures import Nature, Voice
from tests.loop.rooms.house import Air, Playhouse, playhouse
from tests.loop.rooms.truth import Laws
from tests.loop.rooms.wishes import Piece, Wish
from tests.loop.virtual_time import in_virtual_time
from tests.loop.wires import Weather
from tests.loop.world import World

NAME, LONG = "duel", (9e6, 9e6)
TRIES, RETRY_SECONDS = 6, 5.0


def _marks(it: Playhouse) -> dict[str, str]:
    return {
        pod["metadata"]["name"]: pod["metadata"]["labels"].get("gamekeeper.dev/state", "")
        for pod in it.world.pods(NAME)
        if "deletionTimestamp" not in pod["metadata"]
    }


@pytest.mark.parametrize("joined", [3.0, 11.0], ids=["while it leads", "when nobody leads"])
@pytest.mark.parametrize("away_seconds", [40.0, 600.0])
def test_players_of_whom_a_game_told_in_vain_keep_its_room(
    away_seconds: float, joined: float
) -> None:
    in_virtual_time(_play(away_seconds, joined, stay=True))


def test_a_room_whose_players_have_gone_again_before_anybody_could_hear_of_them_leaves() -> None:
    in_virtual_time(_play(40.0, 11.0, stay=False))


async def _play(away_seconds: float, joined: float, *, stay: bool) -> None:
    world, piece = World(), Piece(NAME, Voice.COLLECTIONS, 3)
    wish = Wish(world, [piece])
    nature = partial(
        Nature,
        voice=Voice.COLLECTIONS,
        match_seconds=LONG,
        retry_seconds=RETRY_SECONDS,
        gives_up_after=TRIES,
    )
    weather, air = Weather(random.Random(1)), Air(random.Random(1))
    async with playhouse(world, weather, {NAME: nature}, air, Laws.of([piece])) as it:
        first = it.start("one")
        await it.until("a fleet", lambda: list(_marks(it).values()) == ["idle"] * 3, 90)
        await asyncio.sleep(60.0)
        actor = it.cast.named(f"{NAME}/duel-2")
        assert actor is not None
        first.transport.down = "the server is away"
        await asyncio.sleep(joined)
        assert it.cast.join(actor, 4)
        if not stay:
            await asyncio.sleep(7.0)
            actor.game.empty(world.time.at)
            actor.moved.set()
        await asyncio.sleep(away_seconds - joined)
        asked = len(actor.statuses)
        first.transport.down = ""
        await it.until("a leader", lambda: it.leader is not None, 120)
        await asyncio.sleep(60.0)
        assert len(actor.statuses) == asked or away_seconds < TRIES * RETRY_SECONDS + joined
        wish.change(NAME, 1, 1)
        await it.until("one is left", lambda: len(_marks(it)) <= 1, 240)
        assert ("duel-2" in _marks(it)) is stay
        assert actor.game.players == (4 if stay else 0)
        it.judge()
