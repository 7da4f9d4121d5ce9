import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.core import backoff
from reconciler.core.backoff import (
    FORGIVEN_AFTER_SECONDS,
    LONGEST_DELAY_SECONDS,
)
from reconciler.model.records import Failures, Ordinals
from tests.unit.core.making import NEW, NOW, OLD, a_situation, a_workload

WANTED = a_situation(a_workload(revision=NEW)).desired


@pytest.mark.parametrize(
    ("before", "count"),
    [
        pytest.param(None, 1, id="the first failure counts one"),
        pytest.param(Failures(NEW, 3, NOW - 5), 4, id="failures in a row add up"),
        pytest.param(Failures(OLD, 3, NOW - 5), 1, id="another revision starts anew"),
        pytest.param(
            Failures(NEW, 3, NOW - FORGIVEN_AFTER_SECONDS - 1), 1, id="an old failure is forgiven"
        ),
        pytest.param(Failures(NEW, 3, NOW + 5), 4, id="a clock set back forgives nothing"),
    ],
)
def test_a_failure_counts(before: Failures | None, count: int) -> None:
    assert backoff.after(before, NEW, NOW) == Failures(NEW, count, NOW)


@pytest.mark.parametrize(
    ("count", "wait_seconds"),
    [
        pytest.param(1, 0, id="the first replacement is made at once"),
        pytest.param(2, 10, id="the second waits ten seconds"),
        pytest.param(3, 20, id="then twice as long"),
        pytest.param(7, 300, id="no longer than five minutes"),
        pytest.param(10**9, 300, id="however often it failed"),
    ],
)
def test_the_wait_grows(count: int, wait_seconds: float) -> None:
    not_before = backoff.not_before(Failures(NEW, count, NOW), WANTED)
    assert backoff.delay_seconds(not_before, NOW) == wait_seconds


def test_what_is_of_another_revision_waits_for_nothing() -> None:
    assert backoff.not_before(Failures(OLD, 9, NOW), WANTED) == 0.0
    assert backoff.not_before(Failures(NEW, 9, NOW), None) == 0.0


def test_the_later_of_what_is_remembered_and_what_is_on_record_counts() -> None:
    old, new = Failures(NEW, 5, NOW - 60), Failures(NEW, 2, NOW)
    assert backoff.latest(None, None) is None
    assert backoff.latest(None, Ordinals(7)) is None
    assert backoff.latest(old, Ordinals(7)) == old
    assert backoff.latest(None, Ordinals(7, failures=old)) == old
    assert backoff.latest(old, Ordinals(7, failures=new)) == new
    assert backoff.latest(new, Ordinals(7, failures=old)) == new


@given(st.integers(1, 50), st.floats(-1e6, 1e6))
def test_no_clock_makes_a_room_wait_longer_than_the_longest(count: int, later: float) -> None:
    delay = backoff.delay_seconds(
        backoff.not_before(Failures(NEW, count, NOW), WANTED), NOW + later
    )
    assert 0 <= delay <= LONGEST_DELAY_SECONDS


HALVES = st.integers(1, 2000).map(lambda halves: halves / 2)
"""Sums with the time of day are exact."""


@given(HALVES, st.integers(-3, 10**9), HALVES, st.integers(-(10**6), 10**6))
def test_a_wait_doubles_to_the_longest_and_no_clock_lengthens_it(
    first: float, doublings: int, longest: float, later: int
) -> None:
    wait = backoff.doubled(first, doublings, longest)
    assert (wait == 0) == (doublings < 0)
    if doublings >= 0:
        assert wait == min(first * 2 ** min(doublings, 20), longest)
    left = backoff.delay_seconds(NOW + wait, NOW + later, wait)
    assert left == (wait - later if 0 <= later < wait else 0), "a clock that was set back ends it"
