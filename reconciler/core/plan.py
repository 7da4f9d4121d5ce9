"""The plan of one workload: everything one tick would do to it, and why.

Level-triggered: the plan depends on what is wanted and what is there, never on what happened.
Stages are in order and each is empty when there is nothing to do; an empty plan is the end that
every start must reach.
"""

from collections.abc import Iterable
from dataclasses import replace

from reconciler.core import (
    backoff,
    departures,
    ending,
    failing,
    host_ports,
    objects,
    ordinals,
    rollout,
    room_holds,
    rooms,
)
from reconciler.core.budget_objects import counts_occupied
from reconciler.core.departures import Departures
from reconciler.core.desired import with_occupied
from reconciler.core.guards import guard_for
from reconciler.kube.schemas import Schemas
from reconciler.model.changes import Cause
from reconciler.model.holds import HoldKind
from reconciler.model.live import LivePod, Phase
from reconciler.model.plans import (
    ApplyObject,
    CreateRooms,
    DeleteRoom,
    Desired,
    MarkRoom,
    PatchRoom,
    Plan,
    RoomSeat,
    Situation,
)
from reconciler.model.records import Ordinals
from reconciler.model.rooms import Mark
from reconciler.model.specs import Workload

ENDED = (Phase.SUCCEEDED, Phase.FAILED)
BLIND_LOOK_SECONDS = 2.0
_BUDGET_COUNT = ".spec.minAvailable"


def plan(situation: Situation, schemas: Schemas, now: float) -> Plan:
    """Return what to do for one workload now. `now` is Unix seconds."""
    if situation.desired is None:
        return ending.plan_removal(situation)
    desired = situation.desired
    there = rooms.sort_rooms(
        situation.live.pods, desired.workload, situation.ears, situation.elapsed
    )
    counts = rooms.count(there, desired.workload.replicas)
    holds = (*situation.holds, *objects.foreign(situation))
    if desired.workload.suspend or any(hold.kind is HoldKind.FOREIGN for hold in holds):
        inventory = situation.record.inventory
        return Plan(situation.key, counts, inventory, holds=holds, made_for=desired.wish)
    live = {item.ref: item for item in situation.live.objects}
    standing = len(there.members) + len(there.leaving)
    budgeted = with_occupied(desired, standing, len(there.busy))
    proposed, confirmed = objects.to_apply(budgeted.objects, live, situation.confirmed, schemas)
    proposed, budget_in_seconds = _paced(proposed, situation, desired.workload)
    base = Plan(
        situation.key,
        counts,
        inventory=objects.inventory_of(situation),
        objects=proposed,
        holds=holds,
        confirmed=confirmed,
        made_for=desired.wish,
        wake_in_seconds=budget_in_seconds,
    )
    return _with_rooms(base, situation, desired, there, now)


def _paced(
    proposed: tuple[ApplyObject, ...], situation: Situation, workload: Workload
) -> tuple[tuple[ApplyObject, ...], float | None]:
    """Leave out a budget whose count was written a moment ago, and say when it is due.

    Each room that turns busy changes it: it follows every `intervalSeconds`, as Maestro's does.
    Where nobody reports it follows the spec alone, at once.
    """
    if not counts_occupied(workload):
        return proposed, None
    counted = [item for item in proposed if item.paths == (_BUDGET_COUNT,)]
    if not counted or situation.budgeted_at is None:
        return proposed, None
    left = situation.budgeted_at + workload.disruption.interval_seconds - situation.elapsed
    if left <= 0:
        return proposed, None
    return tuple(item for item in proposed if item not in counted), left


def _with_rooms(
    base: Plan, situation: Situation, desired: Desired, there: rooms.Sorted, now: float
) -> Plan:
    if not situation.rooms_complete:
        # Rooms that are not seen are not missing: making them would make them twice.
        return room_holds.unread(base, situation, "no room is made, nothing is removed")
    if not situation.complete:
        base = room_holds.unread(
            base, situation, "nothing goes but rooms that ended or cannot be placed"
        )
    workload = desired.workload
    unready = (*there.new_unready, *there.old_unready)
    moved = host_ports.to_move(unready, situation.in_use, workload.port_range, now)
    there = rooms.without(there, moved)
    frozen = room_holds.frozen(situation, there)
    broken = failing.decide(
        ((pod, there.of(pod)) for pod in there.failed),
        situation.record.failures,
        workload.failure,
        workload.spec_json,
        now,
    )
    step = rollout.next_step(
        there,
        workload.replicas,
        workload.rollout,
        may_remove=situation.complete and not frozen,
        failed=len(broken.stuck),
    )
    going = _going(situation, there, broken, step, may_remove=situation.complete and not frozen)
    delay_seconds = _delay(situation, now) if step.create else 0.0
    creates, strike = _creates(situation, desired, 0 if delay_seconds else step.create, now)
    waits = (
        delay_seconds or None,
        base.wake_in_seconds,
        _next_look(there),
        there.again_in_seconds,
        broken.again_in_seconds,
        going.again_in_seconds,
    )
    return replace(
        base,
        creates=creates,
        strike=strike,
        failures=broken.log,
        removals=(*going.removals, *(_moved(pod) for pod in moved)),
        marks=(*going.marks, *_guards(there, going.marks)),
        patches=_patches(there, desired),
        holds=(
            *base.holds,
            *frozen,
            *room_holds.crowded(situation, workload, unready),
            *room_holds.needs_people(situation, broken),
            *room_holds.stuck(situation, there),
            *room_holds.deaf(situation),
        ),
        wake_in_seconds=min((wait for wait in waits if wait is not None), default=None),
    )


