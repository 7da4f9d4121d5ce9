"""Policies that are put together, and a fleet that goes to nothing, on the whole way into Git."""

import asyncio
from functools import partial
from typing import Any

import pytest

from tests.loop.scaling.house import Scene, scaled, scene
from tests.loop.virtual_time import in_virtual_time
from tests.loop.world import spec

pytestmark = pytest.mark.long

BETWEEN = [
    {"from": "07:00", "to": "08:05", "replicas": 2},
    {"from": "08:20", "to": "20:00", "replicas": 3},
]
"""The world begins at 08:00; from 08:05 to 08:20 no room is wanted."""


def at_all_times(count: int) -> dict[str, Any]:
    """A policy that wants one count."""
    return {"schedule": [{"replicas": count}]}


def counts(there: Scene, count: int) -> bool:
    """Whether Git has that number."""
    return there.count_in_git() == count


def test_a_fleet_goes_to_no_room_and_comes_back_and_git_says_both() -> None:
    async def main() -> None:
        async with scene(scaled(2, BETWEEN, low=0)) as there:
            there.start("one")
            await there.until("two rooms", lambda: there.rooms() == 2, 60.0)
            await there.until("no room", lambda: there.pods() == 0, 400.0)
            await there.until("none in Git", lambda: there.count_in_git() == 0, 90.0)
            await asyncio.sleep(300.0)
            assert (there.pods(), there.wanted()) == (0, 0), "its own zero holds nothing"
            assert "arena" in there.world.namespaces(), "no room is not gone"
            await there.until("three rooms", lambda: there.rooms() == 3, 600.0)
            await there.until("three in Git", lambda: there.count_in_git() == 3, 90.0)
            assert there.subjects()[:2] == ["Scale arena to 3", "Scale arena to 0"]
            assert there.told("arena") == [(2, 0), (0, 3)]

    in_virtual_time(main())


def test_a_fleet_at_nothing_comes_back_by_another_process() -> None:
    async def main() -> None:
        async with scene(scaled(2, BETWEEN, low=0)) as there:
            first = there.start("one")
            await there.until("none in Git", lambda: there.count_in_git() == 0, 500.0)
            await first.kill()
            there.start("two")
            await asyncio.sleep(120.0)
            assert there.pods() == 0, "a start at nothing asks for nothing"
            await there.until("three rooms", lambda: there.rooms() == 3, 1000.0)
            await there.until("three in Git", lambda: there.count_in_git() == 3, 90.0)

    in_virtual_time(main())


def test_of_a_chain_the_entry_whose_time_it_is_counts_and_of_min_the_smallest() -> None:
    rush = {"from": "08:10", "to": "08:30", "policy": at_all_times(6)}
    else_ = {"policy": {"min": [at_all_times(9), at_all_times(4)]}}
    down = {"stabilizationSeconds": 0}
    policy = {"chain": [rush, else_]}
    autoscaling = {"min": 2, "max": 20, "policy": policy, "scaleDown": down}

    async def main() -> None:
        async with scene(spec("arena", 2, autoscaling=autoscaling)) as there:
            there.start("one")
            for count in (4, 6, 4):
                await there.until(f"{count} rooms", partial(there.has_rooms, count), 1300.0)
                await there.until(f"{count} in Git", partial(counts, there, count), 90.0)
            assert there.told("arena") == [(2, 4), (4, 6), (6, 4)]
            message = there.world.host.commits[there.head()].subject
            assert "always: least of 2 policies: " in message

    in_virtual_time(main())


def test_a_time_table_takes_rooms_away_that_never_became_ready() -> None:
    fewer = [
        {"from": "07:00", "to": "08:05", "replicas": 6},
        {"from": "08:05", "to": "20:00", "replicas": 3},
    ]
    text = scaled(2, fewer).replace("registry.example/game:1", "registry.example/game:missing")

    async def main() -> None:
        async with scene(text) as there:
            there.start("one")
            await there.until("six rooms that start", lambda: there.pods() == 6, 120.0)
            await there.until("three", lambda: (there.wanted(), there.pods()) == (3, 3), 900.0)
            assert there.rooms() == 0, "none was ever ready"
            await there.until("three in Git", lambda: there.count_in_git() == 3, 90.0)

    in_virtual_time(main())
