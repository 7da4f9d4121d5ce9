"""What the next tick would do, asked without writing: `diff --live` and `apply` print it.

The plan is the loop's own. Beside it stand the questions that settling would ask the server:
does an object that seems to differ really differ, and is a name that seems free somebody's.
"""

import asyncio
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from reconciler.core import drift
from reconciler.kube.owners import owner_of
from reconciler.loop.apply_objects import foreign_reason, is_ours, look, taken_reason
from reconciler.loop.lane import Lane
from reconciler.loop.tick import plan_key
from reconciler.model import additional
from reconciler.model.changes import Cause, ObjectChange, Verb
from reconciler.model.holds import Hold, HoldKind, is_suspended, is_untouched
from reconciler.model.plan_objects import ApplyObject
from reconciler.model.plans import MarkRoom, Plan
from reconciler.model.refs import Json, ObjectRef, WorkloadKey
from reconciler.model.rooms import Why


@dataclass(frozen=True, slots=True)
class Preview:
    """One workload's next step. `objects` are those that do differ, `holds` all that hold it."""

    plan: Plan
    objects: tuple[ObjectChange, ...]
    holds: tuple[Hold, ...]

    @property
    def moving(self) -> bool:
        """Whether something of it would be written or is on its way to be replaced."""
        acts = not replace(self.plan, objects=(), strike=None).idle
        rolls = self.plan.counts.old and not is_suspended(self.holds)
        return bool(self.objects) or acts or bool(rolls or self.spare)

    @property
    def spare(self) -> int:
        """How many rooms without known players are more than wanted, and stay as nobody hears them.

        Whoever leads hears them, and lets those go that are empty.
        """
        counts = self.plan.counts
        if is_untouched(self.holds) or any(each.kind is HoldKind.FOREIGN for each in self.holds):
            return 0
        members = counts.ready + counts.unready
        most = min(members - counts.busy, members - counts.desired, counts.unheard)
        leave = sum(each.leaving is Why.SCALE_IN for each in self.plan.marks)
        return max(0, most - leave - len(self.plan.removals))


def asked_by_git(item: Preview, in_git: int) -> Preview:
    """Return what is left of a step without the rooms that only a decided count makes or lets go.

    `in_git` is Git's number. While there are as many rooms as lie between the two numbers, Git
    asks for none of those that come or go.
    """
    plan, counts = item.plan, item.plan.counts
    low, high = sorted((in_git, counts.desired))
    if low == high or not low <= counts.ready + counts.unready <= high:
        return item
    removals = tuple(each for each in plan.removals if each.cause is not Cause.SCALE_IN)
    marks = tuple(each for each in plan.marks if not _is_of_scale_in(each))
    heard = replace(counts, unheard=0)
    rest = replace(plan, creates=None, removals=removals, marks=marks, counts=heard)
    return replace(item, plan=rest)


def _is_of_scale_in(mark: MarkRoom) -> bool:
    return Why.SCALE_IN in (mark.leaving, mark.pod.leaving)


async def preview_plans(lane: Lane, keys: Iterable[WorkloadKey], now: float) -> tuple[Preview, ...]:
    """Plan every key; nothing is written. `now` is Unix seconds. Raises the cluster's errors."""
    plans = [plan_key(lane, key, now) for key in keys]
    missing = any(not item.live_version for plan in plans for item in plan.objects)
    listed = (await lane.cluster.list("v1", "Namespace")).items if missing else ()
    namespaces = {item["metadata"]["name"] for item in listed}
    return tuple(await asyncio.gather(*(_preview(lane, plan, namespaces) for plan in plans)))


async def _preview(lane: Lane, plan: Plan, namespaces: Collection[str]) -> Preview:
    found = await asyncio.gather(
        *(_look(lane, plan.key, item, namespaces) for item in plan.objects)
    )
    foreign = tuple(
        Hold(HoldKind.FOREIGN, plan.key, item) for item in found if isinstance(item, str)
    )
    changes = tuple(item for item in found if isinstance(item, ObjectChange))
    gone = tuple(ObjectChange(item.ref, Verb.DELETE, item.reason) for item in plan.prunes)
    holds = (*plan.holds, *foreign, *await _drifted(lane, plan))
    if foreign:
        return Preview(_held(plan, holds), (), holds)
    return Preview(plan, (*changes, *gone), holds)


async def plan_stands(lane: Lane, key: WorkloadKey, now: float) -> Plan:
    """Return the plan of the next tick as far as names that seem free are free; nothing is written.

    No dry run is asked for, as `preview_plans` does: not everybody who may read may do that.
    `now` is Unix seconds. Raises the cluster's errors.
    """
    plan = plan_key(lane, key, now)
    absent: set[str] = set()
    # In their order: in a namespace that is not there is nothing either.
    for ref in (wanted.ref for wanted in plan.objects if not wanted.live_version):
        if ref.namespace in absent:
            continue
        there = await lane.cluster.get(ref)
        if there is None and ref.kind == "Namespace":
            absent.add(ref.name)
        reason = _whose(lane, key, ref, there) if there is not None else ""
        if reason:
            return _held(plan, (*plan.holds, Hold(HoldKind.FOREIGN, key, reason)))
    return plan


def _whose(lane: Lane, key: WorkloadKey, ref: ObjectRef, there: Json) -> str:
    """Say whose an object is that may not be written over; "" where it may."""
    if not is_ours(there, lane.instance):
        return foreign_reason(ref, lane.instance)
    owner = owner_of(there, lane.instance)
    if ref.kind not in additional.KINDS or owner is None or owner == key:
        return ""
    return taken_reason(lane, ref, owner)


def _held(plan: Plan, holds: tuple[Hold, ...]) -> Plan:
    """Return what is left of a plan that something which is not ours holds: it holds it whole."""
    return Plan(plan.key, plan.counts, plan.inventory, holds=holds)


async def _drifted(lane: Lane, plan: Plan) -> tuple[Hold, ...]:
    """Return what is told of objects that somebody else changed."""
    looks = await asyncio.gather(*(look(lane, plan.key, item) for item in plan.suspects))
    asked = zip(plan.suspects, looks, strict=True)
    told = [item for item, found in asked if found.fields != ()]
    return (Hold(HoldKind.DRIFTED, plan.key, drift.told_of(told)),) if told else ()


async def _look(
    lane: Lane, key: WorkloadKey, wanted: ApplyObject, namespaces: Collection[str]
) -> ObjectChange | str | None:
    """Return what applying an object would do, or in words whose it is; None for nothing."""
    if wanted.live_version:
        fields = (await look(lane, key, wanted)).fields
        if fields == ():
            return None
        if fields:
            return ObjectChange(wanted.ref, Verb.UPDATE, wanted.reason, fields)
        return ObjectChange(wanted.ref, Verb.CREATE, wanted.reason)
    known = (wanted.ref.namespace or wanted.ref.name) in namespaces
    there = await lane.cluster.get(wanted.ref) if known else None
    if there is None:
        return ObjectChange(wanted.ref, Verb.CREATE, wanted.reason)
    if whose := _whose(lane, key, wanted.ref, there):
        return whose
    owner = owner_of(there, lane.instance)
    reason = f"{wanted.ref} is there without our label: adopted"
    if wanted.ref.kind in additional.KINDS and owner not in (None, key):
        reason = f"{owner} asks for {wanted.ref} no more: taken over"
    fields = (await look(lane, key, wanted)).fields
    return ObjectChange(wanted.ref, Verb.UPDATE, reason, fields or ())
