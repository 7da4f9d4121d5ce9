from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reconciler.core import flips, rooms
from reconciler.core.fence import needs_fence
from reconciler.core.room_state import judge
from reconciler.model.live import Phase, Seen
from reconciler.model.plans import Counts
from reconciler.model.rooms import Ears, Health, Heard, Mark, Said, Why
from tests.unit.core.making import NEW, NOW, OLD, REPORTS, a_heard, a_pod, a_workload, ears


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


def test_a_room_that_nobody_waits_for_and_that_says_it_is_busy_is_no_victim() -> None:
    workload = a_workload(reports="required", revision="1-newr")
    said = ears(r0=a_heard(matches=1))
    found = rooms.sort_rooms([a_pod(0, revision="1-new"), a_pod(1)], workload, said, NOW)
    assert found.busy == {"uid-0"}, "before its pod says so"


def test_a_room_whose_game_ended_for_good_as_it_was_told_to_has_not_failed() -> None:
    over = a_pod(0, ready=False, ended="Error (exit code 143)", leaving=Why.SCALE_IN)
    found = rooms.sort_rooms([over, replace(over, leaving=Why.STAYS)], a_workload())
    assert (found.left, found.failed) == ([over], [replace(over, leaving=Why.STAYS)])


_REPORTS = st.builds(
    a_heard,
    said=st.sampled_from([None, *Said]),
    matches=st.integers(0, 1),
    players=st.integers(0, 1),
    silent=st.booleans(),
    health=st.sampled_from([None, *Health]),
    tells=st.booleans(),
    periodic=st.booleans(),
)
_PODS = st.fixed_dictionaries(
    {
        "phase": st.sampled_from(list(Phase)),
        "ready": st.booleans(),
        "running": st.booleans(),
        "lapsed": st.booleans(),
        "terminating": st.booleans(),
        "mark": st.sampled_from(list(Mark)),
        "leaving": st.sampled_from([Why.STAYS, Why.STAYS, Why.SCALE_IN, Why.REQUEST]),
        "waiting": st.sampled_from(["", "CrashLoopBackOff"]),
        "revision": st.sampled_from([NEW, REPORTS, OLD]),
        "runs": st.sampled_from([(), (1,)]),
    }
)


@example(
    pod={"ready": True, "running": False, "waiting": "CrashLoopBackOff", "revision": NEW},
    heard=None,
    reports="none",
    limit=None,
    deaf="",
)
@given(
    pod=_PODS,
    heard=st.none() | _REPORTS,
    reports=st.sampled_from(["required", "none"]),
    limit=st.sampled_from([None, 60.0, 100_000.0]),
    deaf=st.sampled_from(["", "too many fell silent"]),
)
def test_what_is_plain_is_what_the_rules_say(
    pod: dict[str, Any], heard: Heard | None, reports: str, limit: float | None, deaf: str
) -> None:
    timeouts = replace(a_workload().timeouts, silent_busy_seconds=limit)
    workload = a_workload(reports=reports, timeouts=timeouts)
    said = replace(ears(**({"r0": heard} if heard else {})), deaf=deaf)
    found = rooms.sort_rooms([a_pod(0, **pod)], workload, said, NOW)

    room = a_pod(0, **pod)
    judged = judge(room, workload, heard, said, NOW)
    assert (room.uid in found.protected) == bool(judged.protected)
    assert (room.uid in found.busy) == judged.demand
    assert found.unheard == judged.unheard
    if room in (*found.new_ready, *found.old_ready):
        assert judged.up or room.lapsed
    if judged.again_in_seconds is not None and judged.again_in_seconds > 0:
        assert found.again_in_seconds is not None


@example(pod={"runs": (1,)}, said=None, periodic=False, limit=60.0, ended="")
@settings(deadline=None)
@given(
    pod=_PODS,
    said=st.sampled_from([None, *Said]),
    periodic=st.booleans(),
    limit=st.sampled_from([None, 60.0]),
    ended=st.sampled_from(["", "Completed"]),
)
def test_who_is_marked_to_go_is_not_called_back_by_players_told_of_before(
    pod: dict[str, Any], said: Said | None, periodic: bool, limit: float | None, ended: str
) -> None:
    heard = a_heard(said=said, periodic=periodic, players=1)
    timeouts = replace(a_workload().timeouts, silent_busy_seconds=limit)
    workload = a_workload(reports="required", timeouts=timeouts)
    marked = a_pod(0, **{**pod, "mark": Mark.DRAINING}, ended=ended)
    judged = judge(marked, workload, heard, ears(r0=heard), NOW + 9000)
    if not judged.protected and needs_fence(marked, judged, heard):
        assert flips.wished(marked, heard, 0.0).mark is Mark.DRAINING


@pytest.mark.parametrize("ready", [True, False], ids=["ready", "no more ready"])
def test_an_old_room_that_never_spoke_is_none_of_those_that_are_up(ready: bool) -> None:
    # It takes its place until it is told to leave, and what is up is waited for.
    spec = a_workload(reports="required", revision=REPORTS)
    seen, old = Seen(starting=NOW - 9000), "1-oldr"
    silent = a_pod(0, revision=old, ready=ready, lapsed=not ready, mark=Mark.NONE, seen=seen)
    spoke = replace(a_pod(1), revision=old, ready=ready, lapsed=not ready, mark=Mark.IDLE)
    found = rooms.sort_rooms([silent, spoke], spec, Ears(since=NOW - 9000), NOW)
    assert found.old_unready == [silent]
    assert found.old_ready == [spoke]
    assert silent.uid in found.protected
