"""How many matches will start: several filters of the rate, weighted by how well each predicted.

Each filter fits a line to the counts, those of `t` seconds ago weighing `exp(-t / memory)`. With
discounted sums over exposures e at age u, S_n = sum e u^n and T_n = sum k u^n, it is the posterior
of a Poisson regression with a prior on the slope; without one it is a level, T_0 / S_0. A filter
of a season is a level that moves as an earlier day or week did. Weights are the predictive
likelihood, faded so that what predicted well hours ago counts less.

A dozen filters are reckoned one by one: arrays of so few numbers cost more than they spare.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import exp, log

from reconciler.core.policies.adaptive_memory import Memory
from reconciler.core.policies.adaptive_season import Shape

Shapes = tuple[Shape, Shape]

LINES = (12, 30, 70)
FLAT = (4, 10, 25, 60)
SEASONAL = (15, 40, 120)
MEMORIES = tuple(60.0 * minutes for minutes in (*LINES, *FLAT, *SEASONAL, *SEASONAL))
"""How long each filter remembers, seconds: lines first, then levels, those of days, of a week."""
SEASONS = len(LINES) + len(FLAT)
SLOPE_DEVIATION = 0.7 / 3600.0
"""How much a rate grows in a second, as a share of it: the prior's deviation."""
WEIGHT_MEMORY_SECONDS = 4 * 3600.0
FIRST_SECONDS = 60.0
LEAST_RATE = 1e-5
SCATTER_MEMORY_SECONDS, PRIOR_MATCHES = 86_400.0, 100.0
# Ten minutes in which the rate is found; its errors say nothing of chance.
FIRST_FORECASTS = 20


def begin(memory: Memory, rate: float) -> None:
    """Start all filters at a rate that is known only roughly."""
    memory.levels[0] = FIRST_SECONDS
    memory.levels[1] = rate * FIRST_SECONDS
    memory.slopes[:] = 0.0
    memory.weights[:] = 0.0
    memory.lines[0] = rate
    memory.lines[1] = 0.0


def learn(
    memory: Memory,
    count: float,
    seconds: float,
    shapes: Shapes | None,
    *,
    learns_scatter: bool = True,
) -> None:
    """Take in the matches that started in the last `seconds`, and judge who foresaw them.

    `shapes` is the relative demand at the beginning, at the end, and at the last lead, by season.
    A count that is reckoned from the rate comes without chance: nothing is learned of that then.
    """
    level, slope = memory.lines.tolist()
    expected = [
        max(each + grows * (seconds / 2), LEAST_RATE) * seconds
        for each, grows in zip(level, slope, strict=True)
    ]
    scatter = dispersion(memory)
    shares = _judge(memory, [(count * log(mean) - mean) / scatter for mean in expected], seconds)
    if learns_scatter and memory.clock[4] >= FIRST_FORECASTS:
        mean = sum(share * each for share, each in zip(shares, expected, strict=True))
        squares, means, rate = memory.moments.tolist()
        fade = 1.0 - min(0.5, seconds / SCATTER_MEMORY_SECONDS)
        memory.moments[:] = fade * squares + (count - mean) ** 2, fade * means + mean, rate
    _add(memory, count, seconds, shapes)


def _add(memory: Memory, count: float, seconds: float, shapes: Shapes | None) -> None:
    """Add a count to the sums of every filter; what is old fades."""
    keeps = _keeps(seconds)
    exposures, counts = memory.levels.tolist()
    ages, squares, early = memory.slopes.tolist()
    for line in range(len(LINES)):
        keep = keeps[line]
        exposure, age, known = keep * exposures[line], keep * ages[line], keep * counts[line]
        squares[line] = keep * squares[line] + seconds * (
            2.0 * age + seconds * (exposure + seconds / 3.0)
        )
        ages[line] = age + seconds * (exposure + seconds / 2.0)
        early[line] = keep * early[line] + seconds * (known + count / 2.0)
    memory.slopes[:] = ages, squares, early
    for season, (before, now, _) in enumerate(shapes or ()):
        # What was seen is taken as if it had been at the height of now.
        growth = _growth(before, now)
        place = SEASONS + season * len(SEASONAL)
        for seasonal in range(place, place + len(SEASONAL)):
            exposures[seasonal] /= growth
    memory.levels[:] = (
        [keep * each + seconds for keep, each in zip(keeps, exposures, strict=True)],
        [keep * each + count for keep, each in zip(keeps, counts, strict=True)],
    )


