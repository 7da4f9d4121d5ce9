"""The state of a fleet as values: made from records and pods alone."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace

from reconciler.cli.room_faces import NO_ROOMS, RoomsFace, face_of, surplus
from reconciler.cli.scaling_status import ScalingFace
from reconciler.core import births, kept_reports, rooms
from reconciler.core.compile import config_from_json, workload_from_json
from reconciler.core.conditions import STALLED, held_by, suspension_told
from reconciler.core.departing import workload_of
from reconciler.core.offers import print_of, prints_of
from reconciler.core.record_versions import waits_until
from reconciler.core.suspension import in_time
from reconciler.loop.lane import Lane
from reconciler.model.changes import leaves_git
from reconciler.model.holds import Hold, HoldKind
from reconciler.model.outbox import EMPTY_OUTBOX
from reconciler.model.plans import Counts
from reconciler.model.records import (
    Condition,
    HeldRemoval,
    Offer,
    OfferEnd,
    RepositoryRecord,
    StateRecord,
)
from reconciler.model.refs import WorkloadKey
from reconciler.model.rooms import Ears
from reconciler.model.specs import Config, Source, Workload
from reconciler.service.lookout import Sighting

LOST = "its record is lost"
"""A state: what was accepted of a workload cannot be told."""
HELD = "held"
GOING = "being removed"
"""A state: the spec left Git, and its deletion was let through."""


@dataclass(frozen=True, slots=True)
class WorkloadStatus:
    """One workload. `state` is a word, `holds` what is not done and why."""

    key: WorkloadKey
    counts: Counts
    state: str
    conditions: tuple[Condition, ...]
    holds: tuple[Hold, ...]
    commit: str
    source: str
    rooms: RoomsFace = NO_ROOMS
    record: StateRecord = field(default_factory=StateRecord)

    @property
    def is_unknown(self) -> bool:
        """Whether nobody knows what is wanted of it: no spec is on record of rooms that stand."""
        held = self.state == HELD and self.record.accepted is None
        return self.state == LOST or (held and bool(self.counts.ready + self.counts.unready))


@dataclass(frozen=True, slots=True)
class Status:
    """The whole fleet. `seen` is what the Lease says, None where that may not be read.

    `unreadable` says why the repository record cannot be read, "" where it can.
    """

    repository: RepositoryRecord
    seen: Sighting | None
    workloads: tuple[WorkloadStatus, ...]
    unreadable: str = ""

    def scaling(self, now: float) -> ScalingFace:
        """Return what is decided and not in Git, and how our commits fare."""
        config_json = self.repository.config_json
        config = config_from_json(config_json) if config_json else Config()
        return ScalingFace(
            tuple((each.key, each.record) for each in self.workloads),
            self.seen.outbox_at(now) if self.seen else EMPTY_OUTBOX,
            config.write_back,
            self.seen.last_looks_at(now) if self.seen else {},
        )

    @property
    def notices(self) -> tuple[Hold, ...]:
        """What is held of the newest head and of no workload that runs."""
        if self.unreadable:
            until = waits_until(self.unreadable, "every deletion waits for an approval")
            reason = f"{self.unreadable}; rooms are heard, and nothing else is written {until}"
            return (Hold(HoldKind.UNREADABLE_RECORD, None, reason),)
        return notices_of(self.repository)


def notices_of(record: RepositoryRecord) -> tuple[Hold, ...]:
    """Return what is held of the head beside running workloads."""
    return tuple(
        Hold(item.kind, None, _placed(item.where, item.reason), item.change_hash)
        for item in record.notices
    )


def _placed(where: str, reason: str) -> str:
    return f"{where}: {reason}" if where else reason


def _frozen_hash(record: RepositoryRecord, offers: Collection[Offer]) -> str:
    """Return the hash of all that waits for the end of a freeze.

    A record of an older version does not tell it: then it is that of all that waits.
    """
    if record.frozen_hash or not offers:
        return record.frozen_hash
    return max(offers, key=lambda offer: len(offer.asks)).change_hash


def status_of(
    lane: Lane, there: Iterable[WorkloadKey], seen: Sighting | None, now: float
) -> Status:
    """Return the status from records and view at `now` (Unix seconds); no I/O."""
    repository = lane.store.repository
    # While a file is unreadable, approving a deletion does nothing.
    stuck = any(notice.kind is HoldKind.UNREADABLE for notice in repository.notices)
    offers = tuple(offer for offer in repository.offers if offer.end is OfferEnd.WAITING)
    frozen = _frozen_hash(repository, offers)
    keys = sorted({*lane.store.states(), *lane.store.unreadable_workloads(), *there})
    workloads = tuple(
        _workload(lane, key, () if stuck and _goes(lane, key) else offers, frozen, now)
        for key in keys
    )
    if seen:
        workloads = tuple(replace(w, record=seen.by_the_server(w.record)) for w in workloads)
    return Status(repository, seen, workloads, lane.store.repository_problem)


def _workload(
    lane: Lane, key: WorkloadKey, offers: tuple[Offer, ...], frozen: str, now: float
) -> WorkloadStatus:
    record = lane.store.state(key)
    accepted, spec = record.accepted, None
    if accepted:
        source = Source(accepted.file, accepted.line)
        spec = in_time(workload_from_json(accepted.spec_json, source), now)
    pods = lane.view.of(key).pods
    kept = {pod.uid: kept_reports.heard_of(pod.kept_report) for pod in pods}
    ears = Ears({uid: heard for uid, heard in kept.items() if heard is not None})
    there = rooms.sort_rooms(pods, workload_of(lane.situation(key)), ears)
    counts = rooms.count(there, record.in_effect)
    outdated = {pod.uid for pod in there.old_ready} if spec else ()
    unreadable = lane.store.unreadable(key)
    holds = lane.store.holds(key) if unreadable else _holds(key, record, spec, offers, frozen)
    above = surplus(there, record.in_effect) if spec else ()
    face = face_of(
        pods,
        replace(there.workload, replicas=record.in_effect),
        holds,
        deleting=record.deleting,
        outdated=outdated,
        above=above,
        now=now,
    )
    return WorkloadStatus(
        key=key,
        counts=counts,
        state=HELD if unreadable else _state(record, spec, counts, known=_is_taken_in(lane, key)),
        conditions=record.conditions,
        holds=holds,
        commit=accepted.commit if accepted else "",
        source=f"{accepted.file}:{accepted.line}" if accepted else "",
        rooms=face,
        record=record,
    )


def _goes(lane: Lane, key: WorkloadKey) -> bool:
    held = lane.store.state(key).held
    return held is not None and bool(held.line) and leaves_git(held.line)


def _is_taken_in(lane: Lane, key: WorkloadKey) -> bool:
    """Whether a workload was taken in once, as far as anybody can tell."""
    known = lane.store.repository.known
    if known is None:  # the record was lost since, or is too old to tell
        return bool(lane.store.repository.commit)
    return births.digest_of(lane.name, key) in known


def _state(record: StateRecord, spec: Workload | None, counts: Counts, *, known: bool) -> str:
    """Return what a person wants to know first, in a word or two."""
    if record.deleting:
        return GOING
    if spec is None:
        if record.held:
            return HELD
        return LOST if known else "not in Git"
    if spec.suspend:
        return "suspended"
    met = {condition.type: condition.status for condition in record.conditions}
    if counts.ready == counts.desired and not counts.old and not counts.unready:
        return "ready, stalled" if met.get(STALLED) else "ready"
    if met.get(STALLED):
        return "stalled"
    return "rolling out" if counts.old else "reconciling"


def _told(record: StateRecord, held: HeldRemoval) -> str:
    """Return why a removal is held: its policy may have added rooms since a budget counted them."""
    more = record.in_effect - held.count
    if not held.count or more <= 0:
        return held.told
    return f"{held.told}; by now {record.in_effect} are wanted, and {more} more would go"


def _hash(held: HeldRemoval, offers: Iterable[Offer]) -> str:
    """Return the hash that lets a removal through and least beside it, the newest of such."""
    line = print_of(held.line)
    known = [offer for offer in offers if line in prints_of(offer.asks)]
    if not known or held.kind is HoldKind.UNREADABLE:
        return ""
    return min(reversed(known), key=lambda offer: len(offer.asks)).change_hash


def _holds(
    key: WorkloadKey,
    record: StateRecord,
    spec: Workload | None,
    offers: tuple[Offer, ...],
    frozen: str,
) -> tuple[Hold, ...]:
    """Return what is held: removals by their record, all else by its condition.

    `frozen` is the hash of what waits for the end of a freeze.
    """
    found = []
    if spec and spec.suspend and not record.deleting:
        found.append(Hold(HoldKind.SUSPENDED, key, suspension_told(spec, record.conditions)))
    held = record.held
    if held and held.line:
        # Of a freeze one hash lets all through that waits for its end.
        one = frozen if held.kind is HoldKind.FROZEN else ""
        found.append(Hold(held.kind, key, _told(record, held), one or _hash(held, offers)))
    seen = {hold.kind for hold in found}
    more = [hold for hold in held_by(key, record.conditions) if hold.kind not in seen]
    found += [
        replace(hold, change_hash=frozen) if hold.kind is HoldKind.FROZEN else hold for hold in more
    ]
    return tuple(found)
