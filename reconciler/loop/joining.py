"""Making rooms in a namespace whose delete may be under way.

A delete that was sent waits in the server for as long as a webhook takes, and names the version
that the namespace had then. Until it is answered, or cannot come any more, whoever makes rooms
there changes the namespace first: then it fails, and no room ends with it.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager

from reconciler.core.ending import LATE_SECONDS
from reconciler.loop.lane import Lane
from reconciler.loop.steps import Steps
from reconciler.model import labels
from reconciler.model.errors import Denied, PortError
from reconciler.model.plans import Plan
from reconciler.model.refs import Json, ObjectRef, WorkloadKey


@contextmanager
def doomed(lane: Lane, namespace: str) -> Iterator[None]:
    """Know of a delete of a namespace from before it is sent until it can come no more.

    Only what was answered cannot: a refusal may be that of a second try, made where a connection
    was lost.
    """
    lane.doomed_until[namespace] = math.inf
    try:
        yield
    except BaseException:
        # Whoever came meanwhile changed the namespace: once more does no harm.
        lane.doomed_until[namespace] = lane.view.elapsed() + LATE_SECONDS
        raise
    # Whoever came meanwhile may have ended it, and a term that began since waits by itself.
    if lane.doomed_until.get(namespace) == math.inf:
        del lane.doomed_until[namespace]


async def join(lane: Lane, plan: Plan, steps: Steps, now: float) -> bool:
    """Change the namespace where a delete of it may be under way; whether rooms may follow.

    Once is enough, for all who come. Where it may not be changed, no room is made until no delete
    can come any more, unless one stands there: a namespace that is deleted holds none. `now` is
    Unix seconds.
    """
    namespace = ObjectRef("v1", "Namespace", "", plan.key.namespace)
    async with lane.joins.of(namespace.name):
        if lane.doomed_until.get(namespace.name, 0.0) <= lane.view.elapsed():
            return True
        try:
            # The server is asked: a watch may have missed that it is there.
            there = await lane.cluster.get(namespace)
            if there is not None and _may_go(there, lane.instance):
                lane.check_stands(plan)
                marks = {labels.JOINED: f"{plan.key} {now:.3f}"}
                changed = {"annotations": marks, "uid": there["metadata"]["uid"]}
                await lane.cluster.merge_patch(namespace, {"metadata": changed})
        except PortError as error:
            if isinstance(error, Denied) and await _has_room(lane, plan.key):
                return True
            steps.failed("join", str(namespace), error)
            return False
        lane.doomed_until.pop(namespace.name, None)
        return True


async def _has_room(lane: Lane, key: WorkloadKey) -> bool:
    """Whether a room that is shown stands there: a watch may have missed that it is gone."""
    for pod in lane.view.of(key).pods[:1]:
        try:
            there = await lane.cluster.get(ObjectRef("v1", "Pod", pod.namespace, pod.name))
        except PortError:
            return False
        return there is not None and there["metadata"]["uid"] == pod.uid
    return False


def _may_go(there: Json, instance: str) -> bool:
    """Whether a namespace is one that we would delete, and that does not go yet."""
    metadata = there["metadata"]
    is_ours = (metadata.get("labels") or {}).get(labels.INSTANCE) == instance
    return is_ours and "deletionTimestamp" not in metadata
