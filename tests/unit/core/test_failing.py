"""What is decided of rooms that failed, or hang on their way out, and what plans make of it."""

import json
from dataclasses import replace
from typing import Any, Literal

import pytest

from reconciler.core import failing, flips, hearing, kept_reports
from reconciler.core.departures import CAUSES
from reconciler.core.failing import mark_of
from reconciler.core.room_state import judge
from reconciler.model.changes import Cause
from reconciler.model.holds import HoldKind
from reconciler.model.live import LivePod, Phase, Seen
from reconciler.model.records import Failure, StateRecord
from reconciler.model.refs import Json, WorkloadKey
from reconciler.model.rooms import Health, Heard, Judged, Mark, Report, Said, Why
from reconciler.model.specs import (
    Departure,
    FailurePolicy,
    Timeouts,
)
from reconciler.service.rooms.lines import line_of
from tests.unit.core.leaving import (
    BUSY,
    EMPTY,
    EXITED,
    busy,
    draining,
    idle,
    plan,
    removed,
    reporting,
    told,
)
from tests.unit.core.making import NOW, a_heard, a_pod, a_room, a_workload

SPEC = "{}"
TWO_AN_HOUR = FailurePolicy("delete", max_failures=2, window_seconds=3600)
HANGS = a_heard(health=Health.FAILED)
ENDED = {"phase": Phase.FAILED, "running": False, "ended": "Error (exit code 1)"}


def failed(
    number: int, first: int = 0, ended: str = "Error (exit code 139)"
) -> list[tuple[LivePod, Judged]]:
    rooms = [a_pod(first + n, phase=Phase.FAILED, ended=ended) for n in range(number)]
    return [(pod, judge(pod, a_workload())) for pod in rooms]


def ordinals(pods: tuple[LivePod, ...]) -> list[int]:
    return [pod.ordinal for pod in pods]


def test_without_a_limit_every_failed_room_is_replaced() -> None:
    found = failing.decide(failed(5), (), FailurePolicy(), SPEC, NOW)
    assert ordinals(found.act) == [0, 1, 2, 3, 4]
    assert found.log is None, "nothing is counted where nothing limits it"


def test_n_failures_are_replaced_and_the_next_one_stays() -> None:
    found = failing.decide(failed(3), (), TWO_AN_HOUR, SPEC, NOW)
    assert (ordinals(found.act), ordinals(found.stuck)) == ([0, 1], [2])
    assert found.log is not None
    assert len(found.log) == 2
    assert found.again_in_seconds == 3600


def test_a_failure_is_counted_once_however_often_it_is_seen() -> None:
    first = failing.decide(failed(2), (), TWO_AN_HOUR, SPEC, NOW)
    assert first.log is not None
    again = failing.decide(failed(2), first.log, TWO_AN_HOUR, SPEC, NOW + 5)
    assert ordinals(again.act) == [0, 1]
    assert again.log is None


def test_several_at_once_do_not_jump_over_the_limit() -> None:
    found = failing.decide(failed(40), (), TWO_AN_HOUR, SPEC, NOW)
    assert len(found.stuck) == 38


def test_a_limit_of_none_replaces_no_failure_and_waits_for_no_window() -> None:
    """The cluster's own failures are nobody's, and are replaced as ever."""
    none_at_all = FailurePolicy("delete", max_failures=0, window_seconds=3600)
    there = [*failed(2), *failed(1, 2, "Evicted")]
    found = failing.decide(there, (), none_at_all, SPEC, NOW)
    assert (ordinals(found.act), ordinals(found.stuck)) == ([2], [0, 1])
    assert (found.log, found.again_in_seconds) == (None, None)
    later = failing.decide(there, (), none_at_all, SPEC, NOW + 3601)
    assert later == found, "only a commit ends it"


def test_the_window_passes_by_itself() -> None:
    first = failing.decide(failed(3), (), TWO_AN_HOUR, SPEC, NOW)
    later = failing.decide(failed(1, 2), first.log or (), TWO_AN_HOUR, SPEC, NOW + 3601)
    assert ordinals(later.act) == [2]


def test_a_commit_that_changes_the_spec_begins_anew() -> None:
    first = failing.decide(failed(3), (), TWO_AN_HOUR, SPEC, NOW)
    repaired = failing.decide(failed(1, 2), first.log or (), TWO_AN_HOUR, '{"image":2}', NOW + 5)
    assert ordinals(repaired.act) == [2]


