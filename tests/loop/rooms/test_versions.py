"""Another version of the program leads, an older or a newer one: rooms and records lose nothing."""

import asyncio
import json
import random
from collections import Counter
from functools import partial
from typing import TypeVar

import pytest

from reconciler.core import record_versions
from reconciler.loop.record_places import Kept
from reconciler.loop.store import RecordStore
from reconciler.model import labels
from reconciler.model.holds import HoldKind
from reconciler.model.refs import Json, WorkloadKey
from reconciler.sandbox.players.natures import Nature
from tests.loop.rooms.house import Air, Playhouse, playhouse
from tests.loop.rooms.service import RoomService
from tests.loop.rooms.truth import Laws
from tests.loop.rooms.wishes import PINGS_SECONDS, QUIET_SECONDS, VOICES, Wish
from tests.loop.virtual_time import in_virtual_time
from tests.loop.wires import Weather
from tests.loop.world import World

DUEL = WorkloadKey("Scheduler", "duel", "duel")
NEWER = "newer"
DUELS_NAMES = "duel/gamekeeper-duel"
T = TypeVar("T")


class _More(RecordStore):
    """The records as a newer program writes them: one field more in each, which counts its writes.

    A field that is lost begins anew.
    """

    async def _save(self, kept: Kept[T], value: T, key: WorkloadKey | None, what: str) -> None:
        number = kept.beyond.get(NEWER, {"writes": 0})["writes"]
        kept.beyond = {**kept.beyond, NEWER: {"writes": number + 1}}
        await super()._save(kept, value, key, what)


def _service(there: Playhouse, name: str, newer: bool) -> RoomService:
    service = there._process(name)
    assert isinstance(service, RoomService)
    if newer:
        service.lane.store = _More(service.lane.cluster, "gamekeeper", "main")
    there.enter(service)
    return service


def _records(world: World) -> dict[str, Json]:
    """Every state, ordinal and repository record: its `data` by the name of its object."""
    items = world.objects("/api/v1/configmaps")
    return {
        f"{each['metadata']['namespace']}/{each['metadata']['name']}": each["data"]
        for each in items
        if (each["metadata"].get("labels") or {}).get(labels.RECORD)
        in ("state", "ordinals", "repository")
    }


def _writes(world: World) -> Counter[str]:
    """How often a newer program wrote each record, as its own field says."""
    texts = {name: json.loads(data["record"]) for name, data in _records(world).items()}
    return Counter({name: text[NEWER]["writes"] for name, text in texts.items() if NEWER in text})


def _is_as_wished(there: Playhouse, wish: Wish) -> bool:
    """Whether so many rooms of the wished image take players; old ones with players stay beside."""
    for name, (rooms, image) in wish.wanted.items():
        pods = there.world.pods(name)
        new = [pod for pod in pods if pod["spec"]["containers"][0]["image"].endswith(f":{image}")]
        marks = [pod["metadata"]["labels"].get(labels.STATE) for pod in new]
        if len(new) != rooms or not set(marks) <= {"idle", "busy"}:
            return False
    return True


def _leads(service: RoomService) -> bool:
    return service.app.leading


def _raise_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the program be a newer one that raised the schema's number."""
    monkeypatch.setattr(record_versions, "SCHEMA_VERSION", "2")
    monkeypatch.setattr(record_versions, "READABLE", frozenset({"1", "2"}))
    monkeypatch.setattr(record_versions, "__version__", "9.0.0")


def _lower(world: World, record: str) -> None:
    namespace, _, name = record.partition("/")
    path = f"/api/v1/namespaces/{namespace}/configmaps/{name}"
    world.patch(path, {"data": {"schema": "1"}})


def _natures() -> dict[str, partial[Nature]]:
    """Games whose matches outlast the test."""
    return {
        name: partial(Nature, voice=voice, match_seconds=(9e6, 9e6))
        for name, voice in VOICES.items()
    }


