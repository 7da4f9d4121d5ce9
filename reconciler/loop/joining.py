"""Making something in a namespace whose delete may be under way.

A delete that was sent waits in the server for as long as a webhook takes, and names the version
that the namespace had then. Until it is answered, or cannot come any more, whoever makes something
there changes the namespace first: then it fails, and no room ends with it.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager

from reconciler.core.ending import LATE_SECONDS
from reconciler.loop.lane import Lane
from reconciler.loop.steps import Steps
from reconciler.model import labels
from reconciler.model.errors import PortError, Unanswered
from reconciler.model.plans import Plan
from reconciler.model.refs import ObjectRef


@contextmanager
def doomed(lane: Lane, namespace: str) -> Iterator[None]:
    """Know of a delete of a namespace from before it is sent until it can come no more."""
    lane.doomed_until[namespace] = until = math.inf
    try:
        yield
        until = 0.0
    except Unanswered:
        raise
    except PortError:
        until = 0.0
        raise
    finally:
        # Whoever came meanwhile changed the namespace, and knows of none any more.
        lane.doomed_until[namespace] = min(until, lane.view.elapsed() + LATE_SECONDS)


async def join(lane: Lane, plan: Plan, steps: Steps, now: float) -> bool:
    """Change the namespace where a delete of it may be under way; whether anything may follow.

    Once is enough. Where it may not be changed, nothing is made there until no delete can come any
    more. `now` is Unix seconds.
    """
    name = plan.key.namespace
    if lane.doomed_until.get(name, 0.0) <= lane.view.elapsed():
        return True
    namespace = ObjectRef("v1", "Namespace", "", name)
    shown = (item for item in lane.view.of(plan.key).objects if item.ref == namespace)
    ours = any(item.instance == lane.instance and not item.terminating for item in shown)
    if ours:
        marks = {labels.JOINED: f"{plan.key} {now:.3f}"}
        try:
            lane.check_stands(plan)
            await lane.cluster.merge_patch(namespace, {"metadata": {"annotations": marks}})
        except PortError as error:
            steps.failed("join", str(namespace), error)
            return False
    lane.doomed_until.pop(name, None)
    return True
