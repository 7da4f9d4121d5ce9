"""From an advice to a count: every hold, window, limit and bound, in their order and in words."""

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reconciler.core.policies.nested import asks_by
from reconciler.core.policies.policy import policy_of
from reconciler.core.policies.sudden_falls import Told
from reconciler.core.scaling import decide
from reconciler.model.decisions import Advised, Decision, Demand, Past
from reconciler.model.scaling import Activity, Autoscaling, Bounds, Load, Pace, Signal
from reconciler.model.shares import Share
from tests.unit.core.policies.looks import NOW, a_load, a_look, policies, signal

METRIC = {"metric": {"query": "q", "targetPerRoom": 1, "tolerancePercent": 0}}
"""A policy that wants what it is told."""
BUFFER = {"fixedBuffer": {"amount": 5}}
EARLIER = Past(
    highs=(Advised(NOW - 5000, 0), Advised(NOW - 400, 0)),
    memory=Told(NOW - 400, 0, 0.0).packed("metric q"),
)
"""For long nothing was wanted: whatever is wanted now may be done, and is no sudden fall."""


def autoscaling(policy: Any = None, minimum: int = 0, maximum: int = 100, **more: Any) -> Any:
    spec = policy_of(policy or METRIC)
    return Autoscaling(True, Bounds(minimum, maximum), spec, **more)


def told(value: Any, age: float = 0.0) -> dict[str, Signal]:
    return {"metric q": signal(value, age)}


def decided(
    wanted: Any, count: int = 20, past: Past = EARLIER, load: Any = None, **more: Any
) -> Decision:
    look = a_look(a_load(**{"ready": count, "replicas": count, **(load or {})}))
    return decide(autoscaling(**more), replace(look, signals=told(wanted)), past, policies())


@pytest.mark.parametrize(
    ("wanted", "count", "more", "replicas", "step"),
    [
        pytest.param(30, 20, {}, 30, "30 rooms", id="up, at once"),
        pytest.param(10, 20, {}, 10, "10 rooms", id="down, as nothing else was wanted for long"),
        pytest.param(20, 20, {}, 20, "as many", id="as many as there are"),
        pytest.param(500, 20, {}, 100, "max: 100 rooms", id="up to max"),
        pytest.param(0, 20, {"minimum": 3}, 3, "min: 3 rooms", id="down to min"),
        pytest.param(0, 20, {}, 0, "0 rooms", id="to nothing, where min is 0"),
        pytest.param(30, 20, {"scale_up": Pace(step=Share(5))}, 25,
                     "at most 5 at once: 25, not 30", id="a step up"),
        pytest.param(0, 20, {"scale_down": Pace(step=Share(10, percent=True))}, 18,
                     "at most 10% at once: 18, not 0", id="a step down"),
        pytest.param(150, 120, {}, 100, "max: 100 rooms", id="from above max, back at once"),
        pytest.param(120, 120, {"scale_down": Pace(step=Share(1))}, 100, "max: 100 rooms",
                     id="also beyond the step"),
        pytest.param(1, 1, {"minimum": 4, "scale_up": Pace(step=Share(1))}, 4, "min: 4 rooms",
                     id="from below min, up at once"),
        pytest.param(math.nan, 20, {}, 20, "held: the metric told no number", id="NaN holds"),
        pytest.param(math.nan, 1, {"minimum": 4}, 4, "min: 4 rooms", id="held, yet not below min"),
        pytest.param(math.nan, 120, {}, 120, "above max, 100, as long as it is held",
                     id="held, none goes above max either"),
    ],
)  # fmt: skip
def test_a_count(wanted: float, count: int, more: dict[str, Any], replicas: int, step: str) -> None:
    found = decided(wanted, count, **more)

    assert found.replicas == replicas
    assert step in found.steps[-1]
    if not found.steps[0].startswith("held"):
        assert found.reason == "; ".join(found.steps)


