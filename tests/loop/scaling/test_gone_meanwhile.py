"""A race is lost to the commit that takes a workload out of Git: nothing of it comes back."""

import asyncio

from reconciler.adapters.git.memory import MemoryRepository
from reconciler.model.errors import Conflict
from reconciler.model.pushes import Change, Pushed
from tests.loop.safety import Bounds
from tests.loop.scaling.house import ARENA, FILE, Habits, scaled, stage
from tests.loop.scaling.troubles import LASTS
from tests.loop.virtual_time import in_virtual_time
from tests.loop.world import World

ONE_MORE = [{"from": "08:05", "to": "20:00", "replicas": 2}]
"""The world begins at 08:00."""


class Leaving(MemoryRepository):
    """Somebody deletes the arena right before the first push, and shuts the branch."""

    def __init__(self, world: World) -> None:
        super().__init__(world.host)
        self._world = world

    async def push(self, change: Change, commit: str = "") -> Pushed:
        """Lose that race; whatever comes later is refused while the branch is shut."""
        if FILE in change.files:
            self._world.commit({FILE: None})
            self._world.host.protected["main"] = "changes go through merge requests"
            raise Conflict("the branch moved meanwhile")
        return await super().push(change, commit)


def test_what_lost_a_race_is_withdrawn_from_no_record_that_is_gone() -> None:
    async def main() -> None:
        arena = scaled(1, ONE_MORE, low=1)
        files = {FILE: arena, "schedulers/lobby.yaml": scaled(2, LASTS).replace("arena", "lobby")}
        habits = Habits(quiet_seconds=10.0, repository=lambda world, _: Leaving(world))
        bounds = dict.fromkeys(("arena", "lobby"), Bounds(30, 0))
        async with stage(files, bounds, habits) as there:
            store = there.start("one").lane.store
            await there.until("two act", lambda: there.wanted() == 2, 400.0)
            await there.until("it is gone", lambda: ARENA not in store.states(), 200.0)
            there.world.host.heal()
            await there.until("the lobby's", lambda: len(there.world.host.moves) == 1, 400.0)
            await asyncio.sleep(30.0)
            await store.load()
            assert ARENA not in store.states()

    in_virtual_time(main())
