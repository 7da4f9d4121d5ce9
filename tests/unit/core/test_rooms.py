from reconciler.core import rooms
from reconciler.model.live import Phase
from reconciler.model.plans import Counts
from tests.unit.core.making import OLD, a_pod, a_workload


def test_rooms_are_sorted_and_counted() -> None:
    there = [
        a_pod(0),
        a_pod(1, ready=False),
        a_pod(2, revision=OLD),
        a_pod(3, revision=OLD, phase=Phase.PENDING, ready=False),
        a_pod(4, phase=Phase.FAILED),
        a_pod(5, terminating=True),
        a_pod(-1),
    ]
    found = rooms.sort_rooms(there, a_workload())
    assert [pod.ordinal for pod in found.new_ready] == [0]
    assert [pod.ordinal for pod in found.new_unready] == [1]
    assert [pod.ordinal for pod in found.old_ready] == [2]
    assert [pod.ordinal for pod in found.old_unready] == [3]
    assert found.alive == 4
    assert rooms.count(found, 9) == Counts(9, ready=2, unready=2, old=2, ended=1, terminating=1)


def test_rooms_that_are_ready_are_not_taken_out() -> None:
    found = rooms.sort_rooms([a_pod(0), a_pod(1, ready=False), a_pod(2, ready=False)], a_workload())
    left = rooms.without(found, [a_pod(0), a_pod(2)])
    assert [pod.ordinal for pod in left.new_ready] == [0]
    assert [pod.ordinal for pod in left.new_unready] == [1]
    assert len(found.new_unready) == 2, "what was handed in is not changed"
