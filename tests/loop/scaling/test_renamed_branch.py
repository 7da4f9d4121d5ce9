"""The branch of counts gets another name: no count moves, and what was decided lands there."""

import asyncio
from collections.abc import Callable

import pytest

from tests.loop.safety import Bounds
from tests.loop.scaling.counts import counts_of
from tests.loop.scaling.house import ARENA, FILE, Scene, scaled, stage
from tests.loop.scaling.test_counts_branch import APART
from tests.loop.virtual_time import elapsed, in_virtual_time

pytestmark = pytest.mark.long

PACED = "    scaleUp: {step: 1, cooldownSeconds: 30}\n    scaleDown:"
"""A policy that climbs by steps: one that jumps hides that rooms went."""
TIMES = [
    {"from": "08:05", "to": "08:20", "replicas": 12},
    {"from": "08:20", "to": "20:00", "replicas": 13},
]
SPEC = scaled(2, TIMES).replace("    scaleDown:", PACED)
RENAMED = APART.replace("branch: counts", "branch: numbers")
FREEZE = """\
  freeze:
    - {name: cup, schedule: "15 8 * * *", timeZone: UTC, durationSeconds: 1800}
"""


def frozen(config: str) -> str:
    """Return the Config with a freeze from 08:15 to 08:45."""
    return config.replace("{writeBack: ", "\n  writeBack: ").replace("}}", "}") + FREEZE


def listed(there: Scene, branch: str) -> dict[str, int]:
    """What a branch of counts says; nothing where there is none."""
    host = there.world.host
    tip = host.branches.get(branch)
    return counts_of(host.commits[tip].files.get("replicas.yaml")) if tip else {}


async def begun(there: Scene, at_seconds: float) -> None:
    """Start, and wait until twelve stand in Git and run."""
    there.start("one")
    lists = {"Scheduler/arena": 12}
    await there.until("twelve in Git", lambda: listed(there, "counts") == lists, 850.0)
    await there.until("twelve rooms", lambda: there.rooms() == 12, 100.0)
    await asyncio.sleep(at_seconds - elapsed())


async def never_fewer(there: Scene, count: int, until_seconds: float) -> None:
    """Watch what is wanted at every second until then."""
    while elapsed() < until_seconds:
        await asyncio.sleep(1.0)
        assert (there.wanted() or 0) >= count
        assert there.pods() >= count


@pytest.mark.parametrize(
    ("config", "at_seconds"),
    [
        pytest.param(APART, 1000.0, id="while Git says what acts"),
        pytest.param(APART, 1205.0, id="while a decision is on its way"),
        pytest.param(frozen(APART), 1000.0, id="in a freeze"),
        pytest.param(frozen(APART), 1205.0, id="in a freeze with a decision on its way"),
    ],
)
def test_what_acts_goes_on_and_lands_on_the_new_branch(config: str, at_seconds: float) -> None:
    async def main() -> None:
        async with stage({"gamekeeper.yaml": config, FILE: SPEC}, {"arena": Bounds(30, 0)}) as it:
            await begun(it, at_seconds)
            it.world.commit({"gamekeeper.yaml": config.replace(": counts}", ": numbers}")})
            await never_fewer(it, 12, at_seconds + 200.0)
            assert listed(it, "numbers")["Scheduler/arena"] >= 12
            told = it.world.host.commits[it.world.host.moves[-1].after].subject
            assert " 2 -> 12 (carry-over): counts stand on the branch numbers from now on" in told
            await never_fewer(it, 12, 2900.0)
            assert listed(it, "numbers") == {"Scheduler/arena": 13}
            assert listed(it, "counts") == {"Scheduler/arena": 12}, "nobody writes there any more"
            assert it.leader is not None
            assert it.leader.lane.store.state(ARENA).scaling.held_until == 0.0
            assert it.count_in_git() == 2

    in_virtual_time(main())


def moved_along(there: Scene) -> None:
    """A person pushes the old branch under the new name."""
    there.world.host.branch("numbers", there.world.host.branches["counts"])


def made_anew(there: Scene) -> None:
    """A person makes the new branch from the tracked one, for nobody else may make branches."""
    there.world.host.branch("numbers", there.head())


@pytest.mark.parametrize("made", [moved_along, made_anew])
def test_a_branch_that_a_person_makes_without_a_number_of_theirs_moves_no_count(
    made: Callable[[Scene], None],
) -> None:
    async def main() -> None:
        async with stage({"gamekeeper.yaml": APART, FILE: SPEC}, {"arena": Bounds(30, 0)}) as it:
            await begun(it, 1000.0)
            made(it)
            it.world.commit({"gamekeeper.yaml": RENAMED})
            await never_fewer(it, 12, 1600.0)
            assert listed(it, "numbers") == {"Scheduler/arena": 13}
            assert it.leader is not None
            assert it.leader.lane.store.state(ARENA).scaling.held_until == 0.0

    in_virtual_time(main())


def test_a_number_that_a_person_writes_with_the_name_wins_and_holds() -> None:
    async def main() -> None:
        async with stage({"gamekeeper.yaml": APART, FILE: SPEC}, {"arena": Bounds(30, 0)}) as it:
            await begun(it, 1000.0)
            four = SPEC.replace("replicas: 2\n", "replicas: 4\n", 1)
            it.world.commit({"gamekeeper.yaml": RENAMED, FILE: four})
            await it.until("four", lambda: it.wanted() == 4, 60.0)
            await asyncio.sleep(700.0)
            assert it.wanted() == 4

    in_virtual_time(main())


def test_a_persons_hold_is_carried_over_with_the_number() -> None:
    async def main() -> None:
        async with stage({"gamekeeper.yaml": APART, FILE: SPEC}, {"arena": Bounds(30, 0)}) as it:
            await begun(it, 900.0)
            host = it.world.host
            text = host.commits[host.branches["counts"]].files["replicas.yaml"].decode()
            host.commit({"replicas.yaml": text.replace(": 12\n", ": 9\n")}, branch="counts")
            await it.until("nine", lambda: it.wanted() == 9, 60.0)
            await asyncio.sleep(200.0)
            it.world.commit({"gamekeeper.yaml": RENAMED})
            while elapsed() < 1750.0:
                await asyncio.sleep(1.0)
                assert it.wanted() == 9
            assert listed(it, "numbers") == {"Scheduler/arena": 9}
            await it.until("it moves on", lambda: it.wanted() == 10, 200.0)

    in_virtual_time(main())


def test_what_a_gate_refused_with_the_name_costs_no_room_when_it_is_taken_back() -> None:
    async def main() -> None:
        async with stage({"gamekeeper.yaml": APART, FILE: SPEC}, {"arena": Bounds(30, 0)}) as it:
            await begun(it, 1000.0)
            off = SPEC.replace("  autoscaling:\n", "  autoscaling:\n    enabled: false\n")
            it.world.commit({"gamekeeper.yaml": RENAMED, FILE: off})
            await asyncio.sleep(120.0)
            assert it.leader is not None
            assert it.leader.lane.store.state(ARENA).held is not None
            it.world.commit({FILE: SPEC})
            await never_fewer(it, 12, 1800.0)
            assert listed(it, "numbers") == {"Scheduler/arena": 13}

    in_virtual_time(main())
