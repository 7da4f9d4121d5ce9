"""The plan of one workload: everything one tick would do to it, and why.

Level-triggered: the plan depends on what is wanted and what is there, never on what happened.
Stages are in order and each is empty when there is nothing to do; an empty plan is the end that
every start must reach.
"""

from collections.abc import Iterable
from dataclasses import replace

from reconciler.core import backoff, host_ports, objects, ordinals, rollout, rooms, victims
from reconciler.kube.schemas import Schemas
from reconciler.model.changes import Cause
from reconciler.model.holds import Hold, HoldKind
from reconciler.model.live import LivePod
from reconciler.model.plans import (
    CreateRooms,
    DeleteRoom,
    Desired,
    PatchRoom,
    Plan,
    RoomSeat,
    Situation,
)
from reconciler.model.records import Ordinals
from reconciler.model.specs import Workload

FAILING_PERCENT = 30
FAILING_ROOMS = 3
"""So many rooms ended at once (and at least so many) freeze every voluntary removal."""

ENDED = rooms.RoomState.ENDED
GONE = (rooms.RoomState.TERMINATING, ENDED)
BLIND_LOOK_SECONDS = 2.0
UNREAD_LOOK_SECONDS = 2.0


def plan(situation: Situation, schemas: Schemas, now: float) -> Plan:
    """Return what to do for one workload now. `now` is Unix seconds."""
    if situation.desired is None:
        return _plan_removal(situation)
    desired = situation.desired
    sorted_rooms = rooms.sort_rooms(situation.live.pods, desired.workload.revision)
    counts = rooms.count(sorted_rooms, desired.workload.replicas)
    holds = (*situation.holds, *objects.foreign(situation))
    if desired.workload.suspend or any(hold.kind is HoldKind.FOREIGN for hold in holds):
        inventory = situation.record.inventory
        return Plan(situation.key, counts, inventory, holds=holds, made_for=desired.wish)
    live = {item.ref: item for item in situation.live.objects}
    proposed, confirmed = objects.to_apply(desired.objects, live, situation.confirmed, schemas)
    base = Plan(
        situation.key,
        counts,
        inventory=objects.inventory_of(situation),
        objects=proposed,
        holds=holds,
        confirmed=confirmed,
        made_for=desired.wish,
    )
    return _with_rooms(base, situation, desired, sorted_rooms, now)


def _with_rooms(
    base: Plan, situation: Situation, desired: Desired, there: rooms.Sorted, now: float
) -> Plan:
    if not situation.rooms_complete:
        # Rooms that are not seen are not missing: making them would make them twice.
        return _unread(base, situation, "no room is made, nothing is removed")
    if not situation.complete:
        base = _unread(base, situation, "nothing goes but rooms that ended or cannot be placed")
    workload = desired.workload
    unready = (*there.new_unready, *there.old_unready)
    moved = host_ports.to_move(unready, situation.in_use, workload.port_range, now)
    there = rooms.without(there, moved)
    frozen = _frozen(situation, there)
    may_remove = situation.complete and not frozen
    step = rollout.next_step(there, workload.replicas, workload.rollout, may_remove=may_remove)
    healing = [
        *(_heal(pod, f"{pod.name} ended ({pod.phase})") for pod in there.ended),
        *(_heal(pod, f"{pod.name} waits for a host port that others hold") for pod in moved),
    ]
    delay_seconds = _delay(situation, now) if step.create else 0.0
    creates, strike = _creates(situation, desired, 0 if delay_seconds else step.create, now)
    return replace(
        base,
        creates=creates,
        strike=strike,
        removals=(*healing, *_voluntary(there, step, workload.revision)),
        patches=_patches(there, desired),
        holds=(*base.holds, *frozen, *_crowded(situation, workload, unready)),
        wake_in_seconds=delay_seconds or base.wake_in_seconds or _next_look(there),
    )


def _crowded(
    situation: Situation, workload: Workload, unready: Iterable[LivePod]
) -> tuple[Hold, ...]:
    """Say why rooms wait for ports that nobody can give them: it stops nothing."""
    if not any("free ports" in pod.unschedulable for pod in unready):
        return ()
    # One that terminates keeps its ports until it is gone.
    pods = (pod for pod in situation.live.pods if rooms.state_of(pod) is not ENDED)
    reason = host_ports.crowding(workload, pods, situation.in_use, situation.nodes)
    if not reason:
        return ()
    return (Hold(HoldKind.CROWDED_PORTS, situation.key, reason),)


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
    ports = len(host_ports.container_ports(workload.template)) if workload.port_range else 0
    chosen = (
        host_ports.choose(ports, number, workload.port_range, situation.in_use)
        if workload.port_range
        else [()] * number
    )
    seats = tuple(RoomSeat(n, numbers) for n, numbers in zip(taken, chosen, strict=True))
    alive = len([pod for pod in situation.live.pods if rooms.state_of(pod) not in GONE])
    reason = f"{workload.replicas} wanted by {workload.replicas_source}, {alive} there"
    return CreateRooms(seats, raised, reason), None


