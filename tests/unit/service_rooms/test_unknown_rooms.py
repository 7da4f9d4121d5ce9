"""Rooms of which nobody knows: their mark was taken away or covered, or they cannot speak."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from reconciler.core.reporting import is_drained_unheard
from reconciler.model import labels
from reconciler.model.rooms import Mark, RoomState
from reconciler.model.wanted import Wanted
from reconciler.room_ports import AT_ONCE
from tests.unit.core.making import REPORTS, a_key
from tests.unit.service_rooms.stage import OCCUPIED, READY, Coded, Stage, on_stage


def told_to_leave(it: Stage) -> dict[str, str]:
    return {labels.LEAVING: "scale-in", labels.LEAVING_SINCE: f"{it.clock.now():.3f}"}


async def planned(it: Stage) -> None:
    """Let what stands on its pod be looked at, as before each plan."""
    await it.seen()
    it.desk.book.of(a_key())
    await asyncio.sleep(1.0)


@pytest.mark.parametrize("anew", [False, True], ids=["this leader", "the next leader"])
@pytest.mark.parametrize("asked", [False, True], ids=["told by the loop", "asked by a person"])
def test_who_was_told_to_leave_unheard_and_is_marked_by_hand_was_not_heard_for_it(
    asked: bool, anew: bool
) -> None:
    """The time beside its reason to leave is of that reason, not of the mark."""

    async def act(it: Stage) -> None:
        await it.patch(annotations={labels.REVISION: REPORTS})
        await it.seen()
        it.listen()
        await asyncio.sleep(5.0)
        if asked:
            room = it.desk.find("arena", "arena-0")
            await it.desk.leave(room, leaves=True, by="anna", own=False)
        else:
            await it.mark(Mark.NONE, **told_to_leave(it))
        await it.seen()
        await it.mark(Mark.DRAINING)
        await planned(it)
        if anew:
            it.desk.forget()
            it.listen()
        await asyncio.sleep(3 * it.workload.timeouts.ping_seconds)
        assert it.desk.find("arena", "arena-0").judged.protected, "nobody ever heard it"
        heard = it.desk.book.of(a_key()).rooms.get(it.live().uid)
        assert is_drained_unheard(it.live(), it.workload, heard), "its mark is taken back"

    on_stage(act)


@pytest.mark.parametrize("silent_before", [False, True], ids=["", "it was silent by then"])
@pytest.mark.parametrize(
    "marks", [(Mark.NONE,), (Mark.DRAINING,), (Mark.DRAINING, Mark.NONE)], ids=str
)
def test_whose_mark_somebody_took_away_under_a_leader_that_never_heard_it_is_not_given_up(
    marks: Sequence[Mark], silent_before: bool
) -> None:
    """It stood as busy. Whoever covers that knows nothing of it, and neither does its silence."""

    async def act(it: Stage) -> None:
        await it.patch(annotations={labels.REVISION: REPORTS})
        await it.seen()
        await it.say(OCCUPIED)
        it.desk.forget()
        it.listen()
        await asyncio.sleep(2 * it.workload.timeouts.ping_seconds if silent_before else 20.0)
        for mark in marks:
            await it.mark(mark, **(told_to_leave(it) if mark is not marks[0] else {}))
            await planned(it)
        await asyncio.sleep(3 * it.workload.timeouts.ping_seconds)
        room = it.desk.find("arena", "arena-0")
        assert room.judged.protected, room.judged
        assert it.live().uid not in it.desk.book.of(a_key()).rooms, "nothing is known of it"
        await it.mark(Mark.IDLE)
        await planned(it)
        await asyncio.sleep(it.workload.timeouts.ping_seconds - 1.0)
        assert it.desk.find("arena", "arena-0").judged.protected, "it is waited for from now on"
        await asyncio.sleep(5.0)
        assert it.desk.find("arena", "arena-0").judged.state is RoomState.ERROR

    on_stage(act)


@pytest.mark.parametrize(
    "notes",
    [
        pytest.param({labels.STATE: "idle", labels.REPORT: '{"players":0}'}, id="that is idle"),
        pytest.param(
            {labels.STATE: "draining", labels.REPORT: '{"players":0,"health":"Creating"}'},
            id="that drains since its start",
        ),
        pytest.param({labels.STATE: "idle"}, id="that repeated itself"),
    ],
)
def test_a_room_whose_code_was_lost_is_not_empty_for_its_silence(notes: dict[str, str]) -> None:
    """It cannot speak by that code any more, so that it says nothing tells nothing."""

    async def act(it: Stage) -> None:
        left = told_to_leave(it) if notes[labels.STATE] == "draining" else {}
        kept = {name: text for name, text in notes.items() if name != labels.STATE}
        await it.mark(Mark(notes[labels.STATE]), **{labels.REVISION: REPORTS}, **left, **kept)
        await it.seen()
        it.lane.codes = Coded(it.live().created_at + 1)
        it.desk.forget()
        it.listen()
        await asyncio.sleep(10 * it.workload.timeouts.ping_seconds)
        assert it.desk.find("arena", "arena-0").judged.protected, "it may be full by now"

    on_stage(act)


@pytest.mark.parametrize(
    ("between", "before", "after"),
    [
        pytest.param(Mark.NONE, 0.7, 0.2, id="none while it was waited for"),
        pytest.param(Mark.FAILED, 2.0, 2.0, id="failed once it was silent"),
    ],
)
def test_silence_is_counted_anew_from_when_a_mark_is_given_back(
    between: Mark, before: float, after: float
) -> None:
    """`before` and `after` are how many ping time-outs it stood as idle, and between."""

    async def act(it: Stage) -> None:
        limit = it.workload.timeouts.ping_seconds
        await it.mark(Mark.IDLE, **{labels.REVISION: REPORTS})
        await it.seen()
        it.desk.forget()
        it.listen()
        await planned(it)
        await asyncio.sleep(before * limit)
        await it.mark(between)
        await planned(it)
        await asyncio.sleep(after * limit)
        await it.mark(Mark.IDLE)
        await planned(it)
        await asyncio.sleep(limit - 2.0)
        assert it.desk.find("arena", "arena-0").judged.protected
        await asyncio.sleep(5.0)
        assert it.desk.find("arena", "arena-0").judged.state is RoomState.ERROR

    on_stage(act)


@pytest.mark.parametrize("changes", [True, False], ids=["its pod changes then", ""])
def test_nobody_was_silent_while_no_spec_said_for_how_long_a_room_may_be(changes: bool) -> None:
    async def act(it: Stage) -> None:
        await it.mark(Mark.IDLE, **{labels.REVISION: REPORTS})
        await it.seen()
        it.desk.forget()
        it.lane.wanted = Wanted()
        it.listen()
        await planned(it)
        await asyncio.sleep(3 * it.workload.timeouts.ping_seconds)
        assert it.desk.find("arena", "arena-0").judged.protected
        it.want()
        if changes:
            await it.patch(annotations={"anybody": "changes it"})
        await planned(it)
        await asyncio.sleep(5.0)
        it.desk.book.of(a_key())
        assert it.desk.find("arena", "arena-0").judged.protected
        await asyncio.sleep(it.workload.timeouts.ping_seconds)
        it.desk.book.of(a_key())
        assert it.desk.find("arena", "arena-0").judged.state is RoomState.ERROR, "it is heeded now"

    on_stage(act)


def test_who_plays_in_a_room_of_which_no_spec_is_known_is_protected() -> None:
    """Its record was lost, and what Git says of it is held: it may be so for days."""

    async def act(it: Stage) -> None:
        await it.mark(Mark.IDLE, **{labels.REVISION: REPORTS})
        await it.seen()
        it.desk.forget()
        it.lane.wanted = Wanted()
        it.listen()
        await it.say(replace(OCCUPIED, matches=3))
        await asyncio.sleep(1.0)
        assert it.label() == "busy"
        assert not it.desk.find("arena", "arena-0").available
        await it.say(READY)
        await asyncio.sleep(30.0)
        assert it.label() == "idle"
        await it.say(replace(OCCUPIED, matches=3))
        it.want(matches_max=4)
        await it.say(replace(OCCUPIED, matches=3))
        room = it.desk.find("arena", "arena-0")
        assert room.heard is not None
        assert (room.heard.matches, room.judged.state) == (3, RoomState.ACTIVE)

    on_stage(act)


@pytest.mark.parametrize("reports", [True, False])
def test_what_was_told_while_nobody_led_is_taken_up_without_a_spec(reports: bool) -> None:
    """But not before it is known that the room reports: its words may count for nothing."""

    async def act(it: Stage) -> None:
        if reports:
            await it.mark(Mark.IDLE, **{labels.REVISION: REPORTS})
        await it.seen()
        it.desk.forget()
        it.lane.wanted = Wanted()
        it.leads = False
        it.desk.turned_away(it.live(), 3, AT_ONCE)
        it.leads = True
        it.listen()
        await asyncio.sleep(5.0)
        assert (it.label() == "busy") is reports
        it.want()
        await planned(it)
        await asyncio.sleep(5.0)
        assert it.label() == "busy"

    on_stage(act)
