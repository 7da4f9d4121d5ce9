"""Flips that meet trouble: the cluster is away, an answer is lost, many come at once."""

import asyncio

import pytest

from reconciler.adapters.kubernetes.calls import Call
from reconciler.model.errors import Unavailable
from tests.loop.virtual_time import elapsed
from tests.unit.core.making import a_key
from tests.unit.service_rooms.stage import OCCUPIED, READY, Stage, on_stage


def test_what_the_cluster_does_not_take_counts_in_memory_and_is_written_when_it_does() -> None:
    async def act(it: Stage) -> None:
        await it.say(READY)
        await asyncio.sleep(1.0)
        it.transport.down = "the API server is away"
        with pytest.raises(Unavailable, match="away"):
            await it.say(OCCUPIED)
        heard = it.desk.book.of(a_key()).rooms[it.live().uid]
        assert heard.busy
        with pytest.raises(Unavailable):  # the same again is no news, and yet stands nowhere
            await it.say(OCCUPIED)
        await asyncio.sleep(30.0)
        it.transport.down = ""
        await asyncio.sleep(10.5)
        assert it.label() == "busy"

    on_stage(act)


def test_while_the_cluster_is_away_it_is_not_asked_at_every_report() -> None:
    async def act(it: Stage) -> None:
        asked = 0

        def count(call: Call) -> None:
            nonlocal asked
            asked += call.verb in ("patch", "get")
            raise Unavailable("the API server is away")

        await asyncio.sleep(2.0)
        it.transport.refuse = count
        for _ in range(600):
            await it.say(READY)
            await asyncio.sleep(0.1)
        assert asked < 20

    on_stage(act)


def test_a_flip_that_waits_for_the_cluster_is_dropped_when_the_room_takes_it_back() -> None:
    async def act(it: Stage) -> None:
        await it.say(READY)
        await asyncio.sleep(1.0)
        it.transport.down = "the API server is away"
        with pytest.raises(Unavailable):
            await it.say(OCCUPIED)
        await it.say(READY)
        it.transport.down = ""
        written = len(it.patches)
        await asyncio.sleep(30.0)
        assert it.label() == "idle"
        assert len(it.patches) == written

    on_stage(act)


def test_a_write_whose_answer_was_lost_is_looked_up_before_a_room_is_called_busy() -> None:
    async def act(it: Stage) -> None:
        await it.say(OCCUPIED)
        await it.say(READY)
        await it.seen()
        stale = it.live()

        def lose(number: int, call: Call) -> None:
            if call.verb == "patch":
                it.transport.after = lambda number, call: None
                raise Unavailable("the connection was lost")

        it.transport.after = lose
        # The watch is cut off too: the view goes on showing the room as busy.
        it.flows.clear()
        await asyncio.sleep(5.01)
        assert it.label() == "idle"
        assert it.live() is stale
        await it.say(OCCUPIED)
        assert it.label() == "busy"

    on_stage(act)


def test_reports_of_one_room_wait_for_each_other_and_nobody_else_does() -> None:
    async def act(it: Stage) -> None:
        held = asyncio.Event()

        async def hold() -> None:
            if it.transport.calls and held.is_set():
                return
            await held.wait()

        await it.say(READY, "arena-0")
        await it.say(READY, "arena-1")
        await asyncio.sleep(1.0)
        it.transport.pause = hold
        first = asyncio.create_task(it.say(OCCUPIED, "arena-0"))
        await asyncio.sleep(0.1)
        again = asyncio.create_task(it.say(OCCUPIED, "arena-0"))
        await asyncio.sleep(0.1)
        assert it.desk.book.of(a_key()).rooms[it.live("arena-0").uid].busy
        began = elapsed()
        await it.say(READY, "arena-1")
        assert elapsed() == began
        assert not first.done()
        assert not again.done()
        held.set()
        await asyncio.gather(first, again)
        assert it.label("arena-0") == "busy"
        assert len(it.patches) == 3

    on_stage(act, rooms=2)


def test_no_more_than_32_flips_are_under_way_at_once() -> None:
    async def act(it: Stage) -> None:
        under_way = most = 0

        async def count() -> None:
            nonlocal under_way, most
            under_way += 1
            most = max(most, under_way)
            await asyncio.sleep(1.0)
            under_way -= 1

        it.transport.pause = count
        await asyncio.gather(*(it.say(OCCUPIED, f"arena-{n}") for n in range(40)))
        assert most == 32
        assert {it.label(f"arena-{n}") for n in range(40)} == {"busy"}

    on_stage(act, rooms=40)
