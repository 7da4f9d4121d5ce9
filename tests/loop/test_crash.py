"""Every call of a port is a numbered point: the process dies before it, after it, or in mid-air."""

import random

import pytest

from tests.loop.convergence import (
    Ending,
    NotConverged,
    Ports,
    Scenario,
    Stage,
    State,
    bury,
    compare,
    copy_of,
    play,
    reference_of,
)
from tests.loop.points import POINTS
from tests.loop.safety import Unsafe
from tests.loop.scenarios import SCENARIOS
from tests.loop.sweeps import part
from tests.loop.transport import Killed
from tests.loop.world import World

SHOWN = 5


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
async def test_a_process_that_dies_at_any_call_is_gone_on_from(
    scenario: Scenario,
) -> None:
    world, reference = await reference_of(scenario)
    assert reference.calls, "nothing was written: there is no point to die at"
    failures: list[str] = []
    # A process that starts in the same state does the same: one point of each state is enough.
    points: dict[State, list[tuple[int, str, str]]] = {}
    for number, what in enumerate(reference.calls):
        for side in ("before", "after"):
            state = reference.ports.states[(number, side)]
            points.setdefault(state, []).append((number, side, what))
    for alike in part(list(points.values()), 24):
        if len(failures) >= SHOWN:
            break  # they tell enough
        POINTS["points of crash"] += len(alike)
        POINTS["of them in different states"] += 1
        failures += await _died(world, scenario, reference, alike[0])
    assert not failures, "\n".join([f"{len(failures)} failures", *failures[:SHOWN]])


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2))
async def test_processes_that_die_again_and_again_come_to_the_same_end(
    seed: int,
) -> None:
    chance = random.Random(seed)
    for scenario in SCENARIOS:
        world, reference = await reference_of(scenario)
        stage = Stage(copy_of(world), scenario)
        for _ in range(4):
            POINTS["deaths in a row"] += 1
            side = chance.choice(("before", "after"))
            dying = stage.cast(Ports(chance.randrange(len(reference.calls)), side))
            try:
                await stage.start(dying)
                await stage.settle(dying)
            except Killed:
                await bury(dying.transport)
        compare(await play(stage, Ports()), reference)


async def _died(
    world: World, scenario: Scenario, reference: Ending, point: tuple[int, str, str]
) -> list[str]:
    """Die at one point, and again with what was on its way carried out later."""
    number, side, what = point
    failures = []
    for mode in (side, "late"):
        try:
            ending = await play(Stage(copy_of(world), scenario), Ports(number, mode))
            compare(ending, reference)
        except (Unsafe, NotConverged) as error:
            failures.append(f"{mode} call {number} ({what}): {error}")
            break
        if side == "before" or not ending.late:
            break
        POINTS["with late writes"] += mode != "late"
    return failures
