"""A look that takes long is no clock that was set: both clocks are read in one instant."""

import pytest

from reconciler.adapters.git.memory import MemoryRepository
from reconciler.model.holds import HoldKind
from reconciler.model.trees import Head
from reconciler.model.wanted import Wanted
from reconciler.service.head_lane import HeadService
from tests.loop.world import Process, World, spec
from tests.unit.service.test_head_lane import Silent

HOUR = 3600.0
# The world starts on 2027-01-15, a Friday, at 08:00 UTC.
FROZEN = """apiVersion: gamekeeper.dev/v1
kind: Config
spec:
  freeze:
    - {name: friday, schedule: "0 8 * * fri", timeZone: UTC, durationSeconds: 7200, reason: cup}
"""


class Slow(MemoryRepository):
    """A repository of which each fetch takes `seconds`."""

    def __init__(self, world: World, seconds: float) -> None:
        super().__init__(world.host)
        self._world = world
        self._seconds = seconds

    async def fetch(self) -> Head:
        """Fetch, in a while."""
        self._world.pass_time(self._seconds)
        return await super().fetch()


class Machine:
    """The clock of a machine, which is `ahead` of the time."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.ahead = 0.0

    def now(self) -> float:
        """Unix seconds."""
        return self._world.time.now() + self.ahead

    async def sleep(self, seconds: float) -> None:
        """Let the time pass."""
        self._world.pass_time(seconds)


async def slow(world: World, seconds: float) -> tuple[Process, HeadService, Machine]:
    """Return a process in whose freeze a change waits, and what looks at Git in `seconds`."""
    world.commit({"gamekeeper.yaml": FROZEN, "schedulers/arena.yaml": spec("arena", 3)})
    process = await world.process()
    await world.settle(process)
    process.head.repository = Slow(world, seconds)
    machine = Machine(world)

    def published(wanted: Wanted) -> None:
        """Nobody asks."""

    service = HeadService(process.head, machine, Silent(), lambda: True, published, 60.0)
    world.commit({"schedulers/arena.yaml": spec("arena", 5)})
    await service._look()
    assert [hold.kind for hold in process.lane.wanted.holds] == [HoldKind.FROZEN]
    return process, service, machine


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [each.getMessage() for each in caplog.records if "clock" in each.getMessage()]


@pytest.mark.parametrize("seconds", [0.0, 6.0, 40.0])
async def test_a_clock_that_was_rightly_set_is_believed_however_long_a_look_takes(
    seconds: float, caplog: pytest.LogCaptureFixture
) -> None:
    world = World()
    process, service, machine = await slow(world, seconds)
    machine.ahead, set_at = 2 * HOUR, world.time.now()
    while process.lane.wanted.holds:
        world.pass_time(await service._look())
        assert world.time.now() - set_at < 600.0
    assert world.time.now() - set_at >= 300.0
    (only,) = said(caplog)
    assert only.startswith("the clock of this machine was set 7200 seconds forward: ")


async def test_of_looks_that_take_unlike_long_nobody_hears_that_a_clock_was_set(
    caplog: pytest.LogCaptureFixture,
) -> None:
    world = World()
    process, service, _ = await slow(world, 12.0)
    for seconds in (0.0, 30.0, 0.0, 6.0, 12.0):
        process.head.repository = Slow(world, seconds)
        world.pass_time(await service._look())
    assert not said(caplog)
