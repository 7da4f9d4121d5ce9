"""Delete rooms, each exactly as it was seen."""

import asyncio

from reconciler.core import fence, room_state
from reconciler.core.departing import last_workload
from reconciler.loop.lane import Lane
from reconciler.loop.steps import Steps
from reconciler.model.changes import Cause
from reconciler.model.errors import Conflict, PortError
from reconciler.model.plans import DeleteRoom, Plan
from reconciler.model.refs import ObjectRef
from reconciler.model.specs import Workload


async def remove_rooms(lane: Lane, plan: Plan, steps: Steps) -> list[DeleteRoom]:
    """Delete the rooms of a plan, and return those that were deleted.

    One that changed since, or spoke, is left for the next tick: that is what the fence is for.
    """
    done = await asyncio.gather(*(_remove(lane, plan, each, steps) for each in plan.removals))
    return [removal for removal, gone in zip(plan.removals, done, strict=True) if gone]


async def _remove(lane: Lane, plan: Plan, removal: DeleteRoom, steps: Steps) -> bool:
    pod, what = removal.pod, removal.what
    try:
        async with lane.slots:
            lane.check_stands(plan)
            steps.sends()
            stays = await _delete(lane, plan, removal)
    except PortError as error:
        steps.failed("delete", what, error, removal.reason)
        return False
    if stays:
        steps.did("left", what, stays)
        return False
    lane.view.expect_deleted(pod.uid)
    steps.did("delete", what, removal.reason)
    return True


async def _delete(lane: Lane, plan: Plan, removal: DeleteRoom) -> str:
    """Delete a room as it was seen; return why it stays, "" where it goes."""
    pod = removal.pod
    ref = ObjectRef("v1", "Pod", pod.namespace, pod.name)

    def check() -> None:
        # It may have waited for its turn for seconds: a room speaks meanwhile.
        lane.check_stands(plan)
        stays = _protection(lane, plan, removal)
        if stays:
            raise Conflict(stays)

    try:
        await lane.cluster.delete(ref, pod.uid, pod.resource_version, check)
    except Conflict as error:
        return f"{pod.name} stays: {error}"
    return ""


def _protection(lane: Lane, plan: Plan, removal: DeleteRoom) -> str:
    """Judge a room once more by what was heard since its plan was made; no I/O.

    Returns why it may not go any more, "" where it may. A room that says it is busy, or that a
    match begins, is left alone at once, in memory, though its pod may not say so yet: then the
    version that a delete carries is still the old one.
    """
    pod = removal.pod
    if removal.cause is Cause.DEADLINE:
        return ""  # the one end of a room that plays: the user wrote it in Git
    ears = lane.reports.of_room(plan.key, pod.uid)
    heard = ears.rooms.get(pod.uid)
    workload, now = _workload(lane, plan), lane.view.elapsed()
    judged = room_state.judge(pod, workload, heard, ears, now)
    verdict = fence.verdict(pod, workload, judged, ears, now)
    return "" if verdict.may else f"room {pod.name} may not go any more: {verdict.reason}"


def _workload(lane: Lane, plan: Plan) -> Workload:
    desired, record = lane.desired(plan.key), lane.store.state(plan.key)
    if desired is not None:
        return desired.workload
    # Its rooms tell something only where no spec is on record: there may be thousands.
    pods = lane.view.of(plan.key).pods if record.accepted is None else ()
    return last_workload(plan.key, record, pods)
