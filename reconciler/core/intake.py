"""Take a head in: which of its wishes take effect, which are held, and what must be approved.

The only place where Git's word becomes the effective state. Additions and changes act;
removals pass the gates. A document with a Finding holds its own workload, nothing else.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from reconciler.core import (
    approval,
    births,
    budget,
    change,
    gates,
    suspension,
)
from reconciler.core.asked import Asked
from reconciler.core.carried_counts import ReadSpec
from reconciler.core.notices import notices_of
from reconciler.core.record_versions import waits_until
from reconciler.core.taken_records import Gated, changed_records, window_seconds
from reconciler.model.arrivals import Arrival
from reconciler.model.changes import Cause, Removal
from reconciler.model.holds import Hold, HoldKind
from reconciler.model.records import (
    Accepted,
    Departed,
    LedgerEntry,
    RepositoryRecord,
    StateRecord,
)
from reconciler.model.refs import WorkloadKey
from reconciler.model.specs import Source, Workload


@dataclass(frozen=True, slots=True)
class Intake:
    """What a head led to. `records` holds the state records that changed, and no others."""

    repository: RepositoryRecord
    records: Mapping[WorkloadKey, StateRecord]
    effective: Mapping[WorkloadKey, Workload]
    deleting: frozenset[WorkloadKey]
    holds: tuple[Hold, ...]
    newborn: frozenset[WorkloadKey]


def take_in(
    arrival: Arrival,
    repository: RepositoryRecord,
    records: Mapping[WorkloadKey, StateRecord],
    read_spec: ReadSpec,
    asked: Asked,
) -> Intake:
    """Judge `arrival` against what is on record and return what is effective now.

    `asked` is what `asked_by` returned for this very head and these records.
    """
    whole = gates.commit_held(arrival.reading)
    if whole is not None:
        each = (replace(whole, key=key) for key in records)
        return _intake(arrival, repository, records, {}, (whole, *each), read_spec)
    removals = asked.removals
    blocked = gates.blocked(arrival, repository, records, removals)
    approved = {entry.line for entry in repository.approved if entry.until > arrival.now}
    gated = Gated(asked, blocked, approved)
    changed = changed_records(arrival, records, gated, read_spec)
    asked_lines = {**{removal.line: "" for removal in removals}, **arrival.asked}
    hashes = change.hashes_of(asked_lines, arrival.frozen)
    holds = tuple(gates.holds_of(arrival.reading, blocked, hashes))
    frozen = tuple(gates.frozen_holds(arrival, hashes))
    holds += frozen
    in_step = repository.in_step if holds or arrival.unreadable else arrival.reading.commit
    following = replace(
        _next_repository(arrival, repository, asked_lines),
        in_step=in_step,
        frozen_hash=frozen[0].change_hash if frozen else "",
    )
    held_lines = {held.line for held in blocked.values()}
    held_lines |= {edit.line for edit in arrival.waiting}
    if frozen:  # what an edit takes away waits with it, though the head is as if it did not ask
        held_lines |= arrival.frozen.keys() - approved
    following = replace(
        following, offers=approval.close(repository.offers, asked_lines, held_lines)
    )
    if held_lines:
        holds = (*holds, *arrival.doubts)
    free = (item for item in removals if item.key not in blocked and item.line not in approved)
    following = replace(following, departed=_departed(arrival, repository, free))
    return _intake(arrival, following, records, changed, holds, read_spec)


def _intake(
    arrival: Arrival,
    repository: RepositoryRecord,
    records: Mapping[WorkloadKey, StateRecord],
    changed: Mapping[WorkloadKey, StateRecord],
    holds: tuple[Hold, ...],
    read_spec: ReadSpec,
) -> Intake:
    known = {**records, **changed}
    effective = {
        key: _effective(arrival, key, record.accepted, read_spec)
        for key, record in known.items()
        if record.accepted and not record.deleting
    }
    suspended = tuple(
        Hold(HoldKind.SUSPENDED, key, suspension.reason_of(workload))
        for key, workload in effective.items()
        if workload.suspend
    )
    # A deletion that was let through pauses too while the head is not a complete, valid read.
    complete = arrival.reading.config is not None and not arrival.reading.unreadable
    deleting = frozenset(key for key, record in known.items() if record.deleting and complete)
    unreadable = (unreadable_record(key, why) for key, why in arrival.unreadable.items())
    found = (*holds, *suspended, *unreadable, *arrival.remarks)
    everything = tuple(sorted(found, key=lambda hold: (str(hold.key), hold.kind)))
    noticed = replace(repository, notices=notices_of(arrival.reading.commit, everything, known))
    entered = births.enter(noticed, arrival, records, changed)
    newborn = births.newborn_among(entered, arrival.cluster, effective)
    return Intake(entered, changed, effective, deleting, everything, newborn)


def unreadable_record(key: WorkloadKey, reason: str) -> Hold:
    """Say that nothing of a workload is done, for a record of it cannot be read."""
    until = waits_until(reason, "what takes away from what lives waits for an approval")
    said = f"{reason}; nothing of {key} is written or deleted {until}"
    return Hold(HoldKind.UNREADABLE_RECORD, key, said)


def _effective(
    arrival: Arrival, key: WorkloadKey, accepted: Accepted, read_spec: ReadSpec
) -> Workload:
    reading = arrival.reading
    workload = reading.workloads.get(key)
    if workload is None or workload.spec_json != accepted.spec_json or reading.config is None:
        workload = read_spec(accepted.spec_json, Source(accepted.file, accepted.line))
        workload = suspension.in_time(workload, arrival.dated)
    if workload.replicas == accepted.replicas:
        return workload
    return replace(workload, replicas=accepted.replicas)


def _departed(
    arrival: Arrival, repository: RepositoryRecord, removals: Iterable[Removal]
) -> tuple[Departed, ...]:
    """Return what left Git lately; budgets count it when its own record is gone."""
    now = arrival.spent_at
    since = now - window_seconds(arrival)
    return (
        *(_left(item, now) for item in repository.departed if item.entry.at > since),
        *(
            Departed(item.key, LedgerEntry(now, item.rooms))
            for item in removals
            if item.cause is Cause.LEFT_GIT
        ),
    )


def _left(item: Departed, now: float) -> Departed:
    (entry,) = budget.settled((item.entry,), now)
    return replace(item, entry=entry)


def _next_repository(
    arrival: Arrival,
    repository: RepositoryRecord,
    lines: Collection[str],
) -> RepositoryRecord:
    """Remember the head. An approval lapses when its line is asked for no more, or expires."""
    config = arrival.reading.config
    return replace(
        repository,
        repository=arrival.repository,
        branch=arrival.branch,
        path=arrival.path,
        commit=arrival.reading.commit,
        counts_commit=arrival.reading.counts_commit,
        config_json=config.spec_json if config else repository.config_json,
        verified=arrival.reading.vouched.by,
        freezes=arrival.freezes,
        approved=tuple(
            entry
            for entry in repository.approved
            if entry.line in lines and entry.until > arrival.now
        ),
    )
