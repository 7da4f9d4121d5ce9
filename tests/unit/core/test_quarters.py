"""What is seen of the demand becomes quarters of an hour: gaps stay gaps, and little is written."""

from collections.abc import Iterable

import pytest

from reconciler.core import demand
from reconciler.core.demand import QUARTER_SECONDS
from reconciler.core.quarters import KEEP_SECONDS, QUIET_KEEP_SECONDS, RETRY_SECONDS, Quarters

FIRST = 2_000_000
BEGIN = float(FIRST * QUARTER_SECONDS)
LOOK_SECONDS = 10.0


def followed(
    minutes: Iterable[int], starts: int | None = 1, quarters: Quarters | None = None
) -> Quarters:
    """Return quarters of which these minutes were followed, with so many starts at each look."""
    found = quarters or Quarters(kept_at=BEGIN)
    for minute in minutes:
        for look in range(6):
            since = BEGIN + 60.0 * minute + LOOK_SECONDS * look
            found.follow(since, since + LOOK_SECONDS, starts)
    return found


@pytest.mark.parametrize(
    ("minutes", "over"),
    [
        pytest.param(range(14), {}, id="a quarter that runs is told nobody"),
        pytest.param(range(16), {FIRST: 89}, id="one that is over counts"),
        pytest.param(
            range(2, 16), {FIRST: 89}, id="one that was nearly seen whole is taken for it"
        ),
        pytest.param(
            range(4, 16), {}, id="one of which less than four fifths were seen is unknown"
        ),
        pytest.param(
            [*range(15), *range(50, 76)],
            {FIRST: 89, FIRST + 4: 90},
            id="between two that were seen is a gap and no zero",
        ),
    ],
)
def test_a_quarter_counts_when_it_is_over_and_was_seen(
    minutes: Iterable[int], over: dict[int, int]
) -> None:
    assert dict(followed(minutes).over) == over


def test_nobody_came_is_known_and_is_no_gap() -> None:
    assert followed(range(16), starts=0).over == ((FIRST, 0),)


def test_a_quarter_in_which_rooms_were_not_heard_is_unknown() -> None:
    deaf = followed(range(8), starts=None)

    assert followed(range(8, 31), quarters=deaf).over == ((FIRST + 1, 90),)


@pytest.mark.parametrize(
    ("back_seconds", "over"),
    [
        pytest.param(600.0, ((FIRST, 89),), id="a little: nothing is counted twice"),
        pytest.param(86_400.0, ((FIRST, 89), (FIRST - 95, 89)), id="a day: it was wrong before"),
    ],
)
def test_a_clock_that_is_set_back(back_seconds: float, over: tuple[tuple[int, int], ...]) -> None:
    found = followed(range(16))
    now = BEGIN + 960.0 - back_seconds
    now -= now % QUARTER_SECONDS if back_seconds > 3600.0 else 0.0
    for look in range(92):
        found.follow(now + 10.0 * look, now + 10.0 * look + 10.0, 1)

    assert found.over == over


DAYS = 28 * 96
"""In quarters."""


@pytest.mark.parametrize("wrong", [DAYS, -DAYS, 97, -107], ids=lambda quarters: f"{quarters}")
def test_a_clock_that_is_wrong_for_hours_drops_nothing_that_is_known(wrong: int) -> None:
    recorded = demand.encode({FIRST - back: 7 for back in range(1, DAYS)})
    found = Quarters(kept_at=BEGIN)
    found.history(recorded)
    away = 15 * wrong
    followed(range(away, away + 10 * 15), quarters=found)
    assert found.history(recorded) == recorded
    assert (found.over, len(found.far)) == ((), 10)
    followed(range(10 * 15, 12 * 15), quarters=found)

    assert (set(dict(found.over)), found.far) == ({FIRST + 10, FIRST + 11}, ())
    known = demand.decode(found.history(recorded))
    assert (known[FIRST - 1], known[FIRST + 10], len(known)) == (7, 89, DAYS - 10)


@pytest.mark.parametrize("away", [DAYS, -DAYS], ids=["later", "earlier"])
def test_a_clock_that_tells_the_same_for_a_day_is_believed(away: int) -> None:
    recorded = demand.encode({FIRST - back: 7 for back in range(1, 10)})
    found = Quarters(kept_at=BEGIN)
    found.history(recorded)
    followed(range(15 * away, 15 * (away + 96)), quarters=found)
    assert len(found.over) == 96

    known = demand.decode(found.history(recorded))

    assert set(known) == set(range(FIRST + away, FIRST + away + 96))


@pytest.mark.parametrize(
    ("starts", "due_seconds"),
    [
        pytest.param(1, KEEP_SECONDS, id="where anybody played: after an hour"),
        pytest.param(0, QUIET_KEEP_SECONDS, id="where nobody did: after six"),
    ],
)
def test_it_is_written_seldom(starts: int, due_seconds: float) -> None:
    found = followed(range(16), starts)

    assert not found.is_due(BEGIN + due_seconds - 1.0)
    assert found.is_due(BEGIN + due_seconds)
    found.put_off(BEGIN + due_seconds)
    assert not found.is_due(BEGIN + due_seconds + RETRY_SECONDS - 1.0)
    assert found.is_due(BEGIN + due_seconds + RETRY_SECONDS)


def test_where_nothing_is_over_nothing_is_written() -> None:
    assert not Quarters(kept_at=0.0).is_due(BEGIN)


def test_what_was_written_is_not_written_again_and_what_came_meanwhile_is() -> None:
    found = followed(range(16))
    written = found.over
    followed(range(16, 31), quarters=found)
    found.keep(written, BEGIN + 1860.0)

    assert found.over == ((FIRST + 1, 90),)
    assert not found.is_due(BEGIN + 1860.0)


def test_the_history_is_what_is_on_record_and_what_is_over_since() -> None:
    recorded = demand.encode({FIRST - 1: 7, FIRST: 3})
    found = followed(range(16))

    assert demand.decode(found.history(recorded)) == {FIRST - 1: 7, FIRST: 89}
    assert found.history(recorded) is found.history(recorded)
