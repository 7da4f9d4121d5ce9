"""Plans for rooms that report: who drains, who is told, who stays, and who is deleted."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import pytest

from reconciler.core import plan as planning
from reconciler.core import room_patch
from reconciler.core.departures import CAUSES
from reconciler.core.failing import mark_of
from reconciler.core.rollout import bounds
from reconciler.kube.schemas import Schemas
from reconciler.model.changes import Cause
from reconciler.model.holds import HoldKind
from reconciler.model.live import LiveObject, LivePod, LiveWorkload, Phase, Seen
from reconciler.model.plans import Plan, Situation
from reconciler.model.records import Failure, StateRecord
from reconciler.model.refs import WorkloadKey
from reconciler.model.rooms import Ears, Health, Heard, Mark, Said, Why
from reconciler.model.shares import Share
from reconciler.model.specs import (
    Departure,
    Disruption,
    FailurePolicy,
    Rollout,
    Timeouts,
    Workload,
)
from tests.unit.core.making import NOW, REPORTS, a_heard, a_room, a_situation, a_workload

SCHEMAS = Schemas({})
BUSY = a_heard(said=Said.OCCUPIED, matches=1)
EMPTY = a_heard(confirmed_at=NOW - 5)
LET_GO, KEEP = ("true", "false"), ("false", "true")


def reporting(**changes: Any) -> Workload:
    plain = {
        "reports": "required",
        "revision": REPORTS,
        "rollout": Rollout(Share(1), Share(0)),
        "disruption": Disruption("occupied"),
    }
    return a_workload(**{**plain, **changes})


def idle(n: int, **changes: Any) -> LivePod:
    return a_room(n, **{"mark": Mark.IDLE, "guard": LET_GO, **changes})


def busy(n: int, **changes: Any) -> LivePod:
    return a_room(n, **{"mark": Mark.BUSY, "guard": KEEP, **changes})


def draining(n: int, why: Why = Why.SCALE_IN, ago: float = 10.0, **changes: Any) -> LivePod:
    seen = Seen(draining=NOW - ago, left=NOW - ago)
    return idle(n, mark=Mark.DRAINING, leaving=why, seen=seen, **changes)


def plan(workload: Workload | None, there: Mapping[LivePod, Heard | None], **changes: Any) -> Plan:
    heard = {pod.uid: what for pod, what in there.items() if what is not None}
    ears = Ears(heard, since=NOW - 1000)
    situation = a_situation(workload, list(there), **{"ears": ears, **changes})
    return planning.plan(situation, SCHEMAS, NOW)


def told(made: Plan) -> list[tuple[int, str, Why]]:
    return [(item.pod.ordinal, item.verb, item.leaving) for item in made.marks]


def removed(made: Plan) -> list[tuple[int, Cause]]:
    return [(item.pod.ordinal, item.cause) for item in made.removals]


def test_a_scale_in_drains_who_is_empty_and_waits_for_who_plays() -> None:
    there = {idle(0): EMPTY, busy(1): BUSY, busy(2): BUSY}
    made = plan(reporting(replicas=1), there)
    assert told(made) == [(0, "drain", Why.SCALE_IN)]
    assert not made.removals


def test_a_scale_in_of_rooms_that_all_play_waits() -> None:
    assert plan(reporting(replicas=1), {busy(0): BUSY, busy(1): BUSY}).idle


def test_a_room_that_is_not_heard_is_nobodys_victim() -> None:
    made = plan(reporting(replicas=0), {idle(0): None, busy(1): None, a_room(2): None})
    assert told(made) == [(2, "tell", Why.SCALE_IN)], "who never was stays too, and knows of it"
    assert not made.removals


def test_a_drained_room_goes_when_it_said_that_it_is_empty() -> None:
    workload = reporting(replicas=0)
    assert removed(plan(workload, {draining(0): EMPTY})) == [(0, Cause.SCALE_IN)]
    assert plan(workload, {draining(0): a_heard()}).idle, "no report since it was marked"
    early = plan(workload, {draining(0, ago=2.0): EMPTY})
    assert (early.idle, early.wake_in_seconds) == (True, 3.0)


def test_players_who_came_on_stale_information_keep_their_room() -> None:
    made = plan(reporting(replicas=0), {draining(0): BUSY})
    assert not made.removals
    assert made.counts.busy == 1


def test_a_count_that_rises_again_takes_back_who_was_to_leave() -> None:
    there = {draining(0): EMPTY, draining(1): EMPTY, idle(2): EMPTY}
    made = plan(reporting(replicas=2), there)
    assert told(made) == [(0, "undrain", Why.STAYS)]
    assert (made.marks[0].mark, made.marks[0].guard) == (Mark.IDLE, LET_GO)
    assert removed(made) == [(1, Cause.SCALE_IN)]
    assert made.creates is None, "nobody is made while one that leaves may stay"


def test_a_room_that_was_drained_in_its_start_starts_on_when_it_is_wanted_again() -> None:
    made = plan(reporting(replicas=1), {draining(0, ready=False): None})
    assert told(made) == [(0, "undrain", Why.STAYS)]
    assert made.marks[0].mark is Mark.NONE, "it was never ready, so it is not idle"


def test_a_room_that_somebody_asked_to_leave_is_replaced_at_once_and_not_taken_back() -> None:
    there = {draining(0, Why.REQUEST, ago=1.0): EMPTY, idle(1): EMPTY}
    made = plan(reporting(replicas=2), there)
    assert not made.marks
    assert made.creates is not None
    assert len(made.creates.seats) == 1


def test_a_busy_room_that_was_asked_to_leave_stays_and_is_drained_when_empty() -> None:
    workload = reporting(replicas=1)
    asked = busy(0, leaving=Why.REQUEST, seen=Seen(left=NOW - 5))
    assert not plan(workload, {asked: BUSY, idle(1): EMPTY}).marks
    empty = idle(0, leaving=Why.REQUEST, seen=Seen(left=NOW - 5))
    made = plan(workload, {empty: EMPTY, idle(1): EMPTY})
    assert told(made) == [(0, "drain", Why.REQUEST)]


def test_a_roll_out_replaces_who_is_empty_and_waits_for_who_plays() -> None:
    there = {idle(0, revision="1-oldr"): EMPTY, busy(1, revision="1-oldr"): BUSY, idle(2): EMPTY}
    made = plan(reporting(replicas=2), there)
    assert told(made) == [(0, "drain", Why.ROLLOUT)]
    alone = plan(reporting(replicas=1), {busy(1, revision="1-oldr"): BUSY, idle(2): EMPTY})
    assert alone.idle


def test_a_new_room_that_was_never_heard_lets_no_old_one_go() -> None:
    there = {idle(0, revision="1-oldr"): EMPTY, a_room(1): None}
    assert plan(reporting(replicas=1), there).idle


@pytest.mark.parametrize("replicas", [1, 2, 3, 4, 8, 30])
@pytest.mark.parametrize("rollout", [Rollout(), Rollout(Share(1), Share(0))])
def test_a_bad_image_that_is_never_heard_does_not_stop_the_next_commit(
    replicas: int, rollout: Rollout
) -> None:
    workload = reporting(replicas=replicas, rollout=rollout)
    surge, missing = bounds(rollout, replicas)
    good = [idle(n, revision="1-oldr") for n in range(replicas - missing)]
    bad = [a_room(100 + n, revision="1-badr") for n in range(surge + missing)]
    heard = dict.fromkeys(good, EMPTY)
    made = plan(workload, {**heard, **dict.fromkeys(bad)})
    assert [item for item in told(made) if item[0] >= 100] == [
        (pod.ordinal, "tell", Why.ROLLOUT) for pod in bad
    ]
    assert not made.removals, "it may be full"
    leaves = [replace(pod, leaving=Why.ROLLOUT, seen=Seen(left=NOW)) for pod in bad]
    after = plan(workload, {**heard, **dict.fromkeys(leaves)})
    assert after.creates is not None
    assert not after.removals


def test_a_scale_in_leaves_those_that_are_heard_and_tells_one_that_never_was() -> None:
    there = {idle(0): EMPTY, idle(1): EMPTY, a_room(2): None}
    made = plan(reporting(replicas=2), there)
    assert told(made) == [(2, "tell", Why.SCALE_IN)]
    assert told(plan(reporting(replicas=1), there)) == [
        (1, "drain", Why.SCALE_IN),
        (2, "tell", Why.SCALE_IN),
    ]


def test_a_room_that_was_never_heard_ends_by_the_limits_of_the_user_alone() -> None:
    leaves = {"leaving": Why.ROLLOUT, "revision": "1-badr"}
    pod = a_room(0, **leaves, seen=Seen(left=NOW - 601, starting=NOW - 1000))
    assert not plan(reporting(replicas=1), {pod: None, idle(1): EMPTY}).removals
    limited = reporting(replicas=1, departure=Departure(drain_deadline_seconds=600))
    made = plan(limited, {pod: None, idle(1): EMPTY})
    assert removed(made) == [(0, Cause.DEADLINE)]
    assert "never heard" in made.removals[0].reason
    given_up = reporting(replicas=1, timeouts=Timeouts(silent_busy_seconds=600))
    waiting = plan(given_up, {a_room(0, seen=Seen(starting=NOW - 899)): None})
    assert (waiting.marks, waiting.wake_in_seconds) == ((), 1.0), "no event says that it is due"
    made = plan(given_up, {a_room(0, seen=Seen(starting=NOW - 901)): None})
    assert told(made) == [(0, "drain", Why.FAILED)]
    marked = a_room(0, mark=Mark.DRAINING, leaving=Why.FAILED, seen=Seen(draining=NOW - 9))
    assert removed(plan(given_up, {marked: None})) == [(0, Cause.HEALING)]


def test_a_spec_that_left_git_tells_rooms_that_were_never_heard() -> None:
    made = leaving_git(reporting(), {a_room(0): None})
    assert told(made) == [(0, "tell", Why.LEFT_GIT)]
    assert not made.removals


def test_servers_that_players_join_are_told_to_leave_the_emptiest_first() -> None:
    fleet = replace(reporting(replicas=1), key=WorkloadKey("Fleet", "arena", "arena"))
    heard = [a_heard(players=n) for n in (7, 2, 9)]
    there = {busy(n): what for n, what in enumerate(heard)}
    made = plan(fleet, there)
    assert told(made) == [(1, "tell", Why.SCALE_IN), (0, "tell", Why.SCALE_IN)]
    assert [item.mark for item in made.marks] == [Mark.BUSY] * 2, "their protection stays"
    assert not plan(reporting(replicas=1), there).marks, "a match ends by itself"


def test_a_deadline_in_git_is_the_only_end_of_a_room_that_plays() -> None:
    workload = reporting(replicas=0, departure=Departure(drain_deadline_seconds=600))
    overdue = busy(0, leaving=Why.SCALE_IN, seen=Seen(left=NOW - 601))
    made = plan(workload, {overdue: BUSY})
    assert removed(made) == [(0, Cause.DEADLINE)]
    assert "drainDeadlineSeconds" in made.removals[0].reason
    fresh = busy(0, leaving=Why.SCALE_IN, seen=Seen(left=NOW - 500))
    assert plan(workload, {fresh: BUSY}).wake_in_seconds == 100
    assert told(plan(workload, {busy(0): BUSY})) == [(0, "tell", Why.SCALE_IN)]


def leaving_git(workload: Workload, there: Mapping[LivePod, Heard | None]) -> Plan:
    ears = Ears({pod.uid: heard for pod, heard in there.items() if heard}, since=NOW - 1000)
    situation: Situation = replace(
        a_situation(None, list(there)), record=StateRecord(deleting=True), ears=ears
    )
    return planning.plan(situation, SCHEMAS, NOW)


def test_a_spec_that_left_git_drains_who_is_empty_and_keeps_who_plays() -> None:
    made = leaving_git(reporting(), {idle(0): EMPTY, busy(1): BUSY, idle(2): None})
    assert told(made) == [(0, "drain", Why.LEFT_GIT), (1, "tell", Why.LEFT_GIT)]
    assert not made.removals
    assert [hold.kind for hold in made.holds] == [HoldKind.OCCUPIED]
    assert not made.forget


def test_a_post_mortem_ends_with_its_workload() -> None:
    over = {"mark": Mark.FAILED, "phase": Phase.FAILED, "running": False}
    made = leaving_git(reporting(), {idle(0, leaving=Why.FAILED, **over): None})
    assert [(item.mark, item.leaving) for item in made.marks] == [(Mark.FAILED, Why.REQUEST)]
    asked = leaving_git(reporting(), {idle(0, leaving=Why.REQUEST, **over): None})
    assert removed(asked) == [(0, Cause.REQUEST)]
    assert not asked.holds


def test_a_spec_that_is_back_keeps_all_it_had() -> None:
    back = busy(1, leaving=Why.LEFT_GIT, seen=Seen(left=NOW - 5))
    made = plan(reporting(replicas=2), {draining(0, Why.LEFT_GIT): EMPTY, back: BUSY})
    assert told(made) == [(0, "undrain", Why.STAYS), (1, "undrain", Why.STAYS)]
    assert not made.removals
    assert made.creates is None


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


EXITED: dict[str, Any] = {"running": False, "ready": False}


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


def test_a_room_that_left_is_not_taken_back_when_the_count_rises_again() -> None:
    gone = draining(0, waiting="CrashLoopBackOff", **EXITED)
    made = plan(reporting(replicas=1), {gone: a_heard()})
    assert removed(made) == [(0, Cause.SCALE_IN)]
    assert not made.marks
    assert made.creates is not None


def test_of_a_spec_that_left_git_who_exits_as_it_was_told_goes() -> None:
    gone = draining(0, Why.LEFT_GIT, ago=1.0, waiting="CrashLoopBackOff", **EXITED)
    assert removed(leaving_git(reporting(), {gone: a_heard()})) == [(0, Cause.LEFT_GIT)]


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


HANGS = a_heard(health=Health.FAILED)
ENDED = {"phase": Phase.FAILED, "running": False, "ended": "Error (exit code 1)"}


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


def test_deafness_replaces_nobody_and_is_told() -> None:
    silent = a_heard(silent=True)
    deaf = Ears({"uid-0": silent}, deaf="so many fell silent at once", since=NOW - 1000)
    situation = a_situation(reporting(replicas=1), [idle(0)], ears=deaf)
    made = planning.plan(situation, SCHEMAS, NOW)
    assert made.idle
    assert [hold.kind for hold in made.holds] == [HoldKind.DEAF]


def test_a_node_that_is_not_heard_keeps_its_rooms_and_is_told_where_it_matters() -> None:
    silent = a_heard(silent=True)
    heard = {f"uid-{n}": silent for n in (0, 1)} | {"uid-2": EMPTY}
    deaf = Ears(heard, since=NOW - 1000, deaf_on={"node-1": "three fell silent", "node-9": "two"})
    pods = [idle(0), idle(1), idle(2, node="node-2")]
    made = planning.plan(a_situation(reporting(replicas=1), pods, ears=deaf), SCHEMAS, NOW)
    assert [(hold.kind, hold.reason) for hold in made.holds] == [
        (HoldKind.DEAF, "three fell silent")
    ]
    assert [item.pod.name for item in made.marks] == ["arena-2"]
    elsewhere = a_situation(reporting(replicas=1), [idle(2, node="node-2")], ears=deaf)
    assert planning.plan(elsewhere, SCHEMAS, NOW).holds == ()


def test_a_room_that_was_stripped_of_all_annotations_leaves_as_one_of_an_old_revision() -> None:
    bare = idle(0, revision="", guard=("", ""), bare=True)
    made = plan(reporting(replicas=1), {bare: EMPTY, idle(1): EMPTY})
    assert told(made) == [(0, "drain", Why.ROLLOUT)]


def test_annotations_of_disruption_follow_the_state() -> None:
    made = plan(reporting(replicas=1), {idle(0, guard=KEEP): EMPTY})
    assert [(item.verb, item.guard) for item in made.marks] == [("mark", LET_GO)]


def test_a_state_label_that_is_none_of_ours_is_busy_and_is_set_right() -> None:
    odd = busy(0, odd_mark="full")
    made = plan(reporting(replicas=0), {odd: None})
    assert not made.removals
    assert [(item.verb, item.mark, item.guard) for item in made.marks] == [
        ("mark", Mark.BUSY, KEEP)
    ]
    operations = room_patch.operations(odd, Mark.BUSY, Why.STAYS, NOW, KEEP)
    path = "/metadata/labels/gamekeeper.dev~1state"
    assert operations[1:] == [
        {"op": "test", "path": path, "value": "full"},
        {"op": "add", "path": path, "value": "busy"},
    ]


def counted(workload: Workload, there: Mapping[LivePod, Heard | None], stays: int) -> Situation:
    """A situation in which the budget of `workload` keeps `stays` rooms."""
    heard = {pod.uid: what for pod, what in there.items() if what is not None}
    situation = a_situation(workload, list(there), ears=Ears(heard, since=NOW - 1000))
    objects = tuple(_with_count(item, stays) for item in situation.live.objects)
    return replace(situation, live=LiveWorkload(tuple(there), objects))


def _with_count(item: LiveObject, stays: int) -> LiveObject:
    if item.ref.kind != "PodDisruptionBudget":
        return item
    return replace(item, body={**item.body, "spec": {**item.body["spec"], "minAvailable": stays}})


def test_a_budget_by_count_follows_who_plays_every_few_seconds() -> None:
    workload = reporting(replicas=4, disruption=Disruption("count", 0.5, 5))
    there = {busy(0): BUSY, busy(1): BUSY, idle(2): EMPTY, idle(3): EMPTY}
    right = counted(workload, there, stays=3)
    assert planning.plan(right, SCHEMAS, NOW).idle, "two play, half as many more stay"
    stale = counted(workload, there, stays=1)
    made = planning.plan(stale, SCHEMAS, NOW)
    assert [item.ref.kind for item in made.objects] == ["PodDisruptionBudget"]
    assert made.objects[0].body["spec"]["minAvailable"] == 3
    soon = planning.plan(replace(stale, budgeted_at=NOW - 1), SCHEMAS, NOW)
    assert (soon.idle, soon.wake_in_seconds) == (True, 4.0)


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


def test_a_room_that_never_was_ready_leaves_by_its_pod_alone() -> None:
    starting = draining(0, ready=False, revision="1-badr")
    made = plan(reporting(replicas=1), {starting: None, idle(1): EMPTY})
    assert removed(made) == [(0, Cause.SCALE_IN)], "nobody waits for a word of it"


def test_a_commit_that_says_that_rooms_report_no_more_lets_matches_end() -> None:
    workload = a_workload(replicas=1, rollout=Rollout(Share(1), Share(0)))
    made = plan(workload, {busy(0): BUSY, a_room(1, revision=workload.revision): None})
    assert not made.removals
    assert not [mark for mark in made.marks if mark.mark is not Mark.BUSY]
    assert made.counts.busy == 1
