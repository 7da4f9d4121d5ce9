from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.core import plan as planning
from reconciler.core import rollout
from reconciler.kube.schemas import Schemas
from reconciler.model.changes import Cause
from reconciler.model.copies import Copies
from reconciler.model.holds import HoldKind
from reconciler.model.live import LivePod, LiveWorkload, Phase, Seen
from reconciler.model.plan_objects import ApplyObject
from reconciler.model.plans import Counts, Plan, Situation
from reconciler.model.records import Ordinals, Owned, StateRecord
from reconciler.model.rooms import Mark, Why
from reconciler.model.shares import Share
from reconciler.model.specs import Rollout
from tests.unit.core.making import (
    NEW,
    NOW,
    OLD,
    a_pod,
    a_situation,
    a_workload,
    live_objects,
    nodes,
    pods,
    port_range,
    waiting_for_port,
)

NO_SCHEMAS = Schemas({})
SUSPECT = ApplyObject(live_objects(a_workload())[0].ref, {}, "digest", "1", (".a",), "it differs")


def plan(situation: Situation) -> Plan:
    return planning.plan(situation, NO_SCHEMAS, NOW)


def test_a_new_workload_gets_its_objects_in_order_and_its_rooms() -> None:
    workload = a_workload(replicas=3)
    made = plan(a_situation(workload, live=LiveWorkload(), ordinals=None))
    kinds = [item.ref.kind for item in made.objects]
    assert kinds == ["Namespace", "ServiceAccount", "PodDisruptionBudget"]
    assert made.creates is not None
    assert [seat.ordinal for seat in made.creates.seats] == [int(NOW) + n for n in range(3)]
    assert made.creates.ordinals == Ordinals(
        int(NOW) + 3, frozenset(s.ordinal for s in made.creates.seats)
    )
    assert {owned.made for owned in made.inventory} == {True}


def test_what_is_as_wanted_plans_nothing() -> None:
    assert plan(a_situation(a_workload(replicas=3), pods(3))).idle


def test_a_room_deleted_by_hand_returns_under_a_new_name() -> None:
    made = plan(a_situation(a_workload(replicas=3), pods(2)))
    assert made.creates is not None
    assert [seat.ordinal for seat in made.creates.seats] == [100]


@pytest.mark.parametrize(
    ("there", "said"),
    [
        pytest.param(pods(1), "1 there", id="those that stay"),
        pytest.param(
            pods(2, leaving=Why.REQUEST, mark=Mark.BUSY),
            "0 there to stay, 2 to leave",
            id="none but those that leave, with their players",
        ),
        pytest.param(
            [*pods(1), a_pod(1, leaving=Why.SCALE_IN, mark=Mark.BUSY)],
            "1 there to stay, 1 to leave",
            id="both",
        ),
        pytest.param(pods(1, terminating=True), "0 there", id="one that is being deleted"),
    ],
)
def test_why_rooms_are_made_counts_those_that_stay(there: list[LivePod], said: str) -> None:
    made = plan(a_situation(a_workload(replicas=3), there))
    assert made.creates is not None
    assert made.creates.reason.endswith(f", {said}")


def test_names_raised_before_a_crash_are_used_first() -> None:
    ordinals = Ordinals(12, frozenset({10, 11}))
    made = plan(a_situation(a_workload(replicas=3), pods(1, first=11), ordinals=ordinals))
    assert made.creates is not None
    assert [seat.ordinal for seat in made.creates.seats] == [10, 12]


def test_names_that_are_no_longer_wanted_are_struck_off() -> None:
    ordinals = Ordinals(12, frozenset({10, 11}))
    made = plan(a_situation(a_workload(replicas=1), pods(1), ordinals=ordinals))
    assert made.creates is None
    assert made.strike == Ordinals(12)


def test_a_terminating_room_does_not_delay_its_replacement() -> None:
    there = [*pods(2), a_pod(2, terminating=True)]
    made = plan(a_situation(a_workload(replicas=3), there))
    assert made.creates is not None
    assert len(made.creates.seats) == 1


def test_an_ended_room_is_removed_and_replaced() -> None:
    there = [*pods(9), a_pod(9, phase=Phase.FAILED, ready=False)]
    made = plan(a_situation(a_workload(replicas=10), there))
    assert [(item.pod.ordinal, item.cause) for item in made.removals] == [(9, Cause.HEALING)]
    assert made.creates is not None


def test_a_mass_failure_freezes_removals_but_heals() -> None:
    there = [*pods(6, revision=OLD), *pods(4, first=6, phase=Phase.FAILED, ready=False)]
    made = plan(a_situation(a_workload(replicas=2), there))
    assert {item.cause for item in made.removals} == {Cause.HEALING}
    assert [hold.kind for hold in made.holds] == [HoldKind.FAILING]


