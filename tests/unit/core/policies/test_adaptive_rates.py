"""The filters of the rate: they find a steady one, follow a ramp, and know how sure they are."""

import numpy as np
import pytest

from reconciler.core.policies import adaptive_rates
from reconciler.core.policies.adaptive_memory import Memory, decode
from reconciler.core.policies.adaptive_rates import Shapes

LEADS = [25.0 * (place + 1.0) for place in range(12)]


def taught(counts: list[float], shapes: Shapes | None = None) -> Memory:
    memory = decode(b"")
    adaptive_rates.begin(memory, 0.1)
    for count in counts:
        adaptive_rates.learn(memory, count, 30.0, shapes)
        adaptive_rates.foresee(memory, LEADS, shapes)
        memory.clock[4] += 1.0
    return memory


@pytest.mark.parametrize("count", [0.0, 3.0, 60.0], ids=["no match", "0.1 a second", "2 a second"])
def test_a_steady_rate_is_found(count: float) -> None:
    arriving, doubt = adaptive_rates.foresee(taught([count] * 400), LEADS, None)

    assert arriving == pytest.approx([lead * count / 30.0 for lead in LEADS], rel=0.01, abs=0.02)
    assert min(doubt) >= 0.0


def test_a_ramp_is_followed_ahead_of_the_last_count() -> None:
    ramp = [30.0 + 0.5 * i for i in range(120)]
    arriving, _ = adaptive_rates.foresee(taught(ramp), LEADS, None)
    last = ramp[-1] / 30.0

    # Ten steps of 30 s ahead the rate has grown by 5 / 30, its mean until then by half of that.
    assert arriving[-1] / 300.0 == pytest.approx(last + 2.5 / 30.0, rel=0.02)


def test_a_jump_is_believed_within_minutes() -> None:
    arriving, _ = adaptive_rates.foresee(taught([30.0] * 400 + [60.0] * 20), LEADS, None)

    assert arriving[0] / LEADS[0] == pytest.approx(2.0, rel=0.05)


def test_doubt_shrinks_with_experience_and_grows_with_the_lead() -> None:
    _, soon = adaptive_rates.foresee(taught([6.0] * 4), LEADS, None)
    _, later = adaptive_rates.foresee(taught([6.0] * 400), LEADS, None)

    assert all(known < new for known, new in zip(later, soon, strict=True))
    assert later == sorted(later)


def test_a_season_that_grows_is_expected_to_grow_on() -> None:
    # Demand of earlier days grows by 1% in 30 s, and by a tenth until the last lead.
    shapes = (1.0, 1.01, 1.111), (1.0, 1.01, 1.111)
    grown = [30.0 * 1.01**i for i in range(200)]
    memory = taught(grown, shapes)
    last = grown[-1] / 30.0
    arriving, _ = adaptive_rates.foresee(memory, LEADS, shapes)

    assert arriving[-1] / 300.0 == pytest.approx(1.05 * last, rel=0.02)


@pytest.mark.parametrize(
    ("group", "least", "most"),
    [
        pytest.param(1, 1.0, 1.2, id="one by one scatter as chance does"),
        pytest.param(3, 2.5, 3.5, id="groups of three scatter three times as much"),
    ],
)
def test_how_counts_scatter_is_learned(group: int, least: float, most: float) -> None:
    draws = group * np.random.default_rng(7).poisson(12.0 / group, 3000)
    scatter = adaptive_rates.dispersion(taught([float(draw) for draw in draws]))

    assert least <= scatter <= most
