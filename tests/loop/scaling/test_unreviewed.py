"""A policy takes no room on the word of a commit that is held because a record was lost."""

import asyncio
from typing import Any

import pytest

from reconciler.model.holds import HoldKind
from tests.loop.safety import Bounds
from tests.loop.scaling.house import ARENA, FILE, Scene, scaled, stage
from tests.loop.scaling.test_brakes import held
from tests.loop.virtual_time import in_virtual_time
from tests.loop.world import spec

pytestmark = pytest.mark.long

ONE = [{"from": "08:00", "to": "20:00", "replicas": 1}]
RUSH = [{"from": "08:30", "to": "08:45", "replicas": 14}, *ONE]
"""The world begins at 08:00."""


async def lost_beside(there: Scene, times: list[dict[str, Any]], high: int) -> None:
    """Let a record be lost while nobody looks, and a head come that asks for fewer rooms."""
    before = there.start("one")
    await there.until("ten rooms", lambda: there.rooms() == 10, 400.0)
    ref = before.lane.store._places.state(ARENA)
    await before.kill()
    there.world.delete(f"/api/v1/namespaces/{ref.namespace}/configmaps/{ref.name}")
    there.world.commit({FILE: scaled(1, times, low=1, high=high)})
    there.start("two")
    await there.until("it is held", lambda: bool(held(there)), 200.0)


@pytest.mark.parametrize("high", [6, 20], ids=["above its max", "inside its bounds"])
def test_no_room_goes_by_its_policy_until_somebody_approves(high: int) -> None:
    async def main() -> None:
        async with stage({FILE: spec("arena", 10)}, {"arena": Bounds(30, 0)}) as there:
            await lost_beside(there, ONE, high)
            await asyncio.sleep(1800.0)
            hold = held(there)
            assert hold is not None
            assert hold.kind is HoldKind.NO_ACCEPTED_COMMIT
            assert (there.wanted(), there.rooms()) == (10, 10)
            assert there.leader is not None
            pause = there.leader.lane.pause(ARENA)
            assert pause is not None
            assert "nobody has approved" in pause.message
            there.world.approve(hold.change_hash)
            await there.until("what Git says", lambda: there.rooms() == 1, 400.0)

    in_virtual_time(main())


def test_rooms_are_added_all_the_same_and_none_of_that_lands_in_git() -> None:
    """A number of ours beside what is held would let it pass."""

    async def main() -> None:
        async with stage({FILE: spec("arena", 10)}, {"arena": Bounds(30, 0)}) as there:
            await lost_beside(there, RUSH, 20)
            await there.until("the rush", lambda: there.rooms() == 14, 3000.0)
            await asyncio.sleep(3600.0)
            hold = held(there)
            assert hold is not None
            assert hold.kind is HoldKind.NO_ACCEPTED_COMMIT
            assert (there.rooms(), there.count_in_git()) == (14, 1)

    in_virtual_time(main())