def test_nothing_is_removed_while_the_cluster_is_not_read_completely() -> None:
    made = plan(a_situation(a_workload(replicas=1), pods(3), complete=False))
    assert not made.removals
    assert [hold.kind for hold in made.holds] == [HoldKind.INCOMPLETE_READ]


def test_rooms_that_ended_go_and_are_replaced_while_only_rooms_are_read_completely() -> None:
    there = [*pods(2), a_pod(2, phase=Phase.FAILED, ready=False)]
    made = plan(a_situation(a_workload(replicas=3), there, complete=False))
    assert [(item.pod.ordinal, item.cause) for item in made.removals] == [(2, Cause.HEALING)]
    assert made.creates is not None
    (hold,) = made.holds
    assert "nothing goes but rooms that ended" in hold.reason


def test_a_scale_in_takes_the_room_on_the_emptiest_node() -> None:
    there = [a_pod(0), a_pod(1), a_pod(2, node="node-2")]
    made = plan(a_situation(a_workload(replicas=2), there))
    assert not made.removals
    assert [(item.pod.ordinal, item.leaving) for item in made.marks] == [(2, Why.SCALE_IN)]
    gone = [*there[:2], drained(there[2], Why.SCALE_IN)]
    after = plan(a_situation(a_workload(replicas=2), gone))
    assert [(item.pod.ordinal, item.cause) for item in after.removals] == [(2, Cause.SCALE_IN)]


def test_a_suspended_workload_is_left_as_it_is() -> None:
    workload = a_workload(replicas=5, suspend=True)
    assert plan(a_situation(workload, [a_pod(0, revision=OLD)], live=LiveWorkload())).idle


def test_a_room_that_waits_for_a_taken_port_is_planned_again() -> None:
    workload = a_workload(replicas=1, port_range=port_range(7000, 7001))
    made = plan(a_situation(workload, [waiting_for_port(0, 7000)], in_use=Counter({7000: 3})))
    assert [item.cause for item in made.removals] == [Cause.HEALING]
    assert made.creates is not None
    allocated = waiting_for_port(0, 7000, mark=Mark.ALLOCATED)
    kept = plan(a_situation(workload, [allocated], in_use=Counter({7000: 3})))
    assert not kept.removals


def test_a_failing_revision_waits_before_it_is_tried_again() -> None:
    made = plan(a_situation(a_workload(replicas=3), pods(2), create_not_before=NOW + 20))
    assert made.creates is None
    assert made.wake_in_seconds == 20


def test_a_workload_that_left_git_loses_rooms_then_objects_then_its_namespace() -> None:
    workload = a_workload()
    inventory = tuple(Owned(item.ref, made=True) for item in live_objects(workload))
    going = replace(
        a_situation(None, pods(2)),
        record=StateRecord(inventory=inventory, deleting=True),
        live=LiveWorkload(tuple(pods(2)), live_objects(workload)),
    )
    told = plan(going)
    assert [(item.mark, item.leaving) for item in told.marks] == [(Mark.DRAINING, Why.LEFT_GIT)] * 2
    assert not told.removals
    drained_rooms = tuple(drained(pod, Why.LEFT_GIT) for pod in pods(2))
    drain = replace(going, live=replace(going.live, pods=drained_rooms))
    assert not plan(drain).removals, "nobody knows its quietSeconds"
    first = plan(replace(drain, elapsed=drain.elapsed + 60.0))
    assert [item.cause for item in first.removals] == [Cause.LEFT_GIT] * 2
    assert not first.prunes
    terminating = tuple(pods(2, terminating=True))
    assert plan(replace(going, live=replace(going.live, pods=terminating))).idle
    second = plan(replace(going, live=replace(going.live, pods=())))
    assert sorted(item.ref.kind for item in second.prunes) == [
        "PodDisruptionBudget",
        "ServiceAccount",
    ]
    left = live_objects(workload, ("Namespace",))
    third = plan(replace(going, live=LiveWorkload((), left)))
    assert [item.ref.kind for item in third.prunes] == ["Namespace"]
    assert not third.forget
    assert plan(replace(going, live=LiveWorkload())).forget


def test_a_namespace_that_we_did_not_make_stays() -> None:
    workload = a_workload()
    inventory = tuple(Owned(item.ref, made=False) for item in live_objects(workload))
    left = live_objects(workload, ("Namespace",))
    record = StateRecord(inventory=inventory, deleting=True)
    made = plan(replace(a_situation(None), record=record, live=LiveWorkload((), left)))
    assert not made.prunes
    assert made.forget


