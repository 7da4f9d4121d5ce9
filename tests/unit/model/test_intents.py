"""What an intent says of itself."""

import pytest

from reconciler.model.intents import Intent, Step

UP = Step(10.0, 6, 9, "metric", "9 rooms")


@pytest.mark.parametrize(
    ("value", "is_bounded"),
    [
        pytest.param(12, False, id="as it was decided"),
        pytest.param(10, True, id="moved to a number that a step left"),
        pytest.param(5, False, id="back at that of before the first"),
    ],
)
def test_of_many_steps_bounds_may_have_moved_it_to_one(value: int, *, is_bounded: bool) -> None:
    """`activePlayers` goes by one where nothing else is written: each number is one it left."""
    steps = tuple(Step(float(at), at, at + 1, "activePlayers", "more") for at in range(5, 12))
    assert Intent(6, value, steps).is_bounded is is_bounded


@pytest.mark.parametrize(
    ("base", "value", "is_bounded"),
    [
        pytest.param(6, 9, False, id="as it was decided"),
        pytest.param(6, 8, True, id="moved by bounds that came later"),
        pytest.param(6, 6, False, id="back at the number in Git"),
        pytest.param(9, 6, False, id="back at that of before, and our commit arrived meanwhile"),
    ],
)
def test_that_bounds_moved_a_count_is_told(base: int, value: int, *, is_bounded: bool) -> None:
    intent = Intent(base, value, (UP,))
    assert intent.is_bounded is is_bounded
    more = "; not 9, for the bounds have changed since" if is_bounded else ""
    assert intent.reason == f"9 rooms{more}"
