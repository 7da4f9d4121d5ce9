"""A game ends, and the process that begins in its room is heard by another leader, or seen late.

It repeats itself on Maestro's path and tells its players on change: these it tells once.
"""

import asyncio
import json

import pytest

from reconciler.model import labels
from reconciler.model.rooms import GameState, Health, Mark, Report, Said
from reconciler.room_ports import Came
from tests.loop.virtual_time import elapsed
from tests.unit.core.making import a_key
from tests.unit.service_rooms.stage import READY, Stage, another, on_stage, players
from tests.unit.service_rooms.test_other_terms import crashes, restarts

OVER = Report(periodic=True, said=Said.TERMINATED, matches=0)
WORDS = {
    "its health": Report(periodic=False, health=Health.HEALTHY),
    "its state": Report(periodic=False, game_state=GameState.RUNNING),
    "its health, again and again": Report(periodic=True, health=Health.HEALTHY),
}


async def is_over(it: Stage) -> None:
    """Let a game be played, and say that it is over."""
    await it.say(READY)
    await it.say(players(0))
    await asyncio.sleep(5.0)
    await it.say(OVER)
    await asyncio.sleep(15.0)
    await it.say(OVER)
    await it.seen()


async def pings(it: Stage, report: Report = READY, times: int = 6) -> None:
    for _ in range(times):
        await asyncio.sleep(10.0)
        await it.say(report)
        it.desk.book.of(a_key())


async def stays(it: Stage) -> None:
    """Check that nobody takes the room for empty, and that it is not removed when asked to go."""
    room = it.desk.find("arena", "arena-0")
    assert (room.judged.protected != "", room.available, it.label()) == (True, False, "busy")
    await it.desk.leave(room, leaves=True, by="anna", own=False)
    await it.seen()
    await pings(it, times=30)
    verdict = it.desk.fence(it.desk.find("arena", "arena-0"))
    assert verdict is None or not verdict.may, verdict


async def others_write(it: Stage) -> None:
    """Let another leader write what the next process told it: three players, once."""
    kept = {"players": 3, "periodic": True, "runs": [1], "at": int(it.clock.now()) + 1}
    await it.mark(Mark.BUSY, **{labels.REPORT: json.dumps(kept, separators=(",", ":"))})


@pytest.mark.parametrize("word", WORDS.values(), ids=WORDS)
def test_players_of_whom_the_leader_before_was_told_stay(word: Report) -> None:
    async def act(it: Stage) -> None:
        async with another(it) as other:
            await is_over(it)
            it.leads = False  # it leads no more; its watch is slow from here on
            it.desk.forget()
            it.flows.clear()
            await other.seen()
            other.leads = True
            other.listen()
            await restarts(it)
            await other.seen()
            await other.say(READY)
            await other.say(players(3))
            await asyncio.sleep(3.0)
            other.leads = False
            other.desk.forget()
            it.leads = True
            it.listen()
            await asyncio.sleep(1.5)
            await it.say(word)
            it.flows.set()
            await it.seen()
            await pings(it, times=3)
            await stays(it)

    on_stage(act)


@pytest.mark.parametrize("late", [False, True], ids=["", "the watch is late"])
def test_so_do_those_of_whom_another_is_told_that_leads_beside_us(late: bool) -> None:
    async def act(it: Stage) -> None:
        it.desk.share()
        await is_over(it)
        if late:
            it.flows.clear()
            restart = asyncio.create_task(crashes(it))
            await asyncio.sleep(5.0)
            await others_write(it)
            await asyncio.sleep(1.0)
            it.flows.set()
            await restart
        else:
            await crashes(it)
            await asyncio.sleep(3.0)
            await others_write(it)
            await it.seen()
        it.desk.book.of(a_key())
        await pings(it)
        await stays(it)

    on_stage(act)


@pytest.mark.parametrize("anew", [False, True], ids=["this leader", "the next leader"])
@pytest.mark.parametrize("early", [False, True], ids=["", "before its pod tells of the restart"])
@pytest.mark.parametrize("gap", [1.0, 30.0, 100.0])
def test_whose_game_was_over_is_empty_when_the_next_process_says_so(
    gap: float, early: bool, anew: bool
) -> None:
    """It tells no count: it has no players, and never had any."""

    async def act(it: Stage) -> None:
        await it.say(READY)
        await it.say(players(3))
        await asyncio.sleep(gap)
        await it.say(OVER)
        await asyncio.sleep(12.0)
        await it.say(OVER)
        if anew:
            it.desk.forget()
        if early:
            it.flows.clear()
            restart = asyncio.create_task(crashes(it))
            await asyncio.sleep(3.0)
            it.listen()
            await asyncio.sleep(2.0)
            await it.say(READY)
            it.flows.set()
            await restart
        else:
            await crashes(it)
            it.listen()
            await it.say(READY)
        await pings(it, times=60)
        assert not it.desk.find("arena", "arena-0").judged.protected

    on_stage(act)


@pytest.mark.parametrize("exits", [True, False])
def test_a_count_of_before_is_not_taken_up_after_it_said_that_it_is_over(exits: bool) -> None:
    async def act(it: Stage) -> None:
        await it.say(READY)
        await asyncio.sleep(12.0)
        it.desk.forget()
        it.leads = False
        it.desk.turned_away(it.live(), 3, Came(elapsed(), elapsed()))
        await asyncio.sleep(3.0)
        it.leads = True
        it.listen()
        await it.say(OVER)
        await asyncio.sleep(3.0)
        if exits:
            await crashes(it)
        await pings(it, READY if exits else OVER, 60)
        assert not it.desk.find("arena", "arena-0").judged.protected

    on_stage(act)
