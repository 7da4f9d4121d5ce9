"""Times and ages as Kubernetes writes them."""

import pytest

from reconciler.sandbox import clock


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        pytest.param(-1, "0s", id="a clock that is a little behind"),
        pytest.param(119, "119s", id="seconds up to two minutes"),
        pytest.param(125, "2m5s", id="minutes with seconds"),
        pytest.param(600, "10m", id="minutes alone from ten"),
        pytest.param(3 * 3600 + 60, "3h1m", id="hours with minutes"),
        pytest.param(8 * 3600 + 60, "8h", id="hours alone from eight"),
        pytest.param(2 * 86400 + 3600, "2d1h", id="days with hours"),
        pytest.param(30 * 86400, "30d", id="days alone"),
        pytest.param(3 * 365 * 86400, "3y", id="years"),
    ],
)
def test_ages_grow_coarser(seconds: int, text: str) -> None:
    assert clock.age(seconds) == text


def test_times_come_back() -> None:
    assert clock.stamp(1_800_000_000.9) == "2027-01-15T08:00:00Z"
    assert clock.micro(1_800_000_000.25) == "2027-01-15T08:00:00.250000Z"
    assert clock.moment("2027-01-15T08:00:00Z") == 1_800_000_000
