"""Decisions of the adaptive policy, one after the other, in small worlds that can be reckoned."""

from dataclasses import replace
from math import exp

import numpy as np
import pytest

from reconciler.core.policies.adaptive_budget import MEMORIES
from reconciler.core.policies.adaptive_decision import Parameters, decide
from reconciler.core.policies.adaptive_memory import Memory, decode, encode
from reconciler.model.scaling import Activity, Advice, Bounds, Look
from tests.unit.core.policies.looks import NOW, a_load, a_look

PARAMETERS = Parameters(startup_seconds=60.0)


def steady(
    minutes: float,
    busy: int = 100,
    ready: int = 12,
    last_seconds: float = 1500.0,
    start: float = NOW,
    memory: bytes = b"",
) -> Look:
    """Return the last look of a time in which as many matches start as end, with its memory."""
    look = a_look(a_load(occupied=busy, ready=ready), activity=Activity(start))
    every = last_seconds / busy
    begun = np.asarray(start - every * np.arange(busy)[::-1], dtype=np.float64)
    due, advice = start, Advice(0, "", memory=memory)
    for step in range(int(minutes * 6)):
        now = start + 10.0 * step
        turned = 0
        while due <= now:
            begun = np.append(begun[1:], due)
            due, turned = due + every, turned + 1
        activity = Activity(now - 10.0, [now] * turned, [last_seconds] * turned, begun)
        look = replace(look, now=now, activity=activity, memory=advice.memory)
        advice = decide(PARAMETERS, look)
    return replace(
        look,
        now=look.now + 10.0,
        activity=replace(activity, starts=(), ends=()),
        memory=advice.memory,
    )


def test_without_any_history_a_few_rooms_are_kept_ready() -> None:
    assert 1 <= decide(PARAMETERS, a_look()).replicas <= 4


def test_where_nobody_comes_one_room_is_kept_ready() -> None:
    look = a_look(a_load(ready=3))
    for step in range(3 * 360):
        advice = decide(PARAMETERS, look)
        look = replace(look, now=NOW + 10.0 * step, memory=advice.memory)

    assert advice.replicas == 1


def test_a_leader_that_remembers_nothing_asks_for_about_what_one_that_does_would() -> None:
    look = steady(60)
    known, new = decide(PARAMETERS, look), decide(PARAMETERS, replace(look, memory=b""))

    assert abs(known.replicas - new.replicas) <= 6


def test_of_a_time_that_nobody_looked_at_nothing_is_learned() -> None:
    look = steady(120)
    known = decode(look.memory)
    later = look.now + 1800.0
    begun = np.asarray(look.activity.begun, dtype=np.float64) + 1800.0
    taken_over = replace(look, now=later, activity=Activity(later, begun=begun))
    first = decide(PARAMETERS, taken_over)
    after = decode(first.memory)

    assert after.levels.tolist() == known.levels.tolist()
    assert after.moments.tolist() == known.moments.tolist()
    assert abs(first.replicas - decide(PARAMETERS, look).replicas) <= 1


def test_while_no_room_is_wanted_nobody_is_missed() -> None:
    look = steady(120)
    evening, known = decide(PARAMETERS, look), decode(look.memory)
    for step in range(8 * 360):
        now = look.now + 10.0 * step
        closed = Activity(now - 10.0, dry_seconds=10.0)
        memory = decide(
            PARAMETERS, replace(look, now=now, load=a_load(), activity=closed, memory=look.memory)
        ).memory
        look = replace(look, memory=memory)
    after = decode(look.memory)
    assert after.budget.tolist() == pytest.approx(faded(known, 8.0), rel=0.01)
    assert after.moments[2] == pytest.approx(known.moments[2], rel=0.1)
    # What is reckoned from the rate comes without chance: that says nothing of groups.
    assert after.moments[:2].tolist() == known.moments[:2].tolist()
    activity = replace(look.activity, since=now)
    morning = decide(PARAMETERS, replace(look, now=now + 10.0, activity=activity))
    assert abs(morning.replicas - evening.replicas) <= 2


@pytest.mark.parametrize("closed", [(True, True, False), (True, False, False)])
def test_of_who_came_before_rooms_were_wanted_nobody_is_missed(closed: tuple[bool, ...]) -> None:
    """Of the half minute before a forecast a part is closed, in which nobody could be seen."""
    look = steady(120)
    grouped = decode(look.memory)
    grouped.moments[:2] = 3000.0, 1000.0
    grouped.clock[1:4] = 0.0  # just after a forecast
    look = replace(look, memory=encode(grouped))
    start, was_closed = look.now - 10.0, False
    for step, is_closed in enumerate(closed, 1):
        now = start + 10.0 * step
        load = a_load() if is_closed else a_load(ready=12)
        # Dry from the look on that found no room: that is when the first closed one was made.
        dry = Activity(now - 10.0, dry_seconds=10.0 if is_closed or was_closed else 0.0)
        seen = replace(look, now=now, load=load, activity=dry)
        look, was_closed = replace(look, memory=decide(PARAMETERS, seen).memory), is_closed
    after = decode(look.memory)
    assert after.clock[4] == grouped.clock[4] + 1
    assert after.budget[1] == pytest.approx(grouped.budget[1], abs=0.01)
    assert after.moments[:2].tolist() == grouped.moments[:2].tolist()


