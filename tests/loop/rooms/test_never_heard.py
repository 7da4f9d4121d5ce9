"""An image that never reports stops no roll-out, ends nobody's match, and leaves at its word."""

import asyncio
import random
from dataclasses import replace

import pytest

from reconciler.model.holds import HoldKind
from reconciler.model.labels import LEAVING, STATE
from reconciler.model.refs import Json, WorkloadKey
from reconciler.sandbox.players.natures import Nature, Voice
from tests.loop.rooms.house import Air, Playhouse, playhouse
from tests.loop.rooms.wishes import Piece, Wish
from tests.loop.virtual_time import in_virtual_time
from tests.loop.wires import Weather
from tests.loop.world import World

pytestmark = pytest.mark.long

ARENA = Piece("arena", Voice.MAESTRO, 3)
KEY = WorkloadKey("Scheduler", "arena", "arena")
NEVER_SECONDS = 1e9
FIRST_WORD_SECONDS = 600.0


def _rooms(there: Playhouse, image: int) -> list[Json]:
    """The rooms of an image."""
    name = f"registry.example/game:{image}"
    pods: list[Json] = there.world.pods("arena")
    return [pod for pod in pods if pod["spec"]["containers"][0]["image"] == name]


def _marks(there: Playhouse, image: int) -> list[str]:
    return [pod["metadata"]["labels"].get(STATE, "") for pod in _rooms(there, image)]


def _is_told(there: Playhouse) -> bool:
    """Whether status, the log and Events tell of rooms that were never heard."""
    conditions = there.services[0].lane.store.state(KEY).conditions
    return any(each.reason == HoldKind.NEVER_HEARD for each in conditions)


def _speak(there: Playhouse) -> None:
    """Let those that never spoke begin to."""
    for actor in there.cast.playing("arena"):
        if actor.game.nature.warm_up_seconds == NEVER_SECONDS:
            actor.game.nature = replace(actor.game.nature, warm_up_seconds=0.0)
            actor.game.empty(there.world.time.at)
            actor.moved.set()


def test_a_bad_image_does_not_stop_the_commit_that_mends_it() -> None:
    async def main() -> None:
        world, mute = World(), asyncio.Event()
        wish = Wish(world, [ARENA])
        sound = Nature(voice=ARENA.voice)

        def nature() -> Nature:
            return replace(sound, warm_up_seconds=NEVER_SECONDS) if mute.is_set() else sound

        air = Air(random.Random(1))
        weather = Weather(random.Random(1))
        async with playhouse(world, weather, {"arena": nature}, air) as there:
            there.start("one")
            await there.until("rooms", lambda: _marks(there, 1) == ["idle"] * 3, 90.0)
            mute.set()
            wish.change("arena", 3, 2)
            await there.until("the bad image", lambda: _marks(there, 2) == [""] * 2, 90.0)
            await asyncio.sleep(120.0)
            assert _marks(there, 1) == ["idle"] * 3, "no good room goes for one that is not heard"
            await there.until("words on it", lambda: _is_told(there), FIRST_WORD_SECONDS)
            mute.clear()
            wish.change("arena", 3, 3)
            await there.until("the mended one", lambda: _marks(there, 3) == ["idle"] * 3, 300.0)
            await there.until("the old ones' end", lambda: not _rooms(there, 1), 300.0)
            await asyncio.sleep(600.0)
            left = [pod["metadata"]["annotations"].get(LEAVING) for pod in _rooms(there, 2)]
            assert left == ["rollout"] * 2, "they may be full: they stay until they are heard"
            _speak(there)
            await there.until("their end", lambda: not _rooms(there, 2), 60.0)
            await there.until("no words on it", lambda: not _is_told(there), 60.0)
            there.judge()

    in_virtual_time(main())