def test_a_count_that_a_policy_commits_mends_no_room() -> None:
    def scaled(replicas: int) -> str:
        return json.dumps({"spec": {"replicas": replicas, "autoscaling": {"max": 9}}})

    first = failing.decide(failed(3), (), TWO_AN_HOUR, scaled(3), NOW)
    committed = failing.decide(failed(1, 2), first.log or (), TWO_AN_HOUR, scaled(8), NOW + 5)
    assert ordinals(committed.stuck) == [2]


@pytest.mark.parametrize(
    "ended",
    [
        "Evicted",
        "NodePorts",
        "OutOfgpu",
        "DeletionByPodGC",
        "ContainerStatusUnknown (exit code 137)",
    ],
)
def test_what_the_cluster_did_is_nobodys_failure(ended: str) -> None:
    found = failing.decide(failed(5, ended=ended), (), TWO_AN_HOUR, SPEC, NOW)
    assert ordinals(found.act) == [0, 1, 2, 3, 4]
    assert found.log is None


def test_a_clock_that_was_set_back_frees_nothing_early() -> None:
    ahead = (Failure(NOW + 500, "x", "44136fa355b3"), Failure(NOW + 500, "y", "44136fa355b3"))
    found = failing.decide(failed(1), ahead, TWO_AN_HOUR, SPEC, NOW)
    assert ordinals(found.stuck) == [0]


@pytest.mark.parametrize(
    ("more", "false_start"),
    [
        pytest.param({}, True, id="at once"),
        pytest.param({"brief": False}, False, id="with its match"),
        pytest.param({"runs": (1,)}, False, id="a later run of it alone was brief"),
        pytest.param({"leaving": Why.SCALE_IN}, False, id="as it was told to"),
        pytest.param({"leaving": Why.FAILED, "mark": Mark.DRAINING}, True, id="behind the fence"),
        pytest.param({"mark": Mark.BUSY}, False, id="somebody played there"),
        pytest.param({"phase": Phase.FAILED}, False, id="a failure, which is counted as that"),
        pytest.param({"phase": Phase.RUNNING}, True, id="beside a container that runs on"),
    ],
)
def test_a_room_that_ends_well_as_soon_as_it_began(more: Json, false_start: bool) -> None:
    pod = a_pod(0, **{"phase": Phase.SUCCEEDED, "ended": "Completed", "brief": True, **more})
    judged = judge(pod, a_workload())
    assert failing.is_false_start(pod, judged, None) is false_start
    assert failing.is_false_start(pod, judged, a_heard()) is false_start
    assert not failing.is_false_start(pod, judged, a_heard(said=Said.OCCUPIED))
    if false_start:
        found = failing.decide([(pod, judged)], (), TWO_AN_HOUR, SPEC, NOW)
        assert (found.act, found.log) == ((pod,), None), "no limit counts it"


@pytest.mark.parametrize(
    ("more", "said", "alone"),
    [
        pytest.param({}, Said.TERMINATED, True, id="its first word"),
        pytest.param({}, Said.READY, False, id="another word"),
        pytest.param({}, None, False, id="not a word"),
        pytest.param({"mark": Mark.IDLE}, Said.TERMINATED, False, id="it had begun"),
        pytest.param({"leaving": Why.REQUEST}, Said.TERMINATED, False, id="as it was told to"),
        pytest.param({"leaving": Why.FAILED}, Said.TERMINATED, True, id="nobody heard it before"),
    ],
)
def test_a_room_that_says_at_once_that_it_is_over(
    more: Json, said: Said | None, alone: bool
) -> None:
    heard = None if said is None else a_heard(said=said, begun=False)
    assert failing.tells_its_end_alone(a_pod(0, **{"mark": Mark.NONE, **more}), heard) is alone


READY, OCCUPIED, OVER = (
    Report(True, said) for said in (Said.READY, Said.OCCUPIED, Said.TERMINATED)
)
CREATING = Report(True, health=Health.CREATING)


@pytest.mark.parametrize(
    ("reports", "mark"),
    [
        pytest.param([OVER], Mark.NONE, id="its first word"),
        pytest.param([OVER, OVER], Mark.NONE, id="and its second"),
        pytest.param([CREATING, OVER], Mark.NONE, id="it was being created"),
        pytest.param([READY, OCCUPIED, OVER], Mark.IDLE, id="somebody played there"),
        pytest.param([OCCUPIED, OVER, OVER], Mark.IDLE, id="from its first word on"),
        pytest.param([READY, OVER], Mark.IDLE, id="it had begun"),
        pytest.param([READY, CREATING, OVER], Mark.NONE, id="it is being created again"),
    ],
)
@pytest.mark.parametrize("silent", [False, True])
def test_who_began_is_no_false_start_though_the_cluster_took_no_mark(
    reports: list[Report], mark: Mark, silent: bool
) -> None:
    line = line_of(WorkloadKey("Scheduler", "arena", "arena"), a_pod(0), NOW)
    if silent:
        line.fall_silent(NOW)
    heard: Heard | None = line.heard
    for report in reports:
        heard = hearing.lay(heard, report, 1, NOW)
    pod = a_pod(0, mark=Mark.NONE)
    assert flips.wished(pod, heard, 0.0).mark is mark
    began = READY in reports or OCCUPIED in reports
    assert failing.tells_its_end_alone(pod, heard) is not began


