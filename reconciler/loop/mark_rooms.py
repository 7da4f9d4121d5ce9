"""Write on rooms: their coarse state, by compare-and-swap, and labels of ours that were changed."""

import asyncio

from reconciler.core import room_patch
from reconciler.core.reporting import covers_heard
from reconciler.loop.lane import Lane
from reconciler.loop.steps import Steps
from reconciler.model.errors import Conflict, PortError
from reconciler.model.plans import MarkRoom, PatchRoom, Plan
from reconciler.model.refs import ObjectRef


async def mark_rooms(lane: Lane, plan: Plan, steps: Steps, now: float) -> list[MarkRoom]:
    """Write the states of a plan, and return those that were written.

    A room that is another one by now is left for the next tick.
    """
    done = await asyncio.gather(*(_mark(lane, plan, mark, steps, now) for mark in plan.marks))
    return [mark for mark, written in zip(plan.marks, done, strict=True) if written]


async def relabel_rooms(lane: Lane, plan: Plan, steps: Steps) -> None:
    """Set our labels again; a room that changed since is left for the next tick."""
    await asyncio.gather(*(_relabel(lane, patch, steps) for patch in plan.patches))


async def _mark(lane: Lane, plan: Plan, mark: MarkRoom, steps: Steps, now: float) -> bool:
    pod = mark.pod
    ref = ObjectRef("v1", "Pod", pod.namespace, pod.name)
    patch = room_patch.operations(
        pod, mark.mark, mark.leaving, now, mark.guard, mark.address, mark.retold
    )
    patch += room_patch.record(pod, covers_heard(pod, mark.mark))
    what = f"room {pod.name}"
    try:
        async with lane.slots:
            lane.check_stands(plan)
            steps.sends()
            try:
                answer = await lane.cluster.json_patch(ref, patch)
            except Conflict:
                # It became busy, or was allocated, or leaves already: that is what a test is for.
                steps.did("left", what, f"{pod.name} is not {pod.mark or 'as it was'} any more")
                return False
    except PortError as error:
        steps.failed(mark.verb, what, error, mark.reason)
        return False
    if answer is not None:
        lane.view.take_in(answer)
    steps.did(mark.verb, what, mark.reason)
    return True


async def _relabel(lane: Lane, patch: PatchRoom, steps: Steps) -> None:
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
