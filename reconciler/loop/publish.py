"""What was judged is rendered and becomes what is wanted: the snapshot that every lane reads."""

import asyncio
from collections.abc import Mapping, Sequence

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
COMPARED = 200
"""So many are compared with what they were in one."""


async def publish(
    lane: HeadLane,
    result: intake.Intake,
    head: tuple[str, str],
    dropped: tuple[Dropped, ...] = (),
) -> Wanted:
    """Render what is in effect and hand it to the lane; `head` is what was judged.

    Raises the errors of the compiler.
    """
    same = await _unchanged(lane, result)
    others = [one for key, one in result.effective.items() if key not in same]
    rendered = await lane.compiler.render(others, lane.home.instance)
    built = await _built(lane, others, rendered)
    effective = {key: same.get(key) or built[key] for key in result.effective}
    approved = result.repository.approved
    gone = [one for key, one in lane.home.wanted.effective.items() if key not in same]
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
    await _let_go(gone)
    return wanted


async def _unchanged(lane: HeadLane, result: intake.Intake) -> dict[WorkloadKey, Desired]:
    """Return what is wanted of whom nothing changed: the templates are the process's own."""
    known, found = lane.home.wanted.effective, {}
    for number, (key, workload) in enumerate(result.effective.items()):
        if number % COMPARED == 0:
            await asyncio.sleep(0)
        before = known.get(key)
        if before is not None and _is_same(before.workload, workload):
            found[key] = before
    return found


async def _built(
    lane: HeadLane, workloads: Sequence[Workload], rendered: Mapping[WorkloadKey, Rendered]
) -> dict[WorkloadKey, Desired]:
    """Return what is wanted of these workloads, by what was rendered of them."""
    found = {}
    for number, workload in enumerate(workloads):
        if number % STRETCH == 0:
            await asyncio.sleep(0)
        found[workload.key] = desired.build(workload, rendered[workload.key], lane.home.kinds)
    return found


async def _let_go(gone: list[Desired]) -> None:
    """Give back what is wanted no more bit by bit: a thousand at once hold the loop for 20 ms."""
    while gone:
        del gone[-STRETCH:]
        await asyncio.sleep(0)


def _is_same(before: Workload, now: Workload) -> bool:
    """Whether nothing of a workload changed; of what no commit touched it is the very same."""
    return before is now or before == now
