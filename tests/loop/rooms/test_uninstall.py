"""Players play on through an uninstall and a new start, of the same instance on the same Git."""

import asyncio
import random
from functools import partial

import pytest

from reconciler.adapters.kubernetes.client import KubernetesCluster
from reconciler.loop.uninstall import Removal, own_records
from reconciler.model import labels
from reconciler.sandbox.players.natures import Nature
from tests.loop.rooms.house import Air, Playhouse, playhouse
from tests.loop.rooms.truth import Laws
from tests.loop.rooms.wishes import PINGS_SECONDS, QUIET_SECONDS, VOICES, Wish
from tests.loop.transport import SandboxTransport
from tests.loop.virtual_time import in_virtual_time
from tests.loop.wires import Weather
from tests.loop.world import World

SECONDS_WITHOUT_US = 600.0


def _marked(there: Playhouse, *marks: str) -> set[str]:
    """The uids of the rooms in these states."""
    return {
        pod["metadata"]["uid"]
        for name in VOICES
        for pod in there.world.pods(name)
        if pod["metadata"]["labels"].get(labels.STATE) in marks
    }


@pytest.mark.long
def test_players_play_on_through_an_uninstall_and_a_new_start() -> None:
    async def main() -> None:
        world = World()
        wish = Wish(world)
        natures = {
            name: partial(Nature, voice=voice, match_seconds=(9e6, 9e6))
            for name, voice in VOICES.items()
        }
        air, laws = Air(random.Random(1)), Laws(QUIET_SECONDS, PINGS_SECONDS)
        async with playhouse(world, Weather(random.Random(1)), natures, air, laws) as there:
            first = there.start("one")
            await there.until("rooms", lambda: len(_marked(there, "idle")) == 10, 120.0)
            for name in VOICES:
                for actor in sorted(there.cast.playing(name), key=lambda each: each.uid)[:2]:
                    there.cast.join(actor, 3)
            await there.until("players", lambda: len(_marked(there, "busy")) == 6, 60.0)
            full, all_rooms = _marked(there, "busy"), set(there.cast.actors)
            await first.stop()
            transport = SandboxTransport(world.sandbox, world.time.now)
            cluster = KubernetesCluster(transport, "main", name="local")
            await Removal(cluster).of(await own_records(cluster, "gamekeeper", "main"))
            await asyncio.sleep(SECONDS_WITHOUT_US)
            there.judge()
            assert set(there.cast.actors) == all_rooms
            there.start("two")
            await asyncio.sleep(120.0)
            there.judge()
            assert set(there.cast.actors) == all_rooms, "taken over without a restart"
            for name in VOICES:
                wish.change(name, 4, 1)
            await there.until("more", lambda: len(_marked(there, "busy", "idle")) == 12, 200.0)
            for name in VOICES:
                wish.change(name, 4, 2)
            await asyncio.sleep(300.0)
            there.judge()
            assert full == _marked(there, "busy")

    in_virtual_time(main())
