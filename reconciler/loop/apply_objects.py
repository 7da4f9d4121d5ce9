"""Apply what is not a room: confirmed by a dry run, never taken from somebody else."""

from dataclasses import replace
from typing import Any

from reconciler.core.fields import differing
from reconciler.core.ignoring import given_up, laid_over
from reconciler.core.own_objects import added_to
from reconciler.loop.lane import Lane
from reconciler.loop.steps import Steps
from reconciler.model import additional, labels
from reconciler.model.changes import FieldChange
from reconciler.model.errors import Denied, Misconfigured, PortError
from reconciler.model.holds import HoldKind
from reconciler.model.plans import ApplyObject, Plan
from reconciler.model.records import Owned
from reconciler.model.refs import Json, ObjectRef, WorkloadKey

VOLATILE = ("managedFields", "resourceVersion", "generation")
_SPARED = ("Namespace", "ServiceAccount", *additional.KINDS)
"""Of these a repository has a say in what is written, and rooms do with what is there."""


async def apply(lane: Lane, plan: Plan, steps: Steps) -> bool:
    """Apply the objects of a plan in order; whether the rooms may follow.

    Raises the cluster's errors for records only; those of objects are outcomes.
    """
    announced = await _announce(lane, plan, steps)
    if announced is None:
        return False
    for wanted in announced:
        try:
            body = wanted.body
            if wanted.live_version:
                fields, body = await look(lane, plan.key, wanted)
                if fields == ():
                    continue
            lane.check_stands(plan)
            await lane.cluster.apply(body, force=True)
        except PortError as error:
            steps.failed("apply", str(wanted.ref), error, wanted.reason)
            if not (wanted.live_version and await _is_spared(lane, plan, wanted, error, steps)):
                return False
            continue  # as it was it is there: a change that is refused may not stop healing
        if wanted.ref.kind == "PodDisruptionBudget":
            lane.budgeted_at[plan.key] = lane.view.elapsed()
        elif wanted.ref.kind == "Namespace" and not wanted.live_version:
            lane.refused.forget(plan.key)  # where rooms were refused is no more
        steps.did("apply", str(wanted.ref), wanted.reason)
    return True


async def _is_spared(
    lane: Lane, plan: Plan, wanted: ApplyObject, error: PortError, steps: Steps
) -> bool:
    """Whether rooms may follow though this was not written over what is there.

    A budget protects as it was; where what is added to it is refused, its count is written alone,
    for it follows the rooms.
    """
    if wanted.ref.kind != "PodDisruptionBudget":
        return wanted.ref.kind in _SPARED
    if not isinstance(error, Denied | Misconfigured):
        return False
    try:
        there = await lane.cluster.get(wanted.ref)
        if there is None:
            return False
        body = laid_over(wanted.body, there, added_to(wanted.body, there))
        if any(there["spec"].get(name) != value for name, value in body["spec"].items()):
            lane.check_stands(plan)
            await lane.cluster.apply(body, force=True)
            steps.did("apply", str(wanted.ref), "its count, without what is added to it")
    except PortError as refused:
        steps.failed("apply", f"the count of {wanted.ref}", refused, wanted.reason)
    return True


async def _announce(lane: Lane, plan: Plan, steps: Steps) -> tuple[ApplyObject, ...] | None:
    """Put what will be made on record, after a look at who has those names already.

    Returns what is to be applied; None where nothing may be, and no room after it.
    """
    made = {owned.ref: owned.made for owned in plan.inventory}
    known = {owned.ref for owned in lane.store.state(plan.key).inventory}
    if not plan.objects and plan.creates is None:
        return ()
    found = []
    for wanted in plan.objects:
        found.append(wanted)
        if wanted.live_version:
            continue
        try:
            there = await lane.cluster.get(wanted.ref)
        except PortError as error:
            steps.failed("read", str(wanted.ref), error, wanted.reason)
            return None
        if there is None:
            continue
        if not is_ours(there, lane.instance):
            steps.held(HoldKind.FOREIGN, foreign_reason(wanted.ref, lane.instance))
            return None
        found[-1] = wanted = _found(lane, wanted, there)
        owner = owner_of(there, lane.instance)
        if wanted.ref.kind in additional.KINDS and owner not in (None, plan.key):
            if not lane.lets_go(owner, wanted.ref):
                steps.held(HoldKind.FOREIGN, _taken(wanted.ref, owner))
                return None
            found[-1] = _passing(wanted, there, owner)
            made[wanted.ref] = Owned(wanted.ref, made=True) in lane.store.state(owner).inventory
        elif wanted.ref not in known or (owner is None and wanted.ref.kind in additional.KINDS):
            shared = wanted.ref.kind == "Namespace" and lane.made_for_others(plan.key)
            made[wanted.ref] = shared
    inventory = tuple(sorted(Owned(ref, by_us) for ref, by_us in made.items()))
    # Not the highest of this batch: names that were given up stand below `next` too.
    raised = plan.creates.ordinals.next - 1 if plan.creates else None
    await lane.store.change_state(
        plan.key,
        lambda record: replace(
            record, inventory=inventory, highest=_higher(record.highest, raised)
        ),
    )
    return tuple(found)