@pytest.mark.parametrize(
    ("load", "why"),
    [
        pytest.param({"ready": 10, "unheard": 10}, "10 of 20 rooms are not heard", id="unheard"),
        pytest.param({"ready": 0, "unheard": 20}, "nobody attests 0", id="nobody is heard"),
        pytest.param({"trouble": "the view is old"}, "the view is old", id="trouble"),
    ],
)
def test_what_is_in_doubt_takes_no_room_and_may_add_some(load: dict[str, Any], why: str) -> None:
    down, up = decided(3, load=load), decided(30, load=load)

    assert (down.replicas, why in down.hold) == (20, True)
    assert (up.replicas, up.hold) == (30, "")
    assert down.advised == 3
    beyond = decided(30, load=load, maximum=15)
    assert (beyond.replicas, why in beyond.hold) == (20, True), "nor what is above max"


TWO = {"schedule": [{"replicas": 2}]}
NEVER = {"schedule": [{"days": ["mon"], "replicas": 50}]}


@pytest.mark.parametrize(
    ("policy", "count"),
    [
        pytest.param(TWO, 2, id="a time-table"),
        pytest.param(NEVER, 0, id="one of which no entry holds now"),
        pytest.param({"chain": [{"policy": TWO}, {"policy": BUFFER}]}, 2, id="a chain"),
        pytest.param({"max": [TWO, NEVER]}, 2, id="the largest of several"),
        pytest.param({"min": [TWO, {"schedule": [{"replicas": 9}]}]}, 2, id="the smallest"),
        pytest.param({"min": [TWO, BUFFER]}, 2, id="smaller than what rests on rooms"),
        pytest.param({"max": [TWO, BUFFER]}, 20, id="with one that rests on rooms"),
        pytest.param({"schedule": [{"replicas": 2}, {"policy": BUFFER}]}, 20, id="one in it"),
        pytest.param({"chain": [{"policy": BUFFER}, {"policy": TWO}]}, 20, id="whose turn it is"),
        pytest.param(METRIC, 20, id="a metric"),
    ],
)
def test_a_time_table_takes_rooms_away_that_never_became_ready(policy: Any, count: int) -> None:
    found = decided(9, load={"ready": 0, "starting": 20}, policy=policy)

    assert found.replicas == count
    assert bool(found.hold) is (count == 20)
    if found.hold:
        assert found.hold == "no room is ready yet, 20 start: nobody attests 0"


def test_a_sudden_fall_takes_no_room() -> None:
    past = replace(EARLIER, demand=Demand(NOW - 30, serving=20, players=0))

    found = decided(3, past=past)

    assert found.replicas == 20
    assert found.hold == "of 20 rooms with players 0 are left, and 20 did not end"
    assert found.past.demand == Demand(NOW, 20, 0, NOW)


def test_downwards_the_most_that_was_wanted_within_the_window_counts() -> None:
    past = Past(highs=(Advised(NOW - 400, 50), Advised(NOW - 290, 15), Advised(NOW - 100, 12)))

    found = decided(10, past=past)
    later = decide(
        autoscaling(),
        replace(a_look(a_load(ready=20), now=NOW + 11), signals={"metric q": Signal(NOW, 10.0)}),
        found.past,
        policies(),
    )

    assert found.replicas == 20
    assert found.steps[-1] == "20 is the most that was wanted within 300 s"
    assert found.again_in_seconds == 10.0
    assert (later.replicas, later.steps[-1]) == (
        15,
        "15 is the most that was wanted within 300 s",
    )


def test_upwards_the_least_that_was_wanted_within_the_window_counts() -> None:
    past = replace(EARLIER, lows=(Advised(NOW - 400, 25), Advised(NOW - 30, 40)))

    found = decided(50, past=past, scale_up=Pace(stabilization_seconds=60))

    assert found.replicas == 25
    assert found.steps[-1] == "25 is the least that was wanted within 60 s"


def test_without_a_past_no_room_goes_for_the_whole_window() -> None:
    past, now, counts = Past(), NOW, []
    for _ in range(12):
        look = a_look(a_load(ready=20), now=now, signals={"metric q": Signal(now, 3.0)})
        found = decide(autoscaling(), look, past, policies())
        past, now = found.past, now + 30
        counts.append(found.replicas)

    assert counts == [20] * 11 + [3]


