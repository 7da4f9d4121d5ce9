"""The book: what the lane is shown of what rooms say."""

import asyncio
from dataclasses import replace

import pytest

from reconciler.model import labels
from reconciler.model.rooms import Health, Heard, Mark, Report, RoomState, Said
from reconciler.model.specs import Departure, Timeouts
from reconciler.room_ports import Came
from reconciler.service.rooms import book, ears
from tests.loop.virtual_time import elapsed, in_virtual_time
from tests.unit.core.making import a_key
from tests.unit.service_rooms.stage import OCCUPIED, READY, Stage, players, stage

QUIET_SECONDS = Departure().quiet_seconds
LEARNS = replace(READY, learns=True)


def test_the_first_report_after_the_quiet_time_of_a_draining_room_confirms() -> None:
    async def main() -> None:
        async with stage() as it:
            await it.say(READY)
            await asyncio.sleep(2.0)
            await drain(it, "2.000", 4.0)
            await it.say(READY)
            assert not confirmed(it), "players who are on their way come later"
            await asyncio.sleep(2.0)
            it.woken.clear()
            await it.say(READY)
            assert confirmed(it)
            assert it.woken == [a_key()]
            await it.say(READY)
            assert confirmed(it)
            assert it.woken == [a_key()], "that is no news"

    in_virtual_time(main())


@pytest.mark.parametrize("meanwhile", [True, False], ids=["it speaks meanwhile", "it is quiet"])
def test_a_room_that_said_it_is_empty_says_so_again_after_a_quiet_time_that_was_raised(
    meanwhile: bool,
) -> None:
    async def main() -> None:
        async with stage() as it:
            await it.say(READY)
            await asyncio.sleep(2.0)
            await drain(it, "2.000")
            await it.say(READY)
            assert may_go(it)
            it.want(departure=Departure(quiet_seconds=60.0))
            assert not may_go(it)
            if meanwhile:
                await it.say(READY)
                assert not confirmed(it)
            await asyncio.sleep(60.0 - QUIET_SECONDS)
            assert not may_go(it), "players were on their way all the time"
            await it.say(READY)
            assert confirmed(it)
            assert may_go(it)

    in_virtual_time(main())


@pytest.mark.parametrize("meanwhile", ["we are deaf", "we stand still"])
def test_a_room_that_said_it_is_empty_says_so_again_after_nobody_listened(meanwhile: str) -> None:
    """Whoever joined meanwhile by the host port was told of to nobody."""

    async def main() -> None:
        async with stage(4) as it:
            everybody = [f"arena-{n}" for n in range(4)]
            for name in everybody:
                await it.say(READY, name)
            await asyncio.sleep(2.0)
            await drain(it, "2.000")
            await it.say(READY)
            assert may_go(it), "it stays: its removal is held by something else"
            await asyncio.sleep(1.0)
            if meanwhile == "we are deaf":
                await asyncio.sleep(it.workload.timeouts.ping_seconds)
                assert it.desk.book.suspicion
                for name in everybody[1:]:
                    await it.say(READY, name)
                await asyncio.sleep(3.0)
                assert not it.desk.book.suspicion
            else:
                it.desk.book._presence._there_at -= 60.0  # not there for a minute
                it.desk.book.beat()
            assert not may_go(it)
            await it.say(READY)
            assert confirmed(it)
            assert may_go(it)

    in_virtual_time(main())


def may_go(it: Stage) -> bool:
    """Whether the fence lets the room be deleted now."""
    verdict = it.desk.fence(it.desk.find("arena", "arena-0"))
    return verdict is not None and verdict.may


def test_a_report_of_an_earlier_draining_confirms_nothing() -> None:
    async def main() -> None:
        async with stage() as it:
            await it.say(READY)
            await asyncio.sleep(2.0)
            await drain(it, "2.000")
            await it.say(READY)
            await it.mark(Mark.IDLE, **{labels.LEAVING: "", labels.LEAVING_SINCE: ""})
            await it.seen()
            assert not confirmed(it)
            await drain(it, "9.000")
            assert not confirmed(it)
            await it.say(READY)
            assert confirmed(it)

    in_virtual_time(main())


def test_a_room_drained_twice_with_no_look_in_between_is_confirmed_anew() -> None:
    async def main() -> None:
        async with stage() as it:
            await it.say(READY)
            await asyncio.sleep(2.0)
            await drain(it, "2.000")
            await it.say(READY)
            assert confirmed(it)
            await drain(it, "9.000")
            assert not confirmed(it)

    in_virtual_time(main())


def test_a_room_marked_draining_by_hand_twice_is_confirmed_anew() -> None:
    async def main() -> None:
        async with stage() as it:
            await it.say(READY)
            await asyncio.sleep(2.0)
            for _ in range(2):
                await it.mark(Mark.DRAINING)
                await it.seen()
                await asyncio.sleep(QUIET_SECONDS)
                assert not confirmed(it)
                await it.say(READY)
                assert confirmed(it)
                await it.mark(Mark.IDLE)
                await it.seen()
                it.desk.book.of(a_key())

    in_virtual_time(main())


def test_a_report_that_came_in_before_its_room_was_marked_draining_confirms_nothing() -> None:
    async def main() -> None:
        async with stage(departure=Departure(quiet_seconds=0.0)) as it:
            await it.say(READY)
            await asyncio.sleep(2.0)
            asked = it.desk.find("arena", "arena-0")
            await drain(it, "2.000")
            await it.desk.report(asked, READY)
            assert not confirmed(it)
            await it.say(READY)
            assert confirmed(it)

    in_virtual_time(main())


