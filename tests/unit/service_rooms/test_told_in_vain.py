"""Players of whom a room told in vain, and what is not known: they are there until it is."""

import asyncio
from dataclasses import replace

import pytest

from reconciler.model.errors import Unavailable
from reconciler.room_ports import AT_ONCE
from tests.loop.virtual_time import elapsed
from tests.unit.core.making import a_key
from tests.unit.service_rooms.stage import READY, Stage, another, on_stage, players
from tests.unit.service_rooms.test_other_terms import crashes
from tests.unit.service_rooms.test_over_and_after import OVER, pings
from tests.unit.service_rooms.test_slow_words import (
    ends_its_term,
    is_told_in_vain,
    leads_again,
    turns_away,
)

LIMIT_SECONDS = 120.0


def limited(it: Stage) -> None:
    """Set `timeouts.silentBusySeconds`."""
    it.want(timeouts=replace(it.workload.timeouts, silent_busy_seconds=LIMIT_SECONDS))


def fails_to_read(it: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nobody know what is the newest version of the cluster."""

    async def fails(path: str) -> None:
        raise Unavailable("too many requests")

    monkeypatch.setattr(it.desk._flips.hindsight._cluster, "raw_get", fails)


@pytest.mark.parametrize("watch", [True, False], ids=["watch", "read"])
@pytest.mark.parametrize("ping_seconds", [30.0, 120.0])
def test_their_room_stays_until_all_is_seen_that_was_written_before(
    watch: bool, ping_seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def act(it: Stage) -> None:
        it.want(timeouts=replace(it.workload.timeouts, ping_seconds=ping_seconds))
        await it.say(players(0))
        await it.say(READY, "arena-1")
        await asyncio.sleep(15.0)
        await ends_its_term(it)
        await turns_away(it, 3)
        if watch:
            it.flows.clear()
            await it.patch("arena-1", annotations={"x": "y"})
        else:
            fails_to_read(it, monkeypatch)
        leads_again(it)
        await asyncio.sleep(2.0)
        room = it.desk.find("arena", "arena-0")
        assert room.judged.protected
        assert not room.available
        await it.desk.leave(room, leaves=True, by="anna", own=False)
        end = elapsed() + ping_seconds + 20.0
        while elapsed() < end:
            await asyncio.sleep(5.0)
            await it.say(READY, "arena-1")
            assert it.desk.book.of(a_key()).rooms[room.pod.uid].players == 3
        verdict = it.desk.fence(it.desk.find("arena", "arena-0"))
        assert verdict is not None
        assert not verdict.may
        await it.say(players(0))
        assert not it.desk.find("arena", "arena-0").judged.protected, "it told a later count"
        assert not it.desk.book.of(a_key()).rooms[room.pod.uid].busy

    on_stage(act, 2)


def test_they_are_forgotten_where_the_pod_shows_in_the_end_that_another_was_told_later() -> None:
    async def act(it: Stage) -> None:
        async with another(it) as other:
            await it.say(players(2))
            await asyncio.sleep(15.0)
            other.flows.clear()
            other.desk.turned_away(other.live(), 3, AT_ONCE)
            await asyncio.sleep(10.0)
            await it.say(players(0))
            await asyncio.sleep(10.0)
            await ends_its_term(it)
            leads_again(other)
            await asyncio.sleep(5.0)
            assert other.desk.find("arena", "arena-0").judged.protected
            other.flows.set()
            await asyncio.sleep(5.0)
            assert not other.desk.find("arena", "arena-0").judged.protected
            assert not other.desk.book.of(a_key()).rooms[other.live().uid].busy

    on_stage(act)


@pytest.mark.parametrize("limit", [True, False])
def test_of_those_of_long_ago_it_is_said_that_they_may_have_gone(limit: bool) -> None:
    """Another leader was told that they left, and that nobody is there stood on the pod already."""

    async def act(it: Stage) -> None:
        async with another(it) as other:
            for each in (it, other) if limit else ():
                limited(each)
            await it.say(players(0))
            await asyncio.sleep(30.0)
            await turns_away(other, 3)
            await asyncio.sleep(60.0)
            await it.say(players(0))
            await asyncio.sleep(3600.0)
            await ends_its_term(it)
            leads_again(other)
            await asyncio.sleep(60.0)
            judged = other.desk.find("arena", "arena-0").judged
            assert "3 players, or did long ago, to a process that did not lead" in judged.protected
            assert ("silentBusySeconds is not set" in judged.protected) is not limit
            await asyncio.sleep(4 * LIMIT_SECONDS)
            assert bool(other.desk.find("arena", "arena-0").judged.protected) is not limit
            await other.say(players(3))
            judged = other.desk.find("arena", "arena-0").judged
            assert judged.protected == "it says so, 3 players", "it tells of them itself"

    on_stage(act)


def test_those_of_the_process_before_are_in_doubt_as_if_they_had_been_heard() -> None:
    async def act(it: Stage) -> None:
        limited(it)
        await is_told_in_vain(it)
        await asyncio.sleep(5.0)
        await crashes(it)
        await asyncio.sleep(5.0)
        leads_again(it)
        await asyncio.sleep(10.0)
        judged = it.desk.find("arena", "arena-0").judged
        assert "or did right before its game began anew" in judged.protected
        await asyncio.sleep(4 * LIMIT_SECONDS)
        assert not it.desk.find("arena", "arena-0").judged.protected

    on_stage(act)


def test_whoever_said_since_that_it_is_over_and_began_anew_has_none() -> None:
    async def act(it: Stage) -> None:
        await it.say(READY)
        await asyncio.sleep(12.0)
        await ends_its_term(it)
        await turns_away(it, 3)
        await asyncio.sleep(3.0)
        leads_again(it)
        it.flows.clear()
        restart = asyncio.create_task(crashes(it))
        await it.say(OVER)
        await asyncio.sleep(4.0)
        await it.say(READY)
        it.flows.set()
        await restart
        await pings(it)
        assert not it.desk.find("arena", "arena-0").judged.protected

    on_stage(act)


@pytest.mark.parametrize("limit", [True, False])
def test_nobody_is_kept_over_a_term_of_a_game_that_said_that_it_is_over(limit: bool) -> None:
    async def act(it: Stage) -> None:
        if limit:
            limited(it)
        await it.say(READY)
        await it.say(players(3))
        await asyncio.sleep(20.0)
        await it.say(OVER)
        await ends_its_term(it)
        await crashes(it)
        await asyncio.sleep(2.0)
        leads_again(it)
        await it.say(READY)
        await pings(it)
        assert not it.desk.find("arena", "arena-0").judged.protected

    on_stage(act)


@pytest.mark.parametrize("gap", [0.3, 1.9])
def test_who_stands_on_the_pod_is_in_no_doubt_for_having_been_told_in_vain_before(
    gap: float,
) -> None:
    """As games do: turned away by the one, they ask again, and the other one takes it in."""

    async def act(it: Stage) -> None:
        async with another(it) as other:
            for each in (it, other):
                limited(each)
            await it.say(players(0))
            await asyncio.sleep(30.0)
            await turns_away(other, 3)
            await asyncio.sleep(gap)
            await it.say(players(3))
            await asyncio.sleep(1200.0)
            await ends_its_term(it)
            await other.seen()
            leads_again(other)
            await asyncio.sleep(30.0)
            judged = other.desk.find("arena", "arena-0").judged
            assert judged.protected == "it says so, 3 players"
            await asyncio.sleep(3 * LIMIT_SECONDS)
            assert other.desk.find("arena", "arena-0").judged.protected

    on_stage(act)


def test_a_silence_that_was_noted_before_they_are_taken_in_lasts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def act(it: Stage) -> None:
        limited(it)
        it.want(timeouts=replace(it.workload.timeouts, ping_seconds=30.0))
        await it.say(READY)
        await is_told_in_vain(it)
        with monkeypatch.context() as patched:
            fails_to_read(it, patched)
            leads_again(it)
            await pings_of(it, "arena-1", 6)
        await pings_of(it, "arena-1", 100)
        assert not it.desk.find("arena", "arena-0").judged.protected

    on_stage(act, 2)


async def pings_of(it: Stage, name: str, times: int) -> None:
    for _ in range(times):
        await asyncio.sleep(10.0)
        await it.say(READY, name)
        it.desk.book.of(a_key())


def test_a_count_of_0_that_was_answered_ends_them_in_a_term_however_short() -> None:
    async def act(it: Stage) -> None:
        await is_told_in_vain(it)
        await asyncio.sleep(5.0)
        it.leads = True
        await it.say(players(0))
        await ends_its_term(it)
        leads_again(it)
        await asyncio.sleep(30.0)
        assert not it.desk.find("arena", "arena-0").judged.protected

    on_stage(act)


def test_a_doubt_outlives_the_term_in_which_nothing_could_be_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def fails(*of_what: object) -> None:
        raise Unavailable("no writes for a while")

    async def act(it: Stage) -> None:
        limited(it)
        await it.say(players(2))
        await asyncio.sleep(15.0)
        with monkeypatch.context() as patched:
            patched.setattr(it.desk._flips, "_patch", fails)
            await it.say(players(3))
            await crashes(it)
            await ends_its_term(it)
        leads_again(it)
        await asyncio.sleep(10 * LIMIT_SECONDS)
        assert not it.desk.find("arena", "arena-0").judged.protected

    on_stage(act)


def test_whoever_is_asked_to_leave_meanwhile_is_not_marked_as_empty(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def act(it: Stage) -> None:
        await is_told_in_vain(it)
        fails_to_read(it, monkeypatch)
        leads_again(it)
        await asyncio.sleep(2.0)
        await it.desk.leave(it.desk.find("arena", "arena-0"), leaves=True, by="anna", own=False)
        await asyncio.sleep(60.0)
        assert it.label() != "draining"

    on_stage(act)
