"""Apply what is not a room: confirmed by a dry run, never taken from somebody else."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from reconciler.core import contests, refusals
from reconciler.core.fields import differing
from reconciler.core.ignoring import given_up, laid_over
from reconciler.core.own_objects import count_alone
from reconciler.kube.owners import owner_of
from reconciler.loop.lane import Lane
from reconciler.loop.refused import is_verdict, may_last
from reconciler.loop.steps import Steps
from reconciler.model import additional, labels
from reconciler.model.changes import FieldChange
from reconciler.model.errors import Conflict, PortError
from reconciler.model.holds import HoldKind
from reconciler.model.live import LiveWorkload
from reconciler.model.plan_objects import ApplyObject, contest_name
from reconciler.model.plans import Plan
from reconciler.model.records import Owned
from reconciler.model.refs import Json, ObjectRef, WorkloadKey, as_seen
from reconciler.model.refusals import Cause, Refusals

VOLATILE = ("managedFields", "resourceVersion", "generation")
_SPARED = ("Namespace", "ServiceAccount", *additional.KINDS)
"""Of these a repository has a say in what is written, and rooms do with what is there."""


async def apply(lane: Lane, plan: Plan, steps: Steps, now: float) -> bool:
    """Apply the objects of a plan in order; whether the rooms may follow. `now` is Unix seconds.

    Raises the cluster's errors for records only; those of objects are outcomes.
    """
    return await _Objects(lane, plan, steps, now).apply_all()


@dataclass(frozen=True, slots=True)
class _Objects:
    """The objects of one plan, one after the other."""

    lane: Lane
    plan: Plan
    steps: Steps
    now: float

    async def apply_all(self) -> bool:
        """Apply them; whether the rooms may follow."""
        announced = await self._announce()
        if announced is None:
            return False
        for wanted in announced:
            if not await self._apply(wanted):
                return False
        return True

    async def _apply(self, wanted: ApplyObject) -> bool:
        """Apply one; whether the next may follow."""
        before = self.lane.view.of(self.plan.key)
        try:
            written = await self._write(wanted)
        except PortError as error:
            self._failed("apply", wanted, before, error)
            # As it was it is there: a change that is refused may not stop healing.
            return bool(wanted.live_version) and await self._is_spared(wanted, error)
        self.lane.refused.taken(self.plan.key, wanted.what)
        if written is not None:
            self._count(wanted, written)
            if wanted.ref.kind == "PodDisruptionBudget":
                self.lane.budgeted_at[self.plan.key] = self.lane.view.elapsed()
            self.steps.did("apply", wanted.what, wanted.reason)
        return True

    async def _write(self, wanted: ApplyObject) -> "Difference | None":
        """Write one, and return what it changed, None where there was nothing to write.

        Raises the cluster's errors.
        """
        lane, body = self.lane, wanted.body
        found = Difference(None, body)
        if wanted.alone:
            there = await lane.cluster.get(wanted.ref)
            if there is None:
                raise Conflict(f"{wanted.ref} is gone meanwhile: planned anew")
            body = count_alone(body, there, labels.field_manager(lane.instance))
        elif wanted.live_version:
            found = await look(lane, self.plan.key, wanted)
            if found.fields == ():
                return None
            if found.there is None and wanted.ignored:
                # What watches tell decides: were this answer old, a word of others would be lost.
                raise Conflict(f"{wanted.ref} is gone meanwhile: planned anew")
            body = found.body
        lane.check_stands(self.plan)
        await lane.cluster.apply(body, force=True)
        return found

    def _count(self, wanted: ApplyObject, found: "Difference") -> None:
        """Note that one was set back: where somebody changes it again and again, that is told."""
        if not found.fields or found.there is None:
            return
        asked = contests.mark_of(wanted, found.there["metadata"]["uid"])
        paths = [change.path for change in found.fields]
        manager = labels.field_manager(self.lane.instance)
        said = contests.said_of(wanted, paths, found.there, manager)
        again = Refusals(asked, 1, self.now, said)
        self.lane.refused.refused(self.plan.key, contest_name(wanted.ref), again)

    async def _is_spared(self, wanted: ApplyObject, error: PortError) -> bool:
        """Whether rooms may follow though this was not written over what is there.

        A budget protects as it was; where what is added to it is refused, its count is written
        alone, for it follows the rooms.
        """
        if wanted.ref.kind != "PodDisruptionBudget":
            return wanted.ref.kind in _SPARED
        count = None if wanted.alone else refusals.count_of(wanted)
        if not is_verdict(error) or count is None:
            return is_verdict(error)
        return await self._apply(count)

    def _failed(
        self, verb: str, wanted: ApplyObject, before: LiveWorkload, error: PortError
    ) -> None:
        """Note that one was not written; `before` is what there was when it was asked for.

        What changes from then on lets it be asked for again.
        """
        self.steps.failed(verb, wanted.what, error, wanted.reason)
        desired = self.lane.desired(self.plan.key)
        if desired is not None and may_last(error):
            asked = refusals.asked_of_object(desired, before, wanted.ref)
            said = self.steps.outcomes[-1].error
            cause = Cause.VERDICT if is_verdict(error) else Cause.FAILURE
            refusal = Refusals(asked, 1, self.now, said, cause=cause)
            self.lane.refused.refused(self.plan.key, wanted.what, refusal)

    def _is_foreign(self, wanted: ApplyObject, before: LiveWorkload) -> None:
        """Note that one is somebody else's: no watch tells when it is not any more."""
        reason = foreign_reason(wanted.ref, self.lane.instance)
        self.steps.held(HoldKind.FOREIGN, reason)
        desired = self.lane.desired(self.plan.key)
        if desired is not None:
            asked = refusals.asked_of_object(desired, before, wanted.ref)
            found = Refusals(asked, 1, self.now, reason, cause=Cause.FOREIGN)
            self.lane.refused.refused(self.plan.key, wanted.what, found)

    async def _announce(self) -> tuple[ApplyObject, ...] | None:
        """Put what will be made on record, after a look at who has those names already.

        Returns what is to be applied; None where nothing may be, and no room after it.
        """
        lane, plan = self.lane, self.plan
        if not plan.objects and plan.creates is None:
            return ()
        made = {owned.ref: owned.made for owned in plan.inventory}
        known, found = {owned.ref for owned in lane.store.state(plan.key).inventory}, []
        for wanted in plan.objects:
            found.append(wanted)
            if wanted.live_version:
                continue
            before = lane.view.of(plan.key)
            try:
                there = await lane.cluster.get(wanted.ref)
            except PortError as error:
                self._failed("read", wanted, before, error)
                return None
            if there is None:
                continue
            if not is_ours(there, lane.instance):
                self._is_foreign(wanted, before)
                return None
            found[-1] = wanted = _found(lane, wanted, there)
            owner = owner_of(there, lane.instance)
            if wanted.ref.kind in additional.KINDS and owner not in (None, plan.key):
                taken = taken_reason(lane, wanted.ref, owner)
                if taken:
                    self.steps.held(HoldKind.FOREIGN, taken)
                    return None
                found[-1] = _passing(wanted, there, owner)
                owned = Owned(wanted.ref, made=True)
                made[wanted.ref] = owned in lane.store.state(owner).inventory
            elif wanted.ref not in known or (owner is None and wanted.ref.kind in additional.KINDS):
                shared = wanted.ref.kind == "Namespace" and lane.made_for_others(plan.key)
                made[wanted.ref] = shared
        await self._record(made)
        return tuple(found)

    async def _record(self, made: Mapping[ObjectRef, bool]) -> None:
        """Put on record what is made, and how far the names of rooms are raised."""
        creates = self.plan.creates
        inventory = tuple(sorted(Owned(ref, by_us) for ref, by_us in made.items()))
        # Not the highest of this batch: names that were given up stand below `next` too.
        raised = creates.ordinals.next - 1 if creates else None
        await self.lane.store.change_state(
            self.plan.key,
            lambda record: replace(
                record, inventory=inventory, highest=_higher(record.highest, raised)
            ),
        )


