"""A lane: one cluster with all that belongs to it, so that a slow one holds back nobody else."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from reconciler.core import backoff, objects, pauses
from reconciler.core.desired import with_count
from reconciler.core.ending import LATE_SECONDS
from reconciler.core.namesakes import other_kinds
from reconciler.kube.schemas import Schemas
from reconciler.loop.found import Found
from reconciler.loop.locks import Locks
from reconciler.loop.refused import Refused
from reconciler.loop.store import RecordStore
from reconciler.model.errors import Conflict, Unreadable
from reconciler.model.intents import Scaling
from reconciler.model.masks import MASK
from reconciler.model.neighbours import Namesake
from reconciler.model.pauses import Pause
from reconciler.model.plans import Desired, Plan, Situation
from reconciler.model.records import Condition, Failures, Owned
from reconciler.model.refs import ObjectRef, WorkloadKey
from reconciler.model.rooms import NO_EARS, Ears
from reconciler.model.wanted import Wanted
from reconciler.ports import Cluster, LiveView, Reports

IN_FLIGHT = 32
"""Writes of rooms at once: an API server serves no more by being asked for more."""


class Codes(Protocol):
    """The code of each room that reports."""

    async def of(self, namespace: str, room: str) -> str:
        """Return the code of a room. Raises Unavailable while it cannot be told."""

    async def made_at(self) -> float:
        """Return since when there are these codes (Unix seconds): older rooms may have others.

        Raises Unavailable while it cannot be told.
        """


class Uncoded:
    """No codes: where nothing listens none is any good."""

    async def of(self, namespace: str, room: str) -> str:
        """Return no code."""
        return MASK

    async def made_at(self) -> float:
        """Return that they always were."""
        return 0.0


class Unheard:
    """Nobody listens here: a command that reads once, or rooms that report nothing."""

    def of(self, key: WorkloadKey) -> Ears:
        """Return that nothing is heard."""
        return NO_EARS

    def of_room(self, key: WorkloadKey, uid: str) -> Ears:
        """Return that nothing is heard."""
        return NO_EARS


@dataclass(slots=True)
class Lane:
    """One cluster: how to reach it, what is there, what is remembered, what is wanted.

    `slots` are how many rooms are made or deleted at once, over all workloads.
    `content_kinds` are the (apiVersion, kind) that are looked for before a namespace is deleted.
    `found` is what the last plans and looks found out. `reserved` counts host ports of rooms that
    are planned and not made yet, so that workloads planned side by side do not choose the same
    ones.
    `reports` are what rooms say of themselves.
    Rooms report to `rooms_url`, some of them with their own of `codes`.
    """

    name: str
    instance: str
    cluster: Cluster
    view: LiveView
    store: RecordStore
    schemas: Schemas
    content_kinds: Sequence[tuple[str, str]]
    kinds: tuple[str, ...] = ()
    """The kinds that a repository may make, or add to: of no other one is anything written."""
    slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(IN_FLIGHT))
    wanted: Wanted = field(default_factory=Wanted)
    found: Found = field(default_factory=Found)
    copy_from: tuple[str, ...] = ()
    failures: dict[WorkloadKey, Failures] = field(default_factory=dict)
    blamed: dict[WorkloadKey, frozenset[str]] = field(default_factory=dict)
    """The uids of rooms that are counted there and are not gone: one that says it is over, and
    then ends, is one."""
    refused: Refused = field(default_factory=Refused)
    reserved: Counter[int] = field(default_factory=Counter)
    reports: Reports = field(default_factory=Unheard)
    budgeted_at: dict[WorkloadKey, float] = field(default_factory=dict)
    unanswered_at: dict[WorkloadKey, float] = field(default_factory=dict)
    """When it was last not known, by the view's clock, whether more of it would be made."""
    uncopied_at: dict[ObjectRef, float] = field(default_factory=dict)
    """When the making of a copy was given up last, of which nobody knows what became."""
    doomed_until: dict[str, float] = field(default_factory=dict)
    """The namespaces of which a delete may be under way, and until when it may come."""
    joins: Locks[str] = field(default_factory=Locks)
    """Held by who changes such a namespace: the others that come wait for that."""
    previewed: Mapping[WorkloadKey, Scaling] = field(default_factory=dict)
    """What a head that is only looked at would leave of decisions."""
    counted: dict[WorkloadKey, tuple[Desired, Desired]] = field(default_factory=dict)
    """What Git says of workloads whose count was decided since, and the same with that count."""
    pauses: dict[WorkloadKey, Pause | None] = field(default_factory=dict)
    """Why policies stand still, of the workloads whose policy was asked here."""
    rooms_url: str = ""
    codes: Codes = field(default_factory=Uncoded)
    server_now: Callable[[], float] | None = None
    """Unix seconds by the API server's clock."""

    def desired(self, key: WorkloadKey) -> Desired | None:
        """Return what is wanted of a workload now: a count that was decided goes before Git's.

        The same value until either changes.
        """
        in_git = self.wanted.effective.get(key)
        intent = self.scaling(key).intent
        if in_git is None or intent is None or intent.value == in_git.workload.replicas:
            self.counted.pop(key, None)
            return in_git
        known = self.counted.get(key)
        if known is None or known[0] is not in_git or known[1].workload.replicas != intent.value:
            self.counted[key] = known = in_git, with_count(in_git, intent.value)
        return known[1]

    def scaling(self, key: WorkloadKey) -> Scaling:
        """Return what was decided of a workload's count."""
        return self.previewed.get(key) or self.store.state(key).scaling

    def paused(self, key: WorkloadKey) -> Condition | None:
        """Return what is told of a policy that stands still; where none was asked, as before."""
        pause = self.pause(key)
        return pauses.condition_of(pause) if pause else None

    def pause(self, key: WorkloadKey) -> Pause | None:
        """Return why a policy stands still, as it is told."""
        if key in self.pauses:
            return self.pauses[key]
        return pauses.on_record(self.store.state(key).conditions)

    def situation(self, key: WorkloadKey) -> Situation:
        """Gather what the plan of one workload depends on; no I/O."""
        record, ordinals = self.store.state(key), self.store.ordinals(key)
        desired, neighbours = self.desired(key), self.wanted.neighbours(key)
        failures = backoff.latest(self.failures.get(key), ordinals)
        return Situation(
            key=key,
            desired=desired,
            live=self.view.of(key),
            record=record,
            ordinals=ordinals,
            in_use=self._in_use(),
            confirmed=self.found.confirmed(key),
            drifted=self.found.drifted(key),
            looked=self.found.looked(key),
            create_not_before=backoff.not_before(failures, desired),
            refused=self.refused.of(key),
            complete=self.view.complete,
            rooms_complete=self.view.rooms_complete,
            nodes=self.view.nodes,
            held=self.view.ports_held(),
            addresses=self.view.addresses,
            deleting=key in self.wanted.deleting,
            version=self.view.version,
            instance=self.instance,
            holds=self.wanted.holds_of(key),
            newborn=key in self.wanted.newborn,
            ears=self.reports.of(key),
            elapsed=self.view.elapsed(),
            budgeted_at=self.budgeted_at.get(key),
            unanswered_at=self.unanswered_at.get(key),
            sharing=objects.sharing_of(key, neighbours, self.wanted.deleting),
            namespace_made=self.made_for_others(key),
            namesake=self._namesake(key),
            elsewhere=self.wanted.asked_by_others(key, (owned.ref for owned in record.inventory)),
            kinds=self.kinds,
            unserved=self.view.unserved,
        )

    def _namesake(self, key: WorkloadKey) -> Namesake | None:
        """Return the workload of another kind that had this name first, and has it still.

        One that goes comes first though both have objects: an older version began too early.
        """
        others = (each for each in other_kinds(key) if each in self.wanted.keys)
        first = next((each for each in others if self._has_objects(each)), None)
        if first is None:
            return None
        goes = first in self.wanted.deleting
        return Namesake(first, goes) if goes or not self._has_objects(key) else None

    def _has_objects(self, key: WorkloadKey) -> bool:
        """Whether a workload has more than its namespace, by its record."""
        return any(owned.ref.kind != "Namespace" for owned in self.store.state(key).inventory)

    def lets_go(self, owner: WorkloadKey, ref: ObjectRef) -> bool:
        """Whether a workload of ours asks for an object no more, and another may have it.

        One that goes keeps its own until its last room has ended, one that is suspended as long
        as it is. Of one that nobody knows nothing is known.
        """
        desired = self.desired(owner)
        if desired is None:
            return owner in self.wanted.deleting and not self.view.of(owner).pods
        return not desired.workload.suspend and all(item.ref != ref for item in desired.objects)

    def made_for_others(self, key: WorkloadKey) -> bool:
        """Whether we made a workload's namespace, on the record of another that shares it.

        Asked only until its own record knows of the namespace.
        """
        if any(owned.ref.kind == "Namespace" for owned in self.store.state(key).inventory):
            return False
        namespace = Owned(ObjectRef("v1", "Namespace", "", key.namespace), made=True)
        return any(
            namespace in self.store.state(each).inventory for each in self.wanted.neighbours(key)
        )

    def check_stands(self, plan: Plan) -> None:
        """Check that what a plan was made for is still what is wanted; no I/O.

        Asked right before each write: a newer commit may be taken in at any await. Raises Conflict.
        """
        desired = self.desired(plan.key)
        if desired is None:
            stands = plan.made_for is None and plan.key in self.wanted.deleting
        else:
            stands = plan.made_for == desired.wish
        if not stands:
            raise Conflict(f"another commit of {plan.key} was taken in meanwhile: planned anew")

    async def begin_term(self) -> None:
        """Read the records, and take nothing for answered that whoever led before sent.

        Raises what `RecordStore.load` raises: Unreadable when all this is done.
        """
        unreadable: Unreadable | None = None
        try:
            await self.store.load()
        except Unreadable as error:
            unreadable = error
        now, states = self.view.elapsed(), self.store.states()
        keys = {*states, *self.store.unreadable_workloads()}
        self.unanswered_at = dict.fromkeys(keys, now)
        self.uncopied_at = {ref: now for record in states.values() for ref in record.copied}
        self.doomed_until = dict.fromkeys((key.namespace for key in keys), now + LATE_SECONDS)
        if unreadable is not None:
            raise unreadable

    def forget(self, key: WorkloadKey) -> None:
        """Drop what is remembered of a workload that is neither wanted nor there."""
        self.found.forget(key)
        self.failures.pop(key, None)
        self.blamed.pop(key, None)
        self.refused.forget(key)
        self.budgeted_at.pop(key, None)
        if key not in self.store.states():
            self.unanswered_at.pop(key, None)  # else it is only not wanted, by a head with mistakes
        self.counted.pop(key, None)
        self.pauses.pop(key, None)

    def reserve(self, plan: Plan) -> None:
        """Keep the host ports of a plan's rooms until `release`."""
        self.reserved.update(_ports(plan))

    def release(self, plan: Plan) -> None:
        """Give them back: the view shows the rooms that were made."""
        self.reserved.subtract(_ports(plan))
        self.reserved += Counter()  # drops what is down to nothing

    def _in_use(self) -> Counter[int]:
        return self.view.port_use() + self.reserved if self.reserved else self.view.port_use()


def _ports(plan: Plan) -> list[int]:
    return [port for seat in plan.creates.seats for port in seat.host_ports] if plan.creates else []