def test_a_webhook_that_answers_zero_at_once_takes_no_room_without_any_window_either() -> None:
    url = "https://scaler.example.com/arena"
    at_once = autoscaling({"webhook": {"url": url}}, scale_down=Pace(stabilization_seconds=0))
    past, counts = Past(), []
    for number, answer in enumerate([20, 0, 0, 0, 0, 0]):
        at = NOW + 30 * number
        signals = {f"webhook {url} (gamekeeper)": Signal(at, {"replicas": answer})}
        found = decide(at_once, a_look(a_load(ready=20), now=at, signals=signals), past, policies())
        past = found.past
        counts.append(found.replicas)

    assert counts == [20, 20, 20, 20, 20, 0]


def test_a_zero_that_rooms_with_players_contradict_takes_no_room_for_an_hour_and_is_told() -> None:
    past, count, holds = Past(), 20, set()
    for number, value in enumerate([200.0] + [0.0] * 120):
        at = NOW + 30 * number
        load = a_load(ready=5, occupied=15, replicas=count)
        look = a_look(load, now=at, signals={"metric q": Signal(at, value)})
        found = decide(autoscaling(), look, past, policies())
        past, count = found.past, found.replicas
        holds.add((found.hold, found.advised))
        assert count >= 20

    told = "the metric comes to 0, while 15 of 20 rooms that are heard have players"
    assert (f"{told}: no room goes by it", None) in holds


PLAYER = "76561198000000001"


@pytest.mark.parametrize(
    ("policy", "signals", "replicas"),
    [
        pytest.param({}, [signal({"replicas": 30, "reason": f"waits: {PLAYER}"})], 30, id="up"),
        pytest.param({}, [signal({"replicas": 30}, 30, f"no such player: {PLAYER}")], 30,
                     id="by an older answer"),
        pytest.param({}, [signal({"replicas": 12, "reason": PLAYER})], 12, id="down"),
        pytest.param({"min": 30}, [signal(None, 0, f"no such player: {PLAYER}")], 30,
                     id="held, below min"),
        pytest.param({"max": [{"schedule": [{"replicas": 30}]}]}, [signal(None, 0, PLAYER)], 30,
                     id="beside one that grows"),
        pytest.param({"max": [BUFFER]}, [signal({"replicas": 30, "reason": PLAYER})], 30,
                     id="the largest of several"),
        pytest.param({"chain": []}, [signal({"replicas": 30, "reason": PLAYER})], 30, id="chain"),
    ],
)  # fmt: skip
def test_what_others_say_is_shown_and_is_no_part_of_the_reason_that_git_keeps(
    policy: Any, signals: list[Signal], replicas: int
) -> None:
    url = "https://scaler.example.com/arena"
    written: Any = {"webhook": {"url": url}}
    if "max" in policy:
        written = {"max": [*policy["max"], written]}
    if "chain" in policy:
        written = {"chain": [{"policy": written}]}
    answered = {f"webhook {url} (gamekeeper)": signals[0]}
    look = a_look(a_load(ready=20), signals=answered)
    found = decide(
        autoscaling(written, policy.get("min", 0)),
        look,
        Past(highs=(Advised(NOW - 400, 0),)),
        policies(),
    )

    assert found.replicas == replicas
    assert PLAYER not in found.reason
    assert PLAYER in "; ".join(found.steps)


def test_a_hold_begins_the_window_anew() -> None:
    held = decided(math.nan)

    assert held.past.highs[-1] == Advised(NOW, 20)
    assert (held.replicas, held.advised) == (20, None)


def test_a_cool_down_is_told_with_what_is_left_of_it() -> None:
    past = replace(EARLIER, lowered_at=NOW - 40, raised_at=NOW - 50)
    down, up = Pace(cooldown_seconds=60), Pace(cooldown_seconds=90)

    found = decided(3, past=past, scale_down=down)
    other = decided(30, past=past, scale_up=up)

    assert (found.replicas, found.again_in_seconds) == (20, 20.0)
    assert found.steps[-1] == "cool-down: nothing goes down for 20 s"
    assert (other.replicas, other.again_in_seconds) == (20, 40.0)


