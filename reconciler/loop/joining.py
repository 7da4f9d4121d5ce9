"""Coming into a namespace that another workload of ours leaves, and may be deleting."""

from reconciler.loop.lane import Lane
from reconciler.loop.steps import Steps
from reconciler.model import labels
from reconciler.model.errors import PortError
from reconciler.model.plans import Plan
from reconciler.model.records import Owned
from reconciler.model.refs import ObjectRef


async def join(lane: Lane, plan: Plan, steps: Steps, now: float) -> bool:
    """Change the namespace where one that goes may be deleting it; whether anything may follow.

    A delete that was sent before this workload came, and waits in the server, names the version
    that the namespace had then: it fails from here on, so no room ends with it. `now` is Unix
    seconds.
    """
    namespace = ObjectRef("v1", "Namespace", "", plan.key.namespace)
    going = (each for each in lane.wanted.neighbours(plan.key) if each in lane.wanted.deleting)
    made = Owned(namespace, made=True)
    if not any(made in lane.store.state(each).inventory for each in going):
        return True
    try:
        if await lane.cluster.get(namespace) is not None:
            lane.check_stands(plan)
            marks = {labels.JOINED: f"{plan.key} {now:.3f}"}
            await lane.cluster.merge_patch(namespace, {"metadata": {"annotations": marks}})
    except PortError as error:
        steps.failed("join", str(namespace), error)
        return False
    return True
