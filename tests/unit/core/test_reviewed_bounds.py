"""Counts inside bounds that people reviewed: what no budget asks about, and what a freeze keeps."""

from dataclasses import replace

import pytest

from reconciler.core.reviewed_bounds import is_reviewed, is_shut_out
from reconciler.model.changes import Cause, Removal
from reconciler.model.records import StateRecord
from reconciler.model.specs import Workload
from tests.unit.core.arriving import an_arrival
from tests.unit.core.making import a_key, a_reading, a_workload, accepted, autoscaling, read_spec


def bounded(low: int, high: int, replicas: int = 20) -> Workload:
    return a_workload("arena", replicas, autoscaling=autoscaling(low, high))


WIDE, HIGH = bounded(2, 100), bounded(10, 100)
BARE = a_workload("arena", 20)


@pytest.mark.parametrize(
    ("before", "head", "count", "expected"),
    [
        pytest.param(accepted(WIDE), WIDE, 5, True, id="inside both"),
        pytest.param(accepted(HIGH), WIDE, 5, False, id="outside those before"),
        pytest.param(accepted(WIDE), HIGH, 5, False, id="outside those now"),
        pytest.param(accepted(BARE), WIDE, 5, False, id="without a policy before"),
        pytest.param(accepted(WIDE), BARE, 5, False, id="without a policy now"),
        pytest.param(accepted(WIDE), replace(WIDE, suspend=True), 5, False, id="suspended now"),
        pytest.param(StateRecord(), WIDE, 5, False, id="nothing was accepted"),
        pytest.param(None, WIDE, 5, False, id="nothing is on record"),
    ],
)
def test_which_smaller_counts_are_reviewed(
    before: StateRecord | None, head: Workload, count: int, expected: bool
) -> None:
    arrival = an_arrival(a_reading(head))
    smaller = Removal("local", head.key, Cause.SCALE_IN, count, 20)
    assert is_reviewed(arrival, smaller, before, read_spec) is expected
    gone = replace(smaller, cause=Cause.LEFT_GIT, to=0)
    assert not is_reviewed(arrival, gone, before, read_spec)
    other = replace(smaller, key=a_key("lobby"))
    assert not is_reviewed(arrival, other, before, read_spec)


@pytest.mark.parametrize(
    ("count", "acting", "head", "expected"),
    [
        pytest.param(5, WIDE, HIGH, True, id="inside those that act alone"),
        pytest.param(15, WIDE, HIGH, False, id="inside both"),
        pytest.param(1, WIDE, HIGH, False, id="outside both: a person's"),
        pytest.param(5, HIGH, WIDE, False, id="inside the new ones alone"),
        pytest.param(5, WIDE, BARE, False, id="where no policy is left"),
        pytest.param(5, BARE, HIGH, False, id="where no policy was"),
    ],
)
def test_which_counts_new_bounds_shut_out(
    count: int, acting: Workload, head: Workload, expected: bool
) -> None:
    assert is_shut_out(count, acting, head) is expected
