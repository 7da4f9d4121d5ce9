"""max: the largest count counts, and no room goes while one of several cannot tell."""

from typing import Any

import pytest

from reconciler.core.policies.policy import Facts
from tests.unit.core.policies.looks import a_load, a_look, advice, policies, signal
from tests.unit.core.reading import rules

FIVE, NINE = {"fixedBuffer": {"amount": 5}}, {"fixedBuffer": {"amount": 9}}
METRIC = {"metric": {"query": "q", "targetPerRoom": 1}}
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