def test_another_instances_object_is_left_alone() -> None:
    workload = a_workload(replicas=3)
    theirs = tuple(replace(item, instance="other") for item in live_objects(workload))
    made = plan(a_situation(workload, live=LiveWorkload((), theirs)))
    assert made.idle
    assert made.holds[0].kind is HoldKind.FOREIGN


def test_what_a_dry_run_found_equal_is_not_proposed_again() -> None:
    workload = a_workload(replicas=0)
    stale = tuple(replace(item, body={"spec": {}}) for item in live_objects(workload))
    situation = a_situation(workload, live=LiveWorkload((), stale))
    proposed = plan(situation).objects
    assert len(proposed) == 3
    confirmed = frozenset((item.digest, item.live_version) for item in proposed)
    assert plan(replace(situation, confirmed=confirmed)).idle


def test_no_room_is_made_twice_because_it_was_not_read() -> None:
    unread = a_situation(a_workload(replicas=3), [], complete=False, rooms_complete=False)
    made = plan(unread)
    assert (made.creates, made.strike) == (None, None)
    assert made.wake_in_seconds


def test_lost_rooms_are_replaced_while_only_other_kinds_are_not_followed() -> None:
    there = [*pods(2), a_pod(2, phase=Phase.FAILED, ready=False)]
    made = plan(a_situation(a_workload(replicas=3), there, complete=False))
    assert made.creates is not None
    assert [item.cause for item in made.removals] == [Cause.HEALING]


def test_rooms_that_no_port_is_left_for_say_so() -> None:
    workload = a_workload(replicas=1, port_range=port_range(7000, 7001))
    there = [waiting_for_port(0, 7000)]
    crowded = a_situation(workload, there, in_use=Counter({7000: 5, 7001: 4}))
    made = plan(crowded)
    assert [hold.kind for hold in made.holds] == [HoldKind.CROWDED_PORTS]
    assert not plan(replace(crowded, nodes=nodes(5))).holds


def test_a_mark_of_ours_that_was_changed_by_hand_is_set_again() -> None:
    situation = a_situation(a_workload(replicas=2), [a_pod(0), a_pod(1, stamps="other")])
    made = plan(situation)
    assert [item.pod.ordinal for item in made.patches] == [1]
    assert not made.idle


def test_frozen_removals_make_no_place_for_new_rooms() -> None:
    ended = pods(4, first=6, phase=Phase.FAILED, ready=False)
    made = plan(a_situation(a_workload(replicas=8), [*pods(6, revision=OLD), *ended]))
    assert made.creates is not None
    # 8 wanted and a surge of 2: with 6 that stay, 4 may come.
    assert len(made.creates.seats) == 4


def test_a_clock_that_was_set_back_does_not_stop_healing() -> None:
    tomorrow = a_situation(a_workload(replicas=3), pods(2), create_not_before=NOW + 86_400)
    assert plan(tomorrow).creates is not None


def test_what_we_did_not_make_is_not_pruned() -> None:
    workload = a_workload()
    there = live_objects(workload)
    inventory = tuple(Owned(item.ref, made=item.ref.kind == "ServiceAccount") for item in there)
    record = StateRecord(inventory=inventory, deleting=True)
    made = plan(replace(a_situation(None), record=record, live=LiveWorkload((), there)))
    assert [item.ref.kind for item in made.prunes] == ["ServiceAccount"]


def test_what_belongs_to_another_instance_is_not_pruned() -> None:
    workload = a_workload()
    theirs = tuple(replace(item, instance="other") for item in live_objects(workload))
    inventory = tuple(Owned(item.ref, made=True) for item in theirs)
    record = StateRecord(inventory=inventory, deleting=True)
    made = plan(replace(a_situation(None), record=record, live=LiveWorkload((), theirs)))
    assert not made.prunes
    assert made.forget


def test_what_people_gave_us_is_taken_over() -> None:
    workload = a_workload(replicas=0)
    mine = live_objects(workload)
    body = {"metadata": {"annotations": {"gamekeeper.dev/adopt": "main"}}}
    theirs = tuple(replace(item, instance="other", body=body) for item in mine)
    made = plan(a_situation(workload, live=LiveWorkload((), theirs)))
    assert not made.holds
    assert len(made.objects) == 3
    assert {owned.made for owned in made.inventory} == {False}


