"""Players come to rooms that report on change only, while it is known that nobody hears them."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from reconciler.sandbox.players.natures import Nature
from reconciler.service.rooms.desk import RoomDesk
from tests.loop.rooms.house import Air, Playhouse, playhouse
from tests.loop.rooms.mishaps import wake_all
from tests.loop.rooms.truth import Laws
from tests.loop.rooms.wishes import MATCHES, TRIO, VOICES, Wish
from tests.loop.virtual_time import in_virtual_time
from tests.loop.wires import Weather
from tests.loop.world import World

NAME, ROOMS = "duel", 3
LONG = (9e6, 9e6)


@asynccontextmanager
async def _house() -> AsyncIterator[tuple[Playhouse, RoomDesk, Wish]]:
    world = World()
    wish = Wish(world)
    natures = {
        name: partial(Nature, voice=voice, matches=MATCHES[name], match_seconds=LONG)
        for name, voice in VOICES.items()
    }
    weather, air = Weather(random.Random(1)), Air(random.Random(1))
    async with playhouse(world, weather, natures, air, Laws.of(TRIO)) as it:
        it.start("one")
        await it.until("a fleet", lambda: len(list(it.cast.playing())) == 10, 90.0)
        await asyncio.sleep(60.0)
        assert it.leader is not None
        yield it, it.leader.desk, wish
        it.judge()


def _there(it: Playhouse) -> dict[str, str]:
    """The marks of the rooms that are not being deleted, by uid."""
    metadata = [pod["metadata"] for pod in it.world.pods(NAME)]
    return {
        each["uid"]: each["labels"].get("gamekeeper.dev/state", "")
        for each in metadata
        if "deletionTimestamp" not in each
    }


def _follow(leads: RoomDesk) -> tuple[dict[str, bool], "asyncio.Task[None]"]:
    """Follow the rooms; return what is told of each, whether it is available, by uid."""
    told: dict[str, bool] = {}

    async def follow() -> None:
        async for change in leads.changes():
            if change.room.key.name == NAME:
                told[change.room.pod.uid] = change.room.available

    return told, asyncio.create_task(follow())


def test_no_room_leaves_by_its_last_count_while_nobody_is_heard() -> None:
    async def main() -> None:
        async with _house() as (it, leads, wish):
            told, following = _follow(leads)
            it.air.deaf = True
            await it.until("that is known", lambda: bool(leads.book.suspicion.everywhere), 240.0)
            shown = [room for room in leads.rooms() if room.key.name == NAME]
            assert [room.available for room in shown] == [False] * ROOMS
            await asyncio.sleep(2.0)
            assert told == dict.fromkeys(_there(it), False), "who follows hears it too"
            full = list(it.cast.playing(NAME))
            for actor in full:
                assert it.cast.join(actor, 4)
            wish.change(NAME, 1, 1)
            await asyncio.sleep(120.0)
            assert set(_there(it)) == {actor.uid for actor in full}
            it.air.deaf = False
            await it.until(
                "all are heard", lambda: list(_there(it).values()) == ["busy"] * ROOMS, 200.0
            )
            following.cancel()

    in_virtual_time(main())


def test_no_room_of_a_lost_node_leaves_by_its_last_count() -> None:
    async def main() -> None:
        async with _house() as (it, leads, wish):
            nodes = {p["metadata"]["uid"]: p["spec"]["nodeName"] for p in it.world.pods(NAME)}
            node = next(iter(nodes.values()))
            full = [actor for actor in it.cast.playing(NAME) if nodes[actor.uid] == node]
            it.world.sandbox.world.silent.add(node)
            it.changed()
            await it.until("it is lost", lambda: node in leads._roster.lost(), 200.0)
            for actor in full:
                assert it.cast.join(actor, 4)
            await asyncio.sleep(5.0)
            wish.change(NAME, 1, 1)
            await asyncio.sleep(60.0)
            assert {actor.uid for actor in full} <= set(_there(it))
            wake_all(it)
            await asyncio.sleep(60.0)
            assert all(_there(it)[actor.uid] == "busy" for actor in full)

    in_virtual_time(main())
