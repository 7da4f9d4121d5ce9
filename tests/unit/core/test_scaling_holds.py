"""Rooms are taken away only on numbers that somebody attests; absurd ones change nothing."""

import math
from typing import Any

import pytest

from reconciler.core import scaling_holds
from reconciler.model.decisions import Demand
from reconciler.model.scaling import Activity, Advice
from tests.unit.core.policies.looks import NOW, a_load, a_look


@pytest.mark.parametrize("count", [math.nan, math.inf, -1, 2.5, True, None, "7", 10**9])
def test_an_absurd_advice_holds(count: Any) -> None:
    found = scaling_holds.sound(Advice(count, "because"), a_look(a_load(ready=4)))

    assert (found.replicas, bool(found.hold)) == (4, True)


@pytest.mark.parametrize("count", [0, 7, 1_000_000])
def test_a_count_is_taken_as_it_is(count: int) -> None:
    advice = Advice(count, "because")

    assert scaling_holds.sound(advice, a_look()) is advice


@pytest.mark.parametrize(
    ("load", "why"),
    [
        pytest.param({"ready": 5}, "", id="rooms that say that nobody plays"),
        pytest.param({"ready": 9, "unheard": 1}, "", id="one of ten is not heard"),
        pytest.param({"ready": 8, "unheard": 2}, "2 of 10 rooms are not heard, more than 1",
                     id="two of ten are not"),
        pytest.param({"ready": 3, "unheard": 3}, "3 of 6 rooms", id="half of them are not"),
        pytest.param({"unheard": 4}, "none of the 4 rooms", id="nobody is heard"),
        pytest.param({"starting": 4}, "no room is ready yet, 4 start", id="all rooms start"),
        pytest.param({"ready": 5, "trouble": "the view is behind"}, "the view is behind",
                     id="trouble"),
        pytest.param({}, "", id="no rooms, none to take away"),
    ],
)  # fmt: skip
def test_who_attests(load: dict[str, Any], why: str) -> None:
    counted = {"replicas": sum(v for k, v in load.items() if k != "trouble"), **load}

    found = scaling_holds.why_none_goes(a_load(**counted))

    assert why in found
    assert bool(why) is bool(found)


@pytest.mark.parametrize(
    ("load", "why"),
    [
        pytest.param({"starting": 20}, "", id="rooms that never were ready"),
        pytest.param({"starting": 19, "unheard": 1}, "none of the 1 room", id="one is not heard"),
        pytest.param({"ready": 8, "unheard": 2}, "2 of 10 rooms", id="too many are not heard"),
        pytest.param({"starting": 5, "trouble": "the view is behind"}, "the view", id="trouble"),
    ],
)
def test_a_time_table_needs_no_rooms_that_attest_it(load: dict[str, Any], why: str) -> None:
    counted = {"replicas": sum(v for k, v in load.items() if k != "trouble"), **load}

    found = scaling_holds.why_none_goes(a_load(**counted), "clock")

    assert why in found
    assert bool(why) is bool(found)


def ended(count: int) -> Activity:
    return Activity(NOW - 30, ends=(900.0,) * count)


@pytest.mark.parametrize(
    ("before", "load", "activity", "doubted"),
    [
        pytest.param(None, {"occupied": 1}, ended(0), False, id="nothing to measure by"),
        pytest.param((100, 0), {"occupied": 40}, ended(0), True, id="60 of 100 did not end"),
        pytest.param((100, 0), {"occupied": 40}, ended(60), False, id="60 of 100 ended"),
        pytest.param((100, 0), {"occupied": 40}, ended(55), False, id="nearly all of them ended"),
        pytest.param((100, 0), {"occupied": 40}, ended(40), True, id="20 of 60 did not"),
        pytest.param((100, 0), {"occupied": 50}, ended(0), False, id="just half are left"),
        pytest.param((2, 0), {"occupied": 0}, ended(0), False, id="a small fleet halves"),
        pytest.param((100, 0), {"active": 60}, ended(0), False, id="partly full ones serve too"),
        pytest.param((0, 90), {"ready": 9, "players": 10, "unheard": 1}, ended(0), True,
                     id="players vanish while a room cannot be heard"),
        pytest.param((0, 90), {"ready": 9, "players": 10}, ended(0), False,
                     id="players leave, and all rooms say so"),
    ],
)  # fmt: skip
def test_a_sudden_fall_is_doubted(
    before: tuple[int, int] | None, load: dict[str, int], activity: Activity, doubted: bool
) -> None:
    known = None if before is None else Demand(NOW - 30, *before)

    demand, why = scaling_holds.believed(a_load(**load), activity, known, NOW)

    assert bool(why) is doubted
    assert demand.doubted_since == (NOW if doubted else None)


def test_a_doubt_lasts_until_the_demand_is_back_or_explained_or_its_time_is_over() -> None:
    def look(serving: int, ends: int, demand: Demand, seconds: float) -> tuple[Demand, bool]:
        found, why = scaling_holds.believed(
            a_load(occupied=serving), ended(ends), demand, NOW + seconds
        )
        return found, bool(why)

    first, doubted = look(20, 0, Demand(NOW - 30, 100, 0), 0)
    assert doubted
    assert (first.serving, first.doubted_since) == (100, NOW)

    assert look(60, 0, first, 30) == (Demand(NOW + 30, 60, 0), False)
    assert look(20, 78, first, 30) == (Demand(NOW + 30, 20, 0), False)
    still, doubted = look(20, 10, first, 30)
    assert doubted
    assert (still.serving, still.doubted_since) == (90, NOW)
    for seconds in range(60, 900, 30):
        still, doubted = look(20, 0, still, seconds)
        assert doubted, seconds
    assert look(20, 0, still, 900) == (Demand(NOW + 900, 20, 0), False)


def test_what_was_known_long_ago_is_no_measure() -> None:
    found, why = scaling_holds.believed(a_load(occupied=1), ended(0), Demand(NOW - 301, 99, 0), NOW)

    assert (found, why) == (Demand(NOW, 1, 0), "")
