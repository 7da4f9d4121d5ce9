"""Two processes that both lead, for none holds a lease: a game tells each of them half."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager

import pytest

from reconciler.model.errors import Unavailable
from reconciler.model.live import LivePod
from reconciler.model.refs import WorkloadKey
from reconciler.room_ports import Came
from reconciler.service.rooms.desk import RoomDesk
from tests.loop.virtual_time import elapsed, in_virtual_time
from tests.unit.core.making import a_key
from tests.unit.service_rooms.stage import Stage, players, stage

LONG_SECONDS = 60.0


@asynccontextmanager
async def _beside() -> AsyncIterator[tuple[Stage, RoomDesk, asyncio.Task[None]]]:
    """Open a stage with a second process, which may be stopped."""
    async with stage() as it:
        other = it.desk
        it.desk = it.new_desk()
        for desk in (other, it.desk):
            desk.share()

        def changed(key: WorkloadKey, pod: LivePod) -> None:
            other.room_changed(key, pod)
            it.desk.room_changed(key, pod)

        it.view.room_changed = changed
        it.listen()
        tasks = [asyncio.create_task(it.desk.run())]
        tasks += [asyncio.create_task(_look(desk)) for desk in (other, it.desk)]
        try:
            yield it, other, tasks[1]
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def _look(desk: RoomDesk) -> None:
    """Look at the rooms for ever, as the lane does."""
    while True:
        desk.book.of(a_key())
        await asyncio.sleep(0.5)


async def _say(it: Stage, desk: RoomDesk, count: int) -> None:
    await desk.report(desk.find("arena", "arena-0"), players(count))
    await it.seen()


def _play(act: Callable[[Stage, RoomDesk], Coroutine[None, None, None]]) -> None:
    async def main() -> None:
        async with _beside() as (it, other, _):
            await act(it, other)

    in_virtual_time(main())


async def _stands(it: Stage, mark: str) -> None:
    """See that a mark stands all the while."""
    for _ in range(int(2 * LONG_SECONDS)):
        await asyncio.sleep(0.5)
        assert it.label() == mark


def test_players_whom_the_other_was_told_of_are_believed_whatever_we_heard_before() -> None:
    async def act(it: Stage, other: RoomDesk) -> None:
        await _say(it, it.desk, 0)
        await asyncio.sleep(10.0)
        await _say(it, other, 3)
        await _stands(it, "busy")
        assert it.desk.find("arena", "arena-0").judged.protected

    _play(act)


def test_who_has_left_by_what_the_other_was_told_is_gone_for_us_too() -> None:
    async def act(it: Stage, other: RoomDesk) -> None:
        await _say(it, it.desk, 3)
        await _say(it, other, 2)
        await asyncio.sleep(10.0)
        await _say(it, other, 0)
        await asyncio.sleep(7.0)
        await _stands(it, "idle")
        for desk in (it.desk, other):
            assert not desk.find("arena", "arena-0").judged.protected
        await _say(it, it.desk, 1)
        await _stands(it, "busy")

    _play(act)


def test_players_of_whom_we_were_told_just_now_are_written_over_an_older_word() -> None:
    async def act(it: Stage, other: RoomDesk) -> None:
        await _say(it, other, 3)
        await asyncio.sleep(10.0)
        it.flows.clear()  # our watch is behind
        await other.report(other.find("arena", "arena-0"), players(0))
        await it.desk.report(it.desk.find("arena", "arena-0"), players(2))
        it.flows.set()
        await _stands(it, "busy")

    _play(act)


@pytest.mark.parametrize(("count", "taken"), [(0, False), (2, True)])
def test_an_empty_that_was_long_on_its_way_is_to_be_said_again(count: int, taken: bool) -> None:
    """Its game may have told the other process of players since."""

    async def act(it: Stage, other: RoomDesk) -> None:
        await _say(it, other, 3)
        room, now = it.desk.find("arena", "arena-0"), elapsed()
        if taken:
            await it.desk.report(room, players(count), Came(now, now - 5.0))
        else:
            with pytest.raises(Unavailable, match="say how the room is now"):
                await it.desk.report(room, players(count), Came(now, now - 5.0))
        await _stands(it, "busy")

    _play(act)
