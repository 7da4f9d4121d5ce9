"""A part of a sweep takes the same ways each time, and misses none of them."""

import math

import pytest

from tests.loop import shares, sweeps
from tests.loop.shares import SETTING as SHARE
from tests.loop.shares import share
from tests.loop.sweeps import ALL, SETTING, part, some

WAYS = "abcdefg"


def test_a_part_takes_all_ways_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SETTING, raising=False)
    assert some(WAYS, 0, 3) == ["a", "b", "c"]
    assert some(WAYS, 1, 3) == ["d", "e", "f"]
    assert some(WAYS, 2, 3) == ["g", "a", "b"]
    assert {way for at in range(7) for way in some(WAYS, at, 1)} == set(WAYS)


@pytest.mark.parametrize("seed", range(5))
def test_a_part_is_every_so_many_points_and_never_none(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(SETTING, raising=False)
    monkeypatch.setattr(sweeps, "seed_of_the_program", lambda below: seed)
    assert part(range(13), 5) == list(range(13))[seed::5]
    assert len(part("ab", 5)) == 1
    assert part("", 5) == []


def test_all_shares_together_are_all_and_a_share_of_its_own_is_never_empty(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(SHARE, raising=False)
    assert len(share("abc", "a campaign")) == 1
    for points in (3, 13, 25):
        played = []
        for number in range(5):
            monkeypatch.setenv(SHARE, f"{number}/5")
            played += share(range(points), "a campaign")
        assert sorted(played) == list(range(points))


@pytest.mark.parametrize("points", [0, 1, 7, 10, 25, 30])
def test_a_tenth_is_at_least_that_whatever_it_begins_with(
    points: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SHARE, "10")
    met: set[int] = set()
    for seed in range(10):
        monkeypatch.setattr(shares, "seed_of_the_program", lambda below, seed=seed: seed % below)
        played = share(range(points), "a campaign")
        assert len(set(played)) == len(played) == math.ceil(points / 10)
        assert played == sorted(played)
        met.update(played)
    assert met == set(range(points)), "some are played of no program"


def test_a_whole_sweep_takes_all_at_each_point(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SETTING, ALL)
    assert some(WAYS, 5, 1) == list(WAYS)
    assert part(WAYS, 5) == list(WAYS)


def test_at_least_a_fifth_is_played_where_that_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SETTING, "5")
    monkeypatch.setattr(sweeps, "seed_of_the_program", lambda below: 7)
    assert part(range(20), 12) == [2, 7, 12, 17]
    assert part(range(20), 3) == list(range(20))[1::3]
    assert some(WAYS, 1, 1) == ["c", "d"]
    assert some(WAYS, 0, 3) == ["a", "b", "c"]
