"""metric reckons as Kubernetes' HPA does with external metrics, and holds on what is absurd."""

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconciler.core.policies.policy import Ask, Facts
from reconciler.model.findings import Severity
from reconciler.model.scaling import Bounds, Signal
from tests.unit.core.policies.looks import NOW, a_load, a_look, advice, policies, signal
from tests.unit.core.reading import rules

NAME = "metric queue"
FACTS = Facts(reports=False)


def metric(**parameters: float) -> dict[str, Any]:
    return {"metric": {"query": "queue", **parameters}}


@pytest.mark.parametrize(
    ("parameters", "value", "load", "wanted"),
    [
        pytest.param({"targetPerRoom": 20}, 500, {"ready": 10}, 25, id="shared: 500 by 20 each"),
        pytest.param({"targetPerRoom": 20}, 501, {"ready": 10}, 26, id="shared: rounded up"),
        pytest.param({"targetPerRoom": 20}, 215, {"ready": 10}, 10, id="shared: 7% off is near"),
        pytest.param({"targetPerRoom": 20, "tolerancePercent": 0}, 201, {"ready": 10}, 11,
                     id="shared: no tolerance"),
        pytest.param({"targetPerRoom": 20}, 0, {"ready": 10}, 0, id="shared: nothing wants none"),
        pytest.param({"targetPerRoom": 20}, 60, {}, 3, id="shared: back from nothing"),
        pytest.param({"target": 0.5}, 0.75, {"ready": 10}, 15, id="level: half as many again"),
        pytest.param({"target": 0.5}, 0.25, {"ready": 10}, 5, id="level: half of them"),
        pytest.param({"target": 0.5}, 0.54, {"ready": 10}, 10, id="level: within a tenth"),
        pytest.param({"target": 0.5}, 0.75, {"ready": 10, "starting": 5}, 15,
                     id="level: those that start are not multiplied again"),
        pytest.param({"target": 0.5}, 0.6, {"ready": 10, "starting": 9}, 19,
                     id="level: too much is no reason to take those that start"),
        pytest.param({"target": 0.5}, 0.0, {"ready": 10}, 1, id="level: one stays"),
        pytest.param({"target": 0.5}, 0.9, {}, 1, id="level: no rooms want one"),
        pytest.param({"target": 0.5}, 0.9, {"starting": 4}, 4, id="level: none runs yet"),
    ],
)  # fmt: skip
def test_the_value_is_brought_to_its_target(
    parameters: dict[str, float], value: float, load: dict[str, int], wanted: int
) -> None:
    look = a_look(a_load(**load), signals={NAME: signal(value)})

    found = advice(metric(**parameters), look)

    assert (found.replicas, found.hold) == (wanted, "")


@pytest.mark.parametrize(
    "told",
    [
        pytest.param({}, id="not asked"),
        pytest.param({NAME: signal(math.nan)}, id="NaN"),
        pytest.param({NAME: signal(math.inf)}, id="infinite"),
        pytest.param({NAME: signal(-1.0)}, id="negative"),
        pytest.param({NAME: signal(1.0, 500)}, id="old"),
        pytest.param({NAME: signal(None, 0, "connection refused")}, id="in trouble"),
        pytest.param({NAME: signal({"replicas": 3})}, id="no number at all"),
    ],
)
def test_what_is_absurd_holds(told: dict[str, Any]) -> None:
    found = advice(metric(targetPerRoom=20), a_look(a_load(ready=7), signals=told))

    assert (found.replicas, bool(found.hold)) == (7, True)


def test_a_level_is_of_the_rooms_that_ran_when_it_was_told() -> None:
    policy = metric(target=0.5)
    told = {NAME: signal(0.75)}
    first = advice(policy, a_look(a_load(ready=10), signals=told))
    grown = a_look(a_load(ready=13, starting=2), signals=told, memory=first.memory)

    assert (first.replicas, advice(policy, grown).replicas) == (15, 15)
    newer = a_look(a_load(ready=13, starting=2), signals={NAME: signal(0.75, -1)},
                   memory=first.memory)  # fmt: skip
    assert advice(policy, newer).replicas == 20


def test_a_level_that_falls_is_not_halved_at_each_look() -> None:
    policy = metric(target=0.5)
    told = {NAME: signal(0.25)}
    first = advice(policy, a_look(a_load(ready=20), signals=told))
    fewer = a_look(a_load(ready=17), signals=told, memory=first.memory)

    assert (first.replicas, advice(policy, fewer).replicas) == (10, 10)


@pytest.mark.parametrize("parameters", [{"target": 0.5}, {"targetPerRoom": 20}])
def test_no_room_goes_by_a_value_that_has_no_newer_one(parameters: dict[str, float]) -> None:
    look = a_look(a_load(ready=20), signals={NAME: signal(0.1, 30, "503")})

    found = advice(metric(**parameters), look)

    assert (found.may_remove, found.hold) == (False, "")


@pytest.mark.parametrize("parameters", [{"target": 50}, {"targetPerRoom": 20}])
def test_a_sudden_fall_takes_no_room_until_it_lasts(parameters: dict[str, float]) -> None:
    policy, memory = metric(**parameters), b""
    may = []
    for number, value in enumerate([400.0, 40.0, 40.0, 40.0, 40.0, 40.0]):
        at = NOW + 30 * number
        look = a_look(a_load(ready=20), now=at, signals={NAME: Signal(at, value)}, memory=memory)
        found = advice(policy, look)
        memory = found.memory
        may.append(found.may_remove)

    assert may == [True, False, False, False, False, True]