def test_a_storm_of_pending_rooms_moves_to_freer_ports_at_once() -> None:
    there = [waiting_for_port(n, 7000) for n in range(2000)]
    template = {"spec": {"containers": [{"name": "game", "ports": [{"containerPort": 7777}]}]}}
    workload = a_workload(replicas=2000, port_range=port_range(7000, 7999), template=template)
    made = plan(a_situation(workload, there, in_use=Counter({7000: 2000})))
    # Two may stay: with so many gone, 7000 is as free as any other.
    assert len(made.removals) == 1998
    assert made.creates is not None
    chosen = Counter(port for seat in made.creates.seats for port in seat.host_ports)
    assert len(chosen) == 999
    assert 7000 not in chosen
    assert max(chosen.values()) - min(chosen.values()) <= 1


states = st.sampled_from(["new", "starting", "old", "old-starting", "ended", "terminating"])
CHANGES: dict[str, dict[str, Any]] = {
    "new": {},
    "starting": {"phase": Phase.PENDING, "ready": False, "node": ""},
    "old": {"revision": OLD},
    "old-starting": {"revision": OLD, "phase": Phase.PENDING, "ready": False, "node": ""},
    "ended": {"phase": Phase.FAILED, "ready": False},
    "terminating": {"terminating": True},
}
shares = st.builds(Share, st.integers(0, 100), st.booleans())


@pytest.mark.long
@given(st.lists(states, max_size=25), st.integers(0, 15), st.builds(Rollout, shares, shares))
def test_applying_plans_leaves_nothing_to_do(
    found: list[str], replicas: int, policy: Rollout
) -> None:
    there = [a_pod(n, **CHANGES[state]) for n, state in enumerate(found)]
    workload = a_workload(replicas=replicas, rollout=policy)
    surge, unavailable = rollout.bounds(policy, replicas)
    known = Ordinals(100)
    used = {pod.ordinal for pod in there}
    for _ in range(60):
        there = [
            replace(pod, seen=Seen(draining=NOW - 10)) if pod.mark is Mark.DRAINING else pod
            for pod in there
        ]
        made = plan(a_situation(workload, there, ordinals=known))
        if made.idle and all(pod.ready for pod in there if not pod.terminating):
            break
        seats = made.creates.seats if made.creates else ()
        names = {seat.ordinal for seat in seats}
        assert not names & used, "a name came back"
        used |= names
        gone = {item.pod.uid for item in made.removals}
        assert not any(item.pod.terminating for item in made.removals)
        told = {item.pod.uid: item for item in made.marks}
        stay = [
            replace(pod, mark=told[pod.uid].mark, leaving=told[pod.uid].leaving)
            if pod.uid in told
            else pod
            for pod in there
            if pod.uid not in gone and not pod.terminating
        ]
        ready = [pod for pod in there if serves(pod)]
        left = [pod for pod in stay if serves(pod)]
        assert len(left) >= min(len(ready), replicas - unavailable)
        before = len([pod for pod in there if alive(pod) and not pod.terminating])
        after = len([pod for pod in stay if alive(pod)]) + len(seats)
        assert after <= max(before, replicas + surge)
        fresh = [a_pod(n, **CHANGES["starting"]) for n in sorted(names)]
        # Whoever was starting is ready by the next look, and who was told to go is gone.
        started = [
            replace(pod, phase=Phase.RUNNING, ready=True, running=True) if alive(pod) else pod
            for pod in stay
        ]
        there = [*started, *fresh]
        known = made.creates.ordinals if made.creates else made.strike or known
    assert [pod.revision for pod in there if not pod.terminating] == [NEW] * replicas
    assert not known.outstanding


def alive(pod: LivePod) -> bool:
    return pod.phase is not Phase.FAILED


def serves(pod: LivePod) -> bool:
    """Whether players can be sent to a room."""
    return pod.ready and alive(pod) and not pod.terminating and pod.mark is not Mark.DRAINING


def drained(pod: LivePod, why: Why) -> LivePod:
    """A room that was marked draining long enough ago."""
    return replace(pod, mark=Mark.DRAINING, leaving=why, seen=Seen(draining=NOW - 10))


@pytest.mark.parametrize(
    ("changes", "due"),
    [
        pytest.param({}, False, id="nothing"),
        pytest.param({"wake_in_seconds": 3.0}, False, id="nothing yet"),
        pytest.param({"forget": True}, True, id="something to write"),
        pytest.param({"copies": Copies()}, True, id="sources to look at"),
        pytest.param({"suspects": (SUSPECT,)}, True, id="drift to ask about"),
        pytest.param({"applied": ()}, True, id="something to put on record"),
    ],
)
def test_a_plan_is_carried_out_when_it_has(changes: dict[str, Any], due: bool) -> None:
    assert replace(Plan(a_workload().key, Counts()), **changes).due is due
