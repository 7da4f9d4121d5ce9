"""A number whose push is in doubt may come into Git, whatever race is lost before or after it."""

import asyncio

import pytest

from reconciler.adapters.git.memory import MemoryRepository
from reconciler.adapters.git.memory_host import MemoryHost
from reconciler.model.errors import Conflict, Unavailable
from reconciler.model.pushes import Change, Pushed
from tests.loop.scaling.house import ARENA, Habits, scaled, scene
from tests.loop.virtual_time import in_virtual_time

THREE_FOR_FIVE_MINUTES = [
    {"from": "08:00", "to": "08:05", "replicas": 5},
    {"from": "08:10", "to": "20:00", "replicas": 5},
]
"""The world begins at 08:00; in between `min` acts."""


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
        slowly = "    scaleUp: {step: 1, cooldownSeconds: 30}\n    scaleDown:"
        text = scaled(5, THREE_FOR_FIVE_MINUTES, low=3).replace("    scaleDown:", slowly)
        async with scene(text, habits) as there:
            one = there.start("one")
            await there.until("three act", lambda: there.wanted() == 3, 400.0)
            await there.until("a lost answer", lambda: there.count_in_git() == 3, 120.0)
            await there.until("five act", lambda: there.wanted() == 5, 400.0)
            await asyncio.sleep(60.0)
            there.world.host.heal()
            for _ in range(200):
                await asyncio.sleep(1.0)
                assert there.wanted() == 5, "the policy wants five, and Git said three by us"
            assert there.count_in_git() == 5
            assert one.lane.store.state(ARENA).scaling.intent is None

    in_virtual_time(main())
