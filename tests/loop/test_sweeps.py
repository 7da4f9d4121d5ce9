"""A part of a sweep takes the same ways each time, and misses none of them."""

import pytest

from tests.loop.sweeps import ALL, SETTING, some

WAYS = "abcdefg"


def test_a_part_takes_all_ways_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SETTING, raising=False)
    assert some(WAYS, 0, 3) == ["a", "b", "c"]
    assert some(WAYS, 1, 3) == ["d", "e", "f"]
    assert some(WAYS, 2, 3) == ["g", "a", "b"]
    assert {way for at in range(7) for way in some(WAYS, at, 1)} == set(WAYS)


def test_a_whole_sweep_takes_all_at_each_point(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SETTING, ALL)
    assert some(WAYS, 5, 1) == list(WAYS)
