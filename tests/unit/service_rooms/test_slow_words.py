"""Words that come late, or twice: what a room told meanwhile stands, whoever heard it."""

import asyncio
from dataclasses import replace

import pytest

from reconciler.model.errors import Unavailable
from reconciler.room_ports import Came
from tests.loop.virtual_time import elapsed
from tests.unit.core.making import a_key
from tests.unit.service_rooms.stage import READY, Stage, another, on_stage, players
from tests.unit.service_rooms.test_other_terms import crashes, restarts
from tests.unit.service_rooms.test_over_and_after import OVER, pings, stays


async def is_slow(it: Stage, begun: float) -> None:
    """Let a count of 0 come in that had `begun` to do so then."""
    await it.desk.report(it.desk.find("arena", "arena-0"), players(0), Came(begun, begun))


async def turns_away(it: Stage, count: int, begun: float | None = None) -> None:
    """Let a room tell its players to a process that does not lead."""
    at = elapsed() if begun is None else begun
    it.desk.turned_away(it.live(), count, Came(at, at))


async def ends_its_term(it: Stage) -> None:
    it.leads = False
    it.desk.forget()
    await asyncio.sleep(1.0)


async def is_told_in_vain(it: Stage) -> None:
    """Let a room that was empty tell of three players when nothing is taken in."""
    await it.say(players(0))
    await asyncio.sleep(15.0)
    await ends_its_term(it)
    await turns_away(it, 3)


def leads_again(it: Stage) -> None:
    it.leads = True
    it.listen()


@pytest.mark.parametrize("gap", [0.1, 3.0, 9.0])
def test_a_word_of_the_process_before_that_it_is_over_ends_no_match_of_the_next(gap: float) -> None:
    async def act(it: Stage) -> None:
        await is_begun_anew(it)
        await it.say(READY)
        await it.say(players(3))
        await pings(it)
        await it.say(OVER)  # whoever stands in between said it a second time
        await asyncio.sleep(gap)
        await it.say(READY)
        await pings(it, times=1)
        await stays(it)

    on_stage(act)


def test_nor_where_its_players_were_told_of_in_vain() -> None:
    async def act(it: Stage) -> None:
        await is_begun_anew(it)
        await it.say(READY)
        await ends_its_term(it)
        await turns_away(it, 3)
        await asyncio.sleep(1.3)
        leads_again(it)
        await it.say(OVER)
        await asyncio.sleep(3.0)
        await it.say(READY)
        await pings(it, times=1)
        await stays(it)

    on_stage(act)


@pytest.mark.parametrize("before", [2, 1])
@pytest.mark.parametrize("late", [0.2, 3.0, 6.0])
def test_nor_where_the_pod_tells_late_that_the_next_one_runs(late: float, before: int) -> None:
    async def act(it: Stage) -> None:
        await it.say(READY)
        await it.say(players(before))
        await asyncio.sleep(20.0)
        await it.say(READY)
        it.flows.clear()
        await restarts(it)
        await asyncio.sleep(late)
        await it.say(READY)
        await it.say(players(3))
        await asyncio.sleep(0.2)
        await it.say(OVER)
        await asyncio.sleep(0.3)
        it.flows.set()
        await it.seen()
        it.desk.book.of(a_key())  # as the lane does at every event
        await pings(it, times=3)
        await stays(it)

    on_stage(act)


def test_where_no_restart_is_seen_after_it_players_of_before_are_in_doubt() -> None:
    """A shell may start the next process, or a container beside the game runs on."""

    async def act(it: Stage) -> None:
        timeouts = replace(it.workload.timeouts, silent_busy_seconds=600.0)
        it.want(timeouts=timeouts)
        await it.say(READY)
        await it.say(players(3))
        await asyncio.sleep(20.0)
        await it.say(OVER)
        await pings(it, times=2)
        told = it.desk.find("arena", "arena-0").judged.protected
        assert told == "it says so, 3 players, or did before it said that it was over"
        await pings(it, times=90)
        assert not it.desk.find("arena", "arena-0").judged.protected

    on_stage(act)


async def is_begun_anew(it: Stage) -> None:
    """Let a game be over, and the next process begin."""
    await it.say(READY)
    await it.say(players(0))
    await asyncio.sleep(5.0)
    await it.say(OVER)
    await crashes(it)
    await asyncio.sleep(20.0)


@pytest.mark.parametrize("same", [False, True], ids=["another leads", "the lease was lost"])
def test_a_slow_count_empties_nobody_of_whom_the_leader_before_was_told(same: bool) -> None:
    async def act(it: Stage) -> None:
        async with another(it) as other:
            await it.say(players(0))
            await asyncio.sleep(15.0)
            begun = elapsed()
            await asyncio.sleep(1.0)
            await it.say(players(3))
            await ends_its_term(it)
            leads = it if same else other
            await leads.seen()
            leads_again(leads)
            await asyncio.sleep(1.5)
            with pytest.raises(Unavailable, match="say how the room is now"):
                await is_slow(leads, begun)
            await pings(leads, players(3), times=1)
            await stays(leads)

    on_stage(act)


def test_nor_does_it_empty_those_who_were_told_of_in_vain() -> None:
    async def act(it: Stage) -> None:
        await it.say(players(0))
        await asyncio.sleep(15.0)
        begun = elapsed()
        await ends_its_term(it)
        await turns_away(it, 3)
        leads_again(it)
        await asyncio.sleep(0.5)
        await is_slow(it, begun)
        await asyncio.sleep(20.0)
        await stays(it)

    on_stage(act)


def test_told_in_vain_it_is_older_than_what_came_in_meanwhile() -> None:
    async def act(it: Stage) -> None:
        await it.say(players(0))
        await asyncio.sleep(15.0)
        await ends_its_term(it)
        begun = elapsed()
        await asyncio.sleep(2.0)
        await turns_away(it, 3)
        await asyncio.sleep(2.0)
        await turns_away(it, 0, begun)
        await asyncio.sleep(5.0)
        leads_again(it)
        await asyncio.sleep(10.0)
        await stays(it)

    on_stage(act)
