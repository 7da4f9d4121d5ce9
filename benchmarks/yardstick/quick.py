"""Three cases for every commit: the first days of a month, beside Informed-2 on the same days.

Days are too few to judge the miss bar by: here no more may be missed than chance allows a policy
that just meets it, and the first days cost more, before anything is learned.
"""

from concurrent.futures import ProcessPoolExecutor
from math import sqrt

import numpy as np

from benchmarks.yardstick.anchors import MISS_RATE, informed, play
from benchmarks.yardstick.demand import TICK_SECONDS, Case, beginning, demand
from benchmarks.yardstick.runs import adapt

DAYS, SEED = 4, 1
# With the z that Informed-2 needs in the whole month, and the most times its paid idle.
CASES = (
    (Case("pubg", 50, 300), 3.1, 2.0),
    (Case("schedule-i-launch", 300, 60), 2.7, 1.6),
    (Case("counter-strike-2", 300, 300), 2.85, 1.5),
)


def judge(case: Case, z: float, most: float) -> tuple[str, bool]:
    """Play a case and return what it came to, and whether that will do."""
    days = beginning(demand(case, SEED), DAYS)
    score = adapt(case, days, SEED)
    wish = informed(np.array([z]), days.rate, case)
    oracle = play([days], 1, case.startup_seconds // TICK_SECONDS, wish, 1)
    ratio = score.paid_idle_hours / float(oracle.paid_idle_hours[0])
    allowed, missed = MISS_RATE * float(score.arrivals.sum()), int(score.misses.sum())
    passed = missed <= allowed + 2.0 * sqrt(allowed) and ratio <= most
    cost = 1e6 * score.decision_seconds / score.decisions
    said = (
        f"{case.name}: paid idle {ratio:.2f} x Informed-2 (at most {most:g}), {missed} missed"
        f" ({allowed:.0f} allowed), {cost:.0f} µs of CPU a decision"
    )
    return said, passed


def main(processes: int) -> int:
    """Play the cases side by side; return 1 where one fails."""
    with ProcessPoolExecutor(processes) as pool:
        judged = list(pool.map(judge, *zip(*CASES, strict=True)))
    for said, passed in judged:
        print(said, "passed" if passed else "FAILED")
    return 0 if all(passed for _, passed in judged) else 1