def test_a_new_process_takes_what_is_kept_of_a_first_word_for_no_begin() -> None:
    over, pod = hearing.lay(None, OVER, 1, NOW), a_pod(0, mark=Mark.NONE)
    again = kept_reports.heard_of(kept_reports.kept_of(over), NOW)
    assert again is not None
    assert flips.wished(pod, again, 0.0).mark is Mark.NONE
    assert failing.tells_its_end_alone(pod, again)


def test_a_failed_room_is_kept_outside_the_count() -> None:
    workload = reporting(replicas=2, failure=FailurePolicy("remove"))
    failed = idle(0)
    made = plan(workload, {failed: a_heard(health=Health.FAILED), idle(1): EMPTY})
    assert told(made) == [(0, "keep", Why.FAILED)]
    kept = idle(0, mark=Mark.FAILED, leaving=Why.FAILED)
    after = plan(workload, {kept: a_heard(health=Health.FAILED), idle(1): EMPTY})
    assert not after.removals
    assert after.creates is not None
    assert after.counts.kept == 1


def test_a_room_that_says_creating_again_for_too_long_goes_behind_the_fence() -> None:
    """Its game may have loaded a map for players who are on their way by an older list."""
    workload = reporting(replicas=1, failure=FailurePolicy("delete"))
    anew = Heard(at=NOW - 301, periodic=False, health=Health.CREATING)
    room = idle(0)
    assert told(plan(workload, {room: replace(anew, at=NOW - 299)})) == []
    made = plan(workload, {room: anew})
    assert told(made) == [(0, "drain", Why.FAILED)]
    assert removed(made) == []
    leaving = draining(0, Why.FAILED)
    came = replace(anew, at=NOW - 1, players=2)
    assert removed(plan(workload, {leaving: came})) == []
    assert removed(plan(workload, {draining(0, Why.FAILED, ago=1.0): anew})) == []
    assert removed(plan(workload, {leaving: anew})) == [(0, Cause.HEALING)]


@pytest.mark.parametrize(
    ("replicas", "kept", "limit", "keeps"),
    [
        pytest.param(5, 0, None, 3, id="three at most"),
        pytest.param(5, 2, None, 1, id="three with those of before"),
        pytest.param(5, 9, None, 0, id="none beside more than that"),
        pytest.param(60, 0, None, 4, id="a tenth of many"),
        pytest.param(5, 9, 100, 4, id="as many as the user lets fail"),
    ],
)
def test_so_many_failed_rooms_are_kept(
    replicas: int, kept: int, limit: int | None, keeps: int
) -> None:
    workload = reporting(replicas=replicas, failure=FailurePolicy("remove", limit))
    failed = a_heard(health=Health.FAILED)
    there: dict[LivePod, Heard | None] = {idle(n): failed for n in range(4)}
    there |= dict.fromkeys((idle(100 + n) for n in range(replicas * 3)), EMPTY)
    there |= dict.fromkeys((idle(900 + n, mark=Mark.FAILED) for n in range(kept)), failed)
    made = plan(workload, there)
    verbs = [mark.verb for mark in made.marks if mark.leaving is Why.FAILED]
    assert verbs == ["keep"] * keeps + ["drain"] * (4 - keeps), "the others are deleted"


@pytest.mark.parametrize("why", [Why.SCALE_IN, Why.ROLLOUT, Why.REQUEST, Why.LEFT_GIT])
@pytest.mark.parametrize(
    "end",
    [
        pytest.param(EXITED | {"waiting": "CrashLoopBackOff"}, id="to be restarted"),
        pytest.param(
            EXITED | {"phase": Phase.FAILED, "ended": "Error (exit code 1)"}, id="for good"
        ),
    ],
)
@pytest.mark.parametrize("action", ["delete", "remove"])
def test_a_game_that_exits_when_it_is_told_to_leave_has_not_failed(
    why: Why, end: dict[str, Any], action: Literal["delete", "remove"]
) -> None:
    workload = reporting(replicas=1, failure=FailurePolicy(action, max_failures=1))
    there = {draining(n, why, ago=1.0, **end): a_heard() for n in range(4)} | {idle(9): EMPTY}
    made = plan(workload, there)
    assert [removal.cause for removal in made.removals] == [CAUSES[why]] * 4
    assert not any(removal.blames_revision for removal in made.removals)
    assert (made.marks, made.failures, made.holds) == ((), None, ())


