"""Players of whom a room told while nothing was taken in: the next term begins with them."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from reconciler.core import kept_reports
from reconciler.model import labels
from reconciler.model.errors import Unavailable
from reconciler.model.rooms import Mark
from reconciler.room_ports import AT_ONCE
from reconciler.service.rooms import turned_away
from reconciler.service.rooms.turned_away import TurnedAway, is_outdone
from tests.loop.virtual_time import elapsed, in_virtual_time
from tests.unit.core.making import NOW, a_key, a_room
from tests.unit.service_rooms.stage import Stage, players, stage
from tests.unit.service_rooms.test_other_terms import restarts

Act = Callable[[Stage], Awaitable[None]]


def _played(act: Act) -> None:
    async def main() -> None:
        async with stage(2) as it:
            await it.say(players(0))
            await asyncio.sleep(2.0)
            await act(it)

    in_virtual_time(main())


async def _turned_away(it: Stage, count: int = 4) -> None:
    """A term ends, and the room tells its players to nobody."""
    it.leads = False
    it.desk.forget()
    it.desk.turned_away(it.live(), count, AT_ONCE)
    await asyncio.sleep(20.0)


async def _leads_again(it: Stage) -> None:
    it.leads = True
    await asyncio.sleep(5.0)


def _players(it: Stage) -> int:
    heard = it.desk.book.heard(it.live().uid)
    return 0 if heard is None else heard.players


def test_they_are_there_when_this_process_leads_again_and_stand_on_the_pod() -> None:
    async def act(it: Stage) -> None:
        await _turned_away(it)
        await _leads_again(it)
        assert (_players(it), it.label()) == (4, Mark.BUSY)
        assert it.desk.find("arena", "arena-0").judged.protected
        assert not it.desk.book._liveness.presence.heard_anybody, "nobody speaks now"

    _played(act)


def test_who_told_since_that_all_have_gone_is_empty() -> None:
    async def act(it: Stage) -> None:
        await _turned_away(it)
        it.desk.turned_away(it.live(), 0, AT_ONCE)
        await _leads_again(it)
        assert (_players(it), it.label()) == (0, Mark.IDLE)

    _played(act)


def test_a_count_that_is_heard_first_in_the_new_term_is_the_later_one() -> None:
    async def act(it: Stage) -> None:
        await _turned_away(it)
        it.leads = True
        await it.say(players(0))
        await asyncio.sleep(5.0)
        assert (_players(it), it.label()) == (0, Mark.IDLE)

    _played(act)


def test_a_count_that_another_process_kept_since_is_the_later_one() -> None:
    async def act(it: Stage) -> None:
        await _turned_away(it)
        heard = kept_reports.heard_of(it.live().kept_report)
        assert heard is not None
        kept = kept_reports.kept_of(replace(heard, counted=int(it.clock.now())))
        await it.patch(annotations={labels.REPORT: kept})
        await it.seen()
        await _leads_again(it)
        assert (_players(it), it.label()) == (0, Mark.IDLE)

    _played(act)


def test_a_count_that_another_process_kept_is_the_later_one_though_our_view_is_behind() -> None:
    async def act(it: Stage) -> None:
        await _turned_away(it)
        heard = kept_reports.heard_of(it.live().kept_report)
        assert heard is not None
        kept = kept_reports.kept_of(replace(heard, counted=int(it.clock.now())))
        it.flows.clear()
        await it.patch(annotations={labels.REPORT: kept})
        it.leads = True
        await asyncio.sleep(3.0)
        it.flows.set()
        await it.seen()
        await asyncio.sleep(5.0)
        assert (_players(it), it.label()) == (0, Mark.IDLE)

    _played(act)


def test_who_told_another_process_for_an_hour_that_nobody_is_there_is_empty() -> None:
    """That is what stood on the pod before: it stands there with another time."""

    async def act(it: Stage) -> None:
        await _turned_away(it)
        first, leading = it.desk, it.desk._may_act
        first._may_act = lambda: False
        it.leads = True
        other = it.new_desk()
        serves = asyncio.create_task(other.run())
        for _ in range(2):
            await asyncio.sleep(1800.0)
            await other.report(other.find("arena", "arena-0"), players(0))
        other._may_act = lambda: False
        other.forget()
        serves.cancel()
        first._may_act, it.view.room_changed = leading, first.room_changed
        await asyncio.sleep(60.0)
        heard = first.book.heard(it.live().uid)
        assert heard is None or heard.players == 0
        assert it.label() == Mark.IDLE

    _played(act)


def test_a_game_that_crashed_after_it_told_has_no_players_though_its_pod_tells_it_late() -> None:
    async def act(it: Stage) -> None:
        await _turned_away(it)
        await asyncio.sleep(200.0)
        it.flows.clear()
        await restarts(it)
        await _leads_again(it)
        it.flows.set()
        await it.seen()
        it.desk.book.of(a_key())
        await asyncio.sleep(60.0)
        it.desk.book.of(a_key())
        assert _players(it) == 0

    _played(act)


def test_players_who_were_taken_in_and_stand_nowhere_outlive_the_term() -> None:
    async def act(it: Stage) -> None:
        it.transport.down = "the server is away"
        with pytest.raises(Unavailable):
            await it.say(players(4))
        it.leads = False
        it.desk.forget()
        await asyncio.sleep(20.0)
        it.transport.down = ""
        await _leads_again(it)
        assert (_players(it), it.label()) == (4, Mark.BUSY)

    _played(act)


def test_a_room_that_is_gone_or_another_one_is_told_of_no_more() -> None:
    async def act(it: Stage) -> None:
        it.leads = False
        it.desk.forget()
        it.desk.turned_away(replace(it.live(), uid="before"), 4, AT_ONCE)
        it.desk.turned_away(replace(it.live("arena-1"), name="arena-9"), 4, AT_ONCE)
        await _leads_again(it)
        assert _players(it) == 0
        assert it.desk.book.heard(it.live("arena-1").uid) is None
        assert it.desk._turned_away.all() == ()

    _played(act)


async def test_a_process_that_began_long_after_it_told_has_other_players() -> None:
    kept = TurnedAway(lambda: 1000.0, lambda: NOW)
    pod = a_room(0, game_started_at=NOW - 600.0)
    kept.note(pod, 4, 300.0)
    kept.note(replace(pod, uid="other"), 4, 500.0)
    assert [is_outdone(each, pod, None) for each in kept.all()] == [True, False]


@pytest.mark.parametrize(("ended_at", "over"), [(NOW - 400.0, True), (NOW - 600.0, False)])
async def test_a_game_that_ended_for_good_since_it_told_has_none(
    ended_at: float, over: bool
) -> None:
    kept = TurnedAway(lambda: 1000.0, lambda: NOW)
    pod = a_room(0, ended="Completed", game_ended_at=ended_at, game_started_at=NOW - 2000.0)
    kept.note(pod, 4, 500.0)
    assert [is_outdone(each, pod, None) for each in kept.all()] == [over]


async def test_so_many_rooms_are_known_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turned_away, "MOST_ROOMS", 2)
    kept = TurnedAway(asyncio.get_running_loop().time, lambda: NOW)
    for name in ("a", "b", "c", "b"):
        kept.note(replace(a_room(0), uid=name), 4, elapsed())
    assert [each.pod.uid for each in kept.all()] == ["c", "b"]
