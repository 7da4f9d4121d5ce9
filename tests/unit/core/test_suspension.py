"""What is suspended is so until somebody says so, or its time is over."""

from dataclasses import replace

import pytest

from reconciler.core import suspension
from reconciler.model.specs import Source, Suspension, Workload
from tests.unit.core.making import NOW, a_key, a_reading, a_workload

ENDS = Suspension("the database moves", NOW + 60)


def suspended(told: Suspension = ENDS) -> Workload:
    return a_workload(suspend=True, suspension=told)


@pytest.mark.parametrize(
    ("workload", "now", "wanted"),
    [
        pytest.param(suspended(), NOW, True, id="before its end"),
        pytest.param(suspended(), NOW + 60, False, id="at its end"),
        pytest.param(suspended(Suspension()), NOW + 1e9, True, id="without one"),
        pytest.param(a_workload(), NOW, False, id="not at all"),
    ],
)
def test_whether_it_is_suspended(workload: Workload, now: float, wanted: bool) -> None:
    assert suspension.in_time(workload, now).suspend is wanted
    reading = suspension.all_in_time(a_reading(workload), now)
    assert reading.workloads[workload.key].suspend is wanted


def test_the_next_end_is_that_of_what_is_suspended() -> None:
    later = a_workload("lobby", suspend=True, suspension=replace(ENDS, until=NOW + 90))
    over = replace(a_workload("over"), suspension=replace(ENDS, until=NOW + 10))
    found = {each.key: each for each in (suspended(), later, over)}
    assert suspension.next_end(found) == NOW + 60
    assert suspension.next_end({a_key(): suspended(Suspension())}) is None


@pytest.mark.parametrize(
    ("told", "wanted"),
    [
        (Suspension(), "suspended by the spec at schedulers/arena.yaml:1: nothing is written"),
        (
            Suspension(source=Source("schedulers/arena.yaml", 8)),
            "suspended by schedulers/arena.yaml:8: nothing is written",
        ),
        (
            ENDS,
            "suspended by the spec at schedulers/arena.yaml:1: the database moves, until "
            "2027-01-15 08:01 UTC: nothing is written",
        ),
    ],
)
def test_why(told: Suspension, wanted: str) -> None:
    assert suspension.reason_of(suspended(told)) == wanted


def test_one_that_has_ended_is_doubted() -> None:
    placed = suspended(replace(ENDS, source=Source("schedulers/arena.yaml", 7, 5)))
    assert not list(suspension.doubt_ended([placed], NOW))
    (found,) = suspension.doubt_ended([placed], NOW + 60)
    assert (found.line, found.path) == (7, "spec.suspend.until")
    assert found.message == "2027-01-15 08:01 UTC has passed: Scheduler/arena is not suspended"


@pytest.mark.parametrize(
    ("suspend", "wanted"),
    [
        (True, []),
        ({"reason": "x"}, []),
        ({"until": "2026-12-27T06:00:00+01:00"}, []),
        ({"until": "2026-12-27"}, ['"2026-12-27" is no date and time']),
        ({"until": "soon"}, ['"soon" is no date and time']),
    ],
)
def test_the_mistakes_of_one(suspend: object, wanted: list[str]) -> None:
    found = suspension.check_suspend({"suspend": suspend})
    assert [each.message for each in found] == wanted
