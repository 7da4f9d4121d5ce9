"""A last look at the server before anything of a workload that left Git goes for good.

Plans are made of what watches tell, and a watch can lose an event until its kind is listed anew
(`service/reflector.py`). Once the budget and the records are gone, nobody knows a room that was
overlooked, and nothing protects it.
"""

from reconciler.core.objects import sharing_of
from reconciler.kube.owners import key_of
from reconciler.loop.lane import Lane
from reconciler.loop.steps import Steps
from reconciler.model import labels
from reconciler.model.holds import HoldKind
from reconciler.model.neighbours import Sharing
from reconciler.model.plans import Plan
from reconciler.model.refs import Json, ObjectRef, WorkloadKey


async def is_left(lane: Lane, plan: Plan, steps: Steps) -> bool:
    """Whether something of the workload is there that no watch told of; that is held, and told.

    Looks for rooms before the first object goes, for all that is ours before the records do.
    Raises the cluster's errors.
    """
    if plan.made_for is not None or not (plan.prunes or plan.forget):
        return False
    found = await _found(lane, plan)
    if found is None:
        return False
    steps.held(
        HoldKind.INCOMPLETE_READ,
        f"{found} is there, and no watch told of it: nothing of {plan.key} is deleted until "
        f"{found.kind}s are listed anew, which happens within 5 minutes",
    )
    return True


async def _found(lane: Lane, plan: Plan) -> ObjectRef | None:
    key = plan.key
    live = lane.view.of(key)
    shown = {item.ref for item in live.objects}
    space = ObjectRef("v1", "Namespace", "", key.namespace)
    if space not in shown:
        there = await lane.cluster.get(space)
        if there is None:
            return None  # and so nothing is in it
        if plan.forget and _is_for_us_to_end(lane, key, there):
            return space
    known = {pod.name for pod in live.pods}
    listing = await lane.cluster.list_metadata("v1", "Pod", key.namespace)
    for item in listing.items:
        name = item["metadata"]["name"]
        if name not in known and _is_ours(lane, key, item):
            return ObjectRef("v1", "Pod", key.namespace, name)
    for owned in lane.store.state(key).inventory if plan.forget else ():
        if owned.made and owned.ref not in shown and owned.ref != space:
            there = await lane.cluster.get(owned.ref)
            if there is not None and _is_ours(lane, key, there):
                return owned.ref
    return None


def _is_ours(lane: Lane, key: WorkloadKey, there: Json) -> bool:
    """Whether the view would show it as one of the workload: by its labels it is, and no record."""
    marks = there["metadata"].get("labels") or {}
    is_followed = marks.get(labels.INSTANCE) == lane.instance and labels.RECORD not in marks
    return is_followed and key_of(there) == key


def _is_for_us_to_end(lane: Lane, key: WorkloadKey, namespace: Json) -> bool:
    """Whether a namespace is one that we made, and that nobody else is in."""
    marks = namespace["metadata"].get("labels") or {}
    spaces = [each for each in lane.store.state(key).inventory if each.ref.kind == "Namespace"]
    neighbours = lane.wanted.neighbours(key)
    return (
        marks.get(labels.INSTANCE) == lane.instance
        and key_of(namespace) in (key, key._replace(name=""))
        and any(each.made for each in spaces)
        and sharing_of(key, neighbours, lane.wanted.deleting) is Sharing.ALONE
    )
