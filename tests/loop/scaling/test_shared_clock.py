"""A person's number holds for its time, whatever the clocks of those who lead in turn."""

import asyncio

import pytest

from reconciler.model.records import RepositoryRecord
from tests.loop.safety import Bounds
from tests.loop.scaling.house import FILE, LoopTime, scaled, scene, stage
from tests.loop.virtual_time import elapsed, in_virtual_time


@pytest.mark.parametrize("ahead", [-3600.0, 0.0, 3600.0], ids=["behind", "right", "ahead"])
@pytest.mark.parametrize("later", [-3600.0, 0.0, 3600.0], ids=["behind", "right", "ahead"])
def test_a_persons_hold_is_by_the_clock_that_all_replicas_share(ahead: float, later: float) -> None:
    async def main() -> None:
        text = scaled(2, [{"replicas": 5}])
        async with scene(text) as there:
            one = there.start("one")
            one.clock.ahead, one.lane.server_now = ahead, LoopTime().now
            await there.until("five in Git", lambda: there.count_in_git() == 5, 340.0)
            there.world.commit({FILE: text})
            await there.until("two rooms", lambda: there.rooms() == 2, 120.0)
            taken_in_at = elapsed()
            await asyncio.sleep(60.0)
            await one.kill()
            two = there.start("two")
            two.clock.ahead, two.lane.server_now = later, LoopTime().now
            while elapsed() < taken_in_at + 850.0:
                await asyncio.sleep(10.0)
                assert there.wanted() in (None, 2), f"{elapsed() - taken_in_at:.0f} s"
            await there.until("five rooms", lambda: there.rooms() == 5, 150.0)

    in_virtual_time(main())


def test_a_number_with_a_longer_hold_in_one_commit_holds_that_long() -> None:
    config = "apiVersion: gamekeeper.dev/v1\nkind: Config\nspec: {{writeBack: {{{}}}}}\n"

    async def main() -> None:
        text = scaled(2, [{"replicas": 6}])
        before = {"gamekeeper.yaml": config.format("humanHoldSeconds: 900"), FILE: text}
        async with stage(before, {"arena": Bounds(30, 0)}) as there:
            one = there.start("one")
            await there.until("six in Git", lambda: there.count_in_git() == 6, 340.0)
            await asyncio.sleep(60.0)
            # The API server takes its time for the one record that has the Config.
            save, name_of = one.lane.store.save_repository, "save_repository"

            async def slowly(record: RepositoryRecord) -> None:
                await asyncio.sleep(3.0)
                await save(record)

            setattr(one.lane.store, name_of, slowly)
            after = {"gamekeeper.yaml": config.format("humanHoldSeconds: 1800")}
            there.world.commit({**after, FILE: text.replace("replicas: 2", "replicas: 3", 1)})
            await there.until("three rooms", lambda: there.rooms() == 3, 120.0)
            taken_in_at = elapsed()
            while elapsed() < taken_in_at + 1750.0:
                await asyncio.sleep(10.0)
                assert there.wanted() == 3, f"{elapsed() - taken_in_at:.0f} s"
            await there.until("six rooms", lambda: there.rooms() == 6, 150.0)

    in_virtual_time(main())
