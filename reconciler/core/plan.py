"""The plan of one workload: everything one tick would do to it, and why.

Level-triggered: the plan depends on what is wanted and what is there, never on what happened.
Stages are in order and each is empty when there is nothing to do; an empty plan is the end that
every start must reach.
"""

from collections.abc import Mapping
from dataclasses import replace

from reconciler.core import (
    contests,
    creations,
    departures,
    ending,
    failing,
    host_ports,
    namespace_end,
    objects,
    refusals,
    repairs,
    rollout,
    room_holds,
    rooms,
)
from reconciler.core.budget_objects import counts_occupied
from reconciler.core.copying import with_copies
from reconciler.core.desired import with_occupied
from reconciler.core.drift import LOOK_AGAIN_SECONDS, sort_out
from reconciler.core.grounds import ground_of
from reconciler.core.waits import soonest
from reconciler.kube.schemas import Schemas
from reconciler.model.changes import Cause
from reconciler.model.holds import Hold, HoldKind
from reconciler.model.live import LiveObject, LivePod
from reconciler.model.plan_objects import ApplyObject
from reconciler.model.plans import DeleteRoom, Desired, Plan, Situation
from reconciler.model.records import Owned
from reconciler.model.refs import ObjectRef
from reconciler.model.specs import Workload

_BUDGET_COUNT = ".spec.minAvailable"


def plan(
    situation: Situation, schemas: Schemas, now: float, there: rooms.Sorted | None = None
) -> Plan:
    """Return what to do for one workload now. `now` is Unix seconds.

    `there` are its rooms, where they are sorted already.
    """
    desired = situation.desired
    if desired is None:
        made = ending.plan_removal(situation)
    else:
        made = _plan_wanted(situation, desired, schemas, now, there)
    made = namespace_end.with_told(made, situation, now)
    unserved = room_holds.unserved(situation)
    return replace(made, holds=(*made.holds, *unserved)) if unserved else made


def _plan_wanted(
    situation: Situation,
    desired: Desired,
    schemas: Schemas,
    now: float,
    there: rooms.Sorted | None,
) -> Plan:
    there = there or rooms.SortedOnce(situation, desired.workload).rooms()
    counts = rooms.count(there, desired.workload.replicas)
    holds = (*situation.holds, *objects.foreign(situation))
    live = {item.ref: item for item in situation.live.objects}
    if desired.workload.suspend or any(hold.kind is HoldKind.FOREIGN for hold in holds):
        inventory = situation.record.inventory
        base = Plan(situation.key, counts, inventory, holds=holds, made_for=desired.wish)
        if situation.namesake is None:
            return base
        # No event of its own says that a namesake is gone.
        base = replace(base, wake_in_seconds=ending.NEIGHBOUR_LOOK_SECONDS)
        if not situation.namesake.goes:
            return base
        return _with_namespace(base, situation, desired, live, schemas)
    standing = len(there.members) + len(there.leaving)
    budgeted = with_occupied(desired, standing, len(there.busy))
    base = Plan(situation.key, counts, holds=holds, made_for=desired.wish)
    base = _with_objects(base, situation, budgeted, live, schemas, now)
    whole = with_copies(
        _with_rooms(base, situation, desired, there, now), situation, desired.workload
    )
    return refusals.held_up(whole, situation)


def _with_objects(
    base: Plan,
    situation: Situation,
    desired: Desired,
    live: Mapping[ObjectRef, LiveObject],
    schemas: Schemas,
    now: float,
) -> Plan:
    workload = desired.workload
    proposed, confirmed = objects.to_apply(desired.objects, live, situation.confirmed, schemas)
    drift = sort_out(proposed, situation, workload, desired.objects, live)
    calmed = contests.calmed(drift.apply, situation, now)
    asked = refusals.asked_for(calmed.now, situation, now)
    apply, budget_in_seconds = _paced(asked.now, situation, workload)
    look_in_seconds = LOOK_AGAIN_SECONDS if drift.suspects else None
    return replace(
        base,
        inventory=objects.inventory_of(situation),
        objects=apply,
        waiting=(*calmed.waiting, *asked.waiting),
        prunes=objects.to_drop(situation),
        holds=(*base.holds, *drift.holds, *calmed.holds, *asked.holds),
        confirmed=confirmed,
        wake_in_seconds=soonest(
            budget_in_seconds,
            look_in_seconds,
            calmed.again_in_seconds,
            asked.again_in_seconds,
        ),
        suspects=drift.suspects,
        applied=drift.applied,
    )


def _with_namespace(
    base: Plan,
    situation: Situation,
    desired: Desired,
    live: Mapping[ObjectRef, LiveObject],
    schemas: Schemas,
) -> Plan:
    """Take over the namespace of a namesake that goes, and nothing else until it is gone.

    Only its record says that we made it, and that goes with it.
    """
    spaces = [item for item in desired.objects if item.ref.kind == "Namespace"]
    proposed, confirmed = objects.to_apply(spaces, live, situation.confirmed, schemas)
    taken = (Owned(item.ref, made=situation.namespace_made) for item in proposed)
    inventory = base.inventory or tuple(taken)
    return replace(base, objects=proposed, confirmed=confirmed, inventory=inventory)


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
    moved, crowded, port_in_seconds = _without_ports(situation, workload, there, now)
    there = rooms.without(there, moved)
    holds = room_holds.frozen(situation, there)
    may_remove = situation.complete and not holds
    broken = failing.of_rooms(there, situation.record.failures, now)
    step = rollout.next_step(
        there, workload.replicas, workload.rollout, may_remove, failed=len(broken.stuck)
    )
    held = situation.held
    going = departures.next_of_all(there, broken, step, may_remove, situation.complete, held)
    made = creations.of_step(situation, desired, step.create, now)
    holds += crowded + room_holds.needs_people(situation, broken)
    holds += room_holds.stuck(situation, there)
    holds += room_holds.deaf(situation) + room_holds.never_heard(situation, there)
    return replace(
        base,
        creates=made.creates,
        strike=made.strike,
        failures=broken.log,
        removals=(*going.removals, *(_moved(pod) for pod in moved)),
        marks=(*going.marks, *repairs.notes(there, going.marks, situation.addresses, now)),
        patches=repairs.labels(there, desired),
        holds=(*base.holds, *holds),
        wake_in_seconds=soonest(
            made.again_in_seconds,
            base.wake_in_seconds,
            port_in_seconds,
            there.again_in_seconds,
            broken.again_in_seconds,
            going.again_in_seconds,
        ),
    )


def _without_ports(
    situation: Situation, workload: Workload, there: rooms.Sorted, now: float
) -> tuple[list[LivePod], tuple[Hold, ...], float | None]:
    """Return which of the rooms that wait for a host port move, what holds them, when to look."""
    unready = there.free([*there.new_unready, *there.old_unready])
    waiting = [pod for pod in unready if host_ports.waits(pod)]
    if not waiting:
        return [], (), None
    ground = ground_of(situation, workload)
    moved = host_ports.to_move(waiting, workload, ground, now)
    # No event says that time is up.
    return moved, room_holds.crowded(situation, workload, ground), host_ports.REPLAN_AFTER_SECONDS


def _moved(pod: LivePod) -> DeleteRoom:
    reason = f"{pod.name} waits for a host port that others hold"
    return DeleteRoom(pod, Cause.HEALING, reason)