def _going(
    situation: Situation,
    there: rooms.Sorted,
    broken: failing.Failing,
    step: rollout.Step,
    may_remove: bool,
) -> Departures:
    """Bring every room that leaves one step further. While nothing may be removed, only those
    whose containers ended go: for them it is over.
    """
    going = Departures(there)
    if not may_remove:
        over = tuple(pod for pod in broken.act if not pod.running)
        broken = replace(broken, act=over)
    departures.of_failed(going, broken)
    staying = departures.taken_back(going, step)
    if may_remove:
        departures.of_step(going, step)
        going.on_their_way(pod for pod in there.leaving if pod.uid not in staying)
    return going


def _moved(pod: LivePod) -> DeleteRoom:
    reason = f"{pod.name} waits for a host port that others hold"
    return DeleteRoom(pod, Cause.HEALING, reason)


def _guards(there: rooms.Sorted, marks: Iterable[MarkRoom]) -> tuple[MarkRoom, ...]:
    """Return the rooms whose disruption annotations do not say what their state asks for."""
    workload = there.workload
    wanted = {mark: guard_for(workload, mark) for mark in Mark}
    marked = {mark.pod.uid for mark in marks}
    return tuple(
        MarkRoom(
            pod,
            pod.mark,
            pod.leaving,
            f"the disruption annotations of {pod.name} are not as its state asks for",
            wanted[pod.mark],
        )
        for pod in (*there.members, *there.leaving)
        if pod.guard != wanted[pod.mark] and pod.uid not in marked
    )


def _delay(situation: Situation, now: float) -> float:
    """Return for how many seconds no room may be made, 0 when it may."""
    known = situation.ordinals
    if known is not None and ordinals.is_blind(known, situation.version, now):
        return BLIND_LOOK_SECONDS
    return backoff.delay_seconds(situation.create_not_before, now)


def _creates(
    situation: Situation, desired: Desired, number: int, now: float
) -> tuple[CreateRooms | None, Ordinals | None]:
    """Return the rooms to create, or else the ordinal record with settled names struck off."""
    workload = desired.workload
    if not number and (situation.ordinals is None or not situation.ordinals.outstanding):
        return None, None
    record = ordinals.first(
        situation.ordinals,
        situation.record.highest,
        situation.live.pods,
        now,
        newborn=situation.newborn,
    )
    settled = ordinals.settled(record, situation.live.pods)
    if not number:
        blind = ordinals.is_blind(record, situation.version, now)
        return None, None if blind else replace(settled, outstanding=frozenset())
    taken, raised = ordinals.take(settled, number)
    chosen = host_ports.choose_for(workload, number, situation.in_use)
    seats = tuple(RoomSeat(n, numbers) for n, numbers in zip(taken, chosen, strict=True))
    pods = situation.live.pods
    alive = sum(not pod.terminating and pod.phase not in ENDED and not pod.leaving for pod in pods)
    reason = f"{workload.replicas} wanted by {workload.replicas_source}, {alive} there"
    return CreateRooms(seats, raised, reason), None


def _patches(there: rooms.Sorted, desired: Desired) -> tuple[PatchRoom, ...]:
    """Return the rooms whose labels of ours somebody changed.

    Nothing else of a room is ever compared; an old revision's rooms go anyway.
    """
    return tuple(
        PatchRoom(pod, desired.marks, f"labels of ours were changed on {pod.name}")
        for pod in (*there.new_ready, *there.new_unready)
        if pod.stamps != desired.stamps
    )


def _next_look(there: rooms.Sorted) -> float | None:
    """Pending rooms may need another host port; no event says that the time is up."""
    return (
        host_ports.REPLAN_AFTER_SECONDS
        if any(
            "free ports" in pod.unschedulable for pod in (*there.new_unready, *there.old_unready)
        )
        else None
    )
