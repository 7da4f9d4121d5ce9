"""chain: the first entry whose time has come; where none has, the count stays."""

from typing import Any

import pytest

from reconciler.core.policies.policy import Facts
from tests.unit.core.policies.looks import a_load, a_look, advice, policies, signal
from tests.unit.core.reading import rules

MORNING = {"from": "06:00", "to": "10:00"}
WEEKEND = {"days": ["sat", "sun"]}


def entry(amount: int, **when: Any) -> dict[str, Any]:
    return {**when, "policy": {"fixedBuffer": {"amount": amount}}}


@pytest.mark.parametrize(
    ("entries", "wanted", "holds"),
    [
        pytest.param([entry(9, **MORNING), entry(1)], 9, False, id="the first that holds"),
        pytest.param([entry(9, **WEEKEND), entry(1)], 1, False, id="the one that holds always"),
        pytest.param([entry(1), entry(9, **MORNING)], 1, False, id="not the largest: the first"),
        pytest.param([entry(9, **WEEKEND)], 5, True, id="none holds: the count stays"),
    ],
)
def test_the_first_that_holds_counts(
    entries: list[dict[str, Any]], wanted: int, holds: bool
) -> None:
    found = advice({"chain": entries}, a_look(a_load(ready=5)))

    assert (found.replicas, bool(found.hold)) == (wanted, holds)


def test_an_entry_that_cannot_tell_is_not_passed_over() -> None:
    metric = {"policy": {"metric": {"query": "q", "targetPerRoom": 1}}}

    found = advice({"chain": [metric, entry(1)]}, a_look(a_load(ready=5)))
    told = advice({"chain": [metric]}, a_look(a_load(ready=5), signals={"metric q": signal(9.0)}))

    assert found.hold.startswith("always: the metric was not asked yet")
    assert told.replicas == 9


def test_what_never_gets_its_turn_is_told() -> None:
    found = policies()["chain"].problems(
        {"of": [entry(1), entry(2, **MORNING), {"policy": {}, "timeZone": "Mars"}]},
        Facts(reports=True),
    )

    assert rules(found) == {
        ("1", "chain"),
        ("2", "chain"),
        ("2.policy", "policy"),
        ("2.timeZone", "time-zone"),
    }


def test_it_asks_what_all_its_entries_ask() -> None:
    metric = {"policy": {"metric": {"query": "q", "target": 1}}}

    assert [ask.what for ask in policies()["chain"].asks({"of": [entry(1), metric]})] == ["q"]
