import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.core.budget_objects import counts_occupied, min_available, stamp_budget
from reconciler.model.specs import Disruption
from tests.unit.core.making import a_workload


@pytest.mark.parametrize(
    ("replicas", "safety_percentage", "stay"),
    [
        pytest.param(0, 0.05, 0, id="of no rooms none"),
        pytest.param(1, 0.05, 0, id="of one room none, or its node could never be drained"),
        pytest.param(20, 0.05, 19, id="of twenty nineteen, though binary says 18.999"),
        pytest.param(19, 0.05, 18, id="rounded down"),
        pytest.param(10_000, 0.05, 9500, id="of very many"),
        pytest.param(7, 1.0, 0, id="all may go"),
        pytest.param(7, 0.0, 7, id="none may go"),
    ],
)
def test_of_rooms_that_do_not_report_stay(
    replicas: int, safety_percentage: float, stay: int
) -> None:
    workload = a_workload(disruption=Disruption("count", safety_percentage))
    assert min_available(workload, replicas, 0) == stay


@pytest.mark.parametrize(
    ("total", "occupied", "safety_percentage", "stay"),
    [
        pytest.param(1, 1, 0.05, 0, id="one room may go, as Maestro promises"),
        pytest.param(0, 0, 0.05, 0, id="none is none"),
        pytest.param(10, 0, 0.05, 0, id="empty rooms may all go"),
        pytest.param(10, 4, 0.05, 5, id="rounded up"),
        pytest.param(100, 20, 0.05, 21, id="21, though binary says 21.000000000000004"),
        pytest.param(100, 60, 0.05, 63, id="63 of sixty"),
        pytest.param(10, 10, 0.05, 10, id="never more than there are"),
        pytest.param(10, 4, 0.0, 4, id="the occupied ones and no more"),
    ],
)
def test_of_rooms_that_report_stay(
    total: int, occupied: int, safety_percentage: float, stay: int
) -> None:
    workload = a_workload(reports="required", disruption=Disruption("count", safety_percentage))
    assert min_available(workload, total, occupied) == stay


@given(st.integers(2, 10_000), st.data(), st.floats(0, 1))
def test_so_many_stay_as_are_occupied(total: int, data: st.DataObject, share: float) -> None:
    occupied = data.draw(st.integers(0, total))
    workload = a_workload(reports="required", disruption=Disruption("count", share))
    assert occupied <= min_available(workload, total, occupied) <= total


def test_of_the_rooms_that_are_selected_for_being_busy_none_may_go() -> None:
    workload = a_workload(reports="required", disruption=Disruption("occupied"))
    assert min_available(workload, 10_000, 0) == min_available(workload, 1, 1) == 1_000_000


@pytest.mark.parametrize(
    ("reports", "budget", "counts"),
    [
        ("none", Disruption("count"), False),
        ("required", Disruption("count"), True),
        ("required", Disruption("occupied"), False),
    ],
)
def test_a_budget_changes_with_the_occupied_rooms_where_it_counts_them(
    reports: str, budget: Disruption, counts: bool
) -> None:
    workload = a_workload(reports=reports, disruption=budget)
    assert counts_occupied(workload) is counts


def test_the_count_is_put_on_a_copy_of_the_budget() -> None:
    pdb = {"kind": "PodDisruptionBudget", "spec": {"minAvailable": 0, "selector": {"a": "b"}}}
    before = copy.deepcopy(pdb)
    stamped = stamp_budget(pdb, a_workload(disruption=Disruption("count", 0.05)), 20, 0)
    assert stamped["spec"] == {"minAvailable": 19, "selector": {"a": "b"}}
    assert pdb == before
