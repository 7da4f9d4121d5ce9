"""A branch of counts, and an edit on the tracked one that waits: its policy's line is kept."""

import asyncio

import pytest

from tests.loop.safety import Bounds
from tests.loop.scaling.house import ARENA, FILE, Scene, scaled, stage
from tests.loop.scaling.test_counts_branch import APART, counts
from tests.loop.virtual_time import elapsed, in_virtual_time

pytestmark = pytest.mark.long

PACED = "    scaleUp: {step: 1, cooldownSeconds: 30}\n    scaleDown:"
"""A policy that climbs by steps: one that jumps hides that rooms went."""
ON = scaled(2, [{"from": "08:02", "to": "20:00", "replicas": 8}]).replace("    scaleDown:", PACED)
OFF = ON.replace("  autoscaling:\n", "  autoscaling:\n    enabled: false\n")
LOBBY = scaled(2, [{"from": "08:15", "to": "20:00", "replicas": 7}]).replace("arena", "lobby")
FREEZE = """\
  freeze:
    - {name: cup, schedule: "10 8 * * *", timeZone: UTC, durationSeconds: 1830}
"""
FROZEN = APART.replace("{writeBack: {branch: counts}}", "\n  writeBack: {branch: counts}") + FREEZE
BOUNDS = {"arena": Bounds(30, 0), "lobby": Bounds(30, 0)}


async def switched_off_and_on(there: Scene) -> None:
    """A policy is switched off, which waits; we commit another count; it is switched on again."""
    there.start("one")
    await there.until("eight", lambda: counts(there).get("Scheduler/arena") == 8, 600.0)
    await asyncio.sleep(650.0 - elapsed())
    there.world.commit({FILE: OFF})
    await there.until("seven", lambda: counts(there).get("Scheduler/lobby") == 7, 500.0)
    assert there.wanted() == 8
    there.world.commit({FILE: ON})
    end = elapsed() + 2000.0
    while elapsed() < end:
        await asyncio.sleep(1.0)
        assert there.wanted(ARENA) == 8, "nobody wrote another number"


@pytest.mark.parametrize("config", [APART, FROZEN], ids=["a gate", "a freeze"])
def test_a_policy_that_was_to_be_switched_off_goes_on_with_its_number(config: str) -> None:
    async def main() -> None:
        files = {"gamekeeper.yaml": config, FILE: ON, "schedulers/lobby.yaml": LOBBY}
        async with stage(files, BOUNDS) as there:
            await switched_off_and_on(there)
            assert counts(there) == {"Scheduler/arena": 8, "Scheduler/lobby": 7}

    in_virtual_time(main())
