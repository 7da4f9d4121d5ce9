"""Plans for rooms that report: who drains, who is told, who stays, and who is deleted."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from reconciler.core import plan as planning
from reconciler.core import room_patch
from reconciler.core.rollout import bounds
from reconciler.model.changes import Cause
from reconciler.model.holds import HoldKind
from reconciler.model.live import NEVER_SEEN, LiveObject, LivePod, LiveWorkload, Phase, Seen
from reconciler.model.plans import Plan, Situation
from reconciler.model.records import StateRecord
from reconciler.model.refs import WorkloadKey
from reconciler.model.rooms import Ears, Heard, Mark, Why
from reconciler.model.shares import Share
from reconciler.model.specs import (
    Departure,
    Disruption,
    Rollout,
    Timeouts,
    Workload,
)
from reconciler.service.seen import seen_of
from tests.unit.core.leaving import (
    BUSY,
    EMPTY,
    EXITED,
    KEEP,
    LET_GO,
    SCHEMAS,
    busy,
    draining,
    idle,
    plan,
    removed,
    reporting,
    told,
)
from tests.unit.core.making import NOW, a_heard, a_room, a_situation, a_workload


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


def test_no_deadline_ends_a_room_that_is_idle_by_its_mark_and_not_heard() -> None:
    """Nobody asked that one go which was told to leave for it is cut off (ADR 21)."""
    pod = idle(0, leaving=Why.FAILED, leaving_since=NOW - 900, seen=Seen(left=NOW - 900))
    workload = reporting(replicas=1, departure=Departure(drain_deadline_seconds=600))
    assert not plan(workload, {pod: None, idle(1): EMPTY}).removals


def drained_in_its_start(**changes: Any) -> LivePod:
    """A room that nobody heard: marked 6 s ago while it started, and ready since a second."""
    seen = Seen(starting=NOW - 20, draining=NOW - 6, left=NOW - 6)
    marked = {"mark": Mark.DRAINING, "leaving": Why.SCALE_IN, "leaving_since": NOW - 6}
    guard = ("false", "true")
    return a_room(0, **{**marked, "seen": seen, "guard": guard, **changes})


def test_a_room_that_was_drained_in_its_start_has_its_time_to_speak() -> None:
    """As one without a mark has: from its start on, not from when its leader began to listen."""
    starting = drained_in_its_start(ready=False)
    ready = drained_in_its_start(seen=NEVER_SEEN)
    ready = replace(ready, seen=seen_of(ready, starting, NOW - 1, NOW - 1))
    workload = reporting(replicas=1, timeouts=Timeouts(silent_busy_seconds=600))
    made = plan(workload, {ready: None, idle(1): EMPTY})
    assert [mark.mark for mark in made.marks] == [Mark.NONE]
    assert not made.removals


def test_a_room_that_drains_unheard_is_kept_from_who_empties_nodes() -> None:
    excess = a_room(0, ready=False, seen=Seen(starting=NOW - 20))
    (mark,) = plan(reporting(replicas=1), {excess: None, idle(1): EMPTY}).marks
    assert (mark.mark, mark.guard) == (Mark.DRAINING, ("false", "true"))
    drained = drained_in_its_start(guard=mark.guard)
    suspended = reporting(replicas=1, suspend=True)
    assert not plan(suspended, {drained: None, idle(1): EMPTY}).marks, "whatever holds it there"
    by_hand = replace(drained, leaving=Why.STAYS, leaving_since=0.0)
    assert not plan(suspended, {by_hand: None, idle(1): EMPTY}).marks, "it is as unknown as that"
    invited = replace(drained, ready=False, guard=("true", "false"))
    (mark,) = plan(reporting(replicas=1), {invited: None, idle(1): EMPTY}).marks
    assert (mark.mark, mark.guard) == (Mark.DRAINING, ("false", "true"))


@pytest.mark.parametrize(
    "up", [{"ready": True}, {"ready": False, "lapsed": True}], ids=["ready", "was ready"]
)
def test_a_room_that_was_drained_in_its_start_and_is_up_unheard_is_as_one_that_never_was(
    up: dict[str, bool],
) -> None:
    seen = Seen(draining=NOW - 9_000, left=NOW - 9_000)
    pod = a_room(0, mark=Mark.DRAINING, leaving_since=NOW - 9_000, seen=seen, **up)
    pod = replace(pod, leaving=Why.SCALE_IN, guard=("true", "false"))
    workload = reporting(replicas=1, departure=Departure(drain_deadline_seconds=600))
    made = plan(workload, {pod: None, idle(1): EMPTY})
    (mark,) = made.marks
    assert (mark.mark, mark.leaving, mark.guard) == (Mark.NONE, Why.SCALE_IN, ("false", "true"))
    assert not made.removals
    unmarked = replace(pod, mark=Mark.NONE, guard=("false", "true"))
    assert removed(plan(workload, {unmarked: None, idle(1): EMPTY})) == [(0, Cause.DEADLINE)]
    given_up = replace(workload, timeouts=Timeouts(silent_busy_seconds=600))
    assert removed(plan(given_up, {pod: None, idle(1): EMPTY})) == [(0, Cause.SCALE_IN)]


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


def test_a_room_that_left_is_not_taken_back_when_the_count_rises_again() -> None:
    gone = draining(0, waiting="CrashLoopBackOff", **EXITED)
    made = plan(reporting(replicas=1), {gone: a_heard()})
    assert removed(made) == [(0, Cause.SCALE_IN)]
    assert not made.marks
    assert made.creates is not None


def test_of_a_spec_that_left_git_who_exits_as_it_was_told_goes() -> None:
    gone = draining(0, Why.LEFT_GIT, ago=1.0, waiting="CrashLoopBackOff", **EXITED)
    assert removed(leaving_git(reporting(), {gone: a_heard()})) == [(0, Cause.LEFT_GIT)]


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


def test_a_room_that_never_was_ready_leaves_by_its_pod_alone() -> None:
    starting = draining(0, ready=False, revision="1-badr", was_heard=False)
    made = plan(reporting(replicas=1), {starting: None, idle(1): EMPTY})
    assert removed(made) == [(0, Cause.SCALE_IN)], "nobody waits for a word of it"


def test_a_commit_that_says_that_rooms_report_no_more_lets_matches_end() -> None:
    workload = a_workload(replicas=1, rollout=Rollout(Share(1), Share(0)))
    made = plan(workload, {busy(0): BUSY, a_room(1, revision=workload.revision): None})
    assert not made.removals
    assert not [mark for mark in made.marks if mark.mark is not Mark.BUSY]
    assert made.counts.busy == 1
