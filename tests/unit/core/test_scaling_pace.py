"""Windows, turns, cool-downs, steps: what is remembered is little, and a silence proves nothing."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconciler.core import scaling_pace
from reconciler.model.decisions import Advised, Past
from reconciler.model.scaling import Pace
from reconciler.model.shares import Share

WINDOW = 300.0


def spans(*told: tuple[float, int]) -> tuple[Advised, ...]:
    return tuple(Advised(since, count) for since, count in told)


@pytest.mark.parametrize(
    ("before", "now", "advised", "wanted"),
    [
        pytest.param([], 0, 5, [(0, 5)], id="the first"),
        pytest.param([(0, 5)], 10, 9, [(0, 9)], id="so soon after that it is one span: the more"),
        pytest.param([(0, 5)], 10, 2, [(0, 5)], id="of a span the most counts"),
        pytest.param([(0, 5)], 30, 2, [(0, 5), (30, 2)], id="a span of its own"),
        pytest.param([(0, 9), (100, 5)], 400, 2, [(100, 5), (400, 2)],
                     id="what was advised last before the window still counts at its beginning"),
        pytest.param([(0, 9)], 4000, 2, [(0, 9), (4000, 2)], id="after a long silence too"),
    ],
)  # fmt: skip
def test_what_is_remembered(
    before: list[tuple[float, int]], now: float, advised: int, wanted: list[tuple[float, int]]
) -> None:
    found = scaling_pace.remember(spans(*before), advised, now, WINDOW, max)

    assert found == spans(*wanted)


def test_no_window_remembers_nothing() -> None:
    assert scaling_pace.remember(spans((0, 9)), 1, 10, 0, max) == ()


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.floats(0.02, 400), st.integers(0, 99)), max_size=200),
    st.sampled_from([10.0, 300.0, 3600.0]),
)
def test_what_is_remembered_is_little_and_never_less_than_the_window_held(
    steps: list[tuple[float, int]], window: float
) -> None:
    now, kept, told = 0.0, spans(), list[tuple[float, int]]()
    for seconds, advised in steps:
        now += seconds
        told.append((now, advised))
        kept = scaling_pace.remember(kept, advised, now, window, max)

        assert len(kept) <= 23
        most = max(advised for at, advised in told if at >= now - window)
        assert max(span.replicas for span in kept) >= most


@pytest.mark.parametrize(
    ("count", "wanted", "step", "reached"),
    [
        pytest.param(10, 50, None, 50, id="no limit"),
        pytest.param(10, 50, Share(5), 15, id="a count upwards"),
        pytest.param(10, 2, Share(5), 5, id="a count downwards"),
        pytest.param(10, 12, Share(5), 12, id="less than the step"),
        pytest.param(10, 50, Share(25, percent=True), 13, id="a share of the count before"),
        pytest.param(3, 1, Share(10, percent=True), 2, id="a share is at least one room"),
        pytest.param(0, 9, Share(10, percent=True), 1, id="also of nothing"),
    ],
)
def test_a_step(count: int, wanted: int, step: Share | None, reached: int) -> None:
    assert scaling_pace.limited(count, wanted, step) == reached


def test_what_is_left_of_a_wait() -> None:
    past = Past(raised_at=100.0, lowered_at=200.0, turned_at=100.0)
    pace = Pace(cooldown_seconds=60.0)

    assert scaling_pace.cooldown_left(past, "up", pace, 130.0) == 30.0
    assert scaling_pace.cooldown_left(past, "down", pace, 230.0) == 30.0
    assert scaling_pace.cooldown_left(past, "up", pace, 160.0) == 0.0
    assert scaling_pace.cooldown_left(Past(), "up", pace, 0.0) == 0.0
    assert scaling_pace.turn_left(past, 130.0) == 570.0
    assert scaling_pace.turn_left(past, 700.0) == 0.0
    assert scaling_pace.leaves_in(spans((0, 9), (40, 2)), 100.0, WINDOW) == 240.0
    assert scaling_pace.leaves_in(spans((0, 9), (40, 2)), 900.0, WINDOW) == 1.0
