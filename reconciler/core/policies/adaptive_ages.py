"""Matches end by their age: a learned hazard says how many rooms come back, and how surely.

The hazard of an age is `(ends + p) / (seconds played at that age + p / h)`: `h` is the hazard of
all ages together, and `p` ends' worth of it stand in for what was not seen yet.
"""

from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from reconciler.core.policies.adaptive_memory import AGES, Floats, Memory

EDGES: Floats = np.concatenate(([0.0], 30.0 * 1.25 ** np.arange(AGES - 1)))
"""Where each age begins, seconds; the last has no end."""
WIDTHS: Floats = np.diff(EDGES, append=2.0 * EDGES[-1])
MIDDLES: Floats = EDGES + WIDTHS / 2
STEPS: Floats = EDGES[1:]
STEP_SECONDS = tuple(STEPS.tolist())
OLDEST_FIRST: Floats = np.concatenate(([-np.inf], STEPS, [np.inf]))
PRIOR_ENDS = 4.0
FIRST_HAZARD = 1.0 / 1500.0
MEMORY_SECONDS = 14 * 86_400.0


def count_ages(begun: Floats, now: float) -> Floats:
    """Return how many matches have each age; `begun` holds when they began, the earliest first."""
    older = begun.searchsorted(now - OLDEST_FIRST, side="right")
    return np.asarray(older[:-1] - older[1:], dtype=np.float64)


def learn_ends(memory: Memory, ends: Sequence[float]) -> None:
    """Add matches that ended, given how long each was played, seconds."""
    ended = memory.ended
    for seconds in ends:
        ended[bisect_right(STEP_SECONDS, seconds)] += 1.0


def learn_played(memory: Memory, counts: Floats, seconds: float) -> None:
    """Add what was played in the last `seconds`; what is old fades."""
    exposed, fade = memory.exposed, 1.0 - min(0.5, seconds / MEMORY_SECONDS)
    ended = memory.ended
    ended *= fade
    exposed *= fade
    exposed += counts * seconds


def leaving_shares(memory: Memory, leads: tuple[float, ...]) -> Floats:
    """Return for each age the share that will have ended at each lead (seconds)."""
    ended, exposed = memory.ended, memory.exposed
    total = (ended.sum() + 1.0) / (exposed.sum() + 1.0 / FIRST_HAZARD)
    hazard = (ended + PRIOR_ENDS) / (exposed + PRIOR_ENDS / total)
    before = np.concatenate(([0.0], np.cumsum(hazard * WIDTHS)[:-1]))
    place, over = _places(leads)
    later = before[place] + hazard[place] * over
    now = before + hazard * (WIDTHS / 2)
    return np.asarray(-np.expm1(now[:, None] - later))


@lru_cache(maxsize=256)
def _places(leads: tuple[float, ...]) -> tuple[NDArray[np.intp], Floats]:
    """Return in which age each age will be at each lead, and how far into it, seconds."""
    later = MIDDLES[:, None] + np.array(leads)
    place = np.searchsorted(STEPS, later, side="right")
    return place, later - EDGES[place]


def departures(
    shares: Floats, counts: Floats, arriving: Sequence[float]
) -> tuple[list[float], list[float]]:
    """Return by lead how many matches will have ended, and the variance of that.

    Those still to come (`arriving`, by lead) end young, the most of them after the last lead.
    """
    newborn, total, leaving = shares[0].tolist(), 0.0, (counts @ shares).tolist()
    scatter = (counts @ (shares * (1.0 - shares))).tolist()
    for place, share in enumerate(newborn):
        total += share
        leaving[place] += arriving[place] * total / (place + 1)
    return leaving, scatter
