"""That its game is over is the word of one process: the next says it itself, or it is not so."""

import asyncio

import pytest

from reconciler.model.rooms import Report, RoomState, Said
from tests.unit.service_rooms.stage import READY, Stage, on_stage
from tests.unit.service_rooms.test_other_terms import crashes

WORDS = {
    "Maestro's": Report(periodic=True, said=Said.TERMINATED, matches=0),
    "ours": Report(periodic=True, said=Said.TERMINATED),
    "ours, with players": Report(periodic=True, said=Said.TERMINATED, matches=0, players=0),
}
COUNTS = {name: WORDS[name] for name in ("Maestro's", "ours, with players")}


def state(it: Stage) -> tuple[RoomState, bool]:
    """How a room is judged, and whether a matchmaker may send players there."""
    room = it.desk.find("arena", "arena-0")
    return room.judged.state, room.available


async def says_again(it: Stage, over: Report) -> None:
    for _ in range(6):
        await asyncio.sleep(10.0)
        await it.say(over)


@pytest.mark.parametrize("over", WORDS.values(), ids=WORDS)
@pytest.mark.parametrize("restarted", [False, True])
def test_a_room_that_says_that_it_is_over_is_over(over: Report, restarted: bool) -> None:
    async def act(it: Stage) -> None:
        await it.say(READY)
        if restarted:
            await crashes(it)
            await asyncio.sleep(20.0)
            await it.say(READY)
        await says_again(it, over)
        assert state(it) == (RoomState.TERMINATED, False)

    on_stage(act)


@pytest.mark.parametrize("over", COUNTS.values(), ids=COUNTS)
def test_the_next_process_may_say_the_same_at_once(over: Report) -> None:
    async def act(it: Stage) -> None:
        await it.say(READY)
        await asyncio.sleep(5.0)
        await it.say(over)
        await crashes(it)
        assert state(it) == (RoomState.READY, True)
        assert "not heard since" in it.desk.find("arena", "arena-0").judged.reason
        await says_again(it, over)
        assert state(it) == (RoomState.TERMINATED, False)

    on_stage(act)


@pytest.mark.parametrize("over", COUNTS.values(), ids=COUNTS)
def test_or_before_its_pod_tells_of_the_restart(over: Report) -> None:
    async def act(it: Stage) -> None:
        await it.say(READY)
        it.flows.clear()
        restart = asyncio.create_task(crashes(it))
        await asyncio.sleep(3.0)
        await it.say(over)
        it.flows.set()
        await restart
        await says_again(it, over)
        assert state(it) == (RoomState.TERMINATED, False)

    on_stage(act)


PLAYERS = {
    "on change": Report(periodic=False, players=3),
    "ours, again and again": Report(periodic=True, players=3),
}


@pytest.mark.parametrize("count", PLAYERS.values(), ids=PLAYERS)
@pytest.mark.parametrize("over", COUNTS.values(), ids=COUNTS)
@pytest.mark.parametrize("early", [False, True], ids=["", "before its pod tells of the restart"])
def test_players_of_the_next_process_are_protected(
    count: Report, over: Report, early: bool
) -> None:
    async def act(it: Stage) -> None:
        await it.say(READY)
        await asyncio.sleep(5.0)
        await it.say(over)
        if early:
            it.flows.clear()
            restart = asyncio.create_task(crashes(it))
            await asyncio.sleep(3.0)
            await it.say(count)
            it.flows.set()
            await restart
        else:
            await crashes(it)
            await asyncio.sleep(20.0)
        for _ in range(4):
            await it.say(count)
            await asyncio.sleep(5.0)
        room = it.desk.find("arena", "arena-0")
        assert (room.judged.protected != "", room.available, it.label()) == (True, False, "busy")
        await it.desk.leave(room, leaves=True, by="anna", own=False)
        for _ in range(6):
            await it.seen()
            await asyncio.sleep(10.0)
            await it.say(count)
        verdict = it.desk.fence(it.desk.find("arena", "arena-0"))
        assert verdict is None or not verdict.may

    on_stage(act)