@lru_cache(maxsize=256)
def _keeps(seconds: float) -> tuple[float, ...]:
    """Return by filter how much of its sums is left after some seconds."""
    return tuple(exp(-seconds / remembered) for remembered in MEMORIES)


def _judge(memory: Memory, likelihood: Sequence[float], seconds: float) -> list[float]:
    """Add how likely each filter held what came; return the weights, which add up to 1."""
    fade = exp(-seconds / WEIGHT_MEMORY_SECONDS)
    weights = memory.weights.tolist()
    weights = [fade * each + new for each, new in zip(weights, likelihood, strict=True)]
    most = max(weights)
    weights = [each - most for each in weights]
    memory.weights[:] = weights
    return _shares(weights)


def _shares(weights: Sequence[float]) -> list[float]:
    """Return the weights of the filters, which add up to 1."""
    shares = [exp(each) for each in weights]
    total = sum(shares)
    return [each / total for each in shares]


def dispersion(memory: Memory) -> float:
    """Return the variance of counts over their mean: 1 where matches come one by one, by chance."""
    squares, means, _ = memory.moments.tolist()
    return float(max(1.0, (squares + PRIOR_MATCHES) / (means + PRIOR_MATCHES)))


def foresee(
    memory: Memory, leads: Sequence[float], shapes: Shapes | None
) -> tuple[list[float], list[float]]:
    """Return how many matches will start by each lead, and the variance of that beyond chance."""
    shares, scatter = _shares(memory.weights.tolist()), dispersion(memory)
    level, slope, (doubt0, doubt1, doubt2) = _fits(memory, shares, leads[-1], shapes)
    memory.lines[:] = level, slope
    rate = bend = square0 = square1 = square2 = 0.0
    for share, each, grows in zip(shares, level, slope, strict=True):
        half = grows / 2.0
        rate += share * each
        bend += share * half
        square0 += share * each * each
        square1 += share * each * half
        square2 += share * half * half
    memory.moments[2] = max(LEAST_RATE, rate)
    # By power of the lead; the variance among the filters is that of their lines.
    constant = doubt0 * scatter + square0 - rate * rate
    linear = doubt1 * scatter + 2.0 * (square1 - rate * bend)
    square = doubt2 * scatter / 4.0 + square2 - bend * bend
    return (
        [max(0.0, lead * (rate + lead * bend)) for lead in leads],
        [max(0.0, lead * lead * (constant + lead * (linear + lead * square))) for lead in leads],
    )


def _fits(
    memory: Memory, shares: Sequence[float], reach: float, shapes: Shapes | None
) -> tuple[list[float], list[float], tuple[float, float, float]]:
    """Return level and slope by filter, and the variances of both together by power of the lead."""
    exposures, counts = memory.levels.tolist()
    level = [count / each for count, each in zip(counts, exposures, strict=True)]
    slope = [0.0] * len(level)
    doubt0, doubt1, doubt2 = 0.0, 0.0, 0.0
    for share, count, each in zip(shares, counts, exposures, strict=True):
        doubt0 += share * max(count, 0.5) / (each * each)
    for line, sums in enumerate(zip(*memory.slopes.tolist(), strict=True)):
        share = shares[line]
        level[line], slope[line], *doubts = _fit(exposures[line], counts[line], *sums)
        doubt0 += share * doubts[0]
        doubt1 += share * doubts[1]
        doubt2 += share * doubts[2]
    for season, (_, now, later) in enumerate(shapes or ()):
        growth = (_growth(now, later) - 1.0) / reach
        place = SEASONS + season * len(SEASONAL)
        for seasonal in range(place, place + len(SEASONAL)):
            slope[seasonal] = level[seasonal] * growth
    return level, slope, (doubt0, doubt1, doubt2)


def _fit(
    s0: float, t0: float, s1: float, s2: float, t1: float
) -> tuple[float, float, float, float, float]:
    """Return level and slope of a line, and the variances by power that its errors add.

    The first of these is beyond that of a level, which is counted already.
    """
    rate = max(t0, 0.5) / s0
    curve = s2 + 1.0 / (SLOPE_DEVIATION**2 * rate)
    det = s0 * curve - s1 * s1
    level, slope = (curve * t0 - s1 * t1) / det, (s1 * t0 - s0 * t1) / det
    scale = rate / det
    return level, slope, scale * curve - rate / s0, scale * s1, scale * s0


def _growth(earlier: float, later: float) -> float:
    """Return by what factor a season grows between two instants, within reason."""
    return min(2.0, max(0.5, later / earlier))
