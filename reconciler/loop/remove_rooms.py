"""Delete rooms, each exactly as it was seen."""

import asyncio

from reconciler.loop.lane import Lane
from reconciler.loop.steps import Steps
from reconciler.model.errors import PortError
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
            await lane.cluster.delete(ref, pod.uid, pod.resource_version)
    except PortError as error:
        steps.failed("delete", what, error, removal.reason)
        return
    lane.view.expect_deleted(pod.uid)
    steps.did("delete", what, removal.reason)
