import asyncio

import pytest

from reconciler.adapters.kubernetes.pace import LONGEST_PAUSE_SECONDS, Pace
from reconciler.model.errors import Unavailable


class Time:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def paused(time: Time, seconds: float | None) -> Pace:
    pace = Pace(0, 1, time, jitter=lambda: 0.0)
    pace.pushed_back(seconds)
    return pace


async def test_without_a_limit_nobody_waits() -> None:
    pace = Pace(0, 1, Time())
    async with asyncio.timeout(30):
        for _ in range(1000):
            assert not await pace.turn("get Pod arena/a")


async def test_a_burst_is_free_and_then_the_rate_holds() -> None:
    loop = asyncio.get_running_loop()
    pace = Pace(100, 10, loop.time)
    started = loop.time()
    await asyncio.gather(*(pace.turn("get Pod arena/a") for _ in range(30)))
    assert loop.time() - started > 0.18


async def test_a_long_pause_is_refused_with_what_is_left_of_it() -> None:
    pace = paused(Time(), 60.0)
    with pytest.raises(
        Unavailable, match=r"^get Pod arena/a: not sent, .* for 60 more seconds$"
    ) as caught:
        await pace.turn("get Pod arena/a")
    assert caught.value.retry_after_seconds == pytest.approx(60.0)


async def test_nobody_sends_before_the_pause_is_over() -> None:
    loop = asyncio.get_running_loop()
    pace = Pace(0, 1, loop.time)
    pace.pushed_back(0.0)
    started = loop.time()
    assert await pace.turn("get Pod arena/a")
    assert loop.time() - started >= 1.0


async def test_one_finds_out_and_the_others_wait_for_what_it_hears() -> None:
    time = Time()
    pace = paused(time, 1.0)
    time.now += 1.01
    assert await pace.turn("get Pod arena/a")
    others = [asyncio.create_task(pace.turn("get Pod arena/a")) for _ in range(5)]
    await asyncio.sleep(0.01)
    assert not any(each.done() for each in others)
    pace.accepted()
    pace.found_out()
    assert await asyncio.gather(*others) == [False] * 5
    assert not await pace.turn("get Pod arena/a")


async def test_when_it_hears_no_the_others_go_on_waiting() -> None:
    time = Time()
    pace = paused(time, 1.0)
    time.now += 1.01
    assert await pace.turn("get Pod arena/a")
    other = asyncio.create_task(pace.turn("get Pod arena/a"))
    await asyncio.sleep(0)
    pace.pushed_back(10.0)
    pace.found_out()
    with pytest.raises(Unavailable):
        await other


async def test_an_answer_to_a_request_from_before_the_pause_does_not_end_it() -> None:
    pace = paused(Time(), 60.0)
    pace.accepted()
    with pytest.raises(Unavailable):
        await pace.turn("get Pod arena/a")


async def test_pauses_grow_up_to_a_bound_when_pushed_back_again_and_again() -> None:
    time = Time()
    pace = Pace(0, 1, time, jitter=lambda: 0.0, patience_seconds=0.0)
    pauses: list[float] = []
    for _ in range(8):
        time.now += 10 * LONGEST_PAUSE_SECONDS
        pace.pushed_back(None)
        with pytest.raises(Unavailable) as caught:
            await pace.turn("get Pod arena/a")
        pauses.append(caught.value.retry_after_seconds or 0.0)
    assert pauses == [1, 2, 4, 8, 16, 30, 30, 30]


async def test_however_often_it_is_pushed_back_the_pause_stays_at_its_bound() -> None:
    time = Time()
    pace = Pace(0, 1, time, jitter=lambda: 0.0, patience_seconds=0.0)
    for _ in range(1100):  # two to that many is beyond any float
        time.now += 10 * LONGEST_PAUSE_SECONDS
        pace.pushed_back(None)
    with pytest.raises(Unavailable) as caught:
        await pace.turn("get Pod arena/a")
    assert caught.value.retry_after_seconds == LONGEST_PAUSE_SECONDS


async def test_many_answers_to_one_burst_count_as_one_push_back() -> None:
    time = Time()
    pace = paused(time, 1.0)
    for _ in range(31):
        pace.pushed_back(1.0)
    time.now += 1.01
    assert await pace.turn("get Pod arena/a")
