"""Rooms are made and removed so many at a time: enough to be quick, and never all at once."""

import asyncio

import pytest

from reconciler.loop.lane import IN_FLIGHT
from reconciler.model.specs import LOOSEST
from tests.loop.world import Process, World, spec

ROOMS = 100
CONFIG = """\
apiVersion: gamekeeper.dev/v1
kind: Config
spec:
  paths: [schedulers]
  budgets:
    workload: {rooms: 1000}
    total: {rooms: 1000}
"""


class _Gauge:
    """How many requests wait for their answers, and how many ever did at once."""

    def __init__(self, process: Process) -> None:
        self.most = self._now = 0
        process.transport.pause = self._pass

    async def _pass(self) -> None:
        self._now += 1
        self.most = max(self.most, self._now)
        for _ in range(3):
            await asyncio.sleep(0)
        self._now -= 1


@pytest.mark.long
async def test_32_rooms_are_made_and_removed_at_once() -> None:
    assert IN_FLIGHT == 32
    world = World()
    world.commit({"gamekeeper.yaml": CONFIG, "schedulers/arena.yaml": spec("arena", ROOMS)})
    process = await world.process()
    process.head.ceiling = LOOSEST
    making = _Gauge(process)
    await world.settle(process)
    assert len(world.pods("arena")) == ROOMS
    assert making.most == IN_FLIGHT

    world.commit({"schedulers/arena.yaml": spec("arena", 10)})
    removing = _Gauge(process)
    await world.settle(process)
    assert len(world.pods("arena")) == 10
    assert removing.most == IN_FLIGHT


async def test_the_setting_says_how_many() -> None:
    world = World()
    world.commit({"schedulers/arena.yaml": spec("arena", ROOMS)})
    process = await world.process()
    process.lane.slots = asyncio.Semaphore(8)
    gauge = _Gauge(process)
    await world.settle(process)
    assert len(world.pods("arena")) == ROOMS
    assert gauge.most == 8
