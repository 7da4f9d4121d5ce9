"""Who fell silent, and whether it is we who do not hear, or stood still."""

import asyncio
from dataclasses import replace

import pytest

from reconciler.core.kept_reports import kept_of
from reconciler.core.room_state import judge
from reconciler.model import labels
from reconciler.model.plans import Desired
from reconciler.model.rooms import Mark, Report, RoomState, Said
from reconciler.model.specs import Timeouts
from reconciler.model.wanted import Wanted
from reconciler.service.room_metrics import Unobserved
from reconciler.service.rooms import ears, liveness
from tests.loop.virtual_time import elapsed, in_virtual_time
from tests.unit.core.making import REPORTS, a_heard, a_key, a_workload
from tests.unit.service_rooms.stage import OCCUPIED, READY, Stage, on_stage, players, stage


def test_a_process_that_stood_still_listens_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        async with stage(2) as it:
            await it.say(READY)
            await it.say(players(0), "arena-1")
            await asyncio.sleep(60.0)
            assert it.desk.book.of(a_key()).since_on("node") < elapsed() - 50.0
            at = [elapsed() + it.workload.timeouts.ping_seconds]
            for clock in (it.desk.book, it.desk.book._liveness.presence, it.desk.book.silence):
                monkeypatch.setattr(clock, "_elapsed", lambda: at[0])
            assert it.desk.book.of(a_key()).since_on("node") == at[0]
            await it.desk.book.sweep()
            room = it.live("arena-0").uid
            assert not it.desk.book.of(a_key()).rooms[room].silent, "its words wait to be read"
            at[0] += 1.0
            await it.desk.book.sweep()
            assert it.desk.book.of(a_key()).rooms[room].silent

    in_virtual_time(main())


def test_a_silence_that_begins_and_one_that_ends_are_changes() -> None:
    async def main() -> None:
        async with stage() as it:
            await it.say(READY)
            await asyncio.sleep(2.0)
            uid, ears = it.live().uid, it.desk.book.of(a_key())
            it.woken.clear()
            await asyncio.sleep(245.0)
            silent = it.desk.book.of(a_key())
            assert silent.rooms[uid].silent
            assert silent is not ears
            assert it.woken == [a_key()]
            shown = await it.say(READY)
            assert not it.desk.book.of(a_key()).rooms[uid].silent
            assert shown.judged.state is RoomState.READY

    in_virtual_time(main())


@pytest.mark.long
def test_a_busy_room_is_given_up_by_its_silence_not_by_the_length_of_its_match() -> None:
    async def main() -> None:
        timeouts = Timeouts(ping_seconds=240, silent_busy_seconds=7200)
        async with stage(timeouts=timeouts) as it:
            for _ in range(180):  # a match of three hours, told of once a minute
                await it.say(OCCUPIED)
                await asyncio.sleep(60.0)
            await asyncio.sleep(300.0)
            assert it.desk.book.of(a_key()).rooms[it.live().uid].silent
            room = it.desk.find("arena", "arena-0").judged
            assert (room.state, bool(room.protected)) == (RoomState.OCCUPIED, True)
            await asyncio.sleep(6900.0)
            room = it.desk.find("arena", "arena-0").judged
            assert (room.state, room.protected) == (RoomState.ERROR, "")

    in_virtual_time(main())


def test_a_room_recorded_idle_that_says_nothing_to_a_new_process_is_silent_in_time() -> None:
    async def main() -> None:
        async with stage() as it:
            await it.mark(Mark.IDLE)
            await it.seen()
            it.desk.forget()
            it.listen()
            await asyncio.sleep(238.0)
            assert it.desk.book.of(a_key()).rooms == {}
            await asyncio.sleep(6.0)
            assert it.desk.book.of(a_key()).rooms[it.live().uid].silent

    in_virtual_time(main())


def test_a_game_that_reports_on_change_is_never_silent() -> None:
    async def main() -> None:
        async with stage() as it:
            await it.say(Report(periodic=False, players=0))
            await asyncio.sleep(1000.0)
            assert not it.desk.book.of(a_key()).rooms[it.live().uid].silent
            it.desk.forget()
            it.listen()
            await asyncio.sleep(1000.0)
            assert not it.desk.book.of(a_key()).rooms[it.live().uid].silent

    in_virtual_time(main())