def test_a_game_that_emptied_and_exits_before_its_mark_says_so_has_not_failed() -> None:
    workload = reporting(replicas=0, failure=FailurePolicy("remove"))
    told_to = {"leaving": Why.SCALE_IN, "waiting": "CrashLoopBackOff", **EXITED}
    made = plan(workload, {busy(0, **told_to): a_heard()})
    assert removed(made) == [(0, Cause.SCALE_IN)]


@pytest.mark.parametrize("said", [BUSY, None], ids=["it says so", "it was last recorded busy"])
def test_a_room_that_crashes_in_a_match_has_failed_though_it_was_to_leave(
    said: Heard | None,
) -> None:
    workload = reporting(replicas=0, failure=FailurePolicy("remove"))
    told_to = {"leaving": Why.SCALE_IN, "waiting": "CrashLoopBackOff", **EXITED}
    assert told(plan(workload, {busy(0, **told_to): said})) == [(0, "keep", Why.FAILED)]


def test_a_failed_room_goes_through_the_fence_while_its_container_runs() -> None:
    workload = reporting(replicas=1)
    failed = a_heard(health=Health.FAILED)
    made = plan(workload, {idle(0): failed})
    assert told(made) == [(0, "drain", Why.FAILED)]
    assert removed(plan(workload, {draining(0, Why.FAILED): failed})) == [(0, Cause.HEALING)]


def test_players_in_a_failed_room_come_first() -> None:
    failed = replace(BUSY, health=Health.FAILED)
    assert plan(reporting(replicas=1), {busy(0): failed}).idle


def test_beyond_the_limit_of_failures_rooms_stay_and_people_are_called() -> None:
    workload = reporting(replicas=3, failure=FailurePolicy("delete", max_failures=1))
    over = {idle(n, phase=Phase.FAILED, running=False): None for n in range(2)}
    made = plan(workload, {**over, idle(2): EMPTY})
    assert removed(made) == [(0, Cause.HEALING)]
    assert made.failures is not None
    assert [item.uid for item in made.failures] == ["uid-0"]
    assert HoldKind.NEEDS_INTERVENTION in {hold.kind for hold in made.holds}
    assert made.creates is not None
    assert len(made.creates.seats) == 1, "the place of the one that stays is not filled"


@pytest.mark.parametrize(("limit", "by_itself"), [(1, True), (0, False)])
def test_people_are_told_what_ends_it(limit: int, by_itself: bool) -> None:
    workload = reporting(replicas=3, failure=FailurePolicy("delete", max_failures=limit))
    over = {idle(n, phase=Phase.FAILED, running=False): None for n in range(2)}
    made = plan(workload, {**over, idle(2): EMPTY})
    (told,) = (hold.reason for hold in made.holds if hold.kind is HoldKind.NEEDS_INTERVENTION)
    assert ("until the window has passed" in told) == by_itself
    assert "a commit changes the spec" in told
    # One that its node or an eviction ended is replaced as ever.
    assert ("none that fails by its own fault is replaced" in told) != by_itself
    assert made.wake_in_seconds == (3600.0 if by_itself else None)


@pytest.mark.parametrize("limit", [None, 5, 1], ids=["no limit", "below it", "beyond it"])
@pytest.mark.parametrize("why", [Why.SCALE_IN, Why.ROLLOUT, Why.REQUEST, Why.LEFT_GIT])
@pytest.mark.parametrize("action", ["delete", "remove"])
def test_a_room_that_hangs_goes_as_it_was_told_to_and_no_limit_counts_it(
    limit: int | None, why: Why, action: Literal["delete", "remove"]
) -> None:
    workload = reporting(replicas=3, failure=FailurePolicy(action, max_failures=limit))
    counted = (Failure(NOW - 9, "x", mark_of(workload.spec_json)),)
    record = StateRecord(failures=() if limit is None else counted)
    hangs = {draining(3, why): a_heard(silent=True)}
    made = plan(workload, {idle(n): EMPTY for n in range(3)} | hangs, record=record)
    assert removed(made) == [(3, CAUSES[why])]
    assert not any(removal.blames_revision for removal in made.removals)
    assert (made.marks, made.failures, made.holds) == ((), None, ()), "no other goes in its place"


