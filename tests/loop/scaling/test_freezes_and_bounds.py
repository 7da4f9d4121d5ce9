"""In a freeze a person's new bounds wait: a count that they shut out acts, and is not committed."""

import asyncio

import pytest
import yaml

from tests.loop.safety import Bounds
from tests.loop.scaling.house import ARENA, stage
from tests.loop.scaling.test_freezes import ENDS_AT, FILES, changed
from tests.loop.virtual_time import elapsed, in_virtual_time


@pytest.mark.long
def test_no_commit_of_ours_contradicts_the_bounds_that_stand_beside_it() -> None:
    async def main() -> None:
        async with stage(FILES, {"arena": Bounds(30, 0)}) as there:
            one = there.start("one")
            await there.until("two rooms", lambda: there.rooms() == 2, 60.0)
            await asyncio.sleep(300.0)
            was = yaml.safe_load(there.text())["spec"]["autoscaling"]
            changed(there, autoscaling={**was, "max": 4})
            await there.until("six rooms", lambda: there.rooms() == 6, 400.0)
            while elapsed() < ENDS_AT - 5.0:
                await asyncio.sleep(5.0)
                assert (there.wanted(), there.count_in_git()) == (6, 2)
            intent = one.lane.store.state(ARENA).scaling.intent
            assert intent is not None, "it waits, and is shown as one that does"
            assert intent.value == 6
            await there.until("four", lambda: there.wanted() == 4, 90.0)
            await there.until("four in Git", lambda: there.count_in_git() == 4, 180.0)

    in_virtual_time(main())


def test_bounds_that_are_taken_back_let_it_land() -> None:
    async def main() -> None:
        async with stage(FILES, {"arena": Bounds(30, 0)}) as there:
            there.start("one")
            await there.until("two rooms", lambda: there.rooms() == 2, 60.0)
            await asyncio.sleep(300.0)
            was = yaml.safe_load(there.text())["spec"]["autoscaling"]
            changed(there, autoscaling={**was, "max": 4})
            await there.until("six rooms", lambda: there.rooms() == 6, 400.0)
            await asyncio.sleep(120.0)
            changed(there, autoscaling=was)
            await there.until("six in Git", lambda: there.count_in_git() == 6, 120.0)
            assert elapsed() < ENDS_AT

    in_virtual_time(main())
