"""Matches end by their age: what was learned from a known law is that law."""

import numpy as np
import pytest

from reconciler.core.policies import adaptive_ages
from reconciler.core.policies.adaptive_memory import AGES, LEADS, decode

LEADS_SECONDS = tuple(300.0 * (i + 1) / LEADS for i in range(LEADS))
NOW = 1_800_000_000.0


@pytest.mark.parametrize(
    ("ages_seconds", "places"),
    [
        pytest.param([], [], id="nothing is played"),
        pytest.param([0.0, 29.0], [0, 0], id="the youngest"),
        pytest.param([31.0], [1], id="the next"),
        pytest.param([1e7], [AGES - 1], id="older than any age has a place too"),
    ],
)
def test_every_match_has_one_age(ages_seconds: list[float], places: list[int]) -> None:
    begun = np.sort(NOW - np.array(ages_seconds))
    wanted = np.bincount(np.array(places, dtype=np.int64), minlength=AGES)

    assert adaptive_ages.count_ages(begun, NOW).tolist() == wanted.tolist()


def test_matches_that_all_last_1000_s_end_around_1000_s() -> None:
    memory = decode(b"")
    begun = NOW - np.linspace(995.0, 0.0, 200)
    counts = adaptive_ages.count_ages(begun, NOW)
    for _ in range(2000):
        adaptive_ages.learn_played(memory, counts, 10.0)
        adaptive_ages.learn_ends(memory, [1000.0, 1000.0])
    shares = adaptive_ages.leaving_shares(memory, LEADS_SECONDS)

    young, old = shares[0, -1], shares[np.searchsorted(adaptive_ages.STEPS, 900.0), -1]
    assert young < 0.02
    assert old > 0.5


def test_without_experience_a_fifth_ends_within_300_s_at_any_age() -> None:
    shares = adaptive_ages.leaving_shares(decode(b""), LEADS_SECONDS)

    assert shares[:, -1] == pytest.approx(np.full(AGES, 1.0 - np.exp(-0.2)), abs=1e-9)


def test_more_end_the_longer_one_waits_and_never_all() -> None:
    shares = adaptive_ages.leaving_shares(decode(b""), LEADS_SECONDS)

    assert np.all(np.diff(shares, axis=1) > 0.0)
    assert np.all((shares >= 0.0) & (shares < 1.0))


def test_who_still_comes_may_end_too() -> None:
    shares = adaptive_ages.leaving_shares(decode(b""), LEADS_SECONDS)
    nobody = np.zeros(AGES)
    arriving = [10.0 * (place + 1.0) for place in range(LEADS)]
    leaving, scatter = adaptive_ages.departures(shares, nobody, arriving)

    assert 0.0 < leaving[-1] < 0.2 * arriving[-1]
    assert scatter == [0.0] * LEADS