def test_after_a_turn_upwards_none_goes_for_ten_minutes() -> None:
    turned = decided(30, past=replace(EARLIER, went="down", lowered_at=NOW - 5)).past
    again = decided(40, past=replace(EARLIER, went="up", turned_at=NOW - 500)).past

    assert (turned.turned_at, turned.went) == (NOW, "up")
    assert again.turned_at == NOW - 500
    assert decided(3, past=replace(again, highs=EARLIER.highs)).again_in_seconds == 100.0


def test_a_past_from_the_future_was_just_now() -> None:
    later = NOW + 86_400
    past = Past(later, later, "up", later, (Advised(later, 9),), (), Demand(later, 0, 0))

    found = decided(3, past=past, scale_down=Pace(60, 300))

    assert found.past.raised_at == found.past.turned_at == NOW
    assert found.past.highs == (Advised(NOW, 9),)
    assert found.replicas == 20


def test_nothing_comes_back_from_nothing_unless_something_is_written() -> None:
    def at_zero(policy: Any) -> int:
        look = a_look(a_load())
        return decide(autoscaling(policy), look, EARLIER, policies()).replicas

    assert at_zero(BUFFER) == 5
    assert at_zero({"buffer": {"percent": 20}}) == 1
    assert at_zero({"roomOccupancy": {"readyTarget": 0.5}}) == 1
    assert at_zero({"activePlayers": {"maxPlayersPerServer": 9, "targetPercent": 70}}) == 1
    assert at_zero({"fixedBuffer": {"amount": 0}}) == 0


def test_a_policy_that_is_not_installed_holds() -> None:
    found = decide(autoscaling({"magic": {}}), a_look(a_load(ready=4)), EARLIER, policies())

    assert (found.replicas, found.hold) == (4, 'no policy "magic" is installed')


HEARD = st.builds(
    Load,
    replicas=st.integers(0, 150) | st.integers(60, 150),
    ready=st.integers(0, 60),
    active=st.integers(0, 20),
    occupied=st.integers(0, 60),
    allocated=st.integers(0, 10),
    starting=st.integers(0, 10),
    matches=st.integers(0, 200),
    matches_max=st.integers(1, 4),
    players=st.integers(0, 500),
    unheard=st.just(0) | st.integers(0, 3) | st.integers(0, 30),
    trouble=st.sampled_from(["", "", "", "", "the view is behind"]),
    healthy=st.booleans(),
)
LOADS = HEARD | HEARD.map(lambda load: replace(load, ready=0, active=0, occupied=0, allocated=0))
"""Half of them are of rooms that start, of which none attests anything."""
PACES = st.builds(
    Pace,
    st.sampled_from([0.0, 0.0, 60.0]),
    st.sampled_from([0.0, 0.0, 30.0, 300.0]),
    st.sampled_from([None, Share(3), Share(10, percent=True)]),
)
WEBHOOK = {"webhook": {"url": "https://scaler.example.com/arena"}}
AGONES = {"webhook": {"url": "https://scaler.example.com/arena", "form": "agones"}}
POLICIES = st.sampled_from([
    METRIC,
    BUFFER,
    {"buffer": {"percent": 30}},
    {"roomOccupancy": {"readyTarget": 0.3}},
    {"activePlayers": {"maxPlayersPerServer": 9, "scaleInThreshold": 40, "scaleOutThreshold": 70}},
    {"max": [METRIC, BUFFER]},
    {"min": [METRIC, BUFFER]},
    {"schedule": [{"from": "06:00", "to": "09:00", "replicas": 30}]},
    {"adaptive": {}},
    WEBHOOK,
    AGONES,
    {"chain": [{"from": "06:00", "to": "08:20", "policy": WEBHOOK}, {"policy": BUFFER}]},
    {"chain": [{"from": "06:00", "to": "08:20", "policy": {"adaptive": {}}}]},
])  # fmt: skip
COUNTS = st.integers(0, 20) | st.integers(0, 200)
TOLD = COUNTS | COUNTS | st.one_of(st.none(), st.floats())
AT_ONCE = Pace(stabilization_seconds=0)
MOVES = st.tuples(st.integers(0, 5), st.integers(0, 5))
"""How many rooms turned occupied, and how many turned empty."""


