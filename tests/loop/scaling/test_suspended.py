"""A workload is suspended while the place of its count in Git changes, or a person counts."""

import asyncio
from collections.abc import Callable

import pytest

from tests.loop.safety import Bounds
from tests.loop.scaling.house import ARENA, FILE, Scene, stage
from tests.loop.scaling.test_counts_branch import APART
from tests.loop.scaling.test_renamed_branch import RENAMED, SPEC, begun, listed, never_fewer
from tests.loop.virtual_time import elapsed, in_virtual_time
from tests.loop.world import CONFIG

pytestmark = pytest.mark.long

ELEVEN = SPEC.replace("  replicas: 2\n", "  replicas: 11\n", 1)
"""One room fewer than the branch of counts has: so few that no budget refuses the step."""
OF_ELEVEN = ELEVEN + "  suspend: true\n"
SUSPENDED = SPEC + "  suspend: true\n"


def delete(there: Scene) -> None:
    del there.world.host.branches["counts"]


def name_another(there: Scene) -> None:
    there.world.commit({"gamekeeper.yaml": RENAMED})


def name_none(there: Scene) -> None:
    there.world.commit({"gamekeeper.yaml": CONFIG})


async def suspended(there: Scene, text: str = SUSPENDED) -> None:
    """Suspend it while twelve rooms stand in Git and run."""
    await begun(there, 1000.0)
    there.world.commit({FILE: text})
    await asyncio.sleep(40.0)


@pytest.mark.parametrize("fails_over", [False, True])
@pytest.mark.parametrize(
    ("moves", "branch"), [(delete, "counts"), (name_another, "numbers"), (name_none, "")]
)
def test_a_suspended_count_whose_branch_goes_is_there_when_it_goes_on(
    moves: Callable[[Scene], None], branch: str, *, fails_over: bool
) -> None:
    async def main() -> None:
        async with stage({"gamekeeper.yaml": APART, FILE: ELEVEN}, {"arena": Bounds(30, 0)}) as it:
            await suspended(it, OF_ELEVEN)
            moves(it)
            await never_fewer(it, 12, elapsed() + 60.0)
            if fails_over:
                await it.services[0].kill()
                it.start("two")
                await it.until("another leads", lambda: it.wanted() is not None, 120.0)
            await never_fewer(it, 12, elapsed() + 60.0)
            it.world.commit({FILE: ELEVEN})
            await never_fewer(it, 12, elapsed() + 150.0)
            counted = listed(it, branch)["Scheduler/arena"] if branch else it.count_in_git()
            assert counted >= 12

    in_virtual_time(main())


def test_a_persons_number_on_the_tracked_branch_is_carried_over_after_the_suspension() -> None:
    async def main() -> None:
        async with stage({"gamekeeper.yaml": APART, FILE: SPEC}, {"arena": Bounds(30, 0)}) as it:
            await suspended(it)
            fifteen = SUSPENDED.replace("  replicas: 2\n", "  replicas: 15\n")
            it.world.commit({FILE: fifteen})
            await asyncio.sleep(100.0)
            assert (it.rooms(), listed(it, "counts")) == (12, {"Scheduler/arena": 12})
            it.world.commit({FILE: fifteen.removesuffix("  suspend: true\n")})
            await it.until("fifteen", lambda: it.rooms() == 15, 90.0)
            await it.until("in Git", lambda: listed(it, "counts") == {"Scheduler/arena": 15}, 90.0)

    in_virtual_time(main())


def test_what_a_policy_decided_before_a_suspension_is_dropped_as_ever() -> None:
    async def main() -> None:
        async with stage({"gamekeeper.yaml": APART, FILE: SPEC}, {"arena": Bounds(30, 0)}) as it:
            await begun(it, 1205.0)
            assert it.wanted() == 13
            it.world.commit({FILE: SUSPENDED})
            await asyncio.sleep(100.0)
            assert listed(it, "counts") == {"Scheduler/arena": 12}
            assert it.leader is not None
            assert it.leader.lane.store.state(ARENA).scaling.intent is None

    in_virtual_time(main())
