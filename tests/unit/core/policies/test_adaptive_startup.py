"""The start-up time: the estimate at first, what was seen soon, what is waited for at once."""

import pytest

from reconciler.core.policies import adaptive_startup
from reconciler.core.policies.adaptive_memory import Memory, decode

NOW = 1_800_000_000.0
NOBODY: list[float] = []


def taught(estimate_seconds: float, took: list[float]) -> Memory:
    memory = decode(b"")
    adaptive_startup.learn(memory, [], estimate_seconds)
    for seconds in took:
        adaptive_startup.learn(memory, [seconds], estimate_seconds)
    return memory


@pytest.mark.parametrize(
    ("estimate", "took", "least", "most"),
    [
        pytest.param(60.0, [], 60.0, 60.0, id="the estimate, before anything was seen"),
        pytest.param(60.0, [60.0] * 9, 60.0, 60.0, id="the estimate was right"),
        pytest.param(60.0, [300.0] * 100, 290.0, 350.0, id="longer than was thought"),
        pytest.param(300.0, [60.0] * 100, 55.0, 120.0, id="shorter than was thought"),
        pytest.param(60.0, [40.0, 80.0] * 100, 80.0, 120.0, id="what varies is taken for long"),
        pytest.param(60.0, [float("nan"), -5.0], 60.0, 60.0, id="absurd times teach nothing"),
        pytest.param(0.0, [], 5.0, 5.0, id="no start takes no time"),
    ],
)
def test_a_start_takes_what_was_seen(
    estimate: float, took: list[float], least: float, most: float
) -> None:
    found = adaptive_startup.startup_seconds(taught(estimate, took), NOBODY, NOW)

    assert least <= found <= most


def test_rooms_that_wait_longer_than_any_before_are_believed_at_once() -> None:
    waiting = [NOW - 400.0, NOW - 350.0, NOW - 100.0]

    assert adaptive_startup.startup_seconds(taught(60.0, []), waiting, NOW) == 350.0
