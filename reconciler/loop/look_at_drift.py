"""Ask the API server whether what seems to be changed by others is, where that is only told."""

from reconciler.loop.apply_objects import look
from reconciler.loop.lane import Lane
from reconciler.loop.steps import Steps
from reconciler.model.errors import Denied, Misconfigured, PortError
from reconciler.model.plans import Plan


async def look_at_drift(lane: Lane, plan: Plan, steps: Steps) -> None:
    """Remember which suspects of a plan do differ. None of them keeps rooms from anything.

    A dry run that is refused for good says that the object is not what Git says, either.
    """
    for item in plan.suspects:
        try:
            fields = (await look(lane, plan.key, item)).fields
        except (Denied, Misconfigured):
            fields = None
        except PortError as error:
            steps.failed("look at", str(item.ref), error, item.reason)
            continue
        if fields != ():
            lane.found.note_drift(plan.key, (item.digest, item.live_version))