def test_of_groups_nothing_is_learned_where_no_room_is_wanted_any_more() -> None:
    """Rooms were ready until just now, so that no time was dry: who came then still found none."""
    look = steady(120)
    known = decode(look.memory)
    ending = replace(look, now=look.now + 30.0, load=a_load())
    after = decode(decide(PARAMETERS, ending).memory)
    assert after.clock[4] == known.clock[4] + 1
    assert after.moments[:2].tolist() == known.moments[:2].tolist()
    wanted = decode(decide(PARAMETERS, replace(ending, load=look.load)).memory)
    assert wanted.moments[:2].tolist() != known.moments[:2].tolist()


def faded(known: Memory, hours: float) -> list[float]:
    """Return a budget to which some hours add nothing, and a bad hour is as old as it is."""
    spans = zip(known.budget.tolist(), MEMORIES, strict=True)
    return [number * exp(-3600.0 * hours / seconds) for number, seconds in spans]


def evening(look: Look, hours: float, most: int) -> Look:
    """Return the last look of hours in which all of `most` rooms serve, half of the time dry."""
    start, full = look.now - 10.0, replace(look.load, ready=0, occupied=most, replicas=most)
    look = replace(look, load=full, bounds=Bounds(0, most))
    for step in range(1, int(hours * 360)):
        now = start + 10.0 * step
        turned = [now] * (step % 3 == 0)
        ended = [1500.0] * len(turned)
        busy = replace(look.activity, since=now - 10.0, starts=turned, ends=ended, dry_seconds=5.0)
        look = replace(look, now=now, activity=busy)
        look = replace(look, memory=decide(PARAMETERS, look).memory)
    return look


def test_at_the_most_that_git_allows_nobody_is_missed() -> None:
    look = steady(120)
    known = decode(look.memory)
    after = decode(evening(look, 3.0, 112).memory)
    # What costs nothing earns nothing: quiet hours would spend the allowance of those who came.
    assert after.budget.tolist() == pytest.approx(faded(known, 3.0), rel=0.01)
    assert after.moments[2] == pytest.approx(known.moments[2], rel=0.5)
    # Reckoned from the rate, who found none came without chance: that says nothing of groups.
    assert after.moments[:2].tolist() == known.moments[:2].tolist()


def test_below_the_most_that_git_allows_every_miss_counts() -> None:
    look = steady(120)
    dry = replace(look.activity, dry_seconds=30.0)
    look = replace(look, now=look.now + 30.0, activity=dry, bounds=Bounds(0, 113))
    assert missed_after(decide(PARAMETERS, look)) > missed_after(decide(PARAMETERS, steady(120)))
    full = replace(look, bounds=Bounds(0, 112))
    assert missed_after(decide(PARAMETERS, full)) == pytest.approx(missed_after_none(look))


def missed_after_none(look: Look) -> float:
    """Return the misses that are known at a look, half a minute later."""
    return faded(decode(look.memory), 30.0 / 3600.0)[1]


@pytest.mark.parametrize("asked", [(), (0.0,) * 12, (-120.0,) * 8 + (0.0,) * 4])
def test_rooms_that_hang_at_the_most_are_nobodys_lateness(asked: tuple[float, ...]) -> None:
    """Some may start for ever, where rooms end with each match or no node takes them."""
    look = steady(120)
    known, start = decode(look.memory), look.now
    load = a_load(occupied=100, ready=12 - len(asked), starting=len(asked))
    since = [start + seconds for seconds in asked]
    for step in range(1, 41):
        now = start + 30.0 * step
        dry = replace(look.activity, since=now - 30.0, dry_seconds=20.0, asked=since)
        look = replace(look, now=now, load=load, bounds=Bounds(0, 112), activity=dry)
        look = replace(look, memory=decide(PARAMETERS, look).memory)
    assert decode(look.memory).budget.tolist() == pytest.approx(faded(known, 1 / 3), rel=0.005)