def _found(lane: Lane, wanted: ApplyObject, there: Json) -> ApplyObject:
    """Return the application over an object that no watch had told of."""
    reason = f"{wanted.ref} is there, and is to be as we want it"
    return replace(wanted, body=_over(lane, wanted, there), reason=reason)


def _passing(wanted: ApplyObject, there: Json, owner: WorkloadKey) -> ApplyObject:
    """Return the taking over of an object from another workload, exactly as it was seen.

    It is never gone in between. As with any other change its content acts at once: were it to wait
    for rooms of the owner, two that swap objects would wait for each other for ever.
    """
    body = {**wanted.body, "metadata": {**wanted.body["metadata"], **as_seen(there)}}
    return replace(wanted, body=body, reason=f"{owner} asks for {wanted.ref} no more: taken over")


def _higher(known: int | None, raised: int | None) -> int | None:
    return max((n for n in (known, raised) if n is not None), default=None)


def is_ours(there: Json, instance: str) -> bool:
    """Whether an object carries our label, or people gave it to us."""
    metadata = there.get("metadata", {})
    owner = (metadata.get("labels") or {}).get(labels.INSTANCE)
    adopted_by = (metadata.get("annotations") or {}).get(labels.ADOPT)
    return instance in (owner, adopted_by)


def taken_reason(lane: Lane, ref: ObjectRef, owner: WorkloadKey) -> str:
    """Say why an object of another workload of ours holds this one, "" where that lets it go."""
    if lane.lets_go(owner, ref):
        return ""
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


class Difference(NamedTuple):
    """What applying `body` over what is `there` would change; None where nothing is there."""

    fields: tuple[FieldChange, ...] | None
    body: Json
    there: Json | None = None


async def look(lane: Lane, key: WorkloadKey, wanted: ApplyObject) -> Difference:
    """Ask the server what applying would change, and remember where that is nothing.

    Raises the cluster's errors.
    """
    there = await lane.cluster.get(wanted.ref)
    if there is None:
        return Difference(None, wanted.body)
    body = _over(lane, wanted, there)
    would_be = await lane.cluster.apply(body, dry_run=True, force=True)
    fields = tuple(differing(_content(there), _content(would_be), ""))
    if not fields:
        lane.found.confirm(key, (wanted.digest, there["metadata"]["resourceVersion"]))
    return Difference(fields, body, there)


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
