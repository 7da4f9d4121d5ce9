"""A hold lasts as long as it was meant to, however the clock is set in its time."""

from dataclasses import replace

import pytest

from reconciler.core.hold_ends import HoldEnd, followed
from reconciler.model.intents import Scaling

NOW, UP, MOST = 1_000_000.0, 500.0, 900.0
HELD = Scaling(held_until=NOW + 900, held_by="c1", held_at=NOW)
HOLD = followed(None, HELD, NOW, UP, MOST)


@pytest.mark.parametrize("jump", [-3600.0, -60.0, 0.0, 60.0, 3600.0])
def test_a_hold_ends_after_its_time_by_the_clock_as_it_is_set(jump: float) -> None:
    assert HOLD.at(NOW + 300 + jump, UP + 300) == NOW + 900 + jump


def test_clocks_that_are_not_quite_alike_move_nothing() -> None:
    assert HOLD.at(NOW + 301.5, UP + 300) == NOW + 900


@pytest.mark.parametrize("until", [0.0, NOW - 1], ids=["never", "over"])
def test_what_is_over_stays_so(until: float) -> None:
    hold = followed(None, Scaling(held_until=until), NOW, UP, MOST)
    assert hold.at(NOW + 3600, UP + 60) == until


def test_it_is_known_from_where_it_is_first_seen_whatever_moves_its_end_on_record() -> None:
    """It was moved by a clock an hour ahead, which was right again before it was looked at."""
    assert followed(HOLD, HELD, NOW + 3600, UP + 1, MOST) is HOLD

    moved = followed(HOLD, replace(HELD, held_until=NOW + 4500), NOW + 300, UP + 300, MOST)

    assert moved == HoldEnd(NOW + 4500, UP + 900, ("c1", NOW))
    assert moved.at(NOW + 300, UP + 300) == NOW + 900


@pytest.mark.parametrize(
    "another",
    [
        pytest.param(replace(HELD, held_by="c2"), id="of another commit"),
        pytest.param(replace(HELD, held_at=NOW + 60), id="of the same one, set back to"),
    ],
)
def test_another_hold_has_its_own_end(another: Scaling) -> None:
    until = replace(another, held_until=NOW + 960)

    assert followed(HOLD, until, NOW + 60, UP + 60, MOST).ends == UP + 960


def test_whoever_leads_next_holds_no_longer_where_the_clock_before_was_an_hour_ahead() -> None:
    ahead = Scaling(held_until=NOW + 3600 + 900, held_by="c1", held_at=NOW + 3600)

    hold = followed(None, ahead, NOW + 10, UP, MOST)

    assert hold.at(NOW + 10, UP) == NOW + 10 + MOST
    assert hold.at(NOW + 11 + MOST, UP + 1 + MOST) <= NOW + 11 + MOST


def test_a_hold_lasts_as_its_commit_asked_though_the_config_of_before_stands_yet() -> None:
    """The record of a workload is written before that of the repository, which has the Config."""
    longer = replace(HELD, held_until=NOW + 3600, held_seconds=3600.0)

    hold = followed(None, longer, NOW + 10, UP + 10, MOST)

    assert (hold.ends, hold.at(NOW + 10, UP + 10)) == (UP + 3600, NOW + 3600)
    ahead = replace(longer, held_until=NOW + 7200)
    assert followed(None, ahead, NOW + 10, UP, MOST).ends == UP + 3600, "and no longer"