def test_a_room_that_was_never_heard_and_never_marked_is_nobody() -> None:
    async def main() -> None:
        async with stage() as it:
            await asyncio.sleep(1000.0)
            assert it.desk.book.of(a_key()).rooms == {}

    in_virtual_time(main())


class Ages(Unobserved):
    """Keeps what the sweeps tell."""

    last = 0.0

    def swept(self, oldest_report_seconds: float) -> None:
        """Keep it."""
        self.last = oldest_report_seconds


def test_a_room_that_hangs_full_of_players_is_the_quietest_for_as_long_as_it_stands() -> None:
    async def main() -> None:
        async with stage(3) as it:
            ages = Ages()
            it.desk.book._liveness._observer = ages
            await it.say(OCCUPIED)
            for _ in range(24):
                await it.say(READY, "arena-1")
                await it.say(READY, "arena-2")
                await asyncio.sleep(30.0)
            assert it.desk.find("arena", "arena-0").judged.protected
            assert 3 * it.workload.timeouts.ping_seconds - 15.0 < ages.last < 721.0
            await it.say(OCCUPIED)
            await asyncio.sleep(11.0)
            assert 30.0 <= ages.last <= 42.0

    in_virtual_time(main())


def test_when_nobody_is_heard_all_are_told_and_the_log_says_it_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> None:
        async with stage(5) as it:
            for number in range(5):
                await it.say(READY, f"arena-{number}")
            await asyncio.sleep(600.0)
            assert it.desk.book.of(a_key()).deaf.startswith("5 of 5 rooms")
            states = {it.desk.find("arena", f"arena-{n}").judged.protected for n in range(5)}
            assert "" not in states
            for number in range(5):
                await it.say(READY, f"arena-{number}")
            await asyncio.sleep(2.0)
            assert it.desk.book.of(a_key()).deaf == ""

    in_virtual_time(main())
    said = [record.message for record in caplog.records if "fell silent together" in record.message]
    assert len(said) == 1


def test_nobody_is_shown_silent_and_us_not_deaf_while_a_crowd_is_noted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ears, "SLICE", 1)
    monkeypatch.setattr(liveness, "SLICE", 1)

    async def main() -> None:
        async with stage(5) as it:
            for number in range(5):
                await it.say(READY, f"arena-{number}")
            await asyncio.sleep(600.0)
            shown = []
            real = it.clock.sleep

            async def look(seconds: float) -> None:
                it.desk.book.tell(a_key())  # a report of somebody makes it be shown anew
                heard = it.desk.book.of(a_key())
                shown.append((heard.deaf, any(each.silent for each in heard.rooms.values())))
                await real(seconds)

            monkeypatch.setattr(it.clock, "sleep", look)
            for number in range(4):
                await it.say(READY, f"arena-{number}")
            await asyncio.sleep(5.0)
            assert ("", True) not in shown
            assert shown[-1] == ("", False)

    in_virtual_time(main())


async def _deaf_for_a_while(it: Stage) -> None:
    """Begin a term in which nobody is heard, and then four of the five rooms."""
    it.desk.forget()
    it.listen()
    await asyncio.sleep(300.0)
    assert it.desk.book.of(a_key()).deaf
    for number in range(4):
        await it.say(READY, f"arena-{number}")
    await asyncio.sleep(2.0)


def test_after_we_were_deaf_a_room_that_never_spoke_is_unheard_again() -> None:
    async def main() -> None:
        async with stage(5) as it:
            for number in range(5):
                await it.mark(Mark.IDLE, f"arena-{number}")
            await it.seen("arena-4")
            await _deaf_for_a_while(it)
            ears = it.desk.book.of(a_key())
            assert ears.deaf == ""
            assert it.live("arena-4").uid not in ears.rooms

    in_virtual_time(main())


