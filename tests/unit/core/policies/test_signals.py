"""What others were asked is believed only when it is there, new, and a number to count by."""

import math
from typing import Any

import pytest

from reconciler.core.policies.policy import Ask
from reconciler.core.policies.signals import attested, doubt, pace_mistakes, sound_number
from reconciler.model.scaling import Advice, Signal
from tests.unit.core.policies.looks import a_look, signal

ASK = Ask("m", "metric", "up")


@pytest.mark.parametrize(
    ("told", "why"),
    [
        pytest.param(signal(3.0), "", id="just now"),
        pytest.param(signal(3.0, 120), "", id="as old as it may be"),
        pytest.param(signal(3.0, 121), "121 s old", id="older"),
        pytest.param(signal(3.0, -20), "", id="a clock that is a little ahead"),
        pytest.param(signal(3.0, -31), "31 s from the future", id="a clock that is far ahead"),
        pytest.param(signal(3.0, math.nan), "from the future", id="a time that is none"),
        pytest.param(signal(None), "gave no answer", id="no answer"),
        pytest.param(signal(None, 0, "503"), "told nothing: 503", id="trouble"),
        pytest.param(signal(3.0, 100, "503"), "", id="trouble since a young answer"),
        pytest.param(signal(3.0, 121, "503"), "120 s is the most: 503", id="trouble since an old"),
        pytest.param(None, "not asked yet", id="not asked"),
    ],
)
def test_what_is_believed(told: Signal | None, why: str) -> None:
    look = a_look(signals={} if told is None else {"m": told})

    found = doubt(ASK, look, 120)

    assert why in found
    assert bool(why) is bool(found)


def test_no_room_goes_by_an_answer_that_has_no_newer_one() -> None:
    advice = Advice(3, "3 rooms")

    young = attested(ASK, a_look(signals={"m": signal(3.0, 40, "503")}), advice)

    assert (young.replicas, young.may_remove, young.hold) == (3, False, "")
    assert "503" in young.said
    assert attested(ASK, a_look(signals={"m": signal(3.0, 40)}), advice) == advice


@pytest.mark.parametrize(
    ("parameters", "wrong"),
    [
        pytest.param({}, False, id="as it is"),
        pytest.param({"everySeconds": 60}, False, id="half as often"),
        pytest.param({"everySeconds": 61}, True, id="too rarely"),
        pytest.param({"staleSeconds": 59}, True, id="too short a life"),
        pytest.param({"everySeconds": 5, "staleSeconds": 10}, False, id="both are short"),
    ],
)
def test_an_answer_outlives_one_question_that_is_lost(
    parameters: dict[str, int], wrong: bool
) -> None:
    assert bool(list(pace_mistakes(parameters))) is wrong


@pytest.mark.parametrize("value", [math.nan, math.inf, -1, True, "3", None, [3], {}, 10**400])
def test_what_is_no_number_to_count_by(value: Any) -> None:
    assert sound_number(value) is None


@pytest.mark.parametrize("value", [0, 0.5, 3, 1e9])
def test_what_is_one(value: float) -> None:
    assert sound_number(value) == value
