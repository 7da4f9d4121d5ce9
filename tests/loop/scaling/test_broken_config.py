"""Nothing of ours is put upon a head whose gamekeeper.yaml is broken: it is held as a whole."""

import asyncio

import pytest

from reconciler.model.trees import CONFIG_FILE
from tests.loop.safety import Bounds
from tests.loop.scaling.house import ARENA, FILE, Scene, scaled, scene, stage
from tests.loop.scaling.test_counts_branch import APART, FROM_EIGHT
from tests.loop.virtual_time import in_virtual_time
from tests.loop.world import CONFIG

pytestmark = pytest.mark.long

BROKEN = "spec: [\n"


async def _six_are_decided(there: Scene) -> None:
    """A person breaks the Config beside two rooms; six come, and no commit of ours."""
    there.start("one")
    await there.until("two rooms", lambda: there.rooms() == 2, 60.0)
    broken = there.world.commit({CONFIG_FILE: BROKEN})
    await there.until("six rooms", lambda: there.rooms() == 6, 400.0)
    await asyncio.sleep(200.0)
    assert there.head() == broken, there.subjects()


def test_a_count_that_is_decided_meanwhile_lands_once_it_is_mended() -> None:
    async def main() -> None:
        async with scene(scaled(2, FROM_EIGHT)) as there:
            await _six_are_decided(there)
            there.world.commit({CONFIG_FILE: CONFIG})
            await there.until("six in Git", lambda: there.count_in_git() == 6, 90.0)
            assert there.told("arena") == [(2, 6)]

    in_virtual_time(main())


def test_a_revert_beside_it_stands_and_holds_once_it_is_mended() -> None:
    async def main() -> None:
        good = scaled(2, FROM_EIGHT)
        async with scene(good) as there:
            there.start("one")
            await there.until("six in Git", lambda: there.count_in_git() == 6, 500.0)
            there.world.commit({CONFIG_FILE: BROKEN})
            await asyncio.sleep(60.0)
            there.world.commit({FILE: good})
            await asyncio.sleep(200.0)
            assert (there.wanted(), there.count_in_git()) == (6, 2), there.subjects()
            there.world.commit({CONFIG_FILE: CONFIG})
            await there.until("two act", lambda: there.wanted() == 2, 90.0)
            await asyncio.sleep(200.0)
            assert (there.wanted(), there.count_in_git()) == (2, 2)

    in_virtual_time(main())


def test_no_count_comes_to_the_tracked_branch_beside_that_of_counts() -> None:
    async def main() -> None:
        files = {CONFIG_FILE: APART, FILE: scaled(2, FROM_EIGHT)}
        async with stage(files, {ARENA.name: Bounds(30, 0)}) as there:
            await _six_are_decided(there)
            there.world.commit({CONFIG_FILE: APART})
            await asyncio.sleep(90.0)
            assert [move.branch for move in there.world.host.moves] == ["counts"]

    in_virtual_time(main())
