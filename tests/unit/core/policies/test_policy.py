"""How a policy is written, and what all of them say in the same words."""

from typing import Any

import pytest

from reconciler.core.policies.policy import (
    Facts,
    hears_nothing,
    held,
    parameters_of,
    plural,
    policy_of,
)
from reconciler.model.scaling import PolicySpec
from tests.unit.core.policies.looks import a_load, a_look
from tests.unit.core.reading import rules


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        pytest.param({"rooms": 5, "percent": None}, {"rooms": 5}, id="null is not written"),
        pytest.param([{"a": None}], {"of": [{"a": None}]}, id="a list of policies is their `of`"),
        pytest.param(None, {}, id="nothing"),
    ],
)
def test_parameters(written: Any, wanted: dict[str, Any]) -> None:
    assert parameters_of(written) == wanted
    assert policy_of({"p": written}) == PolicySpec("p", wanted)


def test_a_policy_that_needs_reports_says_so() -> None:
    assert not list(hears_nothing("buffer", Facts(reports=True)))
    assert rules(hears_nothing("buffer", Facts(reports=False))) == {("", "reports")}


def test_a_held_advice_is_the_count_there_is_and_forgets_nothing() -> None:
    found = held(a_look(a_load(ready=3), memory=b"m"), "no answer")

    assert (found.replicas, found.hold, found.memory) == (3, "no answer", b"m")


@pytest.mark.parametrize(
    ("count", "noun", "told"),
    [
        (1, "room", "1 room"),
        (0, "room", "0 rooms"),
        (2, "match", "2 matches"),
        (1e6, "room", "1000000 rooms"),
    ],
)
def test_counts_are_told_with_their_noun(count: int, noun: str, told: str) -> None:
    assert plural(count, noun) == told
