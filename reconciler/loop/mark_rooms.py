"""Set our labels and annotations on rooms again, each exactly as it was seen."""

import asyncio

from reconciler.loop.lane import Lane
from reconciler.loop.steps import Steps
from reconciler.model.errors import PortError
from reconciler.model.plans import PatchRoom, Plan
from reconciler.model.refs import ObjectRef


async def mark_rooms(lane: Lane, plan: Plan, steps: Steps) -> None:
    """Patch the rooms of a plan; one that changed since is left for the next tick."""
    await asyncio.gather(*(_mark(lane, patch, steps) for patch in plan.patches))


async def _mark(lane: Lane, patch: PatchRoom, steps: Steps) -> None:
    pod = patch.pod
    ref = ObjectRef("v1", "Pod", pod.namespace, pod.name)
    fence = {"uid": pod.uid, "resourceVersion": pod.resource_version}
    try:
        async with lane.slots:
            await lane.cluster.merge_patch(ref, {"metadata": {**patch.marks, **fence}})
    except PortError as error:
        steps.failed("patch", f"room {pod.name}", error, patch.reason)
        return
    steps.did("patch", f"room {pod.name}", patch.reason)
