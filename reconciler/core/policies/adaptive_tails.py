"""How many rooms keep the chance of needing more below a share: quantiles of net demand.

Net demand until a lead is what starts less what ends. Its mean, variance, skew and kurtosis are
known, its quantile is Cornish and Fisher's expansion of them; a plain normal quantile is too thin
for small fleets.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

NORMAL = NormalDist()
MOST_SKEW, MOST_KURTOSIS = 1.2, 2.0


@dataclass(frozen=True, slots=True)
class Net:
    """Net demand until each lead, by its parts."""

    arriving: Sequence[float]
    """Matches expected to start."""
    doubt: Sequence[float]
    """The variance that the error of the rate adds."""
    leaving: Sequence[float]
    """Matches expected to end."""
    scatter: Sequence[float]
    """The variance of that."""
    dispersion: float
    """The variance of what starts over its mean."""


def needs(net: Net, share: float) -> tuple[list[float], float]:
    """Return by lead how many rooms only a `share` of futures exceeds, and the last deviation."""
    z, found, deviation = -NORMAL.inv_cdf(share), [], 0.0
    by_skew, by_kurtosis = (z * z - 1.0) / 6.0, (z**3 - 3.0 * z) / 24.0
    by_square = (2.0 * z**3 - 5.0 * z) / 36.0
    dispersion = net.dispersion
    # A dozen numbers: an array of them costs more than it spares.
    parts = zip(net.arriving, net.doubt, net.leaving, net.scatter, strict=True)
    for arriving, doubt, leaving, scatter in parts:
        chance = dispersion * arriving
        variance = max(chance + doubt + scatter, 1e-9)
        deviation = sqrt(variance)
        skew = min((dispersion * chance - scatter) / (variance * deviation), MOST_SKEW)
        kurtosis = (dispersion * dispersion * chance + scatter) / (variance * variance)
        quantile = z + skew * (by_skew - by_square * skew)
        quantile += by_kurtosis * min(kurtosis, MOST_KURTOSIS)
        # P(more than N - 1/2) for whole numbers: half a room above the quantile.
        found.append(arriving - leaving + deviation * quantile + 0.5)
    return found, deviation
