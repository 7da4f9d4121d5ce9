"""Demand made of a curve of players: matches that arrive by chance, and how long each lasts.

Made as `reference/scaling.md` says: readings that failed are dropped, the rest is interpolated to
ticks and scaled so that the peak needs so many rooms at once; the rate of arrivals is then
`max(0, rooms' + rooms / D)`, D the mean length of a match. Equal cases and seeds are equal demand.
"""

import csv
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

TRACES = Path(__file__).parents[1] / "traces"
TICK_SECONDS = 10
GAMES = (
    "counter-strike-2",
    "dota-2",
    "pubg",
    "rust",
    "schedule-i-launch",
    "team-fortress-2",
)
DAY_TICKS = 86_400 // TICK_SECONDS
WOBBLE, WOBBLE_MEMORY_SECONDS = 0.05, 600.0
STEP_DAY, STEP_RAMP_SECONDS, STEP_SECONDS, STEP_FACTOR = 15, 600, 6 * 3600, 3.0

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Case:
    """One row of the yardstick: a curve, the rooms that its peak needs, and how rooms behave.

    `group` matches arrive together. `wobble` lets the rate wander by 5 % with ten minutes'
    memory, `step` triples it within ten minutes for six hours of day 15.
    """

    game: str
    peak_rooms: int
    startup_seconds: int
    match_seconds: float = 1500.0
    sigma: float = 0.6
    group: int = 1
    wobble: bool = False
    step: bool = False

    @property
    def name(self) -> str:
        """Return a short name: start-up, game, peak, and what is unlike the 36 usual cases."""
        unusual = [
            f"d{self.match_seconds:g}" * (self.match_seconds != 1500.0),
            f"s{self.sigma:g}" * (self.sigma != 0.6),
            f"g{self.group}" * (self.group != 1),
            "wobble" * self.wobble,
            "step" * self.step,
        ]
        plain = f"{self.startup_seconds}-{self.game}-{self.peak_rooms}"
        return "-".join([plain, *filter(None, unusual)])


@dataclass(frozen=True, slots=True, eq=False)
class Demand:
    """The matches of one case and seed. A tick is 10 s; tick 0 is the first reading's instant."""

    start: float
    """Unix seconds of tick 0."""
    rate: Floats
    """True arrivals a second, by tick."""
    arrivals: Ints
    """Matches that arrive, by tick."""
    first: Ints
    """Index into `lasts` of the first match of each tick; one more entry than ticks."""
    lasts: Ints
    """How many ticks each match lasts, at least 1, in order of arrival.

    It is over with the first tick after its end: on average half a tick late.
    """

    @property
    def ticks(self) -> int:
        """Return how many ticks the curve has."""
        return len(self.arrivals)


def readings(game: str) -> tuple[Floats, Floats]:
    """Return the times (Unix seconds) and players of a curve, without the readings that failed.

    Raises OSError where the curve is not there.
    """
    with (TRACES / f"{game}.csv").open(encoding="utf-8", newline="") as file:
        rows = [
            (datetime.fromisoformat(row["time"]).timestamp(), float(row["players"]))
            for row in csv.DictReader(file)
        ]
    times, players = np.array(rows, dtype=np.float64).T
    seen = players > 0
    times, players = times[seen], players[seen]
    hole = np.zeros(len(players), dtype=bool)
    hole[1:-1] = players[1:-1] < 0.3 * np.minimum(players[:-2], players[2:])
    return times[~hole], players[~hole]


def demand(case: Case, seed: int) -> Demand:
    """Return the demand of a case; every seed is another month of the same curve."""
    times, players = readings(case.game)
    ticks = int((times[-1] - times[0]) // TICK_SECONDS)
    at = times[0] + TICK_SECONDS * np.arange(ticks + 1)
    curve = np.interp(at, times, players)
    rooms = curve * (case.peak_rooms / curve.max())
    rate = np.maximum(0.0, np.diff(rooms) / TICK_SECONDS + rooms[:-1] / case.match_seconds)
    rng = np.random.default_rng([seed, case.peak_rooms, GAMES.index(case.game)])
    if case.step:
        rate = rate * _step(ticks)
    if case.wobble:
        rate = rate * np.maximum(0.0, 1.0 + _wobble(ticks, rng))
    arrivals = case.group * rng.poisson(rate * (TICK_SECONDS / case.group)).astype(np.int64)
    first = np.concatenate(([0], np.cumsum(arrivals)))
    mu = np.log(case.match_seconds) - case.sigma**2 / 2
    seconds = rng.lognormal(mu, case.sigma, int(first[-1]))
    lasts = np.maximum(1, np.ceil(seconds / TICK_SECONDS)).astype(np.int64)
    return Demand(float(times[0]), rate, arrivals, first, lasts)


def beginning(whole: Demand, days: int) -> Demand:
    """Return the first days of a demand, as they are in the whole."""
    ticks = min(whole.ticks, days * DAY_TICKS)
    first = whole.first[: ticks + 1]
    rate, arrivals = whole.rate[:ticks], whole.arrivals[:ticks]
    return Demand(whole.start, rate, arrivals, first, whole.lasts[: first[-1]])


def _step(ticks: int) -> Floats:
    """Return the factor of the step variant, by tick."""
    since = (np.arange(ticks) - STEP_DAY * DAY_TICKS) * float(TICK_SECONDS)
    up = np.clip(since / STEP_RAMP_SECONDS, 0.0, 1.0)
    down = np.clip((since - STEP_SECONDS) / STEP_RAMP_SECONDS, 0.0, 1.0)
    return np.asarray(1.0 + (STEP_FACTOR - 1.0) * (up - down), dtype=np.float64)


def _wobble(ticks: int, rng: np.random.Generator) -> Floats:
    """Return the wandering part of the rate: a first-order process in ticks."""
    keep = float(np.exp(-TICK_SECONDS / WOBBLE_MEMORY_SECONDS))
    shocks = rng.normal(0.0, WOBBLE * np.sqrt(1.0 - keep * keep), ticks)
    wander = np.empty(ticks)
    value = 0.0
    for tick, shock in enumerate(shocks.tolist()):
        value = keep * value + shock
        wander[tick] = value
    return wander
