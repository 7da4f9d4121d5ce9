"""Three policies to be measured against, each tuned in hindsight, on the curve itself.

* Agones: a buffer of N rooms, every 30 s; the smallest N that meets the miss rate.
* Maestro: roomOccupancy, every 60 s; the smallest share of ready rooms that meets it.
* Informed-2: knows the true rate to come, though not the matches, every 10 s; the smallest z.

Several settings and seeds are played at once, each a lane of arrays, in the world of `world.py`:
the same matches, the same order within a tick; matches that are lost are taken out of the ends to
come.

The curve is that of a game that is being played, so in the hours that are not counted a match that
finds no room is given one. Maestro needs that: from nothing it grows by a share of readyTarget in
a start-up time, which takes it most of a day at 0.06. The others come to the same hours without.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.yardstick.demand import TICK_SECONDS, Case, Demand, Floats, Ints, demand
from benchmarks.yardstick.world import HOUR_TICKS, UNCOUNTED_TICKS

SEEDS = (1, 2, 3)
MISS_RATE = 0.001
AGONES_TICKS, MAESTRO_TICKS, INFORMED_TICKS = 3, 6, 1
Counts = NDArray[np.int32]


@dataclass(slots=True)
class Lanes:
    """The rooms of every lane after a tick. `due[i]` become ready `i + 1` ticks from now."""

    tick: int
    ready: Counts
    occupied: Counts
    starting: Counts
    due: Counts


Wish = Callable[[Lanes], tuple[Counts, Counts]]
"""Returns by lane how many rooms to ask for and how many ready ones to remove."""


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """What the lanes came to."""

    arrivals: Ints
    misses: Ints
    idle_hours: Floats
    paid_idle_hours: Floats
    starts: Ints


@dataclass(frozen=True, slots=True)
class Tried:
    """One setting that was played; hours are means of the seeds."""

    setting: float
    miss_rate: float
    paid_idle_hours: float


@dataclass(frozen=True, slots=True)
class Anchor:
    """One policy with the best of its settings; hours and starts are means of the seeds.

    `setting` is NaN where none that was tried meets the miss rate. `near` is the best with one
    step to either side: chance may move the best by as much.
    """

    setting: float
    miss_rate: float
    idle_hours: float
    paid_idle_hours: float
    starts: float
    near: tuple[Tried, ...] = ()


def play(
    months: Sequence[Demand], settings: int, startup: int, wish: Wish, every: int, given: int = 0
) -> Tally:
    """Play months of one curve at once, a lane for each of them and each setting, settings first.

    A room is ready `startup` ticks after it was asked for. The wish is asked every so many ticks.
    In the first `given` ticks a match that finds no room is given one.
    """
    ticks, lanes = months[0].ticks, len(months) * settings
    ends = [np.repeat(np.arange(ticks), month.arrivals) + month.lasts for month in months]
    arrive, leave = (np.tile(counts, settings) for counts in _moves(months, ends))
    due = np.zeros((ticks + startup + 1, lanes), dtype=np.int32)
    ready, occupied, starting = (np.zeros(lanes, dtype=np.int32) for _ in range(3))
    now = Lanes(0, ready, occupied, starting, due)
    misses, idle, begun, starts = (np.zeros(lanes, dtype=np.int64) for _ in range(4))
    for tick in range(ticks):
        now.tick = tick
        readied, change = due[tick], leave[tick] - arrive[tick]
        ready += readied + change
        starting -= readied
        occupied -= change
        counted = tick >= UNCOUNTED_TICKS
        if ready.min() < 0:
            lost = np.maximum(-ready, 0)
            ready += lost
            lost *= tick >= given
            occupied -= lost
            _forget(lost, [int(month.first[tick + 1]) for month in months], ends, leave)
            misses += lost * counted
        if counted:
            idle += ready
            begun += starting
        if tick % every == 0:
            now.due = due[tick + 1 : tick + startup + 1]
            asked, removed = wish(now)
            now.due[-1] += asked
            starting += asked
            ready -= removed
            starts += asked * counted
    arrivals, paid = arrive[UNCOUNTED_TICKS:].sum(axis=0), idle + begun
    return Tally(arrivals, misses, idle / HOUR_TICKS, paid / HOUR_TICKS, starts)


def _moves(months: Sequence[Demand], ends: Sequence[Ints]) -> tuple[Counts, Counts]:
    """Return by tick how many matches of each month arrive, and how many end if none is lost."""
    ticks = months[0].ticks
    over = [np.bincount(e, minlength=ticks)[:ticks].astype(np.int32) for e in ends]
    come = [month.arrivals.astype(np.int32) for month in months]
    return np.stack(come, axis=1), np.stack(over, axis=1)


def _forget(lost: Counts, until: Sequence[int], ends: Sequence[Ints], leave: Counts) -> None:
    """Take so many matches of each lane, the last before `until`, out of the ends to come."""
    for lane in np.flatnonzero(lost).tolist():
        month = lane % len(ends)
        gone = ends[month][until[month] - int(lost[lane]) : until[month]]
        np.subtract.at(leave[:, lane], gone[gone < len(leave)], 1)


def towards(position: Counts, lanes: Lanes) -> tuple[Counts, Counts]:
    """Return what makes ready and starting rooms together so many, as far as rooms are ready."""
    gap = position - lanes.ready - lanes.starting
    return np.maximum(gap, 0), np.minimum(np.maximum(-gap, 0), lanes.ready)


def agones(settings: Floats) -> Wish:
    """Return a buffer of N rooms beside the allocated ones, by lane."""
    buffer = settings.astype(np.int32)
    return lambda lanes: towards(buffer, lanes)


def maestro(settings: Floats) -> Wish:
    """Return `ceil(occupied / (1 - readyTarget))` rooms in all, at least one, by lane."""
    factor = 1.0 / (1.0 - settings)

    def wish(lanes: Lanes) -> tuple[Counts, Counts]:
        # 80 / (1 - 0.5) must not become 161 by a rounding error.
        desired = np.maximum(1, np.ceil(lanes.occupied * factor - 1e-9)).astype(np.int32)
        return towards(desired - lanes.occupied, lanes)

    return wish


def informed(settings: Floats, rate: Floats, case: Case) -> Wish:
    """Return the oracle Informed-2 with z by lane, as `reference/scaling.md` defines it."""
    leads = TICK_SECONDS * np.arange(1.0, case.startup_seconds // TICK_SECONDS + 2)
    future = np.concatenate((rate, np.full(len(leads), rate[-1])))
    spread = settings * np.sqrt(2.0 * leads)[:, None]

    def wish(lanes: Lanes) -> tuple[Counts, Counts]:
        here = lanes.tick
        r = np.maximum(future[here], future[here + 1 : here + 1 + len(leads)])
        drift = (r * leads)[:, None] - leads[:, None] * (lanes.occupied / case.match_seconds)
        needs = np.maximum(1, np.ceil(spread * np.sqrt(r)[:, None] + drift)).astype(np.int32)
        have = np.cumsum(lanes.due, axis=0, dtype=np.int32) + lanes.ready
        # What is asked for now is there one tick before the last lead.
        spare = np.minimum((have - needs[:-1]).min(axis=0), have[-1] - needs[-1])
        asked = np.maximum(needs.max(axis=0) - lanes.ready - lanes.starting, 0)
        return asked, np.clip(spare, 0, lanes.ready)

    return wish


@dataclass(frozen=True, slots=True)
class Search:
    """How the best setting of a policy is found: those tried at once, from `least` by `step`."""

    least: float
    step: float
    settings: int
    most: float
    every: int
    wish: Callable[[Floats, Floats, Case], Wish]


SEARCHES = {
    "Agones": Search(4.0, 1.0, 16, 120.0, AGONES_TICKS, lambda s, _, __: agones(s)),
    "Maestro": Search(0.02, 0.01, 16, 0.7, MAESTRO_TICKS, lambda s, _, __: maestro(s)),
    "Informed-2": Search(2.4, 0.05, 17, 4.0, INFORMED_TICKS, informed),
}


def best(name: str, case: Case) -> Anchor:
    """Return an anchor with the smallest setting that meets the miss rate over all seeds."""
    search, seeds = SEARCHES[name], len(SEEDS)
    months = [demand(case, seed) for seed in SEEDS]
    startup = case.startup_seconds // TICK_SECONDS
    least = search.least
    while least < search.most:
        tried = np.asarray(least + search.step * np.arange(search.settings), dtype=np.float64)
        wish = search.wish(np.repeat(tried, seeds), months[0].rate, case)
        tally = play(months, search.settings, startup, wish, search.every, UNCOUNTED_TICKS)
        rates = _by_setting(tally.misses, seeds) / _by_setting(tally.arrivals, seeds)
        met = np.flatnonzero(rates[:-1] <= MISS_RATE)
        if len(met):
            return _anchor(int(met[0]), tried, rates, tally)
        # The last is tried again as the second, so that the best has one on either side.
        least += search.step * (search.settings - 2)
    return Anchor(nan, nan, nan, nan, nan)


def _anchor(place: int, tried: Floats, rates: Floats, tally: Tally) -> Anchor:
    """Return the anchor with the setting of this place."""
    figures = (tally.idle_hours, tally.paid_idle_hours, tally.starts)
    idle, paid, starts = (_by_setting(figure, len(SEEDS)) for figure in figures)
    near = tuple(
        Tried(round(float(tried[i]), 4), float(rates[i]), float(paid[i]))
        for i in range(max(0, place - 1), place + 2)
    )
    setting, rate = round(float(tried[place]), 4), float(rates[place])
    return Anchor(setting, rate, float(idle[place]), float(paid[place]), float(starts[place]), near)


def _by_setting(figures: NDArray[Any], seeds: int) -> Floats:
    """Return the means over the seeds of each setting."""
    return np.asarray(figures.reshape(-1, seeds).mean(axis=1), dtype=np.float64)
