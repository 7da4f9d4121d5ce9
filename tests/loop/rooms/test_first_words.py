"""A game that says things once says them to whoever leads, who may die: it is never forgotten."""

import asyncio
import random
from functools import partial

from reconciler.adapters.kubernetes.calls import Call
from reconciler.model.errors import Unavailable
from reconciler.model.labels import STATE
from reconciler.sandbox.players.natures import Nature
from tests.loop.rooms.house import Air, Playhouse, playhouse
from tests.loop.rooms.wishes import VOICES, Wish
from tests.loop.virtual_time import in_virtual_time
from tests.loop.wires import Weather
from tests.loop.world import World


def _no_marks(call: Call) -> None:
    if call.kind == "Pod" and call.verb == "patch":
        raise Unavailable(f"{call.what}: the server is away")


def _marks(there: Playhouse, namespace: str) -> list[str]:
    return [pod["metadata"]["labels"].get(STATE, "") for pod in there.world.pods(namespace)]


def test_what_a_game_says_once_outlives_the_leader_that_heard_it() -> None:
    async def main() -> None:
        world = World()
        Wish(world)
        natures = {name: partial(Nature, voice=voice) for name, voice in VOICES.items()}
        air = Air(random.Random(1))
        async with playhouse(world, Weather(random.Random(1)), natures, air) as there:
            first = there.start("one")
            first.transport.refuse = _no_marks
            await there.until("rooms", lambda: len(list(there.cast.playing("duel"))) == 3, 60.0)
            await asyncio.sleep(20.0)
            said = [actor.statuses for actor in there.cast.playing("duel")]
            assert all(said), "every game has said something"
            assert _marks(there, "duel") == [""] * 3
            await first.kill()
            there.start("two")
            await there.until("marks", lambda: _marks(there, "duel") == ["idle"] * 3, 60.0)
            there.judge()

    in_virtual_time(main())
