"""What was judged is rendered and becomes what is wanted: the snapshot that every lane reads."""

import asyncio
from dataclasses import replace

from reconciler.core import desired, intake
from reconciler.loop.head_lane import HeadLane
from reconciler.model.intents import Dropped
from reconciler.model.plans import Desired
from reconciler.model.readings import Rendered
from reconciler.model.refs import WorkloadKey
from reconciler.model.specs import Workload
from reconciler.model.wanted import Wanted

STRETCH = 20
"""So many workloads are parsed in one stretch of the event loop (a few milliseconds)."""


async def publish(
    lane: HeadLane,
    result: intake.Intake,
    head: tuple[str, str],
    dropped: tuple[Dropped, ...] = (),
) -> Wanted:
    """Render what is in effect and hand it to the lane; `head` is what was judged.

    Raises the errors of the compiler.
    """
    rendered = await _unchanged(lane, result)
    others = [one for key, one in result.effective.items() if key not in rendered]
    rendered |= await lane.compiler.render(others, lane.home.instance)
    effective = {}
    for number, (key, workload) in enumerate(result.effective.items()):
        if number % STRETCH == 0:
            await asyncio.sleep(0)
        effective[key] = _desired(lane, workload, rendered[key])
    lane.rendered = rendered
    approved = result.repository.approved
    wanted = lane.home.wanted = Wanted(
        head[0],
        effective,
        result.deleting,
        result.holds,
        approved,
        result.newborn,
        dropped,
        head[1],
    )
    return wanted


async def _unchanged(lane: HeadLane, result: intake.Intake) -> dict[WorkloadKey, Rendered]:
    """Return the manifests of whom nothing changed: the templates are the process's own."""
    known, found = lane.home.wanted.effective, {}
    for number, (key, workload) in enumerate(result.effective.items()):
        if number % STRETCH == 0:
            await asyncio.sleep(0)
        if key in known and key in lane.rendered and _is_same(known[key].workload, workload):
            found[key] = lane.rendered[key]
    return found


def _desired(lane: HeadLane, workload: Workload, rendered: Rendered) -> Desired:
    """Return what is wanted of one workload; the same value where nothing of it changed."""
    known = lane.home.wanted.effective.get(workload.key)
    if known is not None and lane.rendered.get(workload.key) is rendered:
        before = known.workload
        if _is_same(before, workload):
            return known
        if (before.spec_json, before.replicas) == (workload.spec_json, workload.replicas):
            return replace(known, workload=workload)
    return desired.build(workload, rendered, lane.home.kinds)


def _is_same(before: Workload, now: Workload) -> bool:
    """Whether nothing of a workload changed; of what no commit touched it is the very same."""
    return before is now or before == now
