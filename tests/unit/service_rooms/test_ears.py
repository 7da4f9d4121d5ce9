"""Who falls silent, and whether it is rather we who do not hear."""

import asyncio
from collections.abc import Callable
from itertools import pairwise

import pytest

from reconciler.model.refs import WorkloadKey
from reconciler.model.rooms import Heard
from reconciler.service.rooms.ears import SLICE, Silence
from reconciler.service.rooms.lines import Line
from tests.unit.service_views.scripted import VirtualClock

KEY = WorkloadKey("Scheduler", "arena", "arena")
LIMIT = 240.0
PAUSE = 10.0


class Breathing(VirtualClock):
    """A clock that tells when others are served."""

    def __init__(self) -> None:
        super().__init__()
        self.breathe: Callable[[], None] = lambda: None

    async def sleep(self, seconds: float) -> None:
        """Pass at once."""
        self.breathe()
        await super().sleep(seconds)


class Crowd:
    """Rooms that report every ten seconds, each in its own second, but for those that are mute."""

    def __init__(self, count: int) -> None:
        self.at = 0.0
        self.clock = Breathing()
        self.silence = Silence(lambda line: LIMIT, lambda: self.at, self.clock)
        self.lines = [
            Line(KEY, str(n), "arena", f"arena-{n}", last_at=0.0, heard=Heard(at=0.0))
            for n in range(count)
        ]
        self.mute: set[str] = set()
        self.first_silent_at: float | None = None
        self.silent_while_not_deaf = 0
        for line in self.lines:
            self.silence.follow(line)

    async def live(self, seconds: int) -> None:
        """Let time pass, as the book does."""
        for _ in range(seconds):
            self.at += 1.0
            for line in self.lines:
                if line.uid not in self.mute and int(self.at) % 10 == int(line.uid) % 10:
                    self._speak(line)
            silent, forgiven = await self.silence.sweep(self.lines)
            for line in silent:
                line.heard = Heard(at=0.0, silent=True)
                self.silent_while_not_deaf += not self.silence.deaf
                if self.first_silent_at is None:
                    self.first_silent_at = self.at
            for line in forgiven:
                line.heard = Heard(at=0.0)
                self.silence.follow(line)

    @property
    def silent(self) -> int:
        """How many are silent now."""
        return sum(line.silent for line in self.lines)

    def _speak(self, line: Line) -> None:
        line.gap, line.last_at = self.at - line.last_at, self.at
        if line.silent:
            line.heard = Heard(at=self.at)
        self.silence.follow(line)


async def test_a_room_that_hangs_is_silent_after_its_time_out_and_we_are_not_deaf() -> None:
    crowd = Crowd(100)
    await crowd.live(60)
    crowd.mute = {"7"}
    await crowd.live(230)
    assert crowd.silent == 0
    await crowd.live(12)
    assert crowd.silent == 1
    assert crowd.silence.deaf == ""


async def test_a_room_that_speaks_again_is_not_silent_and_may_fall_silent_again() -> None:
    crowd = Crowd(100)
    await crowd.live(60)
    crowd.mute = {"7"}
    await crowd.live(300)
    crowd.mute = set()
    await crowd.live(12)
    assert crowd.silent == 0
    crowd.mute = {"7"}
    await crowd.live(252)
    assert crowd.silent == 1


@pytest.mark.parametrize("mute", [21, 60, 100])
async def test_where_more_than_a_fifth_fall_silent_we_suspect_ourselves_before_the_first_counts(
    mute: int,
) -> None:
    crowd = Crowd(100)
    await crowd.live(60)
    crowd.mute = {str(n) for n in range(mute)}
    await crowd.live(3600)
    assert crowd.silent == mute
    assert crowd.silent_while_not_deaf == 0
    assert crowd.silence.deaf.startswith(f"{mute} of 100 rooms")


async def test_a_fifth_that_falls_silent_is_their_own_trouble() -> None:
    crowd = Crowd(100)
    await crowd.live(60)
    crowd.mute = {str(n) for n in range(20)}
    await crowd.live(300)
    assert crowd.silent == 20
    assert crowd.silence.deaf == ""


async def test_two_rooms_of_two_are_too_few_to_tell() -> None:
    crowd = Crowd(2)
    crowd.mute = {"0", "1"}
    await crowd.live(300)
    assert crowd.silent == 2
    assert crowd.silence.deaf == ""


async def test_rooms_that_fell_silent_long_ago_make_nobody_deaf() -> None:
    crowd = Crowd(100)
    await crowd.live(60)
    for first in range(0, 40, 10):
        crowd.mute |= {str(n) for n in range(first, first + 10)}
        await crowd.live(600)
    assert crowd.silent == 40
    assert crowd.silence.deaf == ""


async def test_a_process_that_slept_for_an_hour_suspects_itself() -> None:
    crowd = Crowd(100)
    await crowd.live(300)
    crowd.mute = {str(n) for n in range(100)}
    crowd.at += 3600.0
    await crowd.live(1)
    assert crowd.silence.deaf
    assert crowd.silent_while_not_deaf == 0


async def test_when_we_hear_again_the_others_have_their_whole_time_out_once_more() -> None:
    crowd = Crowd(100)
    await crowd.live(60)
    everybody = {str(n) for n in range(100)}
    crowd.mute = everybody
    await crowd.live(600)
    crowd.mute = {"7"}
    await crowd.live(20)
    assert (crowd.silence.deaf, crowd.silent) == ("", 0)
    await crowd.live(200)
    assert crowd.silent == 0
    await crowd.live(60)
    assert crowd.silent == 1


async def test_a_second_outage_is_suspected_as_the_first_was() -> None:
    crowd = Crowd(100)
    for _ in range(2):
        crowd.mute = set()
        await crowd.live(300)
        crowd.mute = {str(n) for n in range(100)}
        await crowd.live(600)
        assert crowd.silence.deaf
    assert crowd.silent_while_not_deaf == 0


async def test_ten_thousand_rooms_are_looked_at_once_a_time_out_and_in_turns() -> None:
    crowd = Crowd(10_000)
    stretches = [0]

    def breathe() -> None:
        stretches.append(crowd.silence.looks)

    crowd.clock.breathe = breathe
    for _ in range(2 * int(LIMIT)):
        crowd.at += 1.0
        for line in crowd.lines[int(crowd.at) % 10 :: 10]:
            line.last_at = crowd.at
        await crowd.silence.sweep(crowd.lines)
        breathe()
    assert crowd.silence.looks <= 2 * 10_000
    assert max(b - a for a, b in pairwise(stretches)) <= SLICE


async def test_a_room_that_speaks_while_others_are_looked_at_is_not_silent() -> None:
    crowd = Crowd(2 * SLICE)
    crowd.at = LIMIT + 2.0
    for line in crowd.lines[2:]:
        line.last_at = crowd.at

    sweeping = asyncio.create_task(crowd.silence.sweep(crowd.lines))
    await asyncio.sleep(0)
    crowd.lines[0].last_at = crowd.at
    silent, _ = await sweeping
    assert [line.uid for line in silent] == ["1"]


async def test_a_term_that_ends_while_rooms_are_looked_at_ends_the_sweep() -> None:
    crowd = Crowd(2 * SLICE)
    crowd.silence.forget()
    for line in crowd.lines:
        line.followed, line.last_at = False, float(int(line.uid) % 7)
        crowd.silence.follow(line)
    ended = []

    def breathe() -> None:
        ended.append(crowd.silence.looks)
        crowd.silence.forget()

    crowd.clock.breathe = breathe
    crowd.at = LIMIT + 10.0
    await crowd.silence.sweep(crowd.lines)
    assert ended
