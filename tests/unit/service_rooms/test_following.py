"""Following rooms: what a reader is told, when, and what cuts it off."""

import asyncio

import pytest

from reconciler.model import labels
from reconciler.model.live import LivePod
from reconciler.model.refs import WorkloadKey
from reconciler.model.rooms import Mark, RoomState
from reconciler.room_ports import Change, Happening
from reconciler.service.rooms.lines import Line
from reconciler.service.rooms.watchers import (
    LONGEST_QUEUE,
    MOST_EVENTS,
    TOLD_AT_ONCE,
    Known,
    Watchers,
)
from tests.loop.virtual_time import elapsed, in_virtual_time
from tests.unit.core.making import a_key
from tests.unit.service_rooms.stage import OCCUPIED, READY, stage

ROOMS = 10_000


def crowd(pod: LivePod) -> dict[str, Known]:
    return {f"uid-{number}": (pod, None, False) for number in range(ROOMS)}


async def read(changes: object, count: int) -> list[Change]:
    assert hasattr(changes, "__anext__")
    return [await changes.__anext__() for _ in range(count)]


async def read_until(changes: object, kind: str) -> Change:
    while True:
        (change,) = await read(changes, 1)
        if change.type == kind:
            return change


def test_whoever_follows_is_told_of_states_of_what_was_told_and_of_the_end() -> None:
    async def main() -> None:
        async with stage(2) as it:
            changes = it.desk.changes(a_key())
            await it.say(OCCUPIED, "arena-1")
            seen = await read(changes, 1)
            assert (seen[-1].type, seen[-1].room.judged.state) == ("room", RoomState.OCCUPIED)
            await asyncio.sleep(1.0)
            it.desk.happened(it.desk.find("arena", "arena-0"), Happening("player", "playerJoin"))
            told = (await read_until(changes, "event")).happening
            assert told is not None
            assert (told.name, told.at) == ("playerJoin", it.clock.now())
            it.world.delete("/api/v1/namespaces/arena/pods/arena-0?gracePeriodSeconds=0")
            it.transport.changed()
            assert (await read_until(changes, "gone")).room.pod.name == "arena-0"

    in_virtual_time(main())


def test_whoever_follows_is_told_that_a_room_is_overdue_and_that_it_is_no_more() -> None:
    async def main() -> None:
        async with stage() as it:
            for _ in range(6):
                await it.say(READY)
                await asyncio.sleep(10.0)
            changes, heard_at = it.desk.changes(), elapsed() - 10.0
            limit = float(it.workload.timeouts.ping_seconds)
            told = (await read(changes, 1))[0].room
            assert (told.overdue, told.available) == (True, False)
            assert limit / 2 <= elapsed() - heard_at <= limit / 2 + 2.0
            spoke_at = elapsed()
            await it.say(READY)
            told = (await read(changes, 1))[0].room
            assert (told.overdue, told.available) == (False, True)
            assert elapsed() - spoke_at <= 2.0

    in_virtual_time(main())


def test_a_room_is_overdue_also_for_whoever_looked_at_it_shortly_before() -> None:
    async def main() -> None:
        async with stage() as it:
            for _ in range(6):
                await it.say(READY)
                await asyncio.sleep(10.0)
            changes = it.desk.changes()

            async def look() -> None:
                for _ in range(300):
                    if not it.desk.find("arena", "arena-0").available:
                        return
                    await asyncio.sleep(1.0)
                raise AssertionError("it is offered for ever")

            looking = asyncio.create_task(look())
            told = (await read(changes, 1))[0].room
            assert (told.overdue, told.available) == (True, False)
            async with asyncio.timeout(2.0):
                await looking

    in_virtual_time(main())


def test_whether_a_room_is_overdue_is_asked_of_none_that_has_just_spoken() -> None:
    async def main() -> None:
        async with stage() as it:
            await it.say(READY)
            silence, asked = it.desk.book.silence, list[Line]()
            limit = silence._limit

            def counted(line: Line) -> float | None:
                asked.append(line)
                return limit(line)

            silence._limit = counted
            assert it.desk.find("arena", "arena-0").available
            assert not asked, "ten thousand are listed each second"
            await asyncio.sleep(it.workload.timeouts.ping_seconds / 2 + 0.1)
            assert not it.desk.find("arena", "arena-0").available
            assert asked

    in_virtual_time(main())


def test_when_a_room_spoke_last_is_told_though_it_said_nothing_new() -> None:
    async def main() -> None:
        async with stage() as it:
            assert it.desk.spoke_at(it.desk.find("arena", "arena-0")) == 0.0
            await it.say(READY)
            for _ in range(3):
                await asyncio.sleep(10.0)
                await it.say(READY)
            await asyncio.sleep(4.0)
            room = it.desk.find("arena", "arena-0")
            assert it.clock.now() - it.desk.spoke_at(room) == pytest.approx(4.0, abs=0.5)
            assert it.clock.now() - room.heard_at == pytest.approx(34.0, abs=0.5)

    in_virtual_time(main())


