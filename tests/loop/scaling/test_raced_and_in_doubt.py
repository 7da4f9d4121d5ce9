"""A number whose push is in doubt may come into Git, whatever race is lost before or after it."""

import asyncio

import pytest

from reconciler.adapters.git.memory import MemoryRepository
from reconciler.adapters.git.memory_host import MemoryHost
from reconciler.model.errors import Conflict, Unavailable
from reconciler.model.pushes import Change, Pushed
from tests.loop.scaling.house import ARENA, Habits, ScalingService, Scene, scaled, scene
from tests.loop.virtual_time import in_virtual_time
from tests.loop.world import World


def _three_until(back: str) -> str:
    """Return a spec of five rooms, of three from 08:05 to `back`; the world begins at 08:00."""
    times = [
        {"from": "08:00", "to": "08:05", "replicas": 5},
        {"from": back, "to": "20:00", "replicas": 5},
    ]
    slowly = "    scaleUp: {step: 1, cooldownSeconds: 30}\n    scaleDown:"
    return scaled(5, times, low=3).replace("    scaleDown:", slowly)


class RacedFirst(MemoryRepository):
    """Loses a race with its first push; of the second one the host falls, having taken it."""

    def __init__(self, host: MemoryHost) -> None:
        super().__init__(host)
        self._pushes = 0

    async def push(self, change: Change, commit: str = "") -> Pushed:
        """Lose it, or have no answer."""
        self._pushes += 1
        if self._pushes == 1:
            raise Conflict("the branch is locked")
        if self._pushes == 2:
            self._host.lost_answers, self._host.falls = 1, True
        return await super().push(change, commit)


class RacedByItself(MemoryRepository):
    """Has no answer to its first push, which comes right before the second one; the host falls."""

    def __init__(self, host: MemoryHost) -> None:
        super().__init__(host)
        self._late: tuple[Change, str] | None = None
        self._is_over = False

    async def push(self, change: Change, commit: str = "") -> Pushed:
        """Have no answer, or lose the race."""
        if self._is_over:
            return await super().push(change, commit)
        if self._late is None:
            self._late = change, commit
            raise Unavailable("the proxy says 502")
        self._is_over = True
        await super().push(*self._late)
        self._host.down()
        raise Conflict("the branch moved meanwhile")


@pytest.mark.parametrize("made", [RacedFirst, RacedByItself])
def test_a_number_that_came_into_git_after_all_takes_no_room(
    made: type[RacedFirst | RacedByItself],
) -> None:
    async def main() -> None:
        habits = Habits(quiet_seconds=10.0, repository=lambda world, _: made(world.host))
        async with scene(_three_until("08:10"), habits) as there:
            one = there.start("one")
            await there.until("three act", lambda: there.wanted() == 3, 400.0)
            await there.until("a lost answer", lambda: there.count_in_git() == 3, 120.0)
            await _heals_once_five_act(there)
            assert one.lane.store.state(ARENA).scaling.intent is None

    in_virtual_time(main())


def test_a_number_that_another_leader_pushed_takes_no_room_where_it_comes_before_ours() -> None:
    async def main() -> None:
        shared = dict[str, RacedByItself]()

        def opened(world: World, _: str) -> RacedByItself:
            return shared.setdefault("", RacedByItself(world.host))

        habits = Habits(quiet_seconds=10.0, repository=opened)
        async with scene(_three_until("08:06"), habits) as there:
            one = there.start("one")
            assert isinstance(one, ScalingService)
            await there.until("no answer", lambda: bool(one.ledger.troubles), 400.0)
            await one.stop()
            two = there.start("two")
            await there.until("a lost answer", lambda: there.count_in_git() == 3, 120.0)
            await _heals_once_five_act(there)
            assert isinstance(two, ScalingService)
            assert two.ledger.races == 1
            assert two.lane.store.state(ARENA).scaling.intent is None

    in_virtual_time(main())


class Locked(MemoryRepository):
    """Loses every race while the host is locked for it."""

    locked = True

    async def push(self, change: Change, commit: str = "") -> Pushed:
        """Lose it, or push."""
        if self.locked:
            raise Conflict("the branch is locked")
        return await super().push(change, commit)


class Unheard(MemoryRepository):
    """Has no answer to its pushes; they come late, if ever."""

    late = ""

    async def push(self, change: Change, commit: str = "") -> Pushed:
        """Have no answer."""
        self.late = commit
        raise Unavailable("the proxy says 502")


def test_who_leads_again_withdraws_nothing_that_another_leader_pushed_in_between() -> None:
    async def main() -> None:
        made = {"one": Locked, "two": Unheard}
        habits = Habits(10.0, repository=lambda world, name: made[name](world.host))
        async with scene(_three_until("08:08"), habits) as there:
            one = there.start("one")
            assert isinstance(one, ScalingService)
            assert isinstance(one.repository, Locked)
            await there.until("a lost race", lambda: one.ledger.races > 0, 400.0)
            one.transport.down = "the API server is not reached"
            await there.until("nobody leads", lambda: not one.may_act(), 30.0)
            two = there.start("two")
            assert isinstance(two, ScalingService)
            assert isinstance(two.repository, Unheard)
            await there.until("no answer", lambda: bool(two.ledger.troubles), 100.0)
            await two.stop()
            one.transport.down = ""
            await there.until("it leads again", one.may_act, 30.0)
            assert there.wanted() == 3
            await there.until("five act", lambda: there.wanted() == 5, 400.0)
            await asyncio.sleep(10.0)
            there.world.host.branch("main", two.repository.late)
            there.world.host.down()
            one.repository.locked = False
            await _heals_once_five_act(there)

    in_virtual_time(main())


async def _heals_once_five_act(there: Scene) -> None:
    """See that five act on, whatever Git says once its host is up again."""
    await there.until("five act", lambda: there.wanted() == 5, 400.0)
    await asyncio.sleep(60.0)
    there.world.host.heal()
    for _ in range(200):
        await asyncio.sleep(1.0)
        assert there.wanted() == 5, "the policy wants five, and Git said three by us"
    assert there.count_in_git() == 5
