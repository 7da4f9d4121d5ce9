"""The book: what the lane is shown of what rooms say."""

import asyncio
from dataclasses import replace

import pytest

from reconciler.model import labels
from reconciler.model.rooms import Health, Mark, Report
from reconciler.room_ports import Came
from tests.loop.virtual_time import in_virtual_time
from tests.unit.core.making import a_key
from tests.unit.service_rooms.stage import OCCUPIED, READY, players, stage


@pytest.mark.parametrize(
    ("empty", "full"),
    [
        pytest.param(players(0), players(3), id="a game that says it once"),
        pytest.param(READY, OCCUPIED, id="one that repeats itself"),
        pytest.param(READY, players(3), id="one that speaks both ways"),
    ],
)
def test_a_report_that_came_slowly_and_was_overtaken_empties_nothing(
    empty: Report, full: Report
) -> None:
    async def main() -> None:
        async with stage() as it:
            room = await it.say(empty)
            await asyncio.sleep(2.0)
            began = it.desk.book.pages.line(room.key, room.pod).spoke_at + 1.0
            await it.say(full)
            await it.desk.report(it.desk.find("arena", "arena-0"), empty, Came(began, began))
            assert it.desk.book.of(a_key()).rooms[it.live().uid].busy
            await asyncio.sleep(8.0)
            assert it.label() == "busy"
            await it.say(empty)
            if full.players is not None and empty.players is None:
                await it.say(players(0))
            await asyncio.sleep(8.0)
            assert it.label() == "idle", "what is said later counts"

    in_virtual_time(main())


@pytest.mark.parametrize(
    ("slow", "after", "found"),
    [
        pytest.param(players(3), players(0), 3, id="players come to an empty room"),
        pytest.param(players(0), Report(False, health=Health.HEALTHY), 0, id="its health is told"),
    ],
)
def test_of_a_report_that_came_slowly_counts_what_nothing_has_overtaken(
    slow: Report, after: Report, found: int
) -> None:
    async def main() -> None:
        async with stage() as it:
            room = await it.say(players(2))
            await asyncio.sleep(2.0)
            began = it.desk.book.pages.line(room.key, room.pod).spoke_at + 1.0
            await it.say(after)
            await it.desk.report(it.desk.find("arena", "arena-0"), slow, Came(began, began))
            assert it.desk.book.of(a_key()).rooms[it.live().uid].players == found

    in_virtual_time(main())


@pytest.mark.parametrize(
    "report", [OCCUPIED, Report(periodic=False, players=3)], ids=["pings", "says it once"]
)
def test_a_mark_that_somebody_took_away_is_set_again_before_the_room_speaks(report: Report) -> None:
    async def main() -> None:
        async with stage() as it:
            await it.say(report)
            await asyncio.sleep(2.0)
            for mark in (Mark.NONE, Mark.IDLE, Mark.DRAINING):
                await it.mark(mark)
                await it.seen()
                it.desk.book.of(a_key())  # the lane looks: its pod changed
                await asyncio.sleep(1.0)
                assert it.label() == "busy"

    in_virtual_time(main())


def test_a_state_that_is_none_of_ours_does_not_keep_a_room_from_turning_idle() -> None:
    async def main() -> None:
        async with stage() as it:
            await it.say(OCCUPIED)
            await it.patch(labels={labels.STATE: "full"})
            await it.seen()
            assert it.live().mark is Mark.BUSY
            await it.say(READY)
            await asyncio.sleep(5.2)
            assert it.label() == "idle"

    in_virtual_time(main())


def test_a_room_that_has_reported_is_heard_though_a_commit_says_that_none_do() -> None:
    async def main() -> None:
        async with stage() as it:
            await it.say(OCCUPIED)
            it.want(reports="none")
            await it.say(READY)
            await asyncio.sleep(5.2)
            assert it.label() == "idle"
            await it.say(OCCUPIED)
            assert it.label() == "busy"

    in_virtual_time(main())


def test_a_room_that_is_gone_is_forgotten() -> None:
    async def main() -> None:
        async with stage(2) as it:
            for number in range(2):
                await it.say(READY, f"arena-{number}")
            await asyncio.sleep(2.0)
            assert len(it.desk.book.of(a_key()).rooms) == it.desk.book.count == 2
            it.world.delete("/api/v1/namespaces/arena/pods/arena-0?gracePeriodSeconds=0")
            it.transport.changed()
            await asyncio.sleep(1.0)
            assert list(it.desk.book.of(a_key()).rooms) == [it.live("arena-1").uid]
            assert it.desk.book.count == 1

    in_virtual_time(main())


def test_a_workload_that_does_not_report_is_answered_and_not_listened_to(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> None:
        async with stage(reports="none") as it:
            with caplog.at_level("INFO"):
                await it.say(OCCUPIED)
                await it.say(READY)
            assert it.label() == ""
            assert it.desk.book.of(a_key()).rooms == {}

    in_virtual_time(main())
    assert len([one for one in caplog.records if "not listened to" in one.message]) == 1


def test_what_a_room_says_is_bounded_by_what_it_takes() -> None:
    async def main() -> None:
        async with stage(matches_max=4) as it:
            shown = await it.say(replace(OCCUPIED, matches=1000, players=10**12))
            assert shown.heard is not None
            assert (shown.heard.matches, shown.heard.players) == (4, 10**6)

    in_virtual_time(main())


def test_a_room_that_another_workload_was_given_is_heard_there_alone() -> None:
    async def main() -> None:
        async with stage() as it:
            await it.say(READY)
            book, pod = it.desk.book, it.live()
            assert pod.uid in book.of(a_key()).rooms
            book.pages.line(a_key("palace"), pod)
            assert pod.uid not in book.of(a_key()).rooms

    in_virtual_time(main())
