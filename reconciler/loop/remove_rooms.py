"""Delete rooms, each exactly as it was seen."""

import asyncio

from reconciler.core import room_state
from reconciler.core.departing import last_workload
from reconciler.loop.lane import Lane
from reconciler.loop.steps import Steps
from reconciler.model.changes import Cause
from reconciler.model.errors import Conflict, PortError
from reconciler.model.plans import DeleteRoom, Plan
from reconciler.model.refs import ObjectRef


async def remove_rooms(lane: Lane, plan: Plan, steps: Steps) -> None:
    """Delete the rooms of a plan; one that changed since is left for the next tick."""
    await asyncio.gather(*(_remove(lane, plan, removal, steps) for removal in plan.removals))


async def _remove(lane: Lane, plan: Plan, removal: DeleteRoom, steps: Steps) -> None:
    pod = removal.pod
    ref = ObjectRef("v1", "Pod", pod.namespace, pod.name)
    what = removal.what
    try:
        async with lane.slots:
            lane.check_stands(plan)
            _check_may_go(lane, plan, removal)
            await lane.cluster.delete(ref, pod.uid, pod.resource_version)
    except PortError as error:
        steps.failed("delete", what, error, removal.reason)
        return
    lane.view.expect_deleted(pod.uid)
    steps.did("delete", what, removal.reason)


def _check_may_go(lane: Lane, plan: Plan, removal: DeleteRoom) -> None:
    """Judge a room once more by what was heard since its plan was made; no I/O.

    A room that says it is busy is protected at once, in memory, though its pod may not say so
    yet: then the version that a delete carries is still the old one. Raises Conflict.
    """
    pod = removal.pod
    if removal.cause is Cause.DEADLINE:
        return  # the one end of a room that plays: the user wrote it in Git
    desired = lane.wanted.effective.get(plan.key)
    ears = lane.reports.of(plan.key)
    workload = (
        desired.workload
        if desired is not None
        else last_workload(plan.key, lane.store.state(plan.key), lane.view.of(plan.key).pods)
    )
    heard = ears.rooms.get(pod.uid)
    judged = room_state.judge(pod, workload, heard, ears, lane.view.elapsed())
    if judged.protected:
        raise Conflict(f"room {pod.name} may not go any more: {judged.protected}")
