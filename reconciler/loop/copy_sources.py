"""Copy Secrets and ConfigMaps of other namespaces beside the rooms, and take copies away again.

What goes wrong is remembered and told; it takes nothing away and stops nothing. No content, and
no error of the server about it, is ever part of what is told.
"""

from dataclasses import dataclass, field, replace

from reconciler.core import copying
from reconciler.core.ending import late_seconds
from reconciler.kube.owners import owner_of
from reconciler.loop.apply_objects import is_ours
from reconciler.loop.lane import Lane
from reconciler.loop.steps import Steps
from reconciler.model.copies import Copies, CopyFrom, Looked
from reconciler.model.errors import Conflict, Denied, PortError, Unanswered
from reconciler.model.plans import Desired, Plan
from reconciler.model.refs import Json, ObjectRef, WorkloadKey, as_seen


@dataclass(slots=True)
class _Look:
    """One look: `again` is whether something changed meanwhile, so that nothing is known of it."""

    problems: list[str] = field(default_factory=list)
    again: bool = False


async def copy_sources(lane: Lane, plan: Plan, steps: Steps) -> None:
    """Carry out the copies of a plan. Raises the cluster's errors for records only."""
    copies, desired = plan.copies, lane.desired(plan.key)
    if copies is None:
        return
    if desired is not None and copies.wanted:
        await _copy_all(lane, plan, copies, desired, steps)
    gone = {ref for ref in copies.dropped if await _is_dropped(lane, plan, ref, steps)}
    gone = {ref for ref in gone if not _may_be_late(lane, ref)}
    if gone:
        for ref in gone:
            lane.uncopied_at.pop(ref, None)
        await lane.store.change_state(
            plan.key,
            lambda newest: replace(
                newest, copied=tuple(ref for ref in newest.copied if ref not in gone)
            ),
        )


async def _copy_all(lane: Lane, plan: Plan, copies: Copies, desired: Desired, steps: Steps) -> None:
    """Look at every source; what will be there goes on record first."""
    look, known = _Look(), lane.store.state(plan.key).copied
    allowed = [each for each in copies.wanted if copying.is_allowed(each, lane.copy_from)]
    new = {each.copy_in(plan.key.namespace) for each in allowed} - set(known)
    if new:
        await lane.store.change_state(
            plan.key, lambda newest: replace(newest, copied=tuple(sorted({*newest.copied, *new})))
        )
    for each in copies.wanted:
        if each not in allowed:
            look.problems.append(f"{each.source} is not copied: --copy-from-namespaces lacks it")
            continue
        try:
            problem = await _copy(lane, plan, each, desired, steps)
        except Conflict:
            look.again = True
        except PortError as error:
            look.problems.append(_said(lane, each, plan.key, error))
        else:
            look.problems += [problem] if problem else []
    if not look.again:
        looked = Looked(copies.wanted, lane.view.elapsed(), tuple(look.problems))
        lane.found.note_look(plan.key, looked)


async def _copy(lane: Lane, plan: Plan, copy: CopyFrom, desired: Desired, steps: Steps) -> str:
    """Make a copy as its source is; return why it is not. Raises the cluster's errors."""
    source = await lane.cluster.get(copy.source)
    if source is None:
        return f"{copy.source} is not there to be copied: make it, or take it out of copyFrom"
    problem = copying.problem_of(source, copy)
    if problem:
        return problem
    ref = copy.copy_in(plan.key.namespace)
    body = copying.copied(source, copy, ref.namespace, desired.marks["labels"])
    there = await lane.cluster.get(ref)
    reason = f"{ref} is not there"
    if there is not None:
        if not is_ours(there, lane.instance) or not copying.is_copy(there):
            return f"{ref} is there and is no copy of ours: remove it, or take it out of copyFrom"
        owner = owner_of(there, lane.instance)
        theirs = _asked(lane, owner, ref) if owner != plan.key else None
        if theirs is not None:
            # That of a neighbour in the same namespace, which sees to it.
            return "" if theirs == copy else copying.taken_by(ref, theirs, f"{owner}")
        if copying.is_as_wanted(there, body):
            return ""
        problem = copying.retyped(there, body, copy)
        if problem:
            return problem
        reason = f"{ref} is not as {copy.source} is"
        body = {**body, "metadata": {**body["metadata"], **as_seen(there)}}
    lane.check_stands(plan)
    try:
        made = await lane.cluster.apply(body, force=True)
    except Unanswered as error:
        steps.doubts(error)
        lane.uncopied_at[ref] = lane.view.elapsed()
        raise
    # That it was made is no word of an earlier try, which may come when the copy is gone again.
    steps.did("copy", str(ref), reason)
    # After what is wanted, which so is never gone in between.
    strays = copying.strays(made, body)
    if strays:
        lane.check_stands(plan)
        await lane.cluster.merge_patch(ref, {"metadata": as_seen(made), **strays})
    return ""


def _said(lane: Lane, copy: CopyFrom, key: WorkloadKey, error: PortError) -> str:
    """Say what the server said, but for the words: they may repeat what it was given."""
    if isinstance(error, Denied):
        whole = copy.namespace in lane.copy_from
        entry = copy.namespace if whole else f"{copy.namespace}/{copy.name}"
        return (
            f"{copy.source} may not be copied to {key.namespace}: grant what gamekeeper rbac "
            f"--copy-from-namespaces {entry} prints"
        )
    return f"{copy.source} could not be copied: the API server answered {type(error).__name__}"


def _asked(lane: Lane, owner: WorkloadKey | None, ref: ObjectRef) -> CopyFrom | None:
    """Return what a workload of ours asks to have copied there, None where it asks for none."""
    desired = lane.desired(owner) if owner is not None else None
    if desired is None:
        return None
    asked = desired.workload.copy_from
    return next((each for each in asked if each.copy_in(ref.namespace) == ref), None)


async def _is_dropped(lane: Lane, plan: Plan, ref: ObjectRef, steps: Steps) -> bool:
    """Delete a copy of this workload's that nobody asks for; whether it is off its hands.

    One answer that it is not there may be old, or be that of what stands between: what is on record
    no more nobody ever deletes, and no watch tells of a Secret. So another look has to say it, too.
    """
    try:
        there = await lane.cluster.get(ref)
        if there is not None and not _goes(there):
            if not copying.is_copy(there) or owner_of(there, lane.instance) != plan.key:
                return True
            if any(_asked(lane, each, ref) for each in lane.wanted.neighbours(plan.key)):
                return True  # it takes the copy over at its next look
            lane.check_stands(plan)
            metadata = there["metadata"]
            await lane.cluster.delete(ref, metadata["uid"], metadata["resourceVersion"])
            steps.did("delete", str(ref), f"{plan.key} asks for {ref} no more")
        left = await lane.cluster.get(ref)
    except PortError as error:
        steps.failed("delete", str(ref), error)
        return False
    return left is None or _goes(left)


def _may_be_late(lane: Lane, ref: ObjectRef) -> bool:
    """Whether a copy may yet be made: what is on record no more nobody ever deletes."""
    return late_seconds(lane.uncopied_at.get(ref), lane.view.elapsed()) > 0


def _goes(there: Json) -> bool:
    """Whether an object was deleted, and waits for finalizers of others at most."""
    return "deletionTimestamp" in there["metadata"]
