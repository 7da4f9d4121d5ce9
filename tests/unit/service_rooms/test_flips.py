"""Flips: what rooms say stands on their pods, before the answer or soon."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from reconciler.adapters.kubernetes.calls import Call
from reconciler.model import labels
from reconciler.model.errors import Gone, Unavailable
from reconciler.model.rooms import GameState, Health, Mark, Report, RoomState
from tests.loop.virtual_time import elapsed, in_virtual_time
from tests.unit.core.making import a_key
from tests.unit.service_rooms.stage import OCCUPIED, READY, Stage, stage


def on_stage(act: Callable[[Stage], Coroutine[Any, Any, None]], rooms: int = 1) -> None:
    """Let a test play on a stage of its own."""

    async def main() -> None:
        async with stage(rooms) as it:
            await act(it)

    in_virtual_time(main())


def players(count: int) -> Report:
    return Report(periodic=False, players=count)


def test_a_room_that_turns_busy_is_busy_on_its_pod_before_it_is_answered() -> None:
    async def act(it: Stage) -> None:
        shown = await it.say(OCCUPIED)
        assert it.label() == "busy"
        assert it.note(labels.SAFE_TO_EVICT) == "false"
        assert shown.pod.mark is Mark.BUSY
        assert shown.judged.protected

    on_stage(act)


def test_the_first_word_of_an_empty_room_makes_it_idle_soon() -> None:
    async def act(it: Stage) -> None:
        shown = await it.say(READY)
        assert shown.judged.state is RoomState.READY
        await asyncio.sleep(0.2)
        assert it.label() == "idle"
        assert it.note(labels.SAFE_TO_EVICT) == "true"

    on_stage(act)


def test_a_room_turns_idle_when_it_was_empty_for_five_seconds() -> None:
    async def act(it: Stage) -> None:
        await it.say(OCCUPIED)
        await asyncio.sleep(60.0)
        await it.say(READY)
        await asyncio.sleep(3.0)
        await it.say(READY)
        await asyncio.sleep(1.9)
        assert it.label() == "busy"
        await asyncio.sleep(0.2)
        assert it.label() == "idle"

    on_stage(act)


def test_a_room_that_fills_again_within_five_seconds_stays_busy() -> None:
    async def act(it: Stage) -> None:
        await it.say(OCCUPIED)
        await it.say(READY)
        await asyncio.sleep(4.0)
        await it.say(OCCUPIED)
        await it.say(READY)
        await asyncio.sleep(4.0)
        assert it.label() == "busy"
        assert len(it.patches) == 1
        await asyncio.sleep(1.2)
        assert it.label() == "idle"

    on_stage(act)


def test_another_word_of_an_empty_room_does_not_begin_the_five_seconds_anew() -> None:
    async def act(it: Stage) -> None:
        await it.say(OCCUPIED)
        await it.say(READY)
        await asyncio.sleep(4.0)
        await it.say(Report(periodic=True, health=Health.HEALTHY))
        await asyncio.sleep(1.1)
        assert it.label() == "idle"

    on_stage(act)


def test_a_report_that_says_the_same_writes_nothing_and_wakes_nobody() -> None:
    async def act(it: Stage) -> None:
        await it.say(OCCUPIED)
        await asyncio.sleep(2.0)
        ears = it.desk.book.of(a_key())
        it.woken.clear()
        for _ in range(50):
            await it.say(OCCUPIED)
            await asyncio.sleep(1.0)
        assert it.desk.book.of(a_key()) is ears
        assert it.woken == []
        assert len(it.patches) == 1

    on_stage(act)


def test_a_room_that_was_drained_in_between_is_busy_again() -> None:
    async def act(it: Stage) -> None:
        await it.say(READY)
        await asyncio.sleep(1.0)
        await it.mark(Mark.DRAINING, **{labels.LEAVING: "scale-in", labels.LEAVING_SINCE: "1.000"})
        assert it.live().mark is Mark.IDLE  # the view has not seen it yet
        shown = await it.say(OCCUPIED)
        assert it.label() == "busy"
        assert it.note(labels.LEAVING) == "scale-in"
        assert (shown.judged.state, shown.available) == (RoomState.OCCUPIED, False)

    on_stage(act)


def test_a_leaving_room_drains_when_its_match_is_over() -> None:
    async def act(it: Stage) -> None:
        await it.say(OCCUPIED)
        await it.mark(Mark.BUSY, **{labels.LEAVING: "rollout", labels.LEAVING_SINCE: "1.000"})
        await it.seen()
        await it.say(READY)
        await asyncio.sleep(5.2)
        assert it.label() == "draining"
        assert abs(float(it.note(labels.LEAVING_SINCE)) - it.clock.now()) < 1.0

    on_stage(act)


def test_a_room_whose_pod_was_deleted_in_between_is_gone() -> None:
    async def act(it: Stage) -> None:
        await it.say(READY)
        await asyncio.sleep(1.0)
        room = it.desk.find("arena", "arena-0")

        def vanish(call: Call) -> None:
            it.transport.refuse = lambda call: None
            it.world.delete("/api/v1/namespaces/arena/pods/arena-0?gracePeriodSeconds=0")

        it.transport.refuse = vanish
        with pytest.raises(Gone, match="arena-0 is no more"):
            await it.desk.report(room, OCCUPIED)

    on_stage(act)


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


def test_a_write_whose_answer_was_lost_is_looked_up_before_a_room_is_called_busy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def act(it: Stage) -> None:
        await it.say(OCCUPIED)
        await it.say(READY)
        stale = it.live()

        def lose(number: int, call: Call) -> None:
            if call.verb == "patch":
                it.transport.after = lambda number, call: None
                raise Unavailable("the connection was lost")

        it.transport.after = lose
        # The watch is cut off too: the view goes on showing the room as busy.
        monkeypatch.setattr(it.view._pods, "put", lambda obj: None)
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


def test_an_allocated_room_turns_busy_by_a_busy_report_alone() -> None:
    async def act(it: Stage) -> None:
        await it.mark(Mark.ALLOCATED)
        await it.seen()
        await it.say(READY)
        await asyncio.sleep(10.0)
        assert it.label() == "allocated"
        await it.say(OCCUPIED)
        assert it.label() == "busy"

    on_stage(act)


def test_the_last_count_of_a_game_that_reports_on_change_stands_with_the_flip() -> None:
    async def act(it: Stage) -> None:
        await it.say(players(3))
        assert it.label() == "busy"
        assert '"players":3' in it.note(labels.REPORT)
        assert len(it.patches) == 1
        await it.say(players(0))
        assert '"players":0' in it.note(labels.REPORT)
        assert it.label() == "busy"
        await asyncio.sleep(5.2)
        assert it.label() == "idle"

    on_stage(act)


def test_other_changes_of_such_a_game_stand_within_ten_seconds_in_one_write() -> None:
    async def act(it: Stage) -> None:
        await it.say(players(3))
        await it.say(players(4))
        await it.say(Report(periodic=False, health=Health.HEALTHY))
        await asyncio.sleep(4.0)
        await it.say(Report(periodic=False, game_state=GameState.RUNNING))
        await asyncio.sleep(6.1)
        note = it.note(labels.REPORT)
        assert '"players":4' in note
        assert '"health":"Healthy"' in note
        assert '"state":"Running"' in note
        assert len(note) <= 200
        assert len(it.patches) == 2

    on_stage(act)


def test_a_process_that_starts_anew_knows_what_such_a_game_said_last() -> None:
    async def act(it: Stage) -> None:
        await it.say(players(3))
        it.desk.forget()
        await asyncio.sleep(2.5)
        heard = it.desk.book.of(a_key()).rooms[it.live().uid]
        assert (heard.players, heard.periodic, heard.silent) == (3, False, False)

    on_stage(act)


def test_a_room_that_emptied_right_before_a_restart_turns_idle_after_it() -> None:
    async def act(it: Stage) -> None:
        await it.say(players(3))
        await it.say(players(0))
        it.desk.forget()
        assert it.desk.closed() == ""
        await asyncio.sleep(10.0)
        assert it.label() == "idle"

    on_stage(act)


def test_who_leads_no_more_gives_up_its_flips() -> None:
    async def act(it: Stage) -> None:
        await it.say(OCCUPIED)
        await it.say(READY)
        it.leads = False
        it.desk.forget()
        await asyncio.sleep(10.0)
        assert it.label() == "busy"
        assert len(it.patches) == 1
        with pytest.raises(Unavailable, match="does not lead"):
            await it.say(OCCUPIED)

    on_stage(act)


def test_a_busy_report_that_outlives_the_term_is_not_answered_as_if_it_stood() -> None:
    async def act(it: Stage) -> None:
        await it.say(READY)
        await asyncio.sleep(1.0)

        async def depose() -> None:
            it.transport.pause = nothing
            it.desk.forget()
            await it.mark(Mark.DRAINING)

        async def nothing() -> None:
            return None

        it.transport.pause = depose
        with pytest.raises(Unavailable, match="who leads has changed"):
            await it.say(OCCUPIED)
        assert it.label() == "draining"

    on_stage(act)


def test_a_new_leader_that_sees_late_looks_up_a_busy_room_before_it_answers() -> None:
    async def act(it: Stage) -> None:
        await it.say(OCCUPIED)
        await asyncio.sleep(1.0)
        it.desk = it.new_desk()
        await it.mark(Mark.IDLE)
        assert it.live().mark is Mark.BUSY, "the watch has not shown it yet"
        await it.say(OCCUPIED)
        assert it.label() == "busy"
        reads = [call for call in it.transport.calls if call.verb == "get"]
        await it.say(OCCUPIED)
        after = [call for call in it.transport.calls if call.verb == "get"]
        assert after == reads, "once is enough"

    on_stage(act)
