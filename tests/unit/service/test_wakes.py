import asyncio

import pytest

from reconciler.service.cluster_lane import rest_seconds
from reconciler.service.wakes import Wakes


async def test_keys_that_are_marked_together_are_taken_together() -> None:
    wakes = Wakes[str]()
    wakes.mark(("a", "b"))
    wakes.mark(("a",))
    assert await wakes.take() == {"a", "b"}


async def test_a_key_that_is_marked_15_ms_after_another_is_taken_with_it() -> None:
    wakes = Wakes[str]()
    taking = asyncio.create_task(wakes.take())
    wakes.mark(("a",))
    # Its timer is due before that of `take`, so on a slow machine too it is heard first.
    asyncio.get_running_loop().call_later(0.015, wakes.mark, ("b",))
    assert await taking == {"a", "b"}


async def test_more_keys_join_where_one_waits_longer() -> None:
    wakes = Wakes[str]()
    taking = asyncio.create_task(wakes.take(0.05))
    wakes.mark(("a",))
    asyncio.get_running_loop().call_later(0.04, wakes.mark, ("b",))
    assert await taking == {"a", "b"}


@pytest.mark.parametrize(
    ("rooms", "seconds"),
    [
        pytest.param(0, 0.02, id="after an idle pass"),
        pytest.param(1_000, 0.02, id="after a thousand rooms, as after one"),
        pytest.param(6_000, 0.09, id="after six thousand, longer"),
        pytest.param(100_000, 0.15, id="after any number, never so long that people notice"),
    ],
)
def test_keys_join_for_the_longer_the_more_rooms_were_planned(rooms: int, seconds: float) -> None:
    assert rest_seconds(rooms) == pytest.approx(seconds)


async def test_a_key_that_was_taken_is_dirty_no_more() -> None:
    wakes = Wakes[str]()
    wakes.mark(("a",))
    await wakes.take()
    wakes.mark(("b",))
    assert await wakes.take() == {"b"}


async def test_marking_nothing_wakes_nobody() -> None:
    wakes = Wakes[str]()
    wakes.mark(())
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(wakes.take(), 0.05)


@pytest.mark.parametrize(
    "delays",
    [
        pytest.param((0.05, 60.0), id="the later one adds nothing"),
        pytest.param((60.0, 0.05), id="the sooner one counts"),
    ],
)
async def test_the_soonest_of_two_looks_counts(delays: tuple[float, float]) -> None:
    wakes = Wakes[str]()
    for delay_seconds in delays:
        wakes.mark_later(("a",), delay_seconds)
    assert await asyncio.wait_for(wakes.take(), 30) == {"a"}


async def test_a_key_has_one_timer_however_often_it_is_asked_for() -> None:
    wakes = Wakes[str]()
    for number in range(5):
        wakes.mark_later(("a",), 0.02 + number * 0.06)
    assert await asyncio.wait_for(wakes.take(), 30) == {"a"}
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(wakes.take(), 0.3)


async def test_a_key_can_be_asked_for_again_after_its_time() -> None:
    wakes = Wakes[str]()
    for _ in range(2):
        wakes.mark_later(("a",), 0.01)
        assert await asyncio.wait_for(wakes.take(), 30) == {"a"}


async def test_a_nudge_comes_round_without_a_key() -> None:
    wakes: Wakes[str] = Wakes()
    wakes.nudge()
    async with asyncio.timeout(30):
        assert await wakes.take() == set()


async def test_a_key_that_is_gone_is_waited_for_no_more() -> None:
    wakes = Wakes[str]()
    wakes.mark_later(("a", "b"), 0.01)
    wakes.forget("a")
    wakes.forget("never asked for")
    assert await asyncio.wait_for(wakes.take(), 30) == {"b"}


async def test_a_key_comes_with_when_it_was_marked_first() -> None:
    wakes, loop = Wakes[str](), asyncio.get_running_loop()
    before = loop.time()
    wakes.mark(("a",))
    between = loop.time()
    wakes.mark(("a",))
    wakes.mark(("b",), since=7.0)
    assert await wakes.take() == {"a", "b"}
    assert before <= wakes.since["a"] <= between
    assert wakes.since["b"] == 7.0