def answered(policy: Any, value: Any, now: float) -> dict[str, Signal]:
    """Answer whatever a policy asks by one number, in the form of who is asked."""
    found = {}
    for ask in asks_by(policy_of(policy), policies()):
        told = {"replicas": value}
        if ask.form == "agones":
            told = {"response": {"scale": True, **told}}
        found[ask.name] = Signal(now, value if ask.kind == "metric" else told)
    return found


@pytest.mark.long
@settings(max_examples=400, deadline=None)
@example(WEBHOOK, (0, 100), Pace(), AT_ONCE, [(a_load(starting=20), 3, 30.0, (0, 0))])
@given(
    policy=POLICIES,
    bounds=st.tuples(st.integers(0, 9) | st.integers(0, 50), st.integers(0, 100) | st.just(100)),
    up=PACES,
    down=PACES,
    turns=st.lists(st.tuples(LOADS, TOLD, st.floats(0.1, 900), MOVES), min_size=1, max_size=8),
)
def test_any_decision_is_within_bounds_and_takes_rooms_only_on_attested_numbers(
    policy: Any,
    bounds: tuple[int, int],
    up: Pace,
    down: Pace,
    turns: list[tuple[Load, Any, float, tuple[int, int]]],
) -> None:
    within = Bounds(min(bounds), max(bounds))
    spec = Autoscaling(True, within, policy_of(policy), up, down)
    past, now = Past(), NOW
    for load, value, seconds, (started, ended) in turns:
        before, now = now, now + seconds
        moves = Activity(before, starts=(now,) * started, ends=(seconds,) * ended)
        look = a_look(load, now=now, activity=moves, signals=answered(policy, value, now))

        found = decide(spec, look, past, policies())
        past = found.past

        assert found.reason
        assert " failed: " not in found.hold
        assert found.replicas >= within.minimum
        assert found.replicas <= max(within.maximum, load.replicas)
        if found.hold:
            assert found.replicas == max(load.replicas, within.minimum)
        if found.replicas > within.maximum:
            assert found.hold
        if found.replicas < min(load.replicas, within.maximum):
            assert not load.trouble
            assert load.unheard <= max(1, load.replicas // 10)
            assert load.ready + load.busy or "schedule" in policy


@pytest.mark.long
@settings(max_examples=200, deadline=None)
@given(
    demand=st.lists(st.tuples(st.floats(0.5, 400), st.integers(0, 60)), min_size=5, max_size=60),
    down=st.sampled_from([Pace(stabilization_seconds=300.0), Pace(), Pace(60, 30, Share(2))]),
)
def test_whatever_the_demand_the_count_turns_at_most_twice_in_ten_minutes(
    demand: list[tuple[float, int]], down: Pace
) -> None:
    spec = Autoscaling(True, Bounds(0, 100), policy_of(METRIC), Pace(), down)
    past, now, count = Past(), NOW, 20
    moves, turns = list[tuple[float, int]](), list[float]()
    for seconds, wanted in demand:
        now += seconds
        look = a_look(
            a_load(ready=count), now=now, signals={"metric q": Signal(now, float(wanted))}
        )
        found = decide(spec, look, past, policies())
        past = found.past
        if found.replicas != count:
            way = 1 if found.replicas > count else -1
            if moves and moves[-1][1] != way:
                turns.append(now)
            moves.append((now, way))
            assert found.replicas >= wanted or way < 0
        count = found.replicas

        assert count >= wanted or wanted > 100, "upwards nothing waits"
    for first, third in zip(turns, turns[2:], strict=False):
        assert third - first >= 600.0


def test_a_signal_that_is_lost_for_an_hour_takes_no_room() -> None:
    past, count, now = Past(), 20, NOW
    for minute in range(120):
        now += 60
        lost = 20 <= minute < 80
        load = a_load(ready=0 if lost else count, replicas=count, unheard=count if lost else 0)
        busy = replace(load, ready=0, occupied=count - 5) if not lost else load
        look = a_look(busy, now=now, activity=Activity(now - 60))
        found = decide(autoscaling(BUFFER), look, past, policies())
        past = found.past
        assert found.replicas >= count, found.reason
        count = found.replicas
