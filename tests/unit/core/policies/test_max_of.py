"""max: the largest count counts, and no room goes while one of several cannot tell."""

from typing import Any

import pytest

from reconciler.core.policies.policy import Facts
from reconciler.model.scaling import Advice, Signal
from tests.unit.core.policies.looks import NOW, a_load, a_look, advice, policies, signal
from tests.unit.core.reading import rules

FIVE, NINE = {"fixedBuffer": {"amount": 5}}, {"fixedBuffer": {"amount": 9}}
METRIC = {"metric": {"query": "q", "targetPerRoom": 1}}
OTHER = {"metric": {"query": "r", "targetPerRoom": 1}}
HALF = {"roomOccupancy": {"readyTarget": 0.5}}


@pytest.mark.parametrize(
    ("of", "told", "wanted", "may_remove", "holds"),
    [
        pytest.param([FIVE, NINE], {}, 9, True, False, id="the largest"),
        pytest.param([NINE, METRIC], {"q": 12.0}, 12, True, False, id="of several kinds"),
        pytest.param([FIVE, METRIC], {}, 5, False, False, id="one cannot tell: more, never fewer"),
        pytest.param([METRIC], {}, 7, True, True, id="none can tell"),
        pytest.param([FIVE, HALF], {}, 5, True, False, id="one that lets rooms go"),
    ],
)
def test_the_largest_counts(
    of: list[Any], told: dict[str, float], wanted: int, may_remove: bool, holds: bool
) -> None:
    signals = {f"metric {name}": signal(value) for name, value in told.items()}

    found = advice({"max": of}, a_look(a_load(ready=7), signals=signals))

    assert (found.replicas, found.may_remove, bool(found.hold)) == (wanted, may_remove, holds)


def test_who_cannot_tell_is_named_while_the_others_count() -> None:
    inner = {"max": [NINE, METRIC]}

    found = advice({"max": [FIVE, inner, METRIC]}, a_look(a_load(ready=7)))

    silent = "cannot tell: the metric was not asked yet"
    assert (
        found.missing
        == f"policy 2 of 3 cannot tell: policy 2 of 2 {silent}; policy 3 of 3 {silent}"
    )
    assert (found.replicas, found.hold) == (9, ""), "it hinders no growth"
    assert advice({"max": [FIVE, NINE]}, a_look(a_load(ready=7))).missing == ""


def test_one_that_lets_none_go_keeps_all() -> None:
    found = advice({"max": [FIVE, HALF]}, a_look(a_load(occupied=2, ready=2, replicas=9)))

    assert (found.replicas, found.may_remove) == (4, False)


def after_zeros(
    policy: dict[str, Any], busy: int, last: dict[str, int] | None = None, zeros: int = 6
) -> Advice:
    """The advice for 20 rooms after a queue told some zeros, half a minute apart."""
    found = Advice(0, "")
    for number in range(zeros):
        at, load = NOW + 30 * number, a_load(ready=20 - busy, occupied=busy)
        if last is not None and number == zeros - 1:
            load = a_load(**last)
        look = a_look(load, now=at, signals={"metric q": Signal(at, 0.0)}, memory=found.memory)
        found = advice(policy, look)
    return found


@pytest.mark.parametrize(
    ("policy", "wanted", "goes"),
    [
        pytest.param({"max": [FIVE, METRIC]}, 8, True, id="beside one that counts those rooms"),
        pytest.param({"max": [{"schedule": [{"replicas": 2}]}, METRIC]}, 2, False,
                     id="beside a time-table"),
        pytest.param({"max": [METRIC, METRIC]}, 20, False, id="beside another such"),
        pytest.param({"max": [FIVE, {"max": [METRIC, METRIC]}]}, 8, True, id="one inside another"),
        pytest.param({"max": [FIVE, {"min": [METRIC, NINE]}]}, 8, True, id="min inside"),
        pytest.param({"max": [FIVE, {"chain": [{"policy": METRIC}]}]}, 8, True, id="chain inside"),
        pytest.param({"max": [FIVE, METRIC, OTHER]}, 8, False, id="and one that is not there"),
        pytest.param({"schedule": [{"policy": FIVE}, {"policy": METRIC}]}, 8, True, id="schedule"),
        pytest.param({"min": [NINE, METRIC]}, 20, False, id="min: it cannot tell, all stays"),
        pytest.param({"chain": [{"policy": METRIC}, {"policy": FIVE}]}, 20, False, id="chain"),
    ],
)  # fmt: skip
def test_a_zero_that_rooms_contradict(policy: dict[str, Any], wanted: int, goes: bool) -> None:
    """As of a queue in which nobody waits while matches go on."""
    found = after_zeros(policy, busy=3)

    assert (found.replicas, not found.hold and found.may_remove) == (wanted, goes)
    assert bool(found.hold or found.missing) is not goes


@pytest.mark.parametrize(("zeros", "goes"), [(1, False), (4, False), (5, True)])
def test_beside_those_that_count_rooms_a_zero_hinders_once_it_lasts(zeros: int, goes: bool) -> None:
    """A fall to 0 is an exporter that was restarted, at first."""
    found = after_zeros({"max": [FIVE, METRIC]}, busy=3, zeros=zeros)

    assert (found.may_remove, bool(found.missing)) == (goes, not goes)


def test_one_that_lasted_with_all_rooms_empty_hinders_nobody_when_the_first_player_comes() -> None:
    found = after_zeros({"max": [FIVE, METRIC]}, busy=0, last={"ready": 19, "occupied": 1})

    assert (found.replicas, found.may_remove, found.missing) == (6, True, "")


def test_mistakes_stand_at_their_place_in_the_list() -> None:
    of = [FIVE, {"fixedBuffer": {"amount": -1}}, {"max": [{"nonsense": {}}]}]

    found = policies()["max"].problems({"of": of}, Facts(reports=False))

    assert rules(found) == {
        ("0.fixedBuffer", "reports"),
        ("1.fixedBuffer.amount", "range"),
        ("2.max.0.nonsense", "policy"),
    }
    assert [ask.what for ask in policies()["max"].asks({"of": [METRIC, {"min": [METRIC]}]})] == [
        "q"
    ]
