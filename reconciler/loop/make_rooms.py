"""POST rooms under names that never come back (DESIGN §2 rule 5)."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from reconciler.core.reach import Reach
from reconciler.core.refusals import asked_of_rooms
from reconciler.core.stamp import room_name, stamp_room
from reconciler.loop.joining import join
from reconciler.loop.lane import Lane
from reconciler.loop.refused import is_verdict, may_last
from reconciler.loop.steps import Steps
from reconciler.model import labels
from reconciler.model.errors import AlreadyExists, Conflict, PortError, Unanswered
from reconciler.model.holds import HoldKind
from reconciler.model.plans import Desired, Plan, RoomSeat
from reconciler.model.refs import Json, ObjectRef, WorkloadKey
from reconciler.model.refusals import ROOMS, Cause, Refusals


async def make_rooms(lane: Lane, plan: Plan, steps: Steps, now: float) -> bool:
    """Raise the ordinal record, POST the batch, strike off the names that are done.

    Returns whether names were struck off for which there is no room: others are to be planned.
    Raises Conflict when another writer raised the record first, or the plan stands no longer:
    nothing was POSTed then.
    """
    desired = lane.desired(plan.key)
    if plan.creates is None or desired is None:
        await _strike_off(lane, plan, steps)
        return False
    if not await join(lane, plan, steps, now):
        return False
    lane.check_stands(plan)
    raised = plan.creates.ordinals
    await lane.store.raise_ordinals(plan.key, raised)
    seats = plan.creates.seats
    batch = _Batch(lane, plan, desired, steps, plan.creates.reason)
    there = lane.view.of(plan.key)  # as it is before: what changes from then on lets us ask again
    versions = await batch.make_all(seats)
    if batch.is_in_vain(versions):
        rooms = len(there.pods) + sum(map(bool, versions))
        asked = asked_of_rooms(desired, there)
        said = (batch.refusals or batch.failures)[0]
        cause = Cause.VERDICT if batch.refusals else Cause.FAILURE
        lane.refused.refused(plan.key, ROOMS, Refusals(asked, 1, now, said, rooms, cause))
    elif any(versions):
        lane.refused.taken(plan.key, ROOMS)
    left = frozenset(
        seat.ordinal for seat, version in zip(seats, versions, strict=True) if version is None
    )
    seen = max((version for version in versions if version is not None), default=0)
    after = replace(raised, outstanding=left)
    if seen:
        after = replace(after, seen=seen, seen_at=now)
    await lane.store.save_ordinals(plan.key, after)
    return 0 in versions


async def _strike_off(lane: Lane, plan: Plan, steps: Steps) -> None:
    """Write which names are done where no room is made; what fails holds back nothing else."""
    known = plan.strike or lane.store.ordinals(plan.key)
    # A raise that was not answered may arrive yet, for rooms that nobody wants any more.
    if known is None or not (plan.strike or lane.store.is_doubtful(plan.key)):
        return
    try:
        await lane.store.save_ordinals(plan.key, known)
    except Conflict:
        raise  # another writer: all of the plan is to be decided anew
    except PortError as error:
        steps.failed("write", f"the record of names of {plan.key}", error)


@dataclass(frozen=True, slots=True)
class _Batch:
    """The rooms of one plan, POSTed side by side."""

    lane: Lane
    plan: Plan
    desired: Desired
    steps: Steps
    reason: str
    refusals: list[str] = field(default_factory=list)
    """What is told of those that the cluster judged and refused."""
    failures: list[str] = field(default_factory=list)
    """What is told of those that it failed at."""

    def is_in_vain(self, versions: Sequence[int | None]) -> bool:
        """Whether asking for more would end alike: one was refused, or they fail and none is made.

        A cluster that makes some of them works, and is asked for the others as ever.
        """
        return bool(self.refusals or (self.failures and not any(versions)))

    async def make_all(self, seats: Sequence[RoomSeat]) -> list[int | None]:
        """POST rooms side by side; where the last was in vain one finds out for two, and so on.

        What is left when the cluster refuses one is not asked for.
        """
        number = len(seats) if ROOMS not in self.lane.refused.of(self.plan.key) else 1
        versions: list[int | None] = []
        while len(versions) < len(seats) and not self.is_in_vain(versions):
            part = seats[len(versions) : len(versions) + number]
            made = await asyncio.gather(*map(self.make, part))
            versions += made
            number *= 2 if any(made) else 1
        return [*versions, *(None for _ in seats[len(versions) :])]

    async def make(self, seat: RoomSeat) -> int | None:
        """POST one room; return its resourceVersion, 0 for a skipped name, None to try again.

        A name is POSTed once (ADR 2): where it may have been before, it is only looked for.
        """
        key, store = self.desired.workload.key, self.lane.store
        name = room_name(key.name, seat.ordinal)
        ref = ObjectRef("v1", "Pod", key.namespace, name)
        if not store.unsent.take(key, seat.ordinal):
            return await self._look(ref)
        try:
            async with self.lane.slots:
                self.lane.check_stands(self.plan)
                room = await self._pod(name, seat)
                self.steps.sends()
                pod = await self.lane.cluster.create(room)
        except AlreadyExists:
            return await self._look(ref)
        except PortError as error:
            if not isinstance(error, Unanswered):
                store.unsent.give_back(key, seat.ordinal)
            self._failed("create", f"room {name}", error)
            return None
        self.lane.view.expect_created(pod)
        self.steps.did("create", f"room {name}", self.reason)
        return _version(pod)

    async def _pod(self, name: str, seat: RoomSeat) -> Json:
        workload, lane = self.desired.workload, self.lane
        if not workload.hears:
            return stamp_room(self.desired.room, workload, seat)
        # Without its code a room could not be heard: rather it is made a little later.
        reach = Reach(lane.rooms_url, await lane.codes.of(workload.key.namespace, name))
        return stamp_room(self.desired.room, workload, seat, reach)

    async def _look(self, ref: ObjectRef) -> int | None:
        """Decide about a name that may be taken: by our own room, by a stranger's, by nobody's.

        The server is asked for its newest: a view that lags does not show what was made last.
        """
        try:
            there = await self.lane.cluster.get(ref)
        except PortError as error:
            self._failed("read", str(ref), error)
            return None
        if there is None:
            return 0
        if not _is_our_room(there, self.lane.instance, self.desired.workload.key):
            self.steps.held(
                HoldKind.FOREIGN, f"{ref} exists and is no room of ours: the name is skipped"
            )
            return 0
        self.lane.view.expect_created(there)
        return _version(there)

    def _failed(self, verb: str, what: str, error: PortError) -> None:
        self.steps.failed(verb, what, error, self.reason)
        if may_last(error):
            kept = self.refusals if is_verdict(error) else self.failures
            kept.append(self.steps.outcomes[-1].error)


def _version(pod: Json) -> int:
    text = pod["metadata"].get("resourceVersion", "")
    return int(text) if text.isdecimal() else 0


def _is_our_room(pod: Json, instance: str, key: WorkloadKey) -> bool:
    """Whether a pod is a room of a workload: one of another kind has rooms of the same names."""
    marks = pod["metadata"].get("labels") or {}
    known = tuple(marks.get(name) for name in (labels.INSTANCE, labels.KIND, labels.WORKLOAD))
    return known == (instance, key.kind, key.name)
