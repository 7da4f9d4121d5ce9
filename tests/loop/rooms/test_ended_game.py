"""A game that ended for good beside a container that runs on: its room has ended."""

import asyncio
import json
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import pytest

from reconciler.model.refs import Json
from reconciler.sandbox import clock
from reconciler.sandbox.behaviour import READY
from reconciler.sandbox.players.natures import Nature, Voice
from reconciler.sandbox.requests import Request
from tests.loop.rooms.cast import Actor
from tests.loop.rooms.house import Air, Playhouse, playhouse
from tests.loop.rooms.truth import Laws
from tests.loop.rooms.wishes import Piece, Wish
from tests.loop.virtual_time import in_virtual_time
from tests.loop.wires import Weather
from tests.loop.world import World

pytestmark = pytest.mark.long

NAME, ROOMS = "arena", 4
LONG = (7200.0, 7200.0)
CONTAINERS = [
    {"name": name, "image": f"registry.example/{name}:1", "resources": {"requests": {"cpu": "1m"}}}
    for name in ("game", "beside")
]
TEMPLATE = {"template": {"spec": {"restartPolicy": "Never", "containers": CONTAINERS}}}


@asynccontextmanager
async def _game(voice: Voice) -> AsyncIterator[Playhouse]:
    """Open a house of four rooms, and let players into all of them."""
    world = World()
    piece = Piece(NAME, voice, ROOMS, more=TEMPLATE)
    Wish(world, [piece])
    nature = partial(Nature, voice=voice, match_seconds=LONG)
    weather, air = Weather(random.Random(1)), Air(random.Random(1))
    async with playhouse(world, weather, {NAME: nature}, air, Laws.of([piece])) as it:
        it.start("one")
        await it.until("a fleet", lambda: _states(it) == ["idle"] * ROOMS, 60.0)
        for actor in it.cast.playing(NAME):
            assert it.cast.join(actor, 1)
        await it.until("all play", lambda: _states(it) == ["busy"] * ROOMS, 60.0)
        yield it
        it.judge()


def _states(it: Playhouse) -> list[str]:
    pods = it.world.pods(NAME)
    return [pod["metadata"]["labels"].get("gamekeeper.dev/state", "") for pod in pods]


def _ends(it: Playhouse, actor: Actor, code: int) -> None:
    """Let a game end, and the container beside it run on."""
    it.cast.forget(actor.uid)
    _leaves_the_rest(it, actor, {"exitCode": code, "reason": "Error"})


def _leaves_the_rest(it: Playhouse, actor: Actor, end: Json) -> None:
    """Let the container with a host port end, whoever tells of its players."""
    world, name = it.world, actor.game.where.room
    path = f"/api/v1/namespaces/{NAME}/pods/{name}"
    pod = world.ask(path)
    game, beside = pod["status"]["containerStatuses"]
    game |= {"state": {"terminated": end}, "ready": False}
    unready = {"type": "Ready", "status": "False", "reason": "ContainersNotReady"}
    _patch(world, path, {"metadata": {"annotations": {READY: "false"}}})
    status = {"containerStatuses": [game, beside], "conditions": [unready]}
    _patch(world, f"{path}/status", {"status": status})


def _loses_its_sandbox(it: Playhouse, actor: Actor) -> None:
    """Let all containers of a room end, and none of them begin anew."""
    world, name = it.world, actor.game.where.room
    it.cast.forget(actor.uid)
    path = f"/api/v1/namespaces/{NAME}/pods/{name}"
    _patch(world, path, {"metadata": {"annotations": {READY: "false"}}})
    waits = {"state": {"waiting": {"reason": "PodInitializing"}}, "restartCount": 1}
    told = world.ask(path)["status"]["containerStatuses"]
    status = {
        "phase": "Pending",
        "containerStatuses": [{**each, **waits, "ready": False} for each in told],
        "conditions": [{"type": "Ready", "status": "False", "reason": "ContainersNotReady"}],
    }
    _patch(world, f"{path}/status", {"status": status})


def _patch(world: World, path: str, body: Json) -> None:
    headers = {"content-type": "application/strategic-merge-patch+json"}
    world._send(Request.of("PATCH", path, json.dumps(body).encode(), headers))


@pytest.mark.parametrize("voice", [Voice.COLLECTIONS, Voice.MAESTRO, Voice.BOTH])
@pytest.mark.parametrize("code", [0, 139])
@pytest.mark.parametrize("led_anew", [False, True])
def test_its_room_goes_and_another_is_made(voice: Voice, code: int, led_anew: bool) -> None:
    async def main() -> None:
        async with _game(voice) as it:
            actor, *others = it.cast.playing(NAME)
            if led_anew:
                await it.services[0].kill()
            it.changed()
            _ends(it, actor, code)
            if led_anew:
                it.start("two")
            await it.until(
                "another room in its place",
                lambda: sorted(_states(it)) == ["busy", "busy", "busy", "idle"],
                400.0,
            )
            await asyncio.sleep(30.0)
            there = {pod["metadata"]["uid"] for pod in it.world.pods(NAME)}
            assert actor.uid not in there
            assert {each.uid for each in others} < there

    in_virtual_time(main())


@pytest.mark.parametrize("voice", [Voice.COLLECTIONS, Voice.MAESTRO, Voice.BOTH])
@pytest.mark.parametrize("told_late", [False, True])
def test_players_told_of_after_it_ended_stay_for_the_next_leader(
    voice: Voice, told_late: bool
) -> None:
    """Somebody else in the pod tells of them, perhaps before the pod tells of the end."""

    async def main() -> None:
        async with _game(voice) as it:
            actor, *_ = it.cast.playing(NAME)
            await asyncio.sleep(30.0)
            ended_at = clock.stamp(it.world.time.at - 2.0 * told_late)
            end = {"exitCode": 0, "reason": "Completed", "finishedAt": ended_at}
            joins, ends = partial(it.cast.join, actor, 1), partial(_leaves_the_rest, it, actor, end)
            for happens in (joins, ends) if told_late else (ends, joins):
                happens()
                it.changed()
                await asyncio.sleep(1.0)
            await asyncio.sleep(20.0)
            await it.services[0].kill()
            it.start("two")
            await asyncio.sleep(120.0)
            assert _states(it).count("busy") == ROOMS, "another may have been made meanwhile"

    in_virtual_time(main())


@pytest.mark.parametrize("voice", [Voice.COLLECTIONS, Voice.MAESTRO, Voice.BOTH])
def test_a_room_whose_sandbox_went_for_good_is_replaced_when_its_start_is_over(
    voice: Voice,
) -> None:
    async def main() -> None:
        async with _game(voice) as it:
            actor, *others = it.cast.playing(NAME)
            _loses_its_sandbox(it, actor)
            it.changed()
            await asyncio.sleep(280.0)
            assert _states(it) == ["busy"] * ROOMS
            await it.until(
                "another room in its place",
                lambda: sorted(_states(it)) == ["busy", "busy", "busy", "idle"],
                400.0,
            )
            there = {pod["metadata"]["uid"] for pod in it.world.pods(NAME)}
            assert {each.uid for each in others} < there

    in_virtual_time(main())
