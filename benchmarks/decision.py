"""What a decision of adaptive costs: the looks of a day, one after the other, timed one by one."""

import statistics
import time
from collections.abc import Sequence
from dataclasses import replace

from benchmarks.results import Figure, Section, at_most, percentile
from benchmarks.yardstick import world
from benchmarks.yardstick.demand import Case, beginning, demand
from reconciler.core.policies.adaptive_decision import Parameters, decide
from reconciler.model.scaling import Advice, Look

CASES = (Case("pubg", 50, 300), Case("dota-2", 2000, 60))
MOST_MICROSECONDS = 100.0
ROUNDS = 5
LOOP_TURNS, LOOPS = 1000, 2000


def measure() -> Section:
    """Measure decisions, and a loop of Python beside them."""
    figures: list[Figure] = []
    for case in CASES:
        rounds = decisions(case)
        undisturbed = [min(each) for each in zip(*rounds, strict=True)]
        all_of_them = [one for each in rounds for one in each]
        what = f"a decision, {case.name}"
        figures += [
            at_most(f"{what}: mean", statistics.fmean(undisturbed), MOST_MICROSECONDS, "µs", 0),
            Figure(f"{what}: mean with what disturbs", f"{statistics.fmean(all_of_them):.0f} µs"),
            Figure(f"{what}: median", f"{statistics.median(undisturbed):.0f} µs"),
            Figure(f"{what}: p99", f"{percentile(undisturbed, 99.0):.0f} µs"),
        ]
    loops = [loop_microseconds() for _ in range(LOOPS)]
    what = f"a loop of {LOOP_TURNS:,} additions in Python"
    figures += [
        Figure(f"{what}: least", f"{min(loops):.0f} µs"),
        Figure(f"{what}: mean with what disturbs", f"{statistics.fmean(loops):.0f} µs"),
    ]
    notes = [
        f"CPU of the thread. The same day is decided {ROUNDS} times, and of each decision the least"
        " counts: on a machine that others use, CPU time itself is two to three times as much.",
        "A look every 10 s; every third one is forecast anew, and costs some six times the others.",
    ]
    return Section("decision", "what a decision costs", figures, notes)


def decisions(case: Case) -> Sequence[Sequence[float]]:
    """Return the microseconds of each decision of a day, by round."""
    given = Parameters()
    looks: list[Look] = []

    def policy(look: Look) -> Advice:
        looks.append(look)
        return decide(given, look)

    world.run(case, beginning(demand(case, 1), 1), 1, policy)
    return [_timed(given, looks) for _ in range(ROUNDS)]


def _timed(given: Parameters, looks: Sequence[Look]) -> Sequence[float]:
    """Decide look after look, each with what the one before gave to remember."""
    took, memory = [], b""
    for look in looks:
        asked = replace(look, memory=memory)
        begun = time.thread_time_ns()
        memory = decide(given, asked).memory
        took.append((time.thread_time_ns() - begun) / 1000.0)
    return took


def loop_microseconds() -> float:
    """Return the microseconds of a thousand additions."""
    begun, total = time.thread_time_ns(), 0.0
    for number in range(LOOP_TURNS):
        total += number * 0.5
    return (time.thread_time_ns() - begun) / 1000.0
