"""A clock that is set is believed once it has stayed so for a while."""

from collections.abc import Iterable

import pytest

from reconciler.core.sure_clock import STEADY_SECONDS, SureClock, followed

NOW, UP = 1_800_000_000.0, 500.0


def after(jumps: Iterable[float], every: float = 60.0) -> float:
    """Return how far the believed time is from the true one, after looks at clocks that are set."""
    known: SureClock | None = followed(None, NOW, UP)
    passed = 0.0
    for jump in jumps:
        passed += every
        known = followed(known, NOW + passed + jump, UP + passed)
    assert known is not None
    return known.at(UP + passed) - (NOW + passed)


@pytest.mark.parametrize(
    ("jumps", "wanted"),
    [
        pytest.param([0.0] * 9, 0.0, id="none"),
        pytest.param([7200.0], 0.0, id="one look"),
        pytest.param([7200.0, 7200.0, 0.0], 0.0, id="it is set right again"),
        pytest.param([7200.0] * 5, 0.0, id="not long enough"),
        pytest.param([7200.0] * 6, 7200.0, id="it stays"),
        pytest.param([-7200.0] * 6, -7200.0, id="back, too"),
        pytest.param([7200.0, 0.0] * 9, 0.0, id="to and fro"),
        pytest.param([7200.0, 3600.0] * 9, 0.0, id="never the same"),
        pytest.param([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 6.0, id="clocks that drift apart"),
    ],
)
def test_which_time_is_believed(jumps: list[float], wanted: float) -> None:
    assert after(jumps) == wanted


def test_so_long_it_must_stay() -> None:
    known = followed(followed(None, NOW, UP), NOW + 7210, UP + 10)
    late = followed(known, NOW + 7210 + STEADY_SECONDS, UP + 10 + STEADY_SECONDS)
    assert late.at(0.0) == NOW + 7200 - UP
