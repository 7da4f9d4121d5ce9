"""How seldom a match may find no room, now: the share that is allowed, steered by what was missed.

Misses are not seen: they are the rate times the seconds without a ready room, and a little more.
The budget is what was allowed less what was missed; it is kept above a reserve of two standard
deviations (the misses themselves come by chance), so that it is safe first and thrifty later. A
busy hour gets a smaller share than a quiet one: with the same room it serves more matches (the
share that wastes least goes with 1 / sqrt(rate)). After a bad hour the rest of the day is careful.
"""

from dataclasses import dataclass
from math import exp, sqrt

from reconciler.core.policies.adaptive_memory import Memory

DAY_SECONDS = 86_400.0
MEMORIES = tuple(DAY_SECONDS * days for days in (28.0, 28.0, 1.0, 1.0, 7.0, 7.0))
"""How long each number of the budget is remembered, seconds."""
LEAST_WEIGHT = 1.0 / 3.0
RESERVE_DEVIATIONS = 2.0
FIRST_RESERVE = 3.0
LEAST_SCALE, SCALE_DEVIATIONS = 4.0, 0.25
MOST_THRIFT, MOST_CAUTION = 3.0, 3.0
LEAST_SHARE, MOST_SHARE = 1e-6, 0.5
# Rooms run out when more come than was thought: at such times the rate is known too low.
UNSEEN_FACTOR = 1.05
# A day may miss some times more than the long run, but for a last match; then half a match less is
# dared for every factor of e.
DAY_FACTOR, DAY_MATCHES, DAY_SCALE = 2.5, 1.0, 0.5


@dataclass(frozen=True, slots=True)
class Allowance:
    """The share of matches that may find no room now, and the budget that it comes from."""

    share: float
    allowed: float
    missed: float


def spend(
    memory: Memory, started: float, unseen: float, seconds: float, earning_seconds: float
) -> None:
    """Add the matches that started while misses count, and those that must have been lost then.

    All of it fades by the `seconds` that somebody looked, whether misses counted in them or not.
    """
    rate = float(memory.moments[2])
    missed = UNSEEN_FACTOR * unseen
    matches = started + missed
    pace = rate * earning_seconds, sqrt(rate) * earning_seconds
    more = matches, missed, matches, missed, *pace
    memory.budget[:] = [
        known * (1.0 - min(0.5, seconds / remembered)) + new
        for known, remembered, new in zip(memory.budget.tolist(), MEMORIES, more, strict=True)
    ]


def allowance(memory: Memory, miss_rate: float) -> Allowance:
    """Return what may be missed now, where `miss_rate` is the share that may be in the long run."""
    matches, missed, day_matches, day_missed, rates, roots = memory.budget.tolist()
    allowed = miss_rate * matches
    chance = sqrt(allowed)
    left = allowed - missed - RESERVE_DEVIATIONS * chance - FIRST_RESERVE
    thrift = left / max(LEAST_SCALE, SCALE_DEVIATIONS * chance)
    today = DAY_FACTOR * miss_rate * day_matches - day_missed - DAY_MATCHES
    care = max(-MOST_CAUTION, min(0.0, today / DAY_SCALE))
    share = miss_rate * exp(max(-MOST_CAUTION, min(MOST_THRIFT, thrift)) + care)
    rate = float(memory.moments[2])
    if roots > 0.0 and rate > 0.0:
        share *= max(LEAST_WEIGHT, min(1.0 / LEAST_WEIGHT, rates / roots / sqrt(rate)))
    return Allowance(max(LEAST_SHARE, min(MOST_SHARE, share)), allowed, missed)
