"""What is refused is asked for ever more seldom, and at once where another answer may come."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.core import refusals
from reconciler.core.backoff import LONGEST_DELAY_SECONDS
from reconciler.core.plan import plan
from reconciler.kube.schemas import Schemas
from reconciler.model.holds import Hold, HoldKind
from reconciler.model.live import LiveObject, LiveWorkload
from reconciler.model.plans import Situation
from reconciler.model.records import Owned, StateRecord
from reconciler.model.refs import Json, ObjectRef
from reconciler.model.refusals import ROOMS, Cause, Refusals
from reconciler.model.specs import Workload
from tests.unit.core.making import (
    NEW,
    NOW,
    OLD,
    a_situation,
    a_workload,
    live_objects,
    pods,
    wanted,
)

SCHEMAS = Schemas({})
QUOTA = ObjectRef("v1", "ResourceQuota", "arena", "few")
ARENA = a_workload(replicas=3)
BUDGET = next(item for item in live_objects(ARENA) if item.ref.kind == "PodDisruptionBudget")


@pytest.mark.parametrize(
    ("count", "wait_seconds"),
    [
        pytest.param(1, 0.5, id="the cluster counts a quota"),
        pytest.param(2, 1.0, id="then twice as long"),
        pytest.param(11, 300.0, id="no longer than five minutes"),
        pytest.param(10**9, 300.0, id="however often it refused"),
    ],
)
def test_what_is_refused_is_asked_for_ever_more_seldom(count: int, wait_seconds: float) -> None:
    assert refusals.delay_seconds(Refusals("a", count, NOW, "no"), "a", NOW) == wait_seconds


@pytest.mark.parametrize(
    ("count", "wait_seconds"),
    [
        pytest.param(1, 0.0, id="once is no more than bad luck"),
        pytest.param(2, 0.5, id="twice is a cluster that fails"),
        pytest.param(3, 1.0, id="then twice as long"),
        pytest.param(10**9, 25.0, id="soon used again, however long it failed"),
    ],
)
def test_what_a_cluster_fails_at_is_asked_for_ever_more_seldom(
    count: int, wait_seconds: float
) -> None:
    known = Refusals("a", count, NOW, "failed", 4, cause=Cause.FAILURE)
    assert refusals.delay_seconds(known, "a", NOW, 4) == wait_seconds
    assert refusals.delay_seconds(known, "a", NOW, 3) == wait_seconds, "no place was left"
    assert refusals.delay_seconds(known, "a", NOW - 30, 4) == 0, "a clock was set back"


def test_a_room_that_went_since_may_have_left_its_place() -> None:
    known = Refusals("a", 9, NOW, "no", 4)
    assert [refusals.delay_seconds(known, "a", NOW, rooms) for rooms in (3, 4, 5)] == [0, 128, 128]
    assert refusals.delay_seconds(known, "b", NOW, 4) == 0, "something else is asked for"
    assert refusals.delay_seconds(None, "a", NOW, 4) == 0


@given(st.integers(1, 50), st.floats(-1e6, 1e6))
def test_no_clock_has_anything_wait_longer_than_the_longest(count: int, later: float) -> None:
    delay = refusals.delay_seconds(Refusals("a", count, NOW, "no"), "a", NOW + later)
    assert 0 <= delay <= LONGEST_DELAY_SECONDS


@pytest.mark.parametrize(
    ("before", "count"),
    [
        pytest.param(None, 1, id="the first one"),
        pytest.param(Refusals(NEW, 3, NOW - 5, "no", 4), 4, id="one more"),
        pytest.param(Refusals(OLD, 3, NOW - 5, "no", 4), 1, id="of something else"),
        pytest.param(Refusals(NEW, 3, NOW - 601, "no", 4), 1, id="one of long ago"),
        pytest.param(
            Refusals(NEW, 40, NOW - 5, "failed", 4, cause=Cause.FAILURE),
            5,
            id="a verdict after a long outage: it may pass soon",
        ),
    ],
)
def test_refusals_add_up(before: Refusals | None, count: int) -> None:
    refusal = Refusals(NEW, 1, NOW, "full", 3)
    assert refusals.after(before, refusal) == replace(refusal, count=count)


def quota(pods: int, uid: str = "q") -> LiveObject:
    body: Json = {"metadata": {"name": "few"}, "spec": {"hard": {"pods": pods}}}
    return LiveObject(QUOTA, uid, f"{pods}", "main", "arena", body)


def without(situation: Situation, kind: str) -> LiveWorkload:
    objects = tuple(item for item in situation.live.objects if item.ref.kind != kind)
    return replace(situation.live, objects=objects)


def labelled(situation: Situation, **labels: str) -> LiveWorkload:
    (space,) = (item for item in situation.live.objects if item.ref.kind == "Namespace")
    metadata = {**space.body["metadata"], "labels": labels}
    there = replace(space, body={**space.body, "metadata": metadata})
    rest = without(situation, "Namespace")
    return replace(rest, objects=(*rest.objects, there))


def short(workload: Workload = ARENA) -> Situation:
    situation = a_situation(workload, pods(2))
    live = replace(situation.live, objects=(*situation.live.objects, quota(2)))
    return replace(situation, live=live)


def told_off(workload: Workload = ARENA) -> Situation:
    """A workload of which a third room was refused many times."""
    there = short(workload)
    asked = refusals.asked_of_rooms(wanted(workload), there.live)
    return replace(there, refused={ROOMS: Refusals(asked, 12, NOW - 1, "create room: full", 2)})


def test_rooms_wait_for_their_turn() -> None:
    made = plan(told_off(), SCHEMAS, NOW)
    assert (made.creates, made.wake_in_seconds) == (None, 299.0)


@pytest.mark.parametrize(
    "there",
    [
        pytest.param(
            replace(
                told_off(), live=replace(told_off().live, objects=(*live_objects(ARENA), quota(8)))
            ),
            id="its quota is raised",
        ),
        pytest.param(
            replace(told_off(), live=without(told_off(), "ResourceQuota")), id="it is gone"
        ),
        pytest.param(
            replace(told_off(), live=labelled(told_off(), enforce="privileged")),
            id="the namespace has other labels",
        ),
        pytest.param(
            replace(told_off(), desired=wanted(a_workload(replicas=4))),
            id="somebody wants more of them",
        ),
        pytest.param(
            replace(told_off(), desired=wanted(a_workload(replicas=3, revision=OLD))),
            id="it is another revision",
        ),
    ],
)
def test_rooms_are_asked_for_at_once_where_another_answer_may_come(there: Situation) -> None:
    assert plan(there, SCHEMAS, NOW).creates is not None


def test_what_others_write_beside_is_no_other_answer() -> None:
    there = told_off()
    noted = tuple(replace(item, resource_version="99") for item in there.live.objects)
    again = replace(there, live=replace(there.live, objects=noted))
    assert plan(again, SCHEMAS, NOW).creates is None


def test_two_waits_are_judged_apart_where_a_clock_was_set_back() -> None:
    """One that lies days ahead is of that clock, and takes nothing from the one that is true."""
    there = replace(told_off(), create_not_before=NOW + 86_400)
    assert plan(there, SCHEMAS, NOW).wake_in_seconds == 299.0
    ahead = replace(there.refused[ROOMS], last_at=NOW + 86_400)
    there = replace(there, refused={ROOMS: ahead}, create_not_before=NOW + 20)
    assert plan(there, SCHEMAS, NOW).wake_in_seconds == 20.0


def refused_object(ref: ObjectRef, there: Situation) -> Situation:
    assert there.desired is not None
    asked = refusals.asked_of_object(there.desired, there.live, ref)
    return replace(there, refused={str(ref): Refusals(asked, 12, NOW - 1, f"apply {ref}: no")})


def test_a_missing_object_that_waits_lets_nothing_follow_and_records_nothing_unseen() -> None:
    account = next(item.ref for item in live_objects(ARENA) if item.ref.kind == "ServiceAccount")
    there = a_situation(ARENA, pods(2))
    there = refused_object(account, replace(there, live=without(there, "ServiceAccount")))
    made = plan(there, SCHEMAS, NOW)
    assert [item.ref for item in made.waiting] == [account]
    assert (made.idle, made.done, made.wake_in_seconds) == (True, False, 299.0)
    assert made.inventory == ()
    known = (Owned(account, made=True),)
    there = replace(there, record=StateRecord(inventory=known))
    assert plan(there, SCHEMAS, NOW).inventory == known
    later = plan(there, SCHEMAS, NOW + 299)
    assert [item.ref for item in later.objects] == [account]
    assert later.creates is not None


def test_a_change_that_waits_keeps_no_room_from_anything() -> None:
    there = a_situation(ARENA, pods(2))
    changed = tuple(
        replace(item, body={**item.body, "metadata": {**item.body["metadata"], "labels": {}}})
        if item.ref.kind == "ServiceAccount"
        else item
        for item in there.live.objects
    )
    there = replace(there, live=replace(there.live, objects=changed))
    account = next(item.ref for item in there.live.objects if item.ref.kind == "ServiceAccount")
    made = plan(refused_object(account, there), SCHEMAS, NOW)
    assert [item.ref for item in made.waiting] == [account]
    assert made.creates is not None
    assert not made.objects


def test_an_object_in_place_of_the_one_that_refused_is_asked_for_at_once() -> None:
    ref, desired = BUDGET.ref, wanted(ARENA)
    before = refusals.asked_of_object(desired, LiveWorkload((), (BUDGET,)), ref)
    anew = replace(BUDGET, uid="another")
    assert refusals.asked_of_object(desired, LiveWorkload((), (anew,)), ref) != before
    noted = replace(BUDGET, resource_version="2")
    assert refusals.asked_of_object(desired, LiveWorkload((), (noted,)), ref) == before


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param(
            {"holds": (Hold(HoldKind.SUSPENDED, ARENA.key, "for a while"),)}, id="suspended"
        ),
        pytest.param({"holds": (Hold(HoldKind.FOREIGN, ARENA.key, "not ours"),)}, id="held"),
        pytest.param({"counts": plan(a_situation(ARENA, pods(3)), SCHEMAS, NOW).counts}, id="full"),
    ],
)
def test_a_refusal_of_before_is_not_told(changes: dict[str, Any]) -> None:
    there = told_off()
    made = plan(there, SCHEMAS, NOW)
    assert refusals.told(made, there.refused) == "create room: full"
    assert refusals.told(replace(made, **changes), there.refused) == ""