@pytest.mark.parametrize("at_most", [(True, True, False), (False, False, True)])
def test_each_look_tells_whether_its_time_earns(at_most: tuple[bool, ...]) -> None:
    """The half minute before a forecast may be partly at the most that Git allows."""
    look = steady(120)
    known = decode(look.memory)
    known.clock[1:4] = known.clock[8:] = 0.0  # just after a forecast
    look = replace(look, now=look.now - 10.0, memory=encode(known))
    for is_full in at_most:
        now = look.now + 10.0
        activity = replace(look.activity, since=look.now, starts=[now], dry_seconds=2.0)
        most = look.load.replicas + (0 if is_full else 1)
        look = replace(look, now=now, bounds=Bounds(0, most), activity=activity)
        look = replace(look, memory=decide(PARAMETERS, look).memory)
    after, below = decode(look.memory), at_most.count(False)
    assert after.clock[4] == known.clock[4] + 1
    missed = after.budget[1] - known.budget[1]
    assert missed > 0.0
    assert after.budget[0] - missed == pytest.approx(known.budget[0] + below, abs=0.01)
    rate = float(after.moments[2])
    assert after.budget[4] == pytest.approx(known.budget[4] + 10.0 * below * rate, abs=0.05)


def test_a_day_after_an_evening_at_the_most_the_spare_is_as_if_it_had_not_been() -> None:
    look = steady(120)
    usual = decide(PARAMETERS, steady(120 + 9 * 60)).replicas
    at_most = evening(look, 3.0, 112)
    after = steady(9 * 60, start=at_most.now, memory=at_most.memory)
    assert abs(decide(PARAMETERS, after).replicas - usual) <= 1


def test_as_many_are_kept_as_chance_asks_for() -> None:
    advice = decide(PARAMETERS, steady(120))

    # 4 matches start in a start-up time and 4 end: a deviation of about 2, three of them, and skew.
    assert 100 + 5 <= advice.replicas <= 100 + 11


def test_what_is_missing_is_asked_for_once() -> None:
    look = steady(60, ready=0)
    first = decide(PARAMETERS, look)
    missing = first.replicas - 100
    again = replace(
        look,
        now=look.now + 10.0,
        load=a_load(occupied=100, starting=missing),
        activity=replace(look.activity, since=look.now, asked=[look.now] * missing),
        memory=first.memory,
    )

    assert missing >= 4
    assert abs(decide(PARAMETERS, again).replicas - first.replicas) <= 1


def test_rooms_that_start_cannot_stand_in_for_those_that_are_ready() -> None:
    look = steady(60, ready=8)
    load = replace(look.load, starting=10, replicas=118)
    slow = replace(look.activity, asked=[look.now - 5.0] * 10)
    soon = replace(look.activity, asked=[look.now - 59.0] * 10)
    kept = decide(PARAMETERS, replace(look, load=load, activity=slow))
    removed = decide(PARAMETERS, replace(look, load=load, activity=soon))

    assert kept.replicas > removed.replicas
    assert removed.replicas >= 110


def test_time_without_a_room_makes_it_careful() -> None:
    look = steady(120)
    plain = decide(PARAMETERS, replace(look, now=look.now + 30.0))
    dry = replace(look, now=look.now + 30.0, activity=replace(look.activity, dry_seconds=20.0))

    assert decide(PARAMETERS, dry).replicas > plain.replicas


def missed_after(advice: Advice) -> float:
    """Return the misses that an advice reckons with."""
    return float(decode(advice.memory).budget[1])


def test_misses_are_the_rate_times_the_time_without_a_room() -> None:
    look = steady(120)
    dry = replace(look, now=look.now + 30.0, activity=replace(look.activity, dry_seconds=30.0))

    # A match begins every 15 s.
    assert missed_after(decide(PARAMETERS, dry)) == pytest.approx(1.05 * 2.0, rel=0.2)


def test_where_matches_come_in_groups_the_rest_of_one_is_lost_with_no_time_passing() -> None:
    look = steady(120)
    grouped = decode(look.memory)
    grouped.moments[:2] = 3000.0, 1000.0
    dry = replace(look, now=look.now + 30.0, activity=replace(look.activity, dry_seconds=0.01))
    alone, group = (
        missed_after(decide(PARAMETERS, replace(dry, memory=memory)))
        for memory in (look.memory, encode(grouped))
    )

    assert alone < 0.1
    assert group > 1.0


def test_the_reason_holds_its_numbers() -> None:
    reason = decide(PARAMETERS, steady(30)).reason

    assert "rooms must be ready within 60 s, 12 are or start" in reason
    assert "missed of" in reason


def test_equal_looks_get_equal_advice_and_are_not_written_to() -> None:
    look = steady(10)

    assert decide(PARAMETERS, look) == decide(PARAMETERS, look)


@pytest.mark.parametrize(
    "seconds",
    [
        pytest.param(-3600.0, id="a clock that was set back"),
        pytest.param(0.0, id="no time at all"),
        pytest.param(90_000.0, id="a day of absence"),
    ],
)
def test_a_clock_that_jumps_does_no_harm(seconds: float) -> None:
    look = steady(60)
    advice = decide(PARAMETERS, replace(look, now=look.now + seconds))

    assert 100 <= advice.replicas <= 130
    later = decide(PARAMETERS, replace(look, now=look.now + seconds + 30.0, memory=advice.memory))
    assert 100 <= later.replicas <= 130
