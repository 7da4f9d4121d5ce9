"""POST rooms under names that never come back (DESIGN §2 rule 5)."""

import asyncio

from reconciler.core.stamp import room_name, stamp_room
from reconciler.loop.lane import Lane
from reconciler.loop.steps import Steps
from reconciler.model import labels
from reconciler.model.errors import AlreadyExists, PortError
from reconciler.model.holds import HoldKind
from reconciler.model.plans import Plan, RoomSeat
from reconciler.model.records import Ordinals
from reconciler.model.refs import Json, ObjectRef


async def make_rooms(lane: Lane, plan: Plan, steps: Steps) -> None:
    """Raise the ordinal record, POST the batch, strike off the names that are done.

    Raises Conflict when another writer raised the record first: nothing was POSTed then.
    """
    if plan.creates is None:
        if plan.strike is not None:
            await lane.store.save_ordinals(plan.key, plan.strike)
        return
    await lane.store.save_ordinals(plan.key, plan.creates.ordinals)
    seats = plan.creates.seats
    done = await asyncio.gather(*(_make(lane, plan, seat, steps) for seat in seats))
    left = frozenset(seat.ordinal for seat, settled in zip(seats, done, strict=True) if not settled)
    await lane.store.save_ordinals(plan.key, Ordinals(plan.creates.ordinals.next, left))


async def _make(lane: Lane, plan: Plan, seat: RoomSeat, steps: Steps) -> bool:
    """POST one room; whether its name is settled, be it as ours or as somebody else's."""
    desired = lane.wanted.effective.get(plan.key)
    if desired is None or plan.creates is None:
        return True  # not wanted any more since it was planned: the name is spent
    workload = desired.workload
    name = room_name(workload.key.name, seat.ordinal)
    ref = ObjectRef("v1", "Pod", workload.key.namespace, name)
    try:
        made = await lane.cluster.create(stamp_room(desired.room, workload, seat))
    except AlreadyExists:
        return await _look(lane, plan, ref, steps)
    except PortError as error:
        steps.failed("create", f"room {name}", error, plan.creates.reason)
        return False
    lane.view.expect_created(made)
    steps.did("create", f"room {name}", plan.creates.reason)
    return True


async def _look(lane: Lane, plan: Plan, ref: ObjectRef, steps: Steps) -> bool:
    """Decide about a name that is taken: our own room from before a crash, or a stranger."""
    try:
        there = await lane.cluster.get(ref)
    except PortError as error:
        steps.failed("read", str(ref), error)
        return False
    if there is not None and not _is_our_room(there, lane.instance, plan.key.name):
        reason = f"{ref} exists and is no room of ours: the name is skipped"
        steps.held(HoldKind.FOREIGN, reason)
    elif there is not None:
        lane.view.expect_created(there)
    return True


def _is_our_room(pod: Json, instance: str, workload: str) -> bool:
    marks = pod["metadata"].get("labels") or {}
    return (marks.get(labels.INSTANCE), marks.get(labels.WORKLOAD)) == (instance, workload)