def _found(lane: Lane, wanted: ApplyObject, there: Json) -> ApplyObject:
    """Return the application over an object that no watch had told of."""
    reason = f"{wanted.ref} is there, and is to be as we want it"
    return replace(wanted, body=_over(lane, wanted, there), reason=reason)


def _passing(wanted: ApplyObject, there: Json, owner: WorkloadKey) -> ApplyObject:
    """Return the taking over of an object from another workload, exactly as it was seen.

    It is never gone in between. As with any other change its content acts at once: were it to wait
    for rooms of the owner, two that swap objects would wait for each other for ever.
    """
    seen = {name: there["metadata"][name] for name in ("uid", "resourceVersion")}
    body = {**wanted.body, "metadata": {**wanted.body["metadata"], **seen}}
    return replace(wanted, body=body, reason=f"{owner} asks for {wanted.ref} no more: taken over")


def _higher(known: int | None, raised: int | None) -> int | None:
    return max((n for n in (known, raised) if n is not None), default=None)


def is_ours(there: Json, instance: str) -> bool:
    """Whether an object carries our label, or people gave it to us."""
    metadata = there.get("metadata", {})
    owner = (metadata.get("labels") or {}).get(labels.INSTANCE)
    adopted_by = (metadata.get("annotations") or {}).get(labels.ADOPT)
    return instance in (owner, adopted_by)


def owner_of(there: Json, instance: str) -> WorkloadKey | None:
    """Return the workload of ours whose object it is; None for what people gave us."""
    metadata = there.get("metadata", {})
    marks = metadata.get("labels") or {}
    if marks.get(labels.INSTANCE) != instance:
        return None
    kind, name = marks.get(labels.KIND, ""), marks.get(labels.WORKLOAD, "")
    return WorkloadKey(kind, metadata.get("namespace", ""), name)


def _taken(ref: ObjectRef, owner: WorkloadKey | None) -> str:
    return (
        f"{ref} is still that of {owner}: nothing of this workload is written until it lets go of "
        "it. Where both keep it, give one of them another name"
    )


def foreign_reason(ref: ObjectRef, instance: str) -> str:
    """Say why an object that is not ours holds its workload, and what to do."""
    return (
        f"{ref} exists and is not ours; nothing of this workload is written. Rename the workload, "
        f"remove the object, or let us have it: kubectl annotate {ref.kind.lower()} {ref.name} "
        f"{labels.ADOPT}={instance}" + (f" -n {ref.namespace}" if ref.namespace else "")
    )


async def look(
    lane: Lane, key: WorkloadKey, wanted: ApplyObject
) -> tuple[tuple[FieldChange, ...] | None, Json]:
    """Ask the server what applying would change, and remember where that is nothing.

    Returns that with what would be applied; None where the object is not there. Raises the
    cluster's errors.
    """
    there = await lane.cluster.get(wanted.ref)
    if there is None:
        return None, wanted.body
    body = _over(lane, wanted, there)
    would_be = await lane.cluster.apply(body, dry_run=True, force=True)
    fields = tuple(differing(_content(there), _content(would_be), ""))
    if not fields:
        lane.confirm(key, (wanted.digest, there["metadata"]["resourceVersion"]))
    return fields, body


def _over(lane: Lane, wanted: ApplyObject, there: Json) -> Json:
    """Return what is applied over an object: what others own of it as it is, or left to them.

    Then it is good for just the version that was seen, or a later value would be written over.
    """
    body = laid_over(wanted.body, there, wanted.ignored)
    if not wanted.ignored:
        return body
    body = given_up(body, there, wanted.ignored, labels.field_manager(lane.instance))
    seen = {"resourceVersion": there["metadata"]["resourceVersion"]}
    return {**body, "metadata": {**body["metadata"], **seen}}


def _content(obj: Json) -> Any:
    metadata = {name: v for name, v in obj.get("metadata", {}).items() if name not in VOLATILE}
    return {**obj, "metadata": metadata}
