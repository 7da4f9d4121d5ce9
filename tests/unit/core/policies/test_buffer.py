"""buffer reckons as Agones' FleetAutoscaler does, by count and by share."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconciler.core.policies.policy import Facts
from tests.unit.core.policies.looks import a_load, a_look, advice, policies
from tests.unit.core.reading import rules


@pytest.mark.parametrize(
    ("parameters", "busy", "wanted"),
    [
        pytest.param({"rooms": 10}, 50, 60, id="a count beside those that serve"),
        pytest.param({"percent": 20}, 50, 63, id="Agones' own row: 50 and 20% are 63"),
        pytest.param({"percent": 20}, 4, 5, id="a fifth of five is one"),
        pytest.param({"percent": 99}, 1, 100, id="nearly all empty"),
        pytest.param({"percent": 20}, 0, 1, id="a share of nothing is still one room"),
        pytest.param({"rooms": 3}, 0, 3, id="a count of nothing is the count"),
        pytest.param({"rooms": 0}, 0, 0, id="nothing, where nothing is written"),
    ],
)
def test_a_buffer_is_kept(parameters: dict[str, int], busy: int, wanted: int) -> None:
    look = a_look(a_load(occupied=busy))

    assert advice({"buffer": parameters}, look).replicas == wanted


@settings(deadline=None)
@given(percent=st.integers(1, 99), busy=st.integers(0, 10_000))
def test_a_share_is_really_empty_and_no_room_more_is_wanted(percent: int, busy: int) -> None:
    wanted = advice({"buffer": {"percent": percent}}, a_look(a_load(occupied=busy))).replicas

    assert 100 * (wanted - busy) >= percent * wanted
    assert wanted == 1 or 100 * (wanted - 1 - busy) < percent * (wanted - 1)


@pytest.mark.parametrize(
    ("parameters", "found"),
    [
        pytest.param({"rooms": 3}, set(), id="rooms"),
        pytest.param({}, {("", "buffer")}, id="neither"),
        pytest.param({"rooms": 3, "percent": 5}, {("", "buffer")}, id="both"),
    ],
)
def test_one_size_is_written(parameters: dict[str, int], found: set[tuple[str, str]]) -> None:
    assert rules(policies()["buffer"].problems(parameters, Facts(reports=True))) == found
