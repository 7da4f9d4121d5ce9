"""What became of a room is told apart, and its clocks are those of its own workload."""

from dataclasses import replace
from typing import Any

import pytest

from reconciler.core.room_state import judge
from reconciler.model.live import Phase, Seen
from reconciler.model.rooms import Ears, Heard, Mark, RoomState, Said
from reconciler.model.specs import Timeouts
from tests.unit.core.making import NOW, a_heard, a_room, a_workload

REPORTS = a_workload(reports="required", revision="1-newr")
LISTENING = Ears(since=NOW - 1000)
PULLS: dict[str, Any] = {"phase": Phase.PENDING, "ready": False, "waiting": "ErrImagePull"}
STARTS = Seen(starting=NOW)


@pytest.mark.parametrize(
    ("pod", "seconds", "reason"),
    [
        pytest.param(
            {"phase": Phase.FAILED, "ended": "Evicted"},
            0,
            "its containers ended: Evicted",
            id="evicted",
        ),
        pytest.param(
            {"phase": Phase.FAILED, "ended": "OOMKilled"},
            0,
            "its containers ended: OOMKilled",
            id="failed",
        ),
        pytest.param(
            {"phase": Phase.SUCCEEDED, "ended": "Completed"},
            0,
            "its containers ended: Completed",
            id="completed",
        ),
        pytest.param(
            {"phase": Phase.PENDING, "node": "", "ready": False, "unschedulable": "no cpu"},
            0,
            "no node can take it: no cpu",
            id="unschedulable",
        ),
        pytest.param(
            PULLS, 0, "its image cannot be pulled (ErrImagePull)", id="its image does not come"
        ),
        pytest.param(
            PULLS,
            301,
            "not ready within initializeSeconds (300 s): its image cannot be pulled (ErrImagePull)",
            id="its image did not come",
        ),
        pytest.param(
            {"running": False, "ready": False, "waiting": "CrashLoopBackOff", "runs": (3,)},
            0,
            "its container ended, and was restarted 3 times (CrashLoopBackOff)",
            id="in a loop of crashes",
        ),
        pytest.param(
            {"ready": False},
            301,
            "not ready within initializeSeconds (300 s): running, and not ready yet",
            id="it hangs",
        ),
    ],
)
def test_what_became_of_a_room_is_told_apart(
    pod: dict[str, Any], seconds: int, reason: str
) -> None:
    room = a_room(0, **{"seen": STARTS, **pod})
    assert judge(room, REPORTS, None, LISTENING, NOW + seconds).reason == reason


TERMINATES = a_heard(said=Said.TERMINATING, said_since=NOW)


@pytest.mark.parametrize(
    ("timeouts", "pod", "heard", "limit", "before"),
    [
        pytest.param(
            Timeouts(initialize_seconds=60),
            {"ready": False},
            None,
            60,
            RoomState.UNREADY,
            id="initializeSeconds, of one that runs",
        ),
        pytest.param(
            Timeouts(initialize_seconds=900),
            PULLS,
            None,
            900,
            RoomState.PENDING,
            id="initializeSeconds, of one that pulls its image",
        ),
        pytest.param(
            Timeouts(terminate_seconds=10),
            {"mark": Mark.IDLE},
            TERMINATES,
            10,
            RoomState.TERMINATING,
            id="terminateSeconds",
        ),
    ],
)
def test_a_clock_is_that_of_the_workload(
    timeouts: Timeouts, pod: dict[str, Any], heard: Heard | None, limit: int, before: RoomState
) -> None:
    room, workload = a_room(0, **{"seen": STARTS, **pod}), replace(REPORTS, timeouts=timeouts)
    in_time = judge(room, workload, heard, LISTENING, NOW + limit - 1)
    late = judge(room, workload, heard, LISTENING, NOW + limit + 1)
    assert (in_time.state, in_time.again_in_seconds) == (before, 1)
    assert late.state is RoomState.ERROR
