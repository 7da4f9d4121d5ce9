"""What earlier days say: nothing without a day, a shape with one, and a week ago's once known."""

import pytest

from reconciler.core import demand
from reconciler.core.policies.adaptive_season import shapes

NOW = 1_800_000_000.0
QUARTER = demand.quarter_of(NOW)
INSTANTS = (NOW - 900.0, NOW, NOW + 900.0)


def history(days: int, height: float = 100.0) -> bytes:
    """Return days until now that grow by a tenth in each quarter of an hour around this time."""
    counts = {}
    for quarter in range(QUARTER - 96 * days - 12, QUARTER):
        place = (quarter - QUARTER + 48) % 96 - 48
        counts[quarter] = round(height * 1.1**place) if abs(place) < 12 else 0
    return demand.encode(counts)


@pytest.mark.parametrize(
    "kept",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(demand.encode({QUARTER - 1: 4}), id="a quarter"),
        pytest.param(b"GKD9" + bytes(4000), id="another version"),
        pytest.param(demand.encode({QUARTER - 400: 4, QUARTER - 1: 4}), id="a day of holes"),
    ],
)
def test_of_less_than_a_day_nothing_is_said(kept: bytes) -> None:
    assert shapes(kept, NOW, INSTANTS) is None


@pytest.mark.parametrize("days", [1, 3, 9])
def test_demand_is_expected_to_grow_as_it_did(days: int) -> None:
    found = shapes(history(days, 1000.0), NOW, INSTANTS)

    assert found is not None
    for before, now, later in found:
        assert now / before == pytest.approx(1.1, rel=0.01)
        assert later / now == pytest.approx(1.1, rel=0.01)


def test_a_week_ago_is_told_apart_from_the_days_since() -> None:
    known = demand.decode(history(8))
    for quarter in range(QUARTER - 96 * 7 - 12, QUARTER - 96 * 7 + 12):
        known[quarter] = 50
    found = shapes(demand.encode(known), NOW, INSTANTS)

    assert found is not None
    daily, weekly = (later / before for before, _, later in found)
    assert daily > 1.1
    assert weekly == pytest.approx(1.0)


def test_nobody_at_all_is_no_division_by_zero() -> None:
    found = shapes(history(2, 0.0), NOW, INSTANTS)

    assert found == ((1.0, 1.0, 1.0), (1.0, 1.0, 1.0))
