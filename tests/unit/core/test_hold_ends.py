"""A hold lasts as long as it was meant to, however the clock is set in its time."""

import pytest

from reconciler.core.hold_ends import HoldEnd, followed

NOW, UP = 1_000_000.0, 500.0
HOLD = followed(None, NOW + 900, NOW, UP)


@pytest.mark.parametrize("jump", [-3600.0, -60.0, 0.0, 60.0, 3600.0])
def test_a_hold_ends_after_its_time_by_the_clock_as_it_is_set(jump: float) -> None:
    assert HOLD.at(NOW + 300 + jump, UP + 300) == NOW + 900 + jump


def test_clocks_that_are_not_quite_alike_move_nothing() -> None:
    assert HOLD.at(NOW + 301.5, UP + 300) == NOW + 900


@pytest.mark.parametrize("until", [0.0, NOW - 1], ids=["never", "over"])
def test_what_is_over_stays_so(until: float) -> None:
    hold = followed(None, until, NOW, UP)
    assert hold.at(NOW + 3600, UP + 60) == until


def test_another_hold_is_known_from_where_it_is_first_seen() -> None:
    assert followed(HOLD, HOLD.until, NOW + 3600, UP + 1) is HOLD
    assert followed(HOLD, NOW + 60, NOW, UP) == HoldEnd(NOW + 60, UP + 60)
