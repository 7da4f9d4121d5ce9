"""Who begins to lead may see rooms as they were a while ago: what it believes then hurts nobody."""

import asyncio
import json
import random
from functools import partial

import pytest

from reconciler.adapters.http.ask import Ask
from reconciler.model.labels import STATE
from reconciler.sandbox.players.natures import Nature
from tests.loop.rooms.cast import Actor
from tests.loop.rooms.house import Air, Playhouse, playhouse
from tests.loop.rooms.service import RoomService
from tests.loop.rooms.wishes import VOICES, Wish
from tests.loop.virtual_time import in_virtual_time
from tests.loop.wires import Weather, held_wires
from tests.loop.world import World

pytestmark = pytest.mark.long

LATE_SECONDS = 40.0


def _mark(there: Playhouse, actor: Actor) -> str:
    where = actor.game.where
    pod = there.world.ask(f"/api/v1/namespaces/{where.namespace}/pods/{where.room}")
    return str(pod["metadata"]["labels"].get(STATE, ""))


async def _say_state(there: Playhouse, service: RoomService, actor: Actor) -> int:
    where = actor.game.where
    body = {"serverName": where.room, "namespace": where.namespace, "state": "Running"}
    ask = Ask("POST", "/setsdgsstate", body=json.dumps(body).encode(), peer=actor.address)
    return (await there.ask(service, ask)).status


@pytest.mark.parametrize("talks", [False, True], ids=["silent", "it tells its state meanwhile"])
@pytest.mark.parametrize("became", ["full", "empty"])
def test_a_leader_that_sees_late_learns_what_rooms_told_the_one_before(
    became: str, talks: bool
) -> None:
    async def main() -> None:
        world = World()
        wish = Wish(world)
        natures = {
            name: partial(Nature, voice=voice, match_seconds=(9e6, 9e6))
            for name, voice in VOICES.items()
        }
        air = Air(random.Random(1))
        async with playhouse(world, Weather(random.Random(1)), natures, air) as there:
            first = there.start("one")
            await there.until("rooms", lambda: len(list(there.cast.playing("duel"))) == 3, 60.0)
            await asyncio.sleep(20.0)
            actor = sorted(there.cast.playing("duel"), key=lambda each: each.uid)[0]
            if became == "empty":
                there.cast.join(actor, 3)
                await asyncio.sleep(10.0)
            second = there._process("two")
            assert isinstance(second, RoomService)
            flows = held_wires(second.transport)
            there.enter(second)
            await asyncio.sleep(30.0)
            flows.clear()
            if became == "full":
                there.cast.join(actor, 3)
            else:
                actor.game.empty(world.time.at)
                actor.moved.set()
            await asyncio.sleep(2.0)
            assert actor.told is not None
            assert actor.told[0] == actor.game.players
            await first.kill()
            await there.until("another leads", lambda: second.app.leading, 60.0)
            await asyncio.sleep(LATE_SECONDS / 4)
            if talks:
                assert await _say_state(there, second, actor) == 200
            await asyncio.sleep(LATE_SECONDS)
            flows.set()
            await asyncio.sleep(LATE_SECONDS)
            there.judge()
            assert _mark(there, actor) == ("busy" if became == "full" else "idle")
            wish.change("duel", 1, 2)
            await asyncio.sleep(120.0)
            there.judge()
            assert (actor.uid in there.cast.actors) == (became == "full")

    in_virtual_time(main())
