"""With the ids of our commits lost the head is taken in as it stands: no policy waits."""

import asyncio

import pytest

from tests.loop.scaling.house import ARENA, scaled, scene
from tests.loop.virtual_time import in_virtual_time

RECORDS = "/api/v1/namespaces/gamekeeper/configmaps"
OURS, ARENAS = "gamekeeper-main", "gamekeeper-main-local-scheduler-arena.arena"
TIMES = [
    {"from": "08:01", "to": "08:08", "replicas": 5},
    {"from": "08:08", "to": "20:00", "replicas": 7},
]


@pytest.mark.parametrize(
    "lost", [(OURS,), (ARENAS,), (OURS, ARENAS)], ids=["the branch's", "the workload's", "both"]
)
def test_a_record_that_is_lost_while_nobody_leads_holds_no_policy(lost: tuple[str, ...]) -> None:
    async def main() -> None:
        async with scene(scaled(2, TIMES)) as there:
            one = there.start("one")
            await there.until("five in Git", lambda: there.count_in_git() == 5, 300.0)
            await there.until("five rooms", lambda: there.rooms() == 5, 60.0)
            await asyncio.sleep(10.0)
            await one.kill()
            for name in lost:
                there.world.delete(f"{RECORDS}/{name}")
            two = there.start("two")
            await there.until("seven rooms", lambda: there.rooms() == 7, 400.0)
            await there.until("seven in Git", lambda: there.count_in_git() == 7, 120.0)
            assert not two.lane.store.state(ARENA).scaling.held_by
            assert there.ledgers[1].pauses == []

    in_virtual_time(main())
