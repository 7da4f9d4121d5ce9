"""No report of any room for an hour, while matches end: no room goes, and then scaling goes on."""

import asyncio
import random

import pytest

from reconciler import registry
from reconciler.model.specs import Budgets
from reconciler.sandbox.players.natures import Nature
from reconciler.service.app import App, Parts
from reconciler.service.scalers import Scalers
from tests.loop.rooms.house import Air, Playhouse, playhouse
from tests.loop.rooms.service import RoomService
from tests.loop.rooms.wishes import CONFIG
from tests.loop.scaling.house import FILE, Ledger
from tests.loop.virtual_time import in_virtual_time
from tests.loop.wires import Weather
from tests.loop.world import World, spec

pytestmark = pytest.mark.long

HOUR_SECONDS = 3600.0
AMOUNT, PLAYED = 2, 6


class HeardService(RoomService):
    """A process that hears rooms, and scales by them."""

    def _app(self, parts: Parts) -> App:
        self.ledger = Ledger()
        parts.scalers = Scalers(
            self.lane, registry.policies(), Budgets, self.clock.now, observer=self.ledger
        )
        return super()._app(parts)


class ScaledHouse(Playhouse):
    """A playhouse whose count follows its players."""

    def _process(self, name: str) -> HeardService:
        return HeardService(self.world, name, self.weather)

    def counts(self) -> list[int]:
        """All counts that were decided, in order."""
        ledgers = [each.ledger for each in self.services if isinstance(each, HeardService)]
        return [count for ledger in ledgers for _, count in ledger.decisions]

    def stands(self, rooms: int) -> bool:
        """Whether so many rooms are there."""
        return "arena" in self.world.namespaces() and len(self.world.pods("arena")) == rooms


def _text() -> str:
    autoscaling = {"min": 2, "max": 20, "policy": {"fixedBuffer": {"amount": AMOUNT}}}
    autoscaling["scaleDown"] = {"stabilizationSeconds": 60}
    text = spec("arena", 2, autoscaling=autoscaling)
    return text.replace("reports: none", "reports: required")


def test_an_hour_without_reports_takes_no_room_away_also_when_the_leader_dies() -> None:
    async def main() -> None:
        world = World()
        world.commit({"gamekeeper.yaml": CONFIG, FILE: _text()})
        nature = Nature(match_seconds=(600.0, 900.0))
        weather, air = Weather(random.Random(1)), Air(random.Random(1))
        natures = {"arena": lambda: nature}
        async with playhouse(world, weather, natures, air, made=ScaledHouse) as there:
            assert isinstance(there, ScaledHouse)
            first = there.start("one")
            await there.until("two rooms", lambda: there.stands(2), 60.0)
            await asyncio.sleep(30.0)
            for _ in range(PLAYED):
                empty = [each for each in there.cast.playing() if not each.game.players]
                there.cast.join(empty[0], 1)
                await asyncio.sleep(30.0)
            await there.until("a fleet", lambda: there.stands(PLAYED + AMOUNT), 120.0)
            air.deaf, decided = True, len(there.counts())
            await asyncio.sleep(HOUR_SECONDS / 2)
            await first.kill()
            there.start("two")
            await asyncio.sleep(HOUR_SECONDS / 2)
            assert not [room for room in there.warden.removed_rooms if room]
            assert there.stands(PLAYED + AMOUNT)
            assert there.counts()[decided:] == []
            air.deaf = False
            await there.until("scaling goes on", lambda: there.stands(AMOUNT), 3000.0)
            there.judge()

    in_virtual_time(main())
