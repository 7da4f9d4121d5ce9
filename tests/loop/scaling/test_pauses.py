"""Why a policy stands still is told: in the record, where `status` reads it, and to who listens."""

import asyncio

import pytest

from reconciler.core import pauses
from reconciler.model.pauses import Pause
from tests.loop.scaling.house import ARENA, FILE, Scene, scaled, scene
from tests.loop.scaling.outsiders import lost, number
from tests.loop.scaling.test_signals import METRIC, asking_scene
from tests.loop.virtual_time import in_virtual_time
from tests.loop.world import Process

pytestmark = pytest.mark.long

FROM_EIGHT = [{"from": "08:05", "to": "20:00", "replicas": 6}]
"""The world begins at 08:00."""


async def on_record(there: Scene) -> Pause | None:
    """The pause as `status` reads it: from the cluster alone."""
    process = Process(there.world)
    await process.lane.store.load()
    return pauses.on_record(process.lane.store.state(ARENA).conditions)


def test_a_persons_hold_stands_on_record_until_it_ends() -> None:
    async def main() -> None:
        async with scene(scaled(2, FROM_EIGHT)) as there:
            before = there.text()
            there.start("one")
            await there.until("six in Git", lambda: there.count_in_git() == 6, 500.0)
            assert await on_record(there) is None
            revert = there.world.commit({FILE: before})
            await there.until("two rooms", lambda: there.rooms() == 2, 90.0)
            await asyncio.sleep(15.0)
            pause = await on_record(there)
            assert pause is not None
            assert (pause.reason, revert[:12] in pause.message) == ("HumanHold", True)
            await asyncio.sleep(900.0)
            assert await on_record(there) is None
            told = [pause.reason if pause else "" for _, pause in there.ledgers[0].pauses]
            assert told == ["HumanHold", ""], "each once"

    in_virtual_time(main())


def test_one_of_several_that_is_lost_for_hours_is_told_and_hinders_no_growth() -> None:
    async def main() -> None:
        hours = [
            {"from": "08:30", "to": "09:30", "replicas": 12},
            {"from": "00:00", "to": "23:59", "replicas": 3},
        ]
        async with asking_scene(
            {"max": [{"schedule": hours}, METRIC]},
            number(60.0),
            scaleDown={"stabilizationSeconds": 0},
        ) as there:
            there.start("one")
            await there.until("six rooms", lambda: there.rooms() == 6, 90.0)
            there.tells = lost()
            await asyncio.sleep(600.0)
            pause = await on_record(there)
            assert pause is not None
            assert pause.reason == "MemberSilent"
            assert pause.message.startswith("policy 2 of 2 cannot tell: the metric's answer is ")
            await there.until("twelve rooms", lambda: there.rooms() == 12, 1800.0)
            await asyncio.sleep(2 * 3600.0)
            assert there.counts() == [3, 6, 12], "nobody knows that fewer do"
            told = there.ledgers[0].pauses
            assert {each.reason for _, each in told if each} == {"MemberSilent"}
            since = pause.since
            pause = await on_record(there)
            assert pause is not None
            assert pause.since == since
            there.tells = number(60.0)
            await asyncio.sleep(120.0)
            assert await on_record(there) is None
            assert there.counts()[-1] < 12

    in_virtual_time(main())


def test_another_process_tells_a_pause_that_goes_on_no_second_time() -> None:
    async def main() -> None:
        async with scene(scaled(2, FROM_EIGHT)) as there:
            before = there.text()
            first = there.start("one")
            await there.until("six in Git", lambda: there.count_in_git() == 6, 500.0)
            there.world.commit({FILE: before})
            await there.until("two rooms", lambda: there.rooms() == 2, 90.0)
            await asyncio.sleep(15.0)
            begun = await on_record(there)
            await first.kill()
            there.start("two")
            await asyncio.sleep(120.0)
            assert await on_record(there) == begun
            assert there.ledgers[1].pauses == []

    in_virtual_time(main())
