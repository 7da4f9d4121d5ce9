"""The table as a page: `adaptive` beside its anchors, with seeds and spread, and the verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, log, nan, sqrt
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.yardstick import published
from benchmarks.yardstick.anchors import MISS_RATE, SEEDS
from benchmarks.yardstick.demand import Case

PAGE = Path(__file__).parents[1] / "YARDSTICK.md"
JUDGED = (
    "Judged are misses and paid idle alone: time, microseconds and anchors are told beside them."
)
MOST_MEAN, MOST_WORST, MOST_DAY = 1.25, 1.5, 0.005
MOST_MINUTES = 90
"""For the whole table, on two cores."""
WEEK_DAYS = 7
CASES, LEAST_SEEDS = 36, 5
HEAD = """\
# The yardstick

Written by `python -m benchmarks.yardstick`. A month of six real curves (`traces/`), three sizes
and two start-up times; matches come by chance, a new seed is another month of the same curve.
*Paid idle* is room-hours in which a room starts, or is ready and empty; *missed* are matches that
found no ready room. `adaptive` has one default parameter set, sees what a running system sees, and
is played without budgets. The anchors are tuned in hindsight on
seeds {anchor_seeds}, each to at most 0.1% missed: Agones' buffer N (what no user could know
before), Maestro's roomOccupancy, and Informed-2, an oracle that knows the rate to come.

