"""How long a room takes to start: an estimate first, then what was seen."""

from collections.abc import Sequence
from math import isfinite

from reconciler.core.policies.adaptive_memory import Memory

MEMORY_STARTS = 200.0
FIRST_STARTS = 3.0
DEVIATIONS = 2.0
LEAST_SECONDS = 5.0


def learn(memory: Memory, took: Sequence[float], estimate_seconds: float) -> None:
    """Take in how long each of some rooms took, in seconds."""
    mean, deviation, starts = memory.startup.tolist()
    if mean <= 0.0:
        mean, deviation, starts = estimate_seconds, 0.0, FIRST_STARTS
        memory.startup[:] = mean, deviation, starts
    if not len(took):
        return
    seen = float(sum(took) / len(took))
    if not isfinite(seen) or seen < 0.0:
        return
    share = len(took) / (starts + len(took))
    scatter = sum(abs(seconds - mean) for seconds in took) / len(took)
    memory.startup[:] = (
        mean + share * (seen - mean),
        deviation + share * (scatter - deviation),
        min(MEMORY_STARTS, starts + len(took)),
    )


def startup_seconds(memory: Memory, asked: Sequence[float], now: float) -> float:
    """Return how long a room that is asked for now takes, on the safe side.

    Half of those that start now (`asked`: since when) having waited longer says that it is longer.
    """
    mean, deviation, _ = memory.startup.tolist()
    waiting = now - asked[len(asked) // 2] if len(asked) else 0.0
    return float(max(mean + DEVIATIONS * deviation, waiting, LEAST_SECONDS))
