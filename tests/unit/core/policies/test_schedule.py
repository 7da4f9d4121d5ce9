"""schedule: of the entries that hold now the largest counts; where none does, `min`."""

from typing import Any

import pytest

from reconciler.core.policies.policy import Facts
from reconciler.model.scaling import Bounds
from tests.unit.core.policies.looks import NOW, a_load, a_look, advice, policies
from tests.unit.core.reading import rules

# NOW is a Friday, 08:00 UTC.
MORNING = {"from": "06:00", "to": "10:00"}
WEEKEND = {"days": ["sat", "sun"]}


@pytest.mark.parametrize(
    ("entries", "wanted"),
    [
        pytest.param([{**MORNING, "replicas": 40}], 40, id="a count that holds"),
        pytest.param([{**WEEKEND, "replicas": 40}], 3, id="none holds: min"),
        pytest.param([{**MORNING, "replicas": 40}, {"replicas": 10}], 40, id="the larger one"),
        pytest.param([{"replicas": 10}, {**MORNING, "replicas": 40}], 40,
                     id="the larger one, in any order"),
        pytest.param([{**MORNING, "policy": {"fixedBuffer": {"amount": 9}}}, {"replicas": 4}], 16,
                     id="a policy"),
        pytest.param([{**MORNING, "replicas": 0, "policy": None}], 0, id="none at all, as written"),
    ],
)  # fmt: skip
def test_what_holds_now_counts(entries: list[dict[str, Any]], wanted: int) -> None:
    look = a_look(a_load(occupied=7), bounds=Bounds(3, 100))

    assert advice({"schedule": entries}, look).replicas == wanted


def test_the_reason_names_the_time() -> None:
    found = advice({"schedule": [{**MORNING, "replicas": 40}]}, a_look())

    assert found.reason == "06:00 to 10:00 (UTC): 40 rooms"


def test_a_policy_that_cannot_tell_holds_only_when_its_time_has_come() -> None:
    metric = {"metric": {"query": "q", "target": 1}}
    look = a_look(a_load(ready=5))

    assert advice({"schedule": [{**WEEKEND, "policy": metric}]}, look).hold == ""
    assert advice({"schedule": [{**MORNING, "policy": metric}]}, look).hold


@pytest.mark.parametrize(
    ("entry", "found"),
    [
        pytest.param({"replicas": 5}, set(), id="a count"),
        pytest.param({}, {("0", "schedule")}, id="neither a count nor a policy"),
        pytest.param({"replicas": 5, "policy": {"buffer": {"rooms": 1}}}, {("0", "schedule")},
                     id="both"),
        pytest.param({"replicas": 500}, {("0.replicas", "schedule")}, id="above max: a warning"),
        pytest.param({"policy": {"bufer": {}}}, {("0.policy.bufer", "policy")}, id="no policy"),
        pytest.param({"replicas": 5, "timeZone": "Mars"}, {("0.timeZone", "time-zone")},
                     id="no time zone"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_an_entry(entry: dict[str, Any], found: set[tuple[str, str]]) -> None:
    facts = Facts(reports=True, minimum=1, maximum=100)

    assert rules(policies()["schedule"].problems({"of": [entry]}, facts)) == found


def test_it_asks_what_its_policies_ask() -> None:
    entry = {**WEEKEND, "policy": {"metric": {"query": "q", "target": 1}}}

    asks = policies()["schedule"].asks({"of": [entry, {"replicas": 3}, entry]})

    assert [ask.name for ask in asks] == ["metric q"]
    assert NOW // 86_400 % 7 == 1  # days since a Thursday: a Friday
