"""A commit on its way when the lease is lost goes no further: whoever leads next lands it."""

import asyncio

from reconciler.adapters.git.memory import MemoryRepository
from reconciler.model.pushes import Change, Pushed
from tests.loop.scaling.house import Habits, ScalingService, scaled, scene
from tests.loop.virtual_time import in_virtual_time
from tests.loop.world import World


class Lingering(MemoryRepository):
    """A repository that is busy with something else when it is to push."""

    def __init__(self, world: World, lingers: bool) -> None:
        super().__init__(world.host)
        self.asked, self.free = asyncio.Event(), asyncio.Event()
        if not lingers:
            self.free.set()

    async def push(self, change: Change, commit: str = "") -> Pushed:
        """Wait for its turn."""
        self.asked.set()
        await self.free.wait()
        return await super().push(change, commit)


def test_who_lost_the_lease_pushes_nothing_and_blames_no_host() -> None:
    async def main() -> None:
        habits = Habits(repository=lambda world, name: Lingering(world, name == "one"))
        async with scene(scaled(2, [{"replicas": 5}]), habits) as there:
            one = there.start("one")
            assert isinstance(one, ScalingService)
            assert isinstance(one.repository, Lingering)
            await asyncio.wait_for(one.repository.asked.wait(), 300.0)
            before = there.head()
            one.transport.down = "the API server is not reached"
            await there.until("nobody leads", lambda: not one.may_act(), 30.0)
            one.repository.free.set()
            await asyncio.sleep(5.0)
            assert there.head() == before
            assert (one.ledger.commits, one.ledger.troubles, one.ledger.races) == ([], [], 0)
            there.start("two")
            await there.until("five in Git", lambda: there.count_in_git() == 5, 60.0)
            one.transport.down = ""
            await asyncio.sleep(120.0)
            assert [each for each in there.subjects() if each.startswith("Scale")] == [
                "Scale arena to 5"
            ]
            assert there.rooms() == 5

    in_virtual_time(main())