def test_whoever_follows_another_workload_is_told_nothing() -> None:
    async def main() -> None:
        async with stage() as it:
            other = it.desk.changes(WorkloadKey("Scheduler", "duel", "duel"))
            await it.say(OCCUPIED)
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(5.0):
                    await read(other, 1)

    in_virtual_time(main())


def test_a_slow_reader_is_cut_off_and_so_is_everybody_when_another_leads() -> None:
    async def main() -> None:
        async with stage() as it:
            slow, other = it.desk.changes(), it.desk.changes()
            change = Change("room", it.desk.find("arena", "arena-0"))
            for _ in range(LONGEST_QUEUE + 1):
                it.desk._watchers.tell(change)
                await read(other, 1)
            assert [change async for change in slow] == []
            it.desk.forget()
            assert [change async for change in other] == []

    in_virtual_time(main())


def test_when_ten_thousand_rooms_change_at_once_nobody_is_cut_off_and_others_have_their_turns() -> (
    None
):
    async def main() -> None:
        async with stage() as it:
            key, room = a_key(), it.desk.find("arena", "arena-0")
            rooms, turns = crowd(room.pod), 0
            watchers = Watchers(
                lambda _: dict(rooms),
                lambda _key, _name, uid: rooms.get(uid),
                lambda _key, _pod, _gone: Change("room", room),
                lambda: [key],
            )

            async def others() -> None:
                nonlocal turns
                while True:
                    await asyncio.sleep(0)
                    turns += 1

            telling = asyncio.create_task(watchers.run())
            reader = watchers.follow(None)
            for uid in rooms:
                rooms[uid] = (room.pod, None, True)
                watchers.touched(key, "", uid)
            await read(reader, 1)
            beside = asyncio.create_task(others())
            await read(reader, ROOMS - 1)
            for task in (telling, beside):
                task.cancel()
            assert turns >= ROOMS // TOLD_AT_ONCE // 2

    in_virtual_time(main())


def test_one_room_of_ten_thousand_costs_a_look_at_that_one_however_often_it_changes() -> None:
    async def main() -> None:
        async with stage() as it:
            key, room = a_key(), it.desk.find("arena", "arena-0")
            rooms, looks = crowd(room.pod), list[str]()

            def room_of(_key: WorkloadKey, _name: str, uid: str) -> Known | None:
                looks.append(uid)
                return rooms.get(uid)

            watchers = Watchers(
                lambda _: dict(rooms),
                room_of,
                lambda _key, _pod, gone: Change("gone" if gone else "room", room),
                lambda: [key],
            )
            telling = asyncio.create_task(watchers.run())
            reader = watchers.follow(None)
            await asyncio.sleep(60.0)
            assert looks == []
            for overdue in (True, False, True):
                rooms["uid-7"] = (room.pod, None, overdue)
                watchers.touched(key, "", "uid-7")
            assert (await read(reader, 1))[0].type == "room"
            del rooms["uid-7"]
            watchers.touched(key, "", "uid-7")
            assert (await read(reader, 1))[0].type == "gone"
            watchers.touched(key, "", "uid-7")
            watchers.touched(key, "", "uid-8")
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(5.0):
                    await read(reader, 1)
            assert looks == ["uid-7", "uid-7", "uid-7", "uid-8"]
            telling.cancel()

    in_virtual_time(main())


def test_what_the_book_takes_from_a_pod_after_that_was_told_is_told_too() -> None:
    async def main() -> None:
        async with stage() as it:
            await asyncio.sleep(2.0)
            changes = it.desk.changes()
            before = None
            for players in (3, 5):
                await it.mark(Mark.BUSY, **{labels.REPORT: f'{{"players":{players}}}'})
                assert (await read(changes, 1))[0].room.heard is before
                it.desk.book.of(a_key())
                before = (await read(changes, 1))[0].room.heard
                assert before is not None
                assert before.players == players

    in_virtual_time(main())


def test_a_flood_of_one_rooms_events_cuts_nobody_off_and_hides_no_state() -> None:
    async def main() -> None:
        async with stage() as it:
            reader, room = it.desk.changes(), it.desk.find("arena", "arena-0")
            for _ in range(2 * LONGEST_QUEUE):
                it.desk.happened(room, Happening("room", "tick"))
            it.desk._watchers.tell(Change("gone", room))
            told = await read(reader, MOST_EVENTS + 1)
            assert [each.type for each in told] == ["event"] * MOST_EVENTS + ["gone"]

    in_virtual_time(main())


def test_a_defect_in_what_followers_are_told_ends_their_lists_and_not_the_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def main() -> None:
        async with stage() as it:
            watchers, follower = it.desk._watchers, it.desk.changes()
            room_of = watchers._room_of

            def tripping(key: WorkloadKey, name: str, uid: str) -> object:
                raise KeyError("a defect")

            monkeypatch.setattr(watchers, "_room_of", tripping)
            await it.say(READY)
            await asyncio.sleep(1.0)
            assert [change async for change in follower] == []
            monkeypatch.setattr(watchers, "_room_of", room_of)
            follower = it.desk.changes()
            await it.say(OCCUPIED)
            assert (await read(follower, 1))[0].room.judged.state is RoomState.OCCUPIED

    in_virtual_time(main())
