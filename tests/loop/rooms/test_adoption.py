"""Rooms of an earlier system, with players in them, become ours while they play."""

import asyncio
import random
from functools import partial

import pytest

from reconciler.adapters.kubernetes.client import KubernetesCluster
from reconciler.core.adopting import Adoption
from reconciler.core.departing import last_workload
from reconciler.loop.adopt import adopt, candidates
from reconciler.loop.store import RecordStore
from reconciler.model import labels
from reconciler.model.refs import Json, WorkloadKey
from reconciler.sandbox.players.natures import Nature
from tests.loop.rooms.house import Air, playhouse
from tests.loop.rooms.truth import Laws
from tests.loop.rooms.wishes import PINGS_SECONDS, QUIET_SECONDS, TRIO, VOICES, Wish
from tests.loop.transport import SandboxTransport
from tests.loop.virtual_time import in_virtual_time
from tests.loop.wires import Weather
from tests.loop.world import World

pytestmark = pytest.mark.long

BEFORE = {"arena": ("arena-40", "arena-41"), "duel": ("match-k7x2p", "match-q9zzv")}
"""Pods of the earlier system: Maestro's games tell their room's name, the collections' too."""


def _start_earlier(world: World, namespace: str) -> None:
    for number, name in enumerate(BEFORE[namespace]):
        port = {"containerPort": 7777, "hostPort": 7000 + number, "protocol": "UDP"}
        container = {"name": "game", "image": "registry.example/game:0", "ports": [port]}
        metadata = {"name": name, "labels": {"app": "earlier"}}
        body = {"metadata": metadata, "spec": {"containers": [container]}}
        world.create(f"/api/v1/namespaces/{namespace}/pods", body)


def _give(world: World, namespace: str) -> None:
    asks = {"metadata": {"annotations": {labels.ADOPT: "main"}}}
    world.patch(f"/api/v1/namespaces/{namespace}", asks)


async def _adopt(world: World, namespace: str) -> None:
    cluster = KubernetesCluster(
        SandboxTransport(world.sandbox, world.time.now), "main", name="local"
    )
    store = RecordStore(cluster, "gamekeeper", "main")
    await store.load()
    key = WorkloadKey("Scheduler", namespace, namespace)
    workload = last_workload(key, store.state(key), ())
    assert workload.hears
    found = await candidates(cluster, Adoption(workload, "main"), "app=earlier", "gamekeeper")
    assert found.obstacles == []
    told = await adopt(store, cluster, Adoption(workload, "main"), found.pods, world.time.now())
    assert told == dict.fromkeys(BEFORE[namespace], "")


def _ours(world: World, namespace: str) -> dict[str, Json]:
    pods = {pod["metadata"]["name"]: pod["metadata"] for pod in world.pods(namespace)}
    return {name: each for name, each in pods.items() if name not in BEFORE[namespace]}


def _idle(world: World) -> int:
    """How many rooms that we made take players."""
    made = [each for namespace in BEFORE for each in _ours(world, namespace).values()]
    return sum(each["labels"].get(labels.STATE) == "idle" for each in made)


def test_players_of_an_earlier_system_play_on_and_their_rooms_go_when_they_are_empty() -> None:
    async def main() -> None:
        world = World()
        for namespace in BEFORE:
            world.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
        world.pass_time(5.0)
        Wish(world, [piece for piece in TRIO if piece.name in BEFORE])
        natures = {
            name: partial(Nature, voice=voice, match_seconds=(9e6, 9e6))
            for name, voice in VOICES.items()
        }
        air, laws = Air(random.Random(1)), Laws(QUIET_SECONDS, PINGS_SECONDS)
        async with playhouse(world, Weather(random.Random(1)), natures, air, laws) as there:
            for namespace in BEFORE:
                _start_earlier(world, namespace)
            there.changed()
            there.start("one")
            await there.until("games", lambda: len(there.cast.actors) == 4, 60.0)
            await asyncio.sleep(30.0)
            earlier = {actor.game.where.room: actor for actor in there.cast.actors.values()}
            for actor in earlier.values():
                there.cast.join(actor, 3)
            await asyncio.sleep(60.0)
            assert not _ours(world, "arena"), "a namespace that is not ours: nothing is written"
            for namespace in BEFORE:
                await _adopt(world, namespace)
                _give(world, namespace)
            await there.until("rooms", lambda: _idle(world) == 4 + 3, 200.0)
            await asyncio.sleep(300.0)
            there.judge()
            assert {each.uid for each in earlier.values()} <= set(there.cast.actors)
            numbers = [int(name.rpartition("-")[2]) for name in _ours(world, "arena")]
            assert min(numbers) >= 1_800_000_000, "which names they gave nobody knows"
            left, stays = earlier["arena-40"], earlier["arena-41"]
            left.game.empty(world.time.at)
            left.moved.set()
            await there.until("it goes", lambda: left.uid not in there.cast.actors, 200.0)
            there.judge()
            assert stays.uid in there.cast.actors
            assert there.warden.removed_alive == ["arena/arena-40"]

    in_virtual_time(main())