@pytest.mark.parametrize("sent", [-1.0, 1.0, QUIET_SECONDS - 0.1])
@pytest.mark.parametrize("paused", [False, True], ids=["it came slowly", "we read it late"])
def test_a_report_that_was_sent_before_the_quiet_time_was_over_confirms_nothing(
    sent: float, paused: bool
) -> None:
    async def main() -> None:
        async with stage() as it:
            await it.say(READY)
            await asyncio.sleep(2.0)
            await drain(it, "2.000", QUIET_SECONDS + 5.0)
            asked = it.desk.find("arena", "arena-0")
            marked = asked.pod.seen.draining
            begun = QUIET_SECONDS + 4.0 if paused else sent
            await it.desk.report(asked, READY, Came(marked + begun, marked + sent))
            assert not confirmed(it)
            await it.say(READY)
            assert confirmed(it)

    in_virtual_time(main())


def test_a_longer_quiet_time_that_a_commit_brings_counts_for_a_room_that_drains() -> None:
    async def main() -> None:
        async with stage() as it:
            await it.say(READY)
            await asyncio.sleep(2.0)
            await drain(it, "2.000", 6.0)
            it.want(departure=Departure(quiet_seconds=30.0))
            await it.say(READY)
            assert not confirmed(it)
            await asyncio.sleep(25.0)
            await it.say(READY)
            assert confirmed(it)

    in_virtual_time(main())


def test_who_learns_that_it_is_to_leave_takes_its_leave_by_saying_nothing_more() -> None:
    async def main() -> None:
        async with stage(departure=Departure(quiet_seconds=8.0)) as it:
            await it.say(LEARNS)
            await asyncio.sleep(2.0)
            await drain(it, "2.000", 1.0)
            assert not heard(it).farewell_at, "it was told before that it stays"
            for report, until in (
                (LEARNS, elapsed() + 8.0),
                (replace(LEARNS, said=Said.OCCUPIED), 0.0),
                (READY, 0.0),
            ):
                it.woken.clear()
                await it.say(report)
                assert heard(it).farewell_at == pytest.approx(until, abs=0.1)
                assert it.woken == [a_key()]
            await it.mark(Mark.DRAINING, **{labels.LEAVING: "scale-in"})
            await it.seen()
            await it.say(LEARNS)
            assert heard(it).farewell_at
            await drain(it, "9.000", 1.0)
            assert not heard(it).farewell_at, "it drains anew"

    in_virtual_time(main())


def test_who_pauses_for_long_between_two_words_takes_its_leave_by_a_longer_silence() -> None:
    async def main() -> None:
        async with stage() as it:
            await it.say(LEARNS)
            await asyncio.sleep(20.0)
            await it.say(LEARNS)
            await drain(it, "22.000", 1.0)
            await it.say(LEARNS)
            assert heard(it).farewell_at > elapsed() + 20.0

    in_virtual_time(main())


def test_who_has_spoken_once_to_a_new_leader_takes_no_leave_by_silence() -> None:
    async def main() -> None:
        async with stage() as it:
            await it.say(LEARNS)
            await asyncio.sleep(30.0)
            await it.say(LEARNS)
            await drain(it, "30.000", 1.0)
            it.desk = it.new_desk()
            it.listen()
            await it.say(LEARNS)
            await asyncio.sleep(25.0)
            verdict = it.desk.fence(it.desk.find("arena", "arena-0"))
            assert verdict is not None
            assert not verdict.may, "it pauses for 30 s, and its players may have come meanwhile"
            await it.say(OCCUPIED)
            assert it.desk.find("arena", "arena-0").judged.protected

    in_virtual_time(main())


def test_a_process_that_stood_still_listens_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        async with stage(2) as it:
            await it.say(READY)
            await it.say(players(0), "arena-1")
            await asyncio.sleep(60.0)
            assert it.desk.book.of(a_key()).since_on("node") < elapsed() - 50.0
            at = [elapsed() + it.workload.timeouts.ping_seconds]
            for clock in (it.desk.book, it.desk.book._presence, it.desk.book.silence):
                monkeypatch.setattr(clock, "_elapsed", lambda: at[0])
            assert it.desk.book.of(a_key()).since_on("node") == at[0]
            await it.desk.book.sweep()
            room = it.live("arena-0").uid
            assert not it.desk.book.of(a_key()).rooms[room].silent, "its words wait to be read"
            at[0] += 1.0
            await it.desk.book.sweep()
            assert it.desk.book.of(a_key()).rooms[room].silent

    in_virtual_time(main())


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


async def drain(it: Stage, since: str, alone_seconds: float = QUIET_SECONDS) -> None:
    """Drain the room as the lane does, wait until it is seen, and then for so long."""
    await it.mark(Mark.DRAINING, **{labels.LEAVING: "scale-in", labels.LEAVING_SINCE: since})
    await it.seen()
    await asyncio.sleep(alone_seconds)


def heard(it: Stage) -> Heard:
    """What the lane is told that the room said."""
    return it.desk.book.of(a_key()).rooms[it.live().uid]


def confirmed(it: Stage) -> bool:
    """Whether the lane is told that the room is known to be empty."""
    return heard(it).confirmed


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
    monkeypatch.setattr(book, "SLICE", 1)

    async def main() -> None:
        async with stage(5) as it:
            for number in range(5):
                await it.say(READY, f"arena-{number}")
            await asyncio.sleep(600.0)
            shown = []
            real = it.clock.sleep

            async def look(seconds: float) -> None:
                it.desk.book._tell(a_key())  # a report of somebody makes it be shown anew
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
