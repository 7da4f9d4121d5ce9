"""A plan: what one tick would do to one workload, each step with its reason."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from reconciler.model.changes import Cause
from reconciler.model.copies import NOT_LOOKED, Copies, Looked
from reconciler.model.holds import Hold
from reconciler.model.live import LivePod, LiveWorkload, Nodes
from reconciler.model.neighbours import Namesake, Sharing
from reconciler.model.plan_objects import ApplyObject, Confirmed, DeleteObject, DesiredObject
from reconciler.model.records import Applied, Failure, Ordinals, Owned, StateRecord
from reconciler.model.refs import Json, ObjectRef, WorkloadKey
from reconciler.model.refusals import Refusals
from reconciler.model.rooms import NO_EARS, Ears, Mark, Why
from reconciler.model.specs import Workload

Wish = tuple[str, int]
"""A spec's canonical JSON and its effective count: what a plan is made for."""


@dataclass(frozen=True, slots=True)
class Desired:
    """What is wanted of one workload now: its effective spec and its manifests, counts stamped.

    `room` is the pod's JSON, `marks` the labels and annotations that we own on it, and `stamps`
    their digest, as `LivePod.stamps` has it.
    """

    workload: Workload
    objects: tuple[DesiredObject, ...]
    room: str
    marks: Json
    stamps: str

    @property
    def wish(self) -> Wish:
        """What plans for it are made for."""
        return self.workload.spec_json, self.workload.replicas


@dataclass(frozen=True, slots=True)
class Situation:
    """All that the plan of one workload depends on, at one instant.

    `desired` is None when the workload is to go (`deleting`) or is not known any more. `in_use`
    counts the users of each host port in the cluster. `confirmed` are the (digest, resourceVersion)
    pairs that were found equal, `drifted` those that differ. `create_not_before` is the back-off of
    a revision whose rooms fail, in Unix seconds. `complete` says whether every kind was read and is
    followed, `rooms_complete` whether pods are. `held` are the users of host ports by their node,
    "" for pods without one. `version` is the newest resourceVersion of a pod that the view has
    seen. `newborn` is whether no name was ever given before.
    """

    key: WorkloadKey
    desired: Desired | None
    live: LiveWorkload
    record: StateRecord
    ordinals: Ordinals | None
    in_use: Counter[int]
    confirmed: frozenset[Confirmed]
    create_not_before: float
    complete: bool
    rooms_complete: bool
    nodes: Nodes
    deleting: bool
    version: int
    instance: str
    holds: tuple[Hold, ...] = ()
    newborn: bool = False
    held: Mapping[str, Counter[int]] = field(default_factory=dict)
    addresses: Mapping[str, str] = field(default_factory=dict)
    """The public addresses of the nodes."""
    ears: Ears = NO_EARS
    elapsed: float = 0.0
    """The time of the view's clock, which never jumps (seconds)."""
    budgeted_at: float | None = None
    """When the count of its disruption budget was written last, by that clock."""
    unanswered_at: float | None = None
    """When a request of it was given up last, of which nobody knows what became, by that clock."""
    sharing: Sharing = Sharing.ALONE
    namespace_made: bool = False
    """Whether we made its namespace for another workload that is in it too."""
    namesake: Namesake | None = None
    elsewhere: frozenset[ObjectRef] = frozenset()
    """Additional objects of its inventory that another workload asks for now."""
    drifted: frozenset[Confirmed] = frozenset()
    looked: Looked = NOT_LOOKED
    refused: Mapping[str, Refusals] = field(default_factory=dict)
    """What the cluster refused of it, by what that is called."""
    kinds: tuple[str, ...] = ()
    """The kinds that a repository may make, which are followed, or add to."""
    unserved: tuple[str, ...] = ()
    """Those of the kinds to follow that the server does not have."""

    @property
    def gone(self) -> bool:
        """Whether the workload is neither wanted, nor going, nor there."""
        # A shared namespace names no workload: it is there for others.
        there = self.live.pods or any(item.workload for item in self.live.objects)
        return self.desired is None and not self.deleting and not there


@dataclass(frozen=True, slots=True)
class RoomSeat:
    """One room to be created: its n, and a host port for each containerPort of the template."""

    ordinal: int
    host_ports: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class CreateRooms:
    """POST these rooms, after the ordinal record was raised to `ordinals`."""

    seats: tuple[RoomSeat, ...]
    ordinals: Ordinals
    reason: str


