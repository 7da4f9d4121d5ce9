"""One decision of the adaptive policy: what must be ready by when, and what that asks for.

Rooms must suffice at every lead until one that is asked for now would be ready. What will start is
learned from the rate (adaptive_rates), what will end from the ages of matches (adaptive_ages), the
chance of running out is steered by what was missed so far (adaptive_budget).

A room is removed only where enough are left at every lead: the short ones too, as rooms that start
cannot help there. The need is a number with a fraction that trembles: less than three
quarters of a room too few ask for none.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import TYPE_CHECKING

import numpy as np

from reconciler.core.policies import (
    adaptive_ages,
    adaptive_budget,
    adaptive_rates,
    adaptive_season,
    adaptive_startup,
    adaptive_tails,
)
from reconciler.core.policies.adaptive_memory import LEADS, Memory, decode, encode
from reconciler.model.scaling import Advice, Look

if TYPE_CHECKING:
    from reconciler.model.scaling import Times

FORECAST_SECONDS = 30.0
HAZARD_FORECASTS = 10
"""After how many forecasts it is reckoned anew how matches end by age: it changes over days."""
LONGEST_GAP_SECONDS = 300.0
YOUNG_SECONDS = 900.0
TREMBLE_ROOMS = 0.75
GROUP_SHARE = 0.6
LEAST_READY = 1.0
ROUNDING, ROUNDING_SECONDS = 1e-9, 0.5
STEPS = tuple((place + 1.0) / LEADS for place in range(LEADS))


@dataclass(frozen=True, slots=True)
class Parameters:
    """The share of matches that may find no room, and how long a start takes as far as is known."""

    miss_rate: float = 0.001
    startup_seconds: float = 60.0


def decide(parameters: Parameters, look: Look) -> Advice:
    """Return how many rooms there must be, with what was learned in `memory`.

    What must be ready by when is forecast every 30 s; in between only the rooms are counted anew.
    """
    memory, activity = decode(look.memory), look.activity
    is_new = memory.is_new
    _count(look, memory)
    if len(activity.ends):
        adaptive_ages.learn_ends(memory, _listed(activity.ends))
    if is_new or len(activity.startups):
        took = _listed(activity.startups)
        adaptive_startup.learn(memory, took, parameters.startup_seconds)
    if is_new or memory.clock[1] >= FORECAST_SECONDS:
        _forecast(parameters, look, memory, is_new)
    return _advice(look, memory)


def _count(look: Look, memory: Memory) -> None:
    """Add what happened since the last look to what did since the last forecast."""
    activity, is_open = look.activity, _is_open(look)
    at, seconds, started, dry, forecasts, onsets, ready, closed, earning, earned = (
        memory.clock.tolist()
    )
    # Of the time before this process looked nothing was seen: not that nobody came.
    unwatched = look.now if memory.is_new else max(at, activity.since)
    passed = min(max(0.0, look.now - unwatched), LONGEST_GAP_SECONDS)
    if is_open and ready >= 0.0 and _may_grow(look):
        onsets += activity.dry_seconds > 0.0 and ready > 0.0
        dry += activity.dry_seconds
        earning += passed
        earned += len(activity.starts)
    else:
        closed += activity.dry_seconds
    memory.clock[:] = (
        *(look.now, seconds + passed, started + len(activity.starts), dry, forecasts, onsets),
        *(look.load.ready if is_open else -1.0, closed, earning, earned),
    )


def _forecast(parameters: Parameters, look: Look, memory: Memory, is_new: bool) -> None:
    """Learn from what happened since the last forecast, and write what must be ready by when."""
    _, seconds, started, dry, forecasts, _, _, closed, _, _ = memory.clock.tolist()
    begun = np.asarray(look.activity.begun, dtype=np.float64)
    counts = adaptive_ages.count_ages(begun, look.now)
    reach = adaptive_startup.startup_seconds(memory, _listed(look.activity.asked), look.now)
    instants = look.now - seconds, look.now, look.now + reach
    shapes = adaptive_season.shapes(look.history, look.now, instants)
    if is_new:
        young = len(begun) - int(begun.searchsorted(look.now - YOUNG_SECONDS))
        adaptive_rates.begin(memory, young / YOUNG_SECONDS)
    else:
        adaptive_ages.learn_played(memory, counts, seconds)
        # Who found no room came all the same: without them the rate sinks when it must not.
        unseen = float(memory.moments[2]) * (dry + closed)
        saw_all = closed == 0.0 and _is_open(look)
        adaptive_rates.learn(memory, started + unseen, seconds, shapes, learns_scatter=saw_all)
    leads = tuple([step * reach for step in STEPS])
    arriving, doubt = adaptive_rates.foresee(memory, leads, shapes)
    scattering = adaptive_rates.dispersion(memory)
    if not is_new:
        _spend(memory, scattering)
    if forecasts % HAZARD_FORECASTS == 0.0 or reach != memory.forecast[6]:
        memory.leaving[:] = adaptive_ages.leaving_shares(memory, leads)
    leaving, scatter = adaptive_ages.departures(memory.leaving, counts, arriving)
    allowance = adaptive_budget.allowance(memory, parameters.miss_rate)
    net = adaptive_tails.Net(arriving, doubt, leaving, scatter, scattering)
    needs, deviation = adaptive_tails.needs(net, allowance.share)
    memory.needs[:] = [max(need, LEAST_READY) for need in needs]
    memory.forecast[:] = (
        *(arriving[-1], leaving[-1], deviation, allowance.share),
        *(allowance.missed, allowance.allowed, reach),
    )
    memory.clock[1:6] = 0.0, 0.0, 0.0, forecasts + 1.0, 0.0
    memory.clock[7:] = 0.0


def _spend(memory: Memory, scattering: float) -> None:
    """Charge the budget with what was missed since the last forecast, and let it earn."""
    _, seconds, _, dry, _, onsets, _, _, earning, earned = memory.clock.tolist()
    unseen = float(memory.moments[2]) * dry
    # Of a group that finds too few rooms the rest is lost at once: no time passes.
    unseen += GROUP_SHARE * onsets * (scattering - 1.0)
    adaptive_budget.spend(memory, earned, unseen, seconds, earning)


def _is_open(look: Look) -> bool:
    """Whether any room is wanted: where none is, by another policy or a person, who comes finds
    none, and is missed by nobody's budget.
    """
    return look.load.replicas > 0 or look.load.members > 0


def _may_grow(look: Look) -> bool:
    """Whether one room more may be wanted: at the most that Git allows nothing prevents a miss, and
    what is charged for it asks for spare rooms at times when there is room for them.

    Nothing is earned there either: quiet hours would spend what is allowed of those who come at
    times that cost nothing. Rooms that still start there may have been asked for too late; that is
    free all the same, since some hang for as long as there is no node for them.
    """
    return look.load.replicas < look.bounds.maximum


def _advice(look: Look, memory: Memory) -> Advice:
    """Return the count that meets every need, and why."""
    load = look.load
    starting, ending, deviation, share, missed, allowed, reach = memory.forecast.tolist()
    needs = memory.needs.tolist()
    spare = load.ready + floor(_least_due(look, needs, reach) + ROUNDING)
    position, need = load.ready + load.starting, needs[-1]
    wanted = ceil(max(LEAST_READY, need - TREMBLE_ROOMS) - ROUNDING)
    change = wanted - position if wanted > position else -max(0, min(load.ready, spare))
    reason = (
        f"{need:.1f} rooms must be ready within {reach:.0f} s, {position} are or start:"
        f" {starting:.1f} matches to start, {ending:.1f} to end, give or take {deviation:.1f};"
        f" {100 * share:.2g}% may find none ({missed:.1f} missed of {allowed:.1f} allowed)"
    )
    return Advice(load.members + change, reason, memory=encode(memory))


def _least_due(look: Look, needs: Sequence[float], reach: float) -> float:
    """Return what becomes ready until a lead less what must be, at the lead where that is least."""
    asked = _listed(look.activity.asked)
    if not asked:
        return -max(needs)
    # Asked for a start-up time before a lead ends, a room is ready by then.
    by = look.now + ROUNDING_SECONDS
    return min(
        bisect_right(asked, by - (1.0 - step) * reach) - need
        for step, need in zip(STEPS, needs, strict=True)
    )


def _listed(times: "Times") -> Sequence[float]:
    """Return times as numbers of Python's own: one by one those of an array are slow."""
    return times.tolist() if isinstance(times, np.ndarray) else times
