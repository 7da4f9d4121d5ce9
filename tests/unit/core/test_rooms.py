import pytest

from reconciler.core import rooms
from reconciler.core.rooms import RoomState
from reconciler.model.live import LivePod, Phase
from reconciler.model.plans import Counts
from tests.unit.core.making import NEW, OLD, a_pod


@pytest.mark.parametrize(
    ("pod", "state"),
    [
        pytest.param(a_pod(0), RoomState.READY, id="a ready pod is a ready room"),
        pytest.param(a_pod(0, ready=False), RoomState.UNREADY, id="a running one may be unready"),
        pytest.param(
            a_pod(0, phase=Phase.PENDING, ready=False), RoomState.PENDING, id="a pod that starts"
        ),
        pytest.param(
            a_pod(0, phase=Phase.UNKNOWN, ready=False),
            RoomState.UNREADY,
            id="a pod nobody knows of",
        ),
        pytest.param(a_pod(0, phase=Phase.SUCCEEDED), RoomState.ENDED, id="a game that is over"),
        pytest.param(a_pod(0, phase=Phase.FAILED), RoomState.ENDED, id="a pod that failed"),
        pytest.param(
            a_pod(0, phase=Phase.FAILED, terminating=True),
            RoomState.TERMINATING,
            id="terminating before all else",
        ),
    ],
)
def test_the_state_of(pod: LivePod, state: RoomState) -> None:
    assert rooms.state_of(pod) is state


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
    found = rooms.sort_rooms(there, NEW)
    assert [pod.ordinal for pod in found.new_ready] == [0]
    assert [pod.ordinal for pod in found.new_unready] == [1]
    assert [pod.ordinal for pod in found.old_ready] == [2]
    assert [pod.ordinal for pod in found.old_unready] == [3]
    assert found.alive == 4
    assert rooms.count(found, 9) == Counts(9, ready=2, unready=2, old=2, ended=1, terminating=1)


def test_rooms_that_are_ready_are_not_taken_out() -> None:
    found = rooms.sort_rooms([a_pod(0), a_pod(1, ready=False), a_pod(2, ready=False)], NEW)
    left = rooms.without(found, [a_pod(0), a_pod(2)])
    assert [pod.ordinal for pod in left.new_ready] == [0]
    assert [pod.ordinal for pod in left.new_unready] == [1]
    assert len(found.new_unready) == 2, "what was handed in is not changed"