def _voluntary(there: rooms.Sorted, step: rollout.Step, revision: str) -> tuple[DeleteRoom, ...]:
    everyone = [*there.new_ready, *there.new_unready, *there.old_ready, *there.old_unready]
    old = [
        *victims.choose(there.old_unready, everyone, step.remove_old_unready),
        *victims.choose(there.old_ready, everyone, step.remove_old_ready),
    ]
    excess = victims.choose([*there.new_unready, *there.new_ready], everyone, step.remove_excess)
    return (
        *(
            DeleteRoom(pod, Cause.ROLLOUT, f"{pod.name} is of {pod.revision}, {revision} is wanted")
            for pod in old
        ),
        *(
            DeleteRoom(pod, Cause.SCALE_IN, f"{pod.name} is above the wanted count")
            for pod in excess
        ),
    )


def _patches(there: rooms.Sorted, desired: Desired) -> tuple[PatchRoom, ...]:
    """Return the rooms whose labels or annotations of ours somebody changed.

    Nothing else of a room is ever compared; an old revision's rooms go anyway.
    """
    return tuple(
        PatchRoom(pod, desired.marks, f"labels or annotations of ours were changed on {pod.name}")
        for pod in (*there.new_ready, *there.new_unready)
        if pod.stamps != desired.stamps
    )


def _heal(pod: LivePod, reason: str) -> DeleteRoom:
    return DeleteRoom(pod, Cause.HEALING, reason)


def _frozen(situation: Situation, there: rooms.Sorted) -> tuple[Hold, ...]:
    ended = len(there.ended)
    total = there.alive + ended
    if ended < FAILING_ROOMS or ended * 100 < FAILING_PERCENT * total:
        return ()
    # No counts in it: it stands in a condition, which is written whenever it changes.
    reason = f"{FAILING_PERCENT} % of the rooms or more ended at once: removals wait"
    return (Hold(HoldKind.FAILING, situation.key, reason),)


def _unread(base: Plan, situation: Situation, consequence: str) -> Plan:
    reason = f"the cluster was not read completely: {consequence}"
    hold = Hold(HoldKind.INCOMPLETE_READ, situation.key, reason)
    # No event says that everything is followed again.
    return replace(base, holds=(*base.holds, hold), wake_in_seconds=UNREAD_LOOK_SECONDS)


def _next_look(there: rooms.Sorted) -> float | None:
    """Pending rooms may need another host port; no event says that the time is up."""
    return (
        host_ports.REPLAN_AFTER_SECONDS
        if any(
            "free ports" in pod.unschedulable for pod in (*there.new_unready, *there.old_unready)
        )
        else None
    )


def _stranger(situation: Situation, names: list[str]) -> Hold:
    shown = ", ".join(sorted(names)[:3])
    reason = (
        f"{shown} carry our labels and are no rooms that we made: the namespace waits until "
        "somebody deletes them"
    )
    return Hold(HoldKind.FOREIGN, situation.key, reason)


def _plan_removal(situation: Situation) -> Plan:
    """Plan the end of a workload: rooms, then objects, then the namespace, then the records."""
    there = rooms.sort_rooms(situation.live.pods, "")
    counts = rooms.count(there, 0)
    base = Plan(situation.key, counts, situation.record.inventory, holds=situation.holds)
    if not situation.deleting:
        return base
    if not situation.complete:
        return _unread(base, situation, "nothing is removed")
    reason = f"{situation.key} left Git"
    going = tuple(
        DeleteRoom(pod, Cause.LEFT_GIT, reason)
        for pod in situation.live.pods
        if not pod.terminating and pod.ordinal >= 0
    )
    strangers = [pod.name for pod in situation.live.pods if pod.ordinal < 0]
    if strangers:
        base = replace(base, holds=(*base.holds, _stranger(situation, strangers)))
    if going or situation.live.pods:
        return replace(base, removals=going)
    prunes = objects.to_prune(situation)
    left = [item for item in objects.applied(situation) if item.terminating]
    return replace(base, prunes=prunes, forget=not prunes and not left)