def test_a_zero_of_which_nothing_was_known_takes_no_room_yet() -> None:
    found = advice(metric(targetPerRoom=20), a_look(a_load(ready=9), signals={NAME: signal(0.0)}))

    assert (found.may_remove, found.hold) == (False, "")
    assert "nothing is known of before" in found.reason


@pytest.mark.parametrize(
    ("parameters", "zero"),
    [({"target": 50}, 0.0), ({"targetPerRoom": 20}, 0.0), ({"targetPerRoom": 20}, 1e-12)],
)
def test_a_zero_takes_no_room_however_long_it_is_told_while_rooms_that_are_heard_have_players(
    parameters: dict[str, float], zero: float
) -> None:
    told = [(400.0, 15), *[(zero, 15)] * 120, (zero, 1), *[(zero, 0)] * 5]
    memory, found = b"", []
    for number, (value, busy) in enumerate(told):
        at, load = NOW + 30 * number, a_load(ready=20 - busy, occupied=busy)
        look = a_look(load, now=at, signals={NAME: Signal(at, value)}, memory=memory)
        found.append(advice(metric(**parameters), look))
        memory = found[-1].memory

    many, one, empty = found[1:121], found[121], found[122:]
    assert {(each.replicas, each.hold) for each in many} == {
        (
            20,
            "the metric comes to 0, while 15 of 20 rooms that are heard have players: "
            "no room goes by it",
        )
    }
    assert "while 1 of 20 rooms that are heard has players" in one.hold
    assert "rooms had players while it came to 0: no room goes until" in empty[0].reason
    assert [each.may_remove for each in empty] == [False] * 3 + [True] * 2
    assert {each.hold for each in empty} == {""}


def test_where_no_room_may_go_anyway_a_contradicted_zero_holds_nothing() -> None:
    """A queue is empty for hours while matches go on: nobody is to look after that."""
    look = a_look(a_load(ready=1, occupied=2), signals={NAME: signal(0.0)}, bounds=Bounds(3, 9))

    found = advice(metric(targetPerRoom=20), look)

    assert (found.hold, found.may_remove) == ("", False)
    assert "2 of 3 rooms that are heard have players" in found.reason


def test_rooms_that_nobody_hears_contradict_no_zero() -> None:
    """With `reports: none`, or in a room that fell silent, nobody knows whether players are."""
    memory = b""
    for number in range(6):
        at, load = NOW + 30 * number, a_load(ready=18, occupied=2, busy_heard=0)
        look = a_look(load, now=at, signals={NAME: Signal(at, 0.0)}, memory=memory)
        found = advice(metric(targetPerRoom=20), look)
        memory = found.memory

    assert (found.replicas, found.hold, found.may_remove) == (0, "", True)


def test_what_is_told_after_a_contradicted_zero_waits_as_it_comes_back() -> None:
    memory, may = b"", []
    for number, value in enumerate([400.0, *[0.0] * 20, 5.0, 5.0, 390.0, 300.0]):
        at, load = NOW + 30 * number, a_load(ready=5, occupied=15)
        look = a_look(load, now=at, signals={NAME: Signal(at, value)}, memory=memory)
        found = advice(metric(targetPerRoom=20), look)
        memory = found.memory
        may.append(not found.hold and found.may_remove)

    assert may == [True, *[False] * 22, True, True]


def test_a_huge_value_is_a_huge_count_and_no_failure() -> None:
    look = a_look(a_load(ready=1), signals={NAME: signal(1e300)})

    for parameters in ({"targetPerRoom": 1e-6}, {"target": 1e-6}):
        found = advice(metric(**parameters), look)
        assert found.replicas == 1_000_000
        assert "more than 1,000,000 rooms, the most that any policy may want" in found.reason


@settings(deadline=None)
@given(
    value=st.floats(0, 1e6), more=st.floats(0, 1e5), rooms=st.integers(0, 500), shared=st.booleans()
)
def test_more_of_it_never_wants_fewer_rooms(
    value: float, more: float, rooms: int, shared: bool
) -> None:
    policy = metric(targetPerRoom=7) if shared else metric(target=7)

    def wanted(told: float) -> int:
        look = a_look(a_load(ready=rooms), signals={NAME: signal(told)})
        return advice(policy, look).replicas

    assert wanted(value) <= wanted(value + more)


def test_it_asks_its_query_and_has_one_target() -> None:
    policy = policies()["metric"]

    assert policy.asks({"query": "queue"}) == (Ask(NAME, "metric", "queue"),)
    assert rules(policy.problems({"query": "q"}, Facts(reports=False))) == {("", "target")}
    assert not list(policy.problems({"query": "q", "target": 1}, Facts(reports=False)))
    (made_zero,) = policy.problems({"query": "sum(q) OR on() vector(0)", "target": 1}, FACTS)
    assert (made_zero.path, made_zero.severity) == (("query",), Severity.WARNING)
    assert not list(policy.problems({"query": "sum(q or vector(1))", "target": 1}, FACTS))
    hasty = {"query": "q", "target": 1, "everySeconds": 90}
    assert policy.asks(hasty)[0].every_seconds == 90
    assert rules(policy.problems(hasty, Facts(reports=False))) == {("", "staleSeconds")}
