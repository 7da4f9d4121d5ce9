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
    carried_counts,
    change,
    counts_in_git,
    gates,
    suspension,
)
from reconciler.core.asked import Asked
from reconciler.core.carried_counts import ReadSpec
from reconciler.core.notices import notices_of
from reconciler.model.arrivals import Arrival
from reconciler.model.changes import Cause, Removal
from reconciler.model.holds import Hold, HoldKind
from reconciler.model.intents import NO_SCALING
from reconciler.model.records import (
    Accepted,
    Departed,
    HeldRemoval,
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
    by_key = {removal.key: removal for removal in removals}
    changed = {}
    approved = {entry.line for entry in repository.approved if entry.until > arrival.now}
    for key in {*records, *arrival.reading.workloads, *by_key} - arrival.unreadable.keys():
        before = records.get(key, StateRecord())
        removal = by_key.get(key)
        through = removal is not None and removal.line in approved
        part = _Part(asked, removal, blocked.get(key), approved=through)
        after = _next_record(arrival, key, _in_time(before, arrival.spent_at), part, read_spec)
        if after is not before and after != before:
            changed[key] = after
    asked_lines = {**{removal.line: "" for removal in removals}, **arrival.asked}
    change_hash = change.hash_of_lines(asked_lines)
    holds = tuple(gates.holds_of(arrival.reading, blocked, change_hash))
    holds += tuple(gates.frozen_holds(arrival, change_hash))
    in_step = repository.in_step if holds or arrival.unreadable else arrival.reading.commit
    following = replace(_next_repository(arrival, repository, asked_lines), in_step=in_step)
    held_lines = {held.line for held in blocked.values()}
    held_lines |= {edit.line for edit in arrival.waiting}
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
    noticed = replace(repository, notices=notices_of(everything, known))
    entered = births.enter(noticed, arrival, records, changed)
    newborn = births.newborn_among(entered, arrival.cluster, effective)
    return Intake(entered, changed, effective, deleting, everything, newborn)


def unreadable_record(key: WorkloadKey, reason: str) -> Hold:
    """Say that nothing of a workload is done, for a record of it cannot be read."""
    return Hold(
        HoldKind.UNREADABLE_RECORD,
        key,
        f"{reason}; nothing of {key} is written or deleted until somebody restores the record, "
        "or deletes it: then what takes away from what lives waits for an approval",
    )


@dataclass(frozen=True, slots=True)
class _Part:
    """What a head asks for, what it takes away from one workload, and what came of that."""

    asked: Asked
    removal: Removal | None
    held: HeldRemoval | None
    approved: bool


def _in_time(record: StateRecord, now: float) -> StateRecord:
    """Return a record whose ledger has no future: a clock was set back."""
    ledger = budget.settled(record.ledger, now)
    return record if ledger is record.ledger else replace(record, ledger=ledger)


def _next_record(
    arrival: Arrival,
    key: WorkloadKey,
    before: StateRecord,
    part: _Part,
    read_spec: ReadSpec,
) -> StateRecord:
    removal, held = part.removal, part.held
    workload = arrival.reading.workloads.get(key)
    if workload is None:
        if key in arrival.reading.invalid:
            # The spec is back, if broken: it goes on as it was accepted.
            scaling = counts_in_git.held_broken(arrival, before, read_spec)
            return replace(before, deleting=False, held=None, scaling=scaling)
        if removal is None:
            return before
        if held and before.accepted is None:
            return replace(before, held=None)  # an orphan stays one: every head judges it anew
        if held:
            return replace(before, held=held)
        ledger = _entered(arrival, before, part, removal.rooms)
        return replace(before, deleting=True, held=None, ledger=ledger, scaling=NO_SCALING)
    if held and (before.accepted or (removal and removal.cause is Cause.ROLLOUT)):
        # Refused as a whole: a new image beside the old count is what no commit ever asked for,
        # and would replace the very rooms that the refusal protects.
        known = carried_counts.carried_beside(arrival, workload, before, read_spec)
        if workload.suspend and known.accepted:
            # That nothing is done takes nothing away.
            spec_json = suspension.stopped_with(known.accepted.spec_json, workload.spec_json)
            known = replace(known, accepted=replace(known.accepted, spec_json=spec_json))
        back_to = counts_in_git.back_to(arrival, key, before)
        return replace(known, held=replace(held, back_to=back_to))
    count = before.in_effect if before.accepted else arrival.unrecorded.get(key, 0)
    scaling, wanted = part.asked.settled[key]
    replicas = count if held else workload.replicas
    accepted = _accepted(before.accepted, workload, replicas, arrival.reading.commit)
    ledger = before.ledger
    if (count if held else wanted) != count:
        ledger = _entered(arrival, before, part, count)
    kept = (accepted, scaling, ledger) == (before.accepted, before.scaling, before.ledger)
    if kept and held == before.held and not before.deleting:
        return before  # of a thousand workloads a commit is about one
    return replace(
        before, accepted=accepted, deleting=False, held=held, ledger=ledger, scaling=scaling
    )


def _accepted(known: Accepted | None, workload: Workload, replicas: int, commit: str) -> Accepted:
    """Return what is accepted: `known` itself where nothing changed.

    No record is written for a commit that is not about it.
    """
    before, source = known.commit if known else "", workload.source
    accepted = Accepted(workload.spec_json, replicas, before, source.file, source.line)
    return known if accepted == known else replace(accepted, commit=commit)


def _entered(
    arrival: Arrival, before: StateRecord, part: _Part, count: int
) -> tuple[LedgerEntry, ...]:
    """Return the ledger with the count that was left.

    An approved removal begins a new ledger: what a person let through is no part of a budget.
    """
    if part.approved:
        return ()
    entry = LedgerEntry(arrival.spent_at, count)
    return budget.enter(before.ledger, entry, _window_seconds(arrival))


def _window_seconds(arrival: Arrival) -> int:
    config = arrival.reading.config
    own_seconds = config.budgets.window_seconds if config else 0
    return max(arrival.ceiling.window_seconds, own_seconds)


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
    since = now - _window_seconds(arrival)
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
