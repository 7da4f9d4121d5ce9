"""The Git host is away for an hour of a rush; one process after the other dies with its disk."""

import asyncio

import pytest

from tests.loop.scaling.house import Scene, scaled, scene
from tests.loop.virtual_time import elapsed, in_virtual_time

pytestmark = pytest.mark.long

STEP_SECONDS = 240.0
STEPS = 15
FIRST_AT = 240.0
"""The world begins at 08:00: at 08:04 a third room is wanted, and one more every four minutes."""
HOUR_SECONDS = 3600.0
ELECTED_SECONDS = 60.0
"""Within this a room that is wanted runs, be it that somebody has to be elected first."""


def surge() -> str:
    """Return a spec of a rush: one room more at each step."""
    times = []
    for number in range(STEPS):
        at = int(FIRST_AT + number * STEP_SECONDS) // 60
        begin = f"{8 + at // 60:02}:{at % 60:02}"
        times.append({"from": begin, "to": "20:00", "replicas": 3 + number})
    return scaled(2, times)


def demand(seconds: float) -> int:
    """Return how many rooms are wanted so long after the world began."""
    steps = int((seconds - FIRST_AT) // STEP_SECONDS) + 1
    return 2 + max(0, min(STEPS, steps))


async def _follows(there: Scene, until_seconds: float) -> None:
    """Rooms are there as they are wanted, all the time."""
    while elapsed() < until_seconds:
        await asyncio.sleep(5.0)
        least, most = demand(elapsed() - ELECTED_SECONDS), demand(elapsed())
        assert least <= there.rooms() <= most, f"at {elapsed():.0f} s"
        assert there.count_in_git() == 2


def test_an_hour_without_git_and_two_dead_leaders_are_caught_up_with_in_one_commit() -> None:
    async def main() -> None:
        async with scene(surge()) as there:
            before = there.text()
            first = there.start("one")
            await there.until("two rooms", lambda: there.rooms() == 2, 60.0)
            there.world.host.down()
            away_at = elapsed()
            # They never reach Git: what they know of it is on record in the cluster.
            second = there.start("two")
            await _follows(there, FIRST_AT + 5 * STEP_SECONDS + 2.0)
            await first.kill()
            await _follows(there, FIRST_AT + 10 * STEP_SECONDS + 100.0)
            there.start("three")
            await second.kill()
            await _follows(there, away_at + HOUR_SECONDS)
            there.world.host.heal()
            await there.until("all in Git", lambda: there.count_in_git() == 17, 420.0)
            await asyncio.sleep(1200.0)
            assert there.rooms() == 17
            assert there.subjects() == ["Scale arena to 17", "change", "change"]
            assert there.text() == before.replace("replicas: 2", "replicas: 17", 1)
            assert there.told("arena") == [(2 + n, 3 + n) for n in range(STEPS)]
            assert not any(move.forced for move in there.world.host.moves)

    in_virtual_time(main())
