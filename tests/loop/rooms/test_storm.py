"""An API server that pushes back for ten minutes, with matches played: nobody hammers at it.

The real transport keeps its pace here, in virtual time. What people commit meanwhile is there soon
after the storm, with no rush of requests beyond that of the same commits on a calm day.
"""

import asyncio
import random
from dataclasses import dataclass

import pytest

from reconciler.adapters.kubernetes import transport
from reconciler.sandbox.players.natures import Voice
from tests.loop.rooms.house import Playhouse
from tests.loop.rooms.matches import full, in_match, marks
from tests.loop.rooms.pushed_back import PacedHouse
from tests.loop.rooms.wishes import CONFIG, SERVERS, Piece, Wish
from tests.loop.sweeps import part
from tests.loop.virtual_time import elapsed, in_virtual_time
from tests.scorecard import score

pytestmark = pytest.mark.long

ROW = 25
STORM_SECONDS = 600.0
CONVERGED_SECONDS = 60.0
CALM_SECONDS = 120.0
PEAK_SECONDS = 10.0
FREE = 2
PIECES = (
    Piece("arena", Voice.MAESTRO, 6),
    Piece("lobby", Voice.NATIVE, 5, 3),
    Piece("duel", Voice.COLLECTIONS, 5, namespace=SERVERS),
)
WANTED = {"arena": 9, "lobby": 7, "duel": 4}
RETRY_AFTER: tuple[int | None, ...] = (None, 1, 5, 30)


@dataclass(frozen=True)
class Storm:
    """What came of one, or of the same commits with no storm."""

    took_seconds: float
    peak: int
    throttled: int
    early: int


def _is_as_wanted(there: Playhouse) -> bool:
    """Whether each workload has its rooms, each marked as its players say.

    Who drains is out of the count: how long that takes is a promise to players.
    """
    playing = full(there)
    stay = {uid: mark for uid, mark in marks(there).items() if mark != "draining"}
    as_wanted = all(
        sum(pod["metadata"]["uid"] in stay for pod in there.world.pods(piece.place))
        == WANTED[piece.name]
        for piece in PIECES
    )
    return as_wanted and stay == {uid: "busy" if uid in playing else "idle" for uid in stay}


async def _change(there: Playhouse, wish: Wish, seconds: float) -> None:
    """Commit other counts and let matches begin, spread over a time."""
    for name, number in WANTED.items():
        await asyncio.sleep(seconds / 4)
        wish.change(name, number, 1)
        free = [each for each in there.cast.playing() if not each.game.players]
        there.cast.join(min(free, key=lambda each: each.game.where.room), 1)
    await asyncio.sleep(seconds / 4)


async def _play(retry_after_seconds: int | None, storms: bool) -> Storm:
    random.seed(1)
    async with in_match(PIECES, free=FREE, config=CONFIG, made=PacedHouse) as (there, wish):
        assert isinstance(there, PacedHouse)
        server, playing = there.server, full(there)
        await asyncio.sleep(CALM_SECONDS)
        server.retry_after_seconds, server.pushes_back = retry_after_seconds, storms
        began = elapsed()
        await _change(there, wish, STORM_SECONDS if storms else 0.0)
        server.pushes_back = False
        ended = elapsed()
        for service in there.services:
            service.app.head_service.wake()  # as a webhook would
        took = await there.until("as wanted", lambda: _is_as_wanted(there), 4 * CONVERGED_SECONDS)
        assert playing <= full(there), f"{len(playing - full(there))} matches were ended"
        peak = server.peak(ended, elapsed(), PEAK_SECONDS)
        return Storm(took, peak, server.within(began, ended), server.early)


@pytest.mark.parametrize("retry_after_seconds", part(RETRY_AFTER, 4))
def test_a_server_that_pushes_back_is_not_hammered_and_is_caught_up_with(
    retry_after_seconds: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "_CHANCE", random)
    calm = in_virtual_time(_play(None, storms=False))
    storm = in_virtual_time(_play(retry_after_seconds, storms=True))
    score(ROW, storms=1, early_retries=storm.early)
    score(ROW, most_requests_in_ten_minutes_of_storm=storm.throttled)
    score(ROW, most_ms_to_converge=round(1000 * storm.took_seconds))
    score(ROW, most_percent_of_a_calm_peak=round(100 * storm.peak / calm.peak))
    assert storm.early == 0
    assert storm.throttled <= STORM_SECONDS
    assert storm.took_seconds <= CONVERGED_SECONDS
    assert storm.peak <= 2 * calm.peak