async def _fill(there: Playhouse, namespace: str) -> str:
    """Send players to a room of a workload; its uid."""
    actor = min(
        (each for each in there.cast.playing(namespace) if not each.game.players),
        key=lambda each: each.uid,
    )
    there.cast.join(actor, 3)
    await there.until("its word", lambda: actor.told_busy, 60.0)
    return actor.uid


@pytest.mark.long
def test_rooms_with_players_and_our_records_go_through_upgrades_and_downgrades() -> None:
    """A roll-out of the program each time: both versions run for a while, then the new one."""

    async def main() -> None:
        world = World()
        wish = Wish(world)
        air = Air(random.Random(1))
        laws = Laws(QUIET_SECONDS, PINGS_SECONDS)
        async with playhouse(world, Weather(random.Random(1)), _natures(), air, laws) as there:
            running = _service(there, "old-0", newer=False)
            await there.until("rooms", lambda: _is_as_wished(there, wish), 120.0)
            full = {await _fill(there, name) for name in VOICES}
            before: Counter[str] = Counter()
            for turn, newer in enumerate((True, False, True, False), start=1):
                following = _service(there, f"{'new' if newer else 'old'}-{turn}", newer=newer)
                await asyncio.sleep(20.0)
                await running.stop()
                running = following
                await there.until("it leads", partial(_leads, running), 60.0)
                for name, (rooms, image) in list(wish.wanted.items()):
                    wish.change(name, rooms + (1 if turn % 2 else -1), image + turn % 2)
                await there.until("as wished", lambda: _is_as_wished(there, wish), 400.0)
                full |= {await _fill(there, "lobby")} if turn == 1 else set()
                there.judge()
                assert full <= set(there.cast.actors), "a room with players is gone"
                now = _writes(world)
                assert len(now) == len(_records(world)) == 2 * len(VOICES) + 1
                assert all(now[name] >= number for name, number in before.items())
                before = now

    in_virtual_time(main())


def test_an_older_program_leaves_a_raised_record_and_its_rooms_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def main() -> None:
        world = World()
        wish = Wish(world)
        air = Air(random.Random(1))
        async with playhouse(world, Weather(random.Random(1)), _natures(), air) as there:
            with monkeypatch.context() as newer:
                _raise_number(newer)
                first = _service(there, "new", newer=False)
                await there.until("rooms", lambda: _is_as_wished(there, wish), 120.0)
                full = await _fill(there, "duel")
                await first.stop()
            written = _records(world)
            assert {data["schema"] for data in written.values()} == {"2"}
            # The repository's is readable: as where a release raised that of workloads alone.
            _lower(world, "gamekeeper/gamekeeper-main")
            _lower(world, "gamekeeper/gamekeeper-main-local-scheduler-arena.arena")
            _lower(world, "arena/gamekeeper-arena")
            rooms = world.names("duel")
            second = _service(there, "old", newer=False)
            wish.change("duel", 1, 2)
            wish.change("arena", 5, 1)
            await there.until("the others act", lambda: len(world.pods("arena")) == 5, 120.0)
            await asyncio.sleep(60.0)
            there.judge()
            assert world.names("duel") == rooms
            writes = [call for call in second.transport.writes if "duel" in call.what]
            assert {call.kind for call in writes} == {"Event"}
            (hold,) = (each for each in second.lane.wanted.holds if each.key == DUEL)
            assert hold.kind is HoldKind.UNREADABLE_RECORD
            assert "written by gamekeeper 9.0.0" in hold.reason
            assert "run the version that wrote it, or newer" in hold.reason
            await second.stop()
            after = _records(world)
            for name in ("gamekeeper/gamekeeper-main-local-scheduler-duel.duel", DUELS_NAMES):
                assert after[name] == written[name]
            with monkeypatch.context() as newer:
                _raise_number(newer)
                _service(there, "new again", newer=False)
                await there.until("as wished", lambda: _is_as_wished(there, wish), 400.0)
                there.judge()
            assert full in there.cast.actors

    in_virtual_time(main())
