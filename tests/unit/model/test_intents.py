"""What an intent says of itself."""

import pytest

from reconciler.model.intents import Intent, Step

UP = Step(10.0, 6, 9, "metric", "9 rooms")


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
