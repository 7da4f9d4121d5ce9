"""The operator's ceiling: what no commit can allow itself (DESIGN §6)."""

import pytest

from reconciler.model.holds import HoldKind
from reconciler.model.specs import LOOSEST, Budgets
from reconciler.settings import Settings
from reconciler.wiring.permits import ceiling_of
from tests.loop.world import CONFIG, World, spec

LOOSE = CONFIG.replace(
    "spec: {}",
    "spec: {budgets: {workload: {rooms: 100, percent: 100}, total: {rooms: 100, percent: 100}}}",
)


@pytest.mark.parametrize(
    ("settings", "held"),
    [
        pytest.param(Settings(), False, id="no ceiling: the repository's own budgets count"),
        pytest.param(Settings(ceiling_workload_rooms=2), True, id="rooms of a workload"),
        pytest.param(Settings(ceiling_workload_percent=50.0), True, id="a share of a workload"),
        pytest.param(Settings(ceiling_total_rooms=2), True, id="rooms of all workloads"),
        pytest.param(Settings(ceiling_total_percent=10.0), True, id="a share of all rooms"),
        pytest.param(
            Settings(ceiling_workload_rooms=2, ceiling_workload_percent=80.0),
            False,
            id="the larger of both counts",
        ),
    ],
)
async def test_a_commit_that_raised_its_own_budgets_meets_the_ceiling(
    settings: Settings, held: bool
) -> None:
    world = World()
    world.commit({"gamekeeper.yaml": LOOSE, "schedulers/arena.yaml": spec("arena", 8)})
    process = await world.process()
    process.head.ceiling = ceiling_of(settings)
    await world.settle(process)
    world.commit({"schedulers/arena.yaml": spec("arena", 2)})
    report = await process.turn()
    kinds = {hold.kind for hold in process.lane.wanted.holds}
    assert (HoldKind.OVER_BUDGET in kinds) is held
    if not held:
        await world.settle(process)
    assert len(world.names("arena")) == (8 if held else 2), report


def test_small_steps_do_not_walk_around_a_ceiling() -> None:
    assert ceiling_of(Settings()) == LOOSEST
    ceiling = ceiling_of(Settings(ceiling_total_rooms=5))
    assert ceiling.window_seconds == Budgets().window_seconds
