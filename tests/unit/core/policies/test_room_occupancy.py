"""roomOccupancy reckons as Maestro's documentation does, over matches, and never ends at 0."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.core.policies.looks import a_load, a_look, advice


def occupancy(target: float, **parameters: float) -> dict[str, object]:
    return {"roomOccupancy": {"readyTarget": target, **parameters}}


@pytest.mark.parametrize(
    ("target", "load", "wanted"),
    [
        pytest.param(0.5, {"occupied": 80}, 160, id="Maestro's first example: half is free"),
        pytest.param(0.3, {"occupied": 40}, 58, id="its second: 57.14 rooms are 58"),
        pytest.param(0.9, {"occupied": 1}, 10, id="its third: ten, though binary says a bit more"),
        pytest.param(0.5, {"occupied": 6, "allocated": 4}, 20, id="an allocated room is a match"),
        pytest.param(0.5, {"active": 5, "matches": 10, "matches_max": 4}, 5,
                     id="10 matches want 20 places, in rooms of 4"),
        pytest.param(0.5, {"ready": 7}, 1, id="with nobody playing one room stays to begin in"),
        pytest.param(0.5, {}, 1, id="no rooms at all want one"),
    ],
)  # fmt: skip
def test_a_share_of_the_places_is_free(target: float, load: dict[str, int], wanted: int) -> None:
    found = advice(occupancy(target), a_look(a_load(**load)))

    assert found.replicas == wanted
    assert f"{wanted} room" in found.reason


@pytest.mark.parametrize(
    ("ready", "threshold", "may_remove"),
    [
        pytest.param(10, 0.99, False, id="all free places are wanted"),
        pytest.param(11, 0.99, True, id="one more is free than is wanted"),
        pytest.param(19, 0.5, False, id="more than half of the free ones are wanted"),
        pytest.param(20, 0.5, True, id="half of the free ones are wanted"),
        pytest.param(0, 0.99, False, id="nothing is free"),
    ],
)
def test_rooms_go_only_when_enough_places_are_free_beyond_those_that_are_wanted(
    ready: int, threshold: float, may_remove: bool
) -> None:
    look = a_look(a_load(occupied=10, ready=ready))

    assert advice(occupancy(0.5, downThreshold=threshold), look).may_remove is may_remove


@settings(deadline=None)
@given(
    target=st.floats(0.001, 0.999),
    running=st.integers(0, 10_000),
    more=st.integers(0, 100),
    held=st.integers(1, 50),
)
def test_more_matches_never_want_fewer_rooms(
    target: float, running: int, more: int, held: int
) -> None:
    def wanted(matches: int) -> int:
        load = a_load(occupied=matches, matches=matches, matches_max=held)
        return advice(occupancy(target), a_look(load)).replicas

    assert 1 <= wanted(running) <= wanted(running + more)
    assert wanted(running) * held * (1 - target) >= running - 1e-5