def test_so_many_that_hang_on_their_way_out_go_though_nothing_else_may() -> None:
    workload = reporting(replicas=3, failure=FailurePolicy("delete", max_failures=1))
    record = StateRecord(failures=(Failure(NOW - 9, "x", mark_of(workload.spec_json)),))
    hang = {draining(n): a_heard(silent=True) for n in range(3, 7)}
    made = plan(workload, {idle(n): EMPTY for n in range(3)} | hang, record=record)
    assert [hold.kind for hold in made.holds] == [HoldKind.FAILING]
    assert removed(made) == [(n, Cause.SCALE_IN) for n in range(3, 7)], "or it would never end"
    blind = plan(workload, {idle(n): EMPTY for n in range(3)} | hang, record=record, complete=False)
    assert not blind.removals


def test_a_deadline_ends_nobody_who_hangs_while_nothing_else_may() -> None:
    limit = Departure(drain_deadline_seconds=600)
    workload = reporting(replicas=3, departure=limit)
    overdue = {"leaving": Why.ROLLOUT, "seen": Seen(left=NOW - 601, starting=NOW - 1000)}
    hang = {a_room(n, **overdue): HANGS for n in range(3, 7)}
    made = plan(workload, {idle(n): EMPTY for n in range(3)} | hang)
    assert [hold.kind for hold in made.holds] == [HoldKind.FAILING]
    assert removed(made) == [], "it may just have said that somebody plays there"
    assert told(made) == [(n, "drain", Why.ROLLOUT) for n in range(3, 7)]
    made = plan(workload, {idle(n): EMPTY for n in range(3)} | dict([hang.popitem()]))
    assert (removed(made), made.holds) == ([(6, Cause.DEADLINE)], ())


def test_who_has_ended_takes_the_place_of_one_that_runs_while_nothing_else_may() -> None:
    there = {idle(0): HANGS, idle(1): HANGS, idle(2, **ENDED): None, idle(3): EMPTY}
    made = plan(reporting(replicas=3), there)
    assert [hold.kind for hold in made.holds] == [HoldKind.FAILING]
    assert (removed(made), told(made)) == ([(2, Cause.HEALING)], []), "one stands for one"
    two = plan(reporting(replicas=3), there | {idle(4): EMPTY})
    assert (removed(two), told(two)) == ([(2, Cause.HEALING)], [(0, "drain", Why.FAILED)])


def test_who_is_on_its_way_goes_on_while_so_few_may() -> None:
    goes_on = draining(1, Why.FAILED)
    there = {idle(0): HANGS, goes_on: HANGS, idle(2): HANGS, idle(3): EMPTY}
    made = plan(reporting(replicas=3), there)
    assert [hold.kind for hold in made.holds] == [HoldKind.FAILING]
    assert (removed(made), told(made)) == ([(1, Cause.HEALING)], []), "it is no other each time"


def test_a_room_that_does_not_end_is_told_of_and_replaced() -> None:
    late = idle(0, terminating=True, seen=Seen(ending=NOW - 121))
    made = plan(reporting(replicas=1), {late: None})
    assert [hold.kind for hold in made.holds] == [HoldKind.STUCK]
    assert made.creates is not None
    soon = idle(0, terminating=True, seen=Seen(ending=NOW - 21))
    calm = plan(reporting(replicas=1), {soon: None, idle(1): EMPTY})
    assert (calm.holds, calm.wake_in_seconds) == ((), 99.0)
    quick = reporting(replicas=1, timeouts=Timeouts(terminate_seconds=20))
    assert [hold.kind for hold in plan(quick, {soon: None}).holds] == [HoldKind.STUCK]


def test_a_busy_room_that_the_user_gives_up_for_its_silence_goes_through_the_fence() -> None:
    workload = reporting(replicas=1, timeouts=Timeouts(silent_busy_seconds=600))
    silent = replace(BUSY, silent=True, at=NOW - 599)
    waiting = plan(workload, {busy(0): silent})
    assert (waiting.idle, waiting.wake_in_seconds) == (True, 1.0), "no event says that it is due"
    silent = replace(silent, at=NOW - 601)
    assert told(plan(workload, {busy(0): silent})) == [(0, "drain", Why.FAILED)]
    assert removed(plan(workload, {draining(0, Why.FAILED): silent})) == [(0, Cause.HEALING)]
    speaks = replace(silent, silent=False)
    assert not plan(workload, {draining(0, Why.FAILED): speaks}).removals, "players are there"
