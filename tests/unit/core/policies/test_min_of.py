"""min: the smallest count counts, and all stays while one of several cannot tell."""

from typing import Any

import pytest

from reconciler.core.policies.policy import Facts
from tests.unit.core.policies.looks import a_load, a_look, advice, policies
from tests.unit.core.reading import rules

FIVE, NINE = {"fixedBuffer": {"amount": 5}}, {"fixedBuffer": {"amount": 9}}
METRIC = {"metric": {"query": "q", "targetPerRoom": 1}}
HALF = {"roomOccupancy": {"readyTarget": 0.5}}


@pytest.mark.parametrize(
    ("of", "load", "wanted", "holds"),
    [
        pytest.param([NINE, FIVE], {"ready": 7}, 5, False, id="the smallest"),
        pytest.param([NINE, METRIC], {"ready": 7}, 7, True, id="one cannot tell: nothing changes"),
        pytest.param([HALF, FIVE], {"occupied": 2, "ready": 2, "replicas": 20}, 7, False,
                     id="one that lets none go wants as many as there are"),
    ],
)  # fmt: skip
def test_the_smallest_counts(of: list[Any], load: dict[str, int], wanted: int, holds: bool) -> None:
    found = advice({"min": of}, a_look(a_load(**load)))

    assert (found.replicas, bool(found.hold)) == (wanted, holds)


def test_who_cannot_tell_is_named() -> None:
    none = a_look(a_load(ready=7))
    inner = {"max": [NINE, METRIC]}

    held = advice({"min": [NINE, METRIC]}, none)
    within = advice({"min": [FIVE, inner]}, none)

    silent = "policy 2 of 2 cannot tell: the metric was not asked yet"
    assert (held.hold, held.missing) == (silent, "")
    assert (within.replicas, within.missing) == (5, f"policy 2 of 2 cannot tell: {silent}")


def test_mistakes_stand_at_their_place_in_the_list() -> None:
    policy = policies()["min"]

    assert rules(policy.problems({"of": [FIVE, {}]}, Facts(reports=True))) == {("1", "policy")}
    assert [ask.what for ask in policy.asks({"of": [FIVE, METRIC]})] == ["q"]
