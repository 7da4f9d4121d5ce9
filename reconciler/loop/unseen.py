"""A last look at the server before anything of a workload that left Git goes for good.

Plans are made of what watches tell, and a watch can lose an event until its kind is listed anew
(`service/reflector.py`). Once the budget and the records are gone, nobody knows a room that was
overlooked, and nothing protects it.
"""

from reconciler.core.ending import plan_removal
from reconciler.core.objects import sharing_of
from reconciler.kube.owners import owner_of
from reconciler.loop.lane import Lane
from reconciler.loop.steps import Steps
from reconciler.model import labels
from reconciler.model.errors import Conflict, PortError
from reconciler.model.neighbours import Sharing
from reconciler.model.plans import Plan
from reconciler.model.refs import Json, ObjectRef, WorkloadKey


async def is_left(lane: Lane, plan: Plan, steps: Steps) -> bool:
    """Whether there is, or may be, something of the workload that its plan does not know of.

    Looks for rooms before the first object goes, for all that is ours before the records do. What
    is found, and a look that fails, is told as a step that failed: it is tried again.
    """
    if plan.made_for is not None or not (plan.prunes or plan.forget):
        return False
    try:
        found = await _found(lane, plan)
        if found is not None:
            raise Conflict(
                f"{found} is there, and no watch told of it: nothing more of the workload is "
                "deleted until one does"
            )
        check_goes(lane, plan)
    except PortError as error:
        steps.failed("look for", f"what is left of {plan.key}", error)
        return True
    return False


def check_goes(lane: Lane, plan: Plan) -> None:
    """Check that what left Git is still nobody's, by what watches and Git told since; no I/O.

    Asked right before each delete: what waits for its turn, or for a look, waits for seconds. A
    room may be told of meanwhile, or another workload come into the namespace. Raises Conflict.
    """
    if plan.made_for is not None:
        return
    if lane.view.of(plan.key).pods:
        raise Conflict(f"there is a room of {plan.key} after all: planned anew")
    if not _stands(lane, plan):
        raise Conflict("Git or a watch told of more meanwhile: planned anew")


def _stands(lane: Lane, plan: Plan) -> bool:
    """Whether what a plan deletes would be deleted still.

    What went meanwhile, as by our own last deletes, is in nobody's way; nor is another version of
    an object, of which its delete asks the server.
    """
    again = plan_removal(lane.situation(plan.key))
    if plan.forget:
        return again.forget
    left = {item.uid for item in again.prunes}
    there = {item.uid for item in lane.view.of(plan.key).objects if not item.terminating}
    return all(item.uid in left or item.uid not in there for item in plan.prunes)


async def _found(lane: Lane, plan: Plan) -> ObjectRef | None:
    key = plan.key
    shown = {item.ref for item in lane.view.of(key).objects}
    space = ObjectRef("v1", "Namespace", "", key.namespace)
    if space not in shown:
        there = await lane.cluster.get(space)
        if there is None:
            return None  # and so nothing is in it
        if plan.forget and _is_for_us_to_end(lane, key, there):
            return space
    marks = {labels.INSTANCE: lane.instance, labels.KIND: key.kind, labels.WORKLOAD: key.name}
    selector = ",".join(f"{name}={value}" for name, value in marks.items())
    rooms = await lane.cluster.list_metadata("v1", "Pod", key.namespace, selector)
    for item in rooms.items:
        return ObjectRef("v1", "Pod", key.namespace, item["metadata"]["name"])
    for owned in lane.store.state(key).inventory if plan.forget else ():
        if owned.made and owned.ref not in shown and owned.ref != space:
            there = await lane.cluster.get(owned.ref)
            if there is not None and _is_ours(lane, key, there):
                return owned.ref
    return None


def _is_ours(lane: Lane, key: WorkloadKey, there: Json) -> bool:
    """Whether the view would show it as one of the workload: by its labels it is, and no record."""
    marks = there["metadata"].get("labels") or {}
    return labels.RECORD not in marks and owner_of(there, lane.instance) == key


def _is_for_us_to_end(lane: Lane, key: WorkloadKey, namespace: Json) -> bool:
    """Whether a namespace is one that we made, and that nobody else is in."""
    spaces = [each for each in lane.store.state(key).inventory if each.ref.kind == "Namespace"]
    neighbours = lane.wanted.neighbours(key)
    return (
        owner_of(namespace, lane.instance) in (key, key._replace(name=""))
        and any(each.made for each in spaces)
        and sharing_of(key, neighbours, lane.wanted.deleting) is Sharing.ALONE
    )