@dataclass(frozen=True, slots=True)
class DeleteRoom:
    """Delete one room, exactly as it was seen."""

    pod: LivePod
    cause: Cause
    reason: str
    blames_revision: bool = False
    """Whether it failed by itself: its revision backs off."""

    @property
    def what(self) -> str:
        """How its outcome names it."""
        return f"room {self.pod.name} ({self.cause})"


@dataclass(frozen=True, slots=True)
class PatchRoom:
    """Set labels and annotations of ours again on one room, exactly as it was seen."""

    pod: LivePod
    marks: Json
    reason: str


@dataclass(frozen=True, slots=True)
class MarkRoom:
    """Write the coarse state of one room, which fails if its label is not `pod.mark` any more.

    `mark` and `leaving` are what stands afterwards; `guard` are the two disruption annotations
    (None: as they are). Draining a room and taking that back are both this.
    """

    pod: LivePod
    mark: Mark
    leaving: Why
    reason: str
    guard: tuple[str, str] | None = None
    address: str = ""
    """Its public address, which is written beside; "" as it stands."""
    blames_revision: bool = False
    retold: bool = False
    """Whether the time when it was told to leave is written anew."""

    @property
    def verb(self) -> str:
        """What it does: drain, keep (for a post-mortem), tell (to leave), undrain or mark."""
        if self.mark is not self.pod.mark and self.mark in (Mark.DRAINING, Mark.FAILED):
            return "drain" if self.mark is Mark.DRAINING else "keep"
        if self.leaving is not self.pod.leaving:
            return "tell" if self.leaving else "undrain"
        return "mark"


@dataclass(frozen=True, slots=True)
class Counts:
    """Rooms of one workload by what they are; `desired` is the effective count.

    `ready`, `unready` and `old` count members: not who leaves, has failed (`ended`) or is kept
    for a post-mortem. `busy` serve players, leaving ones too; `unheard` should report and do not.
    """

    desired: int = 0
    ready: int = 0
    unready: int = 0
    old: int = 0
    ended: int = 0
    terminating: int = 0
    busy: int = 0
    leaving: int = 0
    kept: int = 0
    unheard: int = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """One workload's next step.

    Stages in order: objects, rooms created, marked, deleted, patched, then what is pruned.

    `inventory` is what the inventory must hold before anything is applied (a superset of the
    old one); `forget` says that everything is gone and the records may go too. `wake_in_seconds`
    is when to look again without an event, None when events suffice. `confirmed` are the pairs
    that are equal now: given to the next plan, they need no comparing. `made_for` is what was
    wanted when it was made, None for a workload that goes: it is carried out for nothing else.
    """

    key: WorkloadKey
    counts: Counts
    inventory: tuple[Owned, ...] = ()
    objects: tuple[ApplyObject, ...] = ()
    waiting: tuple[ApplyObject, ...] = ()
    """What the cluster refused, and is asked for later."""
    creates: CreateRooms | None = None
    strike: Ordinals | None = None
    """The ordinal record without names that are done or no longer wanted."""
    removals: tuple[DeleteRoom, ...] = ()
    marks: tuple[MarkRoom, ...] = ()
    patches: tuple[PatchRoom, ...] = ()
    prunes: tuple[DeleteObject, ...] = ()
    forget: bool = False
    holds: tuple[Hold, ...] = ()
    wake_in_seconds: float | None = None
    confirmed: frozenset[Confirmed] = frozenset()
    failures: tuple[Failure, ...] | None = None
    """What the record must say of failures before one is acted upon; None: as it does."""
    made_for: Wish | None = None
    copies: Copies | None = None
    look_in_seconds: float | None = None
    """When to look at sources of copies again at the latest; other plans may come before."""
    suspects: tuple[ApplyObject, ...] = ()
    applied: tuple[Applied, ...] | None = None
    """Of `core/drift.py`: what a dry run is asked about; what the record must say."""

    @property
    def idle(self) -> bool:
        """Whether there is nothing to write but perhaps a condition."""
        return not (
            self.objects
            or self.creates
            or self.strike
            or self.removals
            or self.marks
            or self.failures is not None
            or self.patches
            or self.prunes
            or self.forget
        )

    @property
    def done(self) -> bool:
        """Whether nothing is to be written, now or when it is asked for again."""
        return self.idle and not self.waiting

    @property
    def due(self) -> bool:
        """Whether anything is to be carried out: something to write, to ask about, or to record."""
        asks = self.copies is not None or self.suspects
        return not self.idle or bool(asks) or self.applied is not None