Misses are in per cent of the matches; those of a case, and of its worst day, are pooled over the
seeds. On one day of one run of a small fleet four matches are more than 0.5%: told apart.
"""
COLUMNS = (
    *("start-up s", "game", "peak rooms", "Agones N", "paid h", "Maestro target", "paid h"),
    *("Informed-2 z", "paid h", "adaptive paid h", "its spread", "/ Informed-2", "/ Agones"),
    *("missed", "worst run", "worst day", "worst day of a run", "day 1", "week 1"),
    "starts / Informed-2",
)


@dataclass(frozen=True, slots=True)
class Row:
    """One case: its anchors by name, and the runs of `adaptive`, one a seed."""

    case: Case
    anchors: Mapping[str, Mapping[str, Any]]
    runs: Sequence[Mapping[str, Any]]

    def ratio(self, anchor: str, what: str = "paid_idle_hours") -> float:
        """Return the mean of the runs over an anchor; NaN where the anchor never met the rate."""
        beside = self.anchors.get(anchor, {}).get(what, nan)
        return float(fmean(float(run[what]) for run in self.runs) / float(beside))

    def missed(self, first_day: int = 0, days: int | None = None) -> float:
        """Return the share that was missed on some days, pooled over the seeds."""
        part = slice(first_day, None if days is None else first_day + days)
        misses = sum(sum(run["misses"][part]) for run in self.runs)
        return float(misses / max(1, sum(sum(run["arrivals"][part]) for run in self.runs)))

    @property
    def worst_run(self) -> float:
        """Return the largest share that one run missed."""
        return max(float(sum(run["misses"]) / max(1, sum(run["arrivals"]))) for run in self.runs)

    @property
    def worst_day(self) -> float:
        """Return the largest share that was missed on one day of the curve, over the seeds."""
        return max(self.missed(day, 1) for day in range(len(self.runs[0]["misses"])))

    @property
    def worst_day_of_a_run(self) -> float:
        """Return the largest share that one run missed on one day."""
        days = (
            day for run in self.runs for day in zip(run["misses"], run["arrivals"], strict=True)
        )
        return max(float(misses / max(1, arrivals)) for misses, arrivals in days)

    @property
    def failures(self) -> list[str]:
        """Return which demands on misses are not met."""
        found = []
        if self.missed() > MISS_RATE:
            found.append(f"{self.case.name}: {self.missed():.4%} missed")
        for run in self.runs:
            allowed, misses = MISS_RATE * sum(run["arrivals"]), sum(run["misses"])
            if misses > allowed + 2.0 * sqrt(allowed):
                found.append(f"{self.case.name}: a run missed {misses} of {allowed:.0f}")
        if self.worst_day > MOST_DAY:
            found.append(f"{self.case.name}: {self.worst_day:.2%} missed on one day")
        return found

    def text(self) -> str:
        """Return the row as Markdown."""
        shown: list[str] = [
            str(self.case.startup_seconds),
            self.case.game,
            str(self.case.peak_rooms),
        ]
        for name in ("Agones", "Maestro", "Informed-2"):
            anchor = self.anchors.get(name, {"setting": nan, "paid_idle_hours": nan})
            shown += [f"{anchor['setting']:g}", f"{anchor['paid_idle_hours']:.0f}"]
        hours = [run["paid_idle_hours"] for run in self.runs]
        shown += [f"{fmean(hours):.0f}", f"{min(hours):.0f} to {max(hours):.0f}"]
        shown += [f"{self.ratio(name):.2f}" for name in ("Informed-2", "Agones")]
        shown += [f"{100 * rate:.3f}" for rate in (self.missed(), self.worst_run)]
        days = self.worst_day, self.worst_day_of_a_run, self.missed(0, 1), self.missed(0, WEEK_DAYS)
        shown += [f"{100 * rate:.2f}" for rate in days]
        shown.append(f"{self.ratio('Informed-2', 'starts'):.2f}")
        return "| " + " | ".join("never" if cell == "nan" else cell for cell in shown) + " |"


def verdict(rows: Sequence[Row]) -> tuple[list[str], bool]:
    """Return what all rows come to, in sentences, and whether misses and paid idle meet the bar."""
    ratios = [ratio for ratio in (row.ratio("Informed-2") for row in rows) if ratio == ratio]
    failures = [failure for row in rows for failure in row.failures]
    said = [f"{len(rows)} cases, {len(rows[0].runs)} seeds each" if rows else "no case was played"]
    passed = bool(rows) and not failures
    if ratios:
        mean, worst = exp(fmean(log(ratio) for ratio in ratios)), max(ratios)
        passed = passed and mean <= MOST_MEAN and worst <= MOST_WORST
        said.append(
            f"paid idle {mean:.3f} x Informed-2 on geometric mean (at most {MOST_MEAN:g}),"
            f" {worst:.3f} at worst (at most {MOST_WORST:g})"
        )
    costs = [float(run["decision_microseconds"]) for row in rows for run in row.runs]
    if costs:
        said.append(f"a decision took {fmean(costs):.0f} µs of CPU on average (at most 100)")
    said += _times(rows)
    said += published.verdict(_anchors(rows))
    said += failures or ["at most 0.1% missed in every case, 0.5% on the worst day"]
    return said, passed


def _times(rows: Sequence[Row]) -> list[str]:
    """Say how long the runs took, one after the other: older ones did not note it."""
    played = [run for row in rows for run in (*row.anchors.values(), *row.runs)]
    noted = [float(run["seconds"]) for run in played if "seconds" in run]
    if not noted:
        return []
    of = "all runs" if len(noted) == len(played) else f"{len(noted)} of {len(played)} runs"
    return [
        f"{of} together took {sum(noted) / 60:.0f} minutes of one core: half of it on two"
        f" (at most {MOST_MINUTES}), the longest {max(noted) / 60:.1f}"
    ]


def _anchors(rows: Sequence[Row]) -> list[tuple[Case, Mapping[str, Mapping[str, Any]]]]:
    """Return the anchors that were played, by case."""
    return [(row.case, row.anchors) for row in rows if row.anchors]


def text(rows: Sequence[Row], seeds: Sequence[int], note: str) -> str:
    """Return the whole page."""
    lines = [HEAD.format(anchor_seeds=", ".join(map(str, SEEDS)))]
    said, passed = verdict(rows)
    lines += [f"{note} Seeds of `adaptive`: {', '.join(map(str, seeds))}.", ""]
    lines += [f"* {sentence}" for sentence in said]
    whole = len(rows) >= CASES and len(seeds) >= LEAST_SEEDS
    word = (
        ("Passed" if passed else "MISSED") if whole else "Not judged: this is a part of the table"
    )
    lines += ["", f"**{word}.** {JUDGED}" if whole else f"**{word}.**", ""]
    lines += ["| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
    lines += [row.text() for row in rows]
    if compared := _anchors(rows):
        lines += ["", published.NOTE, *published.table(compared)]
    return "\n".join(lines) + "\n"