def test_after_we_were_deaf_players_that_a_pod_tells_of_are_there_still() -> None:
    """A game that speaks both ways: its pings go on, and its count is not said again."""

    async def main() -> None:
        async with stage(5) as it:
            for number in range(5):
                await it.say(READY, f"arena-{number}")
                await it.say(players(5), f"arena-{number}")
            await asyncio.sleep(12.0)
            await _deaf_for_a_while(it)
            assert it.desk.book.of(a_key()).deaf == ""
            await it.say(READY, "arena-4")
            await asyncio.sleep(12.0)
            assert it.label("arena-4") == "busy"
            assert '"players":5' in it.note(labels.REPORT, "arena-4")

    in_virtual_time(main())


def test_a_room_that_is_known_late_to_repeat_itself_falls_silent_as_any() -> None:
    """Whoever led before kept its count, and its pings after we had begun to listen."""
    count = kept_of(a_heard(periodic=False))
    pings = kept_of(a_heard(periodic=True, mixed=True, said=Said.READY))

    async def main() -> None:
        async with stage() as it:
            await it.mark(Mark.IDLE, **{labels.REPORT: count})
            await it.seen()
            await asyncio.sleep(5.0)  # by then it is seeded
            assert not it.desk.book.of(a_key()).rooms[it.live().uid].periodic
            await it.patch(annotations={labels.REPORT: pings})
            await it.seen()
            assert it.desk.book.of(a_key()).rooms[it.live().uid].periodic
            await asyncio.sleep(600.0)
            assert it.desk.book.of(a_key()).rooms[it.live().uid].silent

    in_virtual_time(main())


@pytest.mark.parametrize("asked_before", [True, False])
def test_a_workload_no_room_of_which_was_ever_heard_is_told_that_nobody_is(
    asked_before: bool,
) -> None:
    """Its rooms have no line, and `silentBusySeconds` must not run for them meanwhile."""

    async def act(it: Stage) -> None:
        lobby, workload = a_key("lobby"), a_workload("lobby", reports="required")
        workload = replace(workload, timeouts=replace(workload.timeouts, silent_busy_seconds=400.0))
        desired = Desired(workload, (), "", {}, "")
        it.lane.wanted = Wanted(effective={**it.lane.wanted.effective, lobby: desired})
        _make_lobby(it)
        await asyncio.sleep(10.0)
        found = it.view.room("lobby", "lobby-0")
        assert found is not None
        for _ in range(3):
            await _all_ping(it)
            if asked_before:
                assert not it.desk.book.of(lobby).deaf
            await asyncio.sleep(10.0)
        it.woken.clear()
        await asyncio.sleep(2000.0)
        ears = it.desk.book.of(lobby)
        assert "fell silent together" in ears.deaf
        assert judge(found[1], workload, None, ears, elapsed()).protected
        assert (lobby in it.woken) is asked_before, "nobody asked"
        for _ in range(6):
            await _all_ping(it)
            await asyncio.sleep(10.0)
        assert it.desk.book.of(lobby).deaf == ""

    on_stage(act, 6)


async def _all_ping(it: Stage) -> None:
    for number in range(6):
        await it.say(READY, f"arena-{number}")


def _make_lobby(it: Stage) -> None:
    it.world.create("/api/v1/namespaces", {"metadata": {"name": "lobby"}})
    account = {"metadata": {"name": "default"}}
    it.world.create("/api/v1/namespaces/lobby/serviceaccounts", account)
    marks = {labels.INSTANCE: "main", labels.WORKLOAD: "lobby", labels.KIND: "Scheduler"}
    metadata = {"name": "lobby-0", "labels": marks, "annotations": {labels.REVISION: REPORTS}}
    spec = {"containers": [{"name": "game", "image": "game:1"}]}
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
    it.world.create("/api/v1/namespaces/lobby/pods", body)


def test_a_room_that_asks_to_leave_is_alive_though_it_says_nothing_of_itself() -> None:
    async def act(it: Stage) -> None:
        await it.say(READY)
        limit = it.workload.timeouts.ping_seconds
        await asyncio.sleep(limit - 10.0)
        room = it.desk.find("arena", "arena-0")
        await it.desk.leave(room, leaves=True, by="the room", own=True)
        await asyncio.sleep(limit - 10.0)
        assert not it.desk.book.of(a_key()).rooms[room.pod.uid].silent
        await asyncio.sleep(20.0)
        assert it.desk.book.of(a_key()).rooms[room.pod.uid].silent

    on_stage(act)
