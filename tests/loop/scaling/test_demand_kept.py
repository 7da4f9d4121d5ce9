"""The demand and what a policy learned outlive the process that saw it, and are written seldom."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from reconciler import registry
from reconciler.adapters.kubernetes.calls import Call
from reconciler.core import demand
from reconciler.core.demand import quarter_of
from reconciler.core.policies.adaptive_memory import decode
from reconciler.model.records import StateRecord
from reconciler.model.specs import Budgets
from reconciler.sandbox.players.natures import Nature, Voice
from reconciler.service.app import App, Parts
from reconciler.service.scalers import Scalers
from tests.loop.rooms.house import Air, Playhouse, playhouse
from tests.loop.rooms.service import RoomService
from tests.loop.rooms.wishes import CONFIG, Piece
from tests.loop.scaling.house import ARENA, FILE, Ledger
from tests.loop.service import Service
from tests.loop.virtual_time import in_virtual_time
from tests.loop.wires import Weather
from tests.loop.world import World

pytestmark = pytest.mark.long

MATCH_SECONDS = 120.0
HOUR_SECONDS = 3600.0


class ScaledRooms(RoomService):
    """One process that hears rooms and has policies."""

    def _app(self, parts: Parts) -> App:
        now, ledger = self.clock.now, Ledger()
        parts.scalers = Scalers(self.lane, registry.policies(), Budgets, now, observer=ledger)
        return super()._app(parts)


@asynccontextmanager
async def arena() -> AsyncIterator[Playhouse]:
    """Open a house with one fleet that learns, of as many rooms all the time."""
    autoscaling: dict[str, dict[str, Any]] = {
        "autoscaling": {"min": 6, "max": 6, "policy": {"adaptive": {}}},
        "timeouts": {"pingSeconds": 60},
    }
    piece = Piece("arena", Voice.COLLECTIONS, 6, more=autoscaling)
    world = World()
    world.commit({"gamekeeper.yaml": CONFIG, FILE: piece.text(6, 1)})
    natures = {"arena": lambda: Nature(Voice.COLLECTIONS, match_seconds=(120.0, 120.0))}
    weather, air = Weather(random.Random(1)), Air(random.Random(1))
    async with playhouse(world, weather, natures, air) as there:
        yield there
        there.judge()


def enter(there: Playhouse, name: str) -> Service:
    """Start a process."""
    return there.enter(ScaledRooms(there.world, name, there.weather))


async def play(there: Playhouse, seconds: float) -> None:
    """Let a match begin every minute."""
    for minute in range(int(seconds / 60.0)):
        await asyncio.sleep(60.0)
        rooms = sorted(there.cast.playing("arena"), key=lambda each: each.game.where.room)
        free = [each for each in rooms if each.game.players == 0]
        if free:
            there.cast.join(free[minute % len(free)], 1)


def state(service: Service) -> StateRecord:
    """Return what a process knows of the record."""
    return service.lane.store.state(ARENA)


def record_writes(service: Service) -> list[Call]:
    """Return the writes of the state record."""
    return [call for call in service.transport.writes if "arena.arena" in call.path]


def unwritten(service: Service) -> dict[int, int]:
    """Return the quarters that a process has seen and not put on record yet."""
    scalers = service.app._parts.scalers
    assert scalers is not None
    return dict(scalers._memories[ARENA].quarters.over)


def test_demand_and_what_was_learned_outlive_a_kill_and_the_gap_stays_one() -> None:
    async def main() -> None:
        async with arena() as there:
            first = enter(there, "one")
            await there.until("rooms", lambda: len(list(there.cast.playing("arena"))) == 6, 60.0)
            await play(there, 300.0)
            written = len(record_writes(first))
            await play(there, 1.5 * HOUR_SECONDS)
            kept = state(first)
            counts = demand.decode(kept.demand)
            assert counts
            assert all(12 <= count <= 16 for count in counts.values()), counts
            assert len(record_writes(first)) - written <= 2, "a write an hour, and little else"
            learned = decode(kept.scaling.past.memory)
            assert learned.ended.sum() > 20.0, "matches that taught it"
            await first.kill()
            killed = there.world.time.now()
            await play(there, HOUR_SECONDS / 2.0)
            second = enter(there, "two")
            assert isinstance(second, ScaledRooms)
            await there.until("another leads", lambda: second.app.leading, 60.0)
            taken = there.world.time.now()
            assert state(second).demand == kept.demand
            await play(there, 1.5 * HOUR_SECONDS)
            later = demand.decode(state(second).demand)
            assert counts.items() <= later.items()
            assert len(later) > len(counts)
            gap = range(quarter_of(killed) + 1, quarter_of(taken))
            assert gap
            assert not later.keys() & set(gap), "nobody looked: unknown, and not 0"
            again = decode(state(second).scaling.past.memory)
            assert again.ended.sum() > learned.ended.sum(), "it went on learning from there"

    in_virtual_time(main())


def test_who_stops_in_peace_writes_down_what_it_saw() -> None:
    async def main() -> None:
        async with arena() as there:
            first = enter(there, "one")
            await there.until("rooms", lambda: len(list(there.cast.playing("arena"))) == 6, 60.0)
            while not unwritten(first):
                await play(there, 300.0)
            seen = unwritten(first)
            await first.stop()
            second = enter(there, "two")
            await there.until("another leads", second.may_act, 60.0)
            assert seen.items() <= demand.decode(state(second).demand).items()

    in_virtual_time(main())
