"""Two processes on one cluster and no lease between them: no duplicate, no fight."""

import asyncio
import random
from contextlib import suppress
from dataclasses import replace
from itertools import product

import pytest

from reconciler.model.errors import PortError
from tests.loop.convergence import (
    IDLE_TURNS,
    MOST_TURNS,
    NotConverged,
    Ports,
    Scenario,
    Stage,
    copy_of,
    reference_of,
)
from tests.loop.points import POINTS
from tests.loop.safety import Bounds
from tests.loop.scenarios import SCENARIOS
from tests.loop.sweeps import part
from tests.loop.world import Process

TURNS_INTERLEAVED = 5


async def _settle(stage: Stage, pair: tuple[Process, Process], order: tuple[int, ...]) -> None:
    """Let two processes turn in an order, then one after the other until nobody writes."""
    for who in order:
        await stage.turn(pair[who])
        stage.pass_time()
    quiet = 0
    for turn in range(MOST_TURNS):
        written = _written(pair)
        report = await stage.turn(pair[turn % 2])
        stage.pass_time()
        calm = report is not None and stage.world.is_calm(report) and _written(pair) == written
        quiet = quiet + 1 if calm and stage.turns > max(stage.scenario.events, default=0) else 0
        if quiet == 2 * IDLE_TURNS:
            return
    raise NotConverged("two processes do not come to rest")


async def _beside(process: Process) -> None:
    """Let a process make a turn of its own, while another does."""
    with suppress(PortError):
        await process.turn()


def _written(pair: tuple[Process, Process]) -> int:
    return sum(len(process.transport.writes) for process in pair)


async def _pair(stage: Stage) -> tuple[Process, Process]:
    pair = stage.cast(Ports()), stage.cast(Ports())
    for process in pair:
        await stage.start(process)
    return pair


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
async def test_two_processes_in_any_order_of_turns_come_to_one_end(scenario: Scenario) -> None:
    world, reference = await reference_of(scenario)
    # Those that begin with the other are the same, with the names of the two exchanged.
    orders = [(0, *others) for others in product((0, 1), repeat=TURNS_INTERLEAVED - 1)]
    for order in part(orders, 15):
        POINTS["orders of two processes"] += 1
        stage = Stage(copy_of(world), scenario)
        await _settle(stage, await _pair(stage), order)
        assert stage.ending(Ports()).state["rooms"] == reference.state["rooms"], order


@pytest.mark.parametrize("seed", part(range(4), 4))
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
async def test_two_processes_between_each_others_calls_come_to_one_end(
    scenario: Scenario, seed: int
) -> None:
    world, reference = await reference_of(scenario)
    # Nothing but a lease keeps two from taking a room each at one instant: that much is allowed.
    floors = {name: Bounds(each.most, each.least - 1) for name, each in scenario.bounds.items()}
    stage = Stage(copy_of(world), replace(scenario, bounds=floors))
    pair = await _pair(stage)
    chance = random.Random(seed)

    async def pause() -> None:
        for _ in range(chance.choice((0, 0, 1, 3, 10, 40))):
            await asyncio.sleep(0)

    for process in pair:
        process.transport.pause = pause
    for _ in range(8):
        POINTS["turns at once"] += 1
        await asyncio.gather(stage.turn(pair[0]), _beside(pair[1]))
        stage.pass_time()
    await _settle(stage, pair, ())
    assert stage.ending(Ports()).state["rooms"] == reference.state["rooms"]


async def test_a_pair_is_two_processes_with_memories_of_their_own() -> None:
    world = await SCENARIOS[1].prepare()
    first, second = await _pair(Stage(world, SCENARIOS[1]))
    assert first.lane.store is not second.lane.store
    state = first.lane.store.repository
    await second.lane.store.change_repository(lambda _: type(state)(commit="elsewhere"))
    with pytest.raises(PortError):
        await first.lane.store.change_repository(lambda _: type(state)(commit="here"))
