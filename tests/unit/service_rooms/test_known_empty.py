"""A draining room is known empty by a word that was sent late enough."""

import asyncio

import pytest

from reconciler.model import labels
from reconciler.model.rooms import GameState, Heard, Mark, Report
from reconciler.model.specs import Departure
from reconciler.room_ports import Came
from tests.loop.virtual_time import elapsed, in_virtual_time
from tests.unit.core.making import a_key
from tests.unit.service_rooms.stage import OCCUPIED, READY, Stage, stage

QUIET_SECONDS = Departure().quiet_seconds


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
                it.desk.book._liveness.presence._there_at -= 60.0  # not there for a minute
                it.desk.book.beat()
            assert not may_go(it)
            await it.say(READY)
            assert confirmed(it)
            assert may_go(it)

    in_virtual_time(main())


def test_a_game_that_says_a_match_begins_after_the_mark_is_waited_for() -> None:
    """It was sent there by an older list: its players are counted when they have loaded."""

    async def main() -> None:
        async with stage() as it:
            it.listen()
            await asyncio.sleep(300.0)  # what it told before we listened it has told again
            await it.say(Report(periodic=False, players=0))
            await asyncio.sleep(20.0)
            await drain(it, "2.000")
            await it.say(Report(periodic=False, game_state=GameState.ASSIGNED))
            await asyncio.sleep(QUIET_SECONDS)
            await it.say(Report(periodic=False, game_state=GameState.RUNNING))
            assert not may_go(it)
            await asyncio.sleep(60.0)
            assert not may_go(it)
            await it.say(Report(periodic=False, players=2))
            await it.say(Report(periodic=False, game_state=GameState.POST_MATCH))
            assert it.desk.find("arena", "arena-0").judged.protected
            await it.say(Report(periodic=False, players=0))
            await asyncio.sleep(QUIET_SECONDS + 6.0)
            await drain(it, "90.000")
            await asyncio.sleep(QUIET_SECONDS)
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


def test_a_report_that_was_read_late_is_no_word_from_after_a_quiet_time_that_was_raised() -> None:
    """Players were on their way when it was sent, whenever it was read."""

    async def main() -> None:
        async with stage() as it:
            await it.say(READY)
            await asyncio.sleep(2.0)
            await drain(it, "2.000", 40.0)
            asked = it.desk.find("arena", "arena-0")
            sent = asked.pod.seen.draining + QUIET_SECONDS + 1.0
            await it.desk.report(asked, READY, Came(elapsed(), sent))
            assert may_go(it)
            it.want(departure=Departure(quiet_seconds=30.0))
            assert not may_go(it)
            await it.say(READY)
            assert may_go(it)

    in_virtual_time(main())


def test_who_says_nothing_more_once_it_was_told_to_leave_stays_until_its_ping_time_out() -> None:
    """It may load a map for players who came meanwhile: only its own word is a farewell."""

    async def main() -> None:
        async with stage() as it:
            for _ in range(3):
                await it.say(READY)
                await asyncio.sleep(2.0)
            await drain(it, "6.000", 1.0)
            await it.say(READY)
            await asyncio.sleep(it.workload.timeouts.ping_seconds - 5.0)
            assert not may_go(it)
            await asyncio.sleep(10.0)
            assert may_go(it)
            await it.say(OCCUPIED)
            assert it.desk.find("arena", "arena-0").judged.protected

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
    return heard(it).confirmed_at > 0
