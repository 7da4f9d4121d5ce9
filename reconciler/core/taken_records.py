"""What a head makes of the records of workloads."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from reconciler.core import brakes, budget, carried_counts, counts_in_git
from reconciler.core.asked import Asked
from reconciler.core.carried_counts import ReadSpec
from reconciler.model.arrivals import Arrival
from reconciler.model.changes import Cause, Removal
from reconciler.model.intents import NO_SCALING
from reconciler.model.records import NO_RECORD, Accepted, HeldRemoval, LedgerEntry, StateRecord
from reconciler.model.refs import WorkloadKey
from reconciler.model.specs import Workload


@dataclass(frozen=True, slots=True)
class Gated:
    """What a head asks for, which of its removals are `held`, and the lines that were approved."""

    asked: Asked
    held: Mapping[WorkloadKey, HeldRemoval]
    approved: Collection[str]


@dataclass(frozen=True, slots=True)
class Part:
    """What a head asks for, what it takes away from one workload, and what came of that."""

    asked: Asked
    removal: Removal | None
    held: HeldRemoval | None
    approved: bool


def changed_records(
    arrival: Arrival,
    records: Mapping[WorkloadKey, StateRecord],
    gated: Gated,
    read_spec: ReadSpec,
) -> dict[WorkloadKey, StateRecord]:
    """Return the records that a head changes, as they are then."""
    found, asked = dict[WorkloadKey, StateRecord](), gated.asked
    by_key = {removal.key: removal for removal in asked.removals}
    unjudged = {*arrival.unreadable, *arrival.left}
    for key in {*records, *arrival.reading.workloads, *by_key} - unjudged:
        known, removal = records.get(key, NO_RECORD), by_key.get(key)
        before, held = in_time(known, arrival.spent_at), gated.held.get(key)
        is_free = removal is None and held is None
        if is_free and before is known and stays(arrival, key, before, asked):
            continue
        through = removal is not None and removal.line in gated.approved
        part = Part(asked, removal, held, approved=through)
        after = next_record(arrival, key, before, part, read_spec)
        if after is not known and after != known:
            found[key] = after
    return found | _left(arrival, records)


def _left(
    arrival: Arrival, records: Mapping[WorkloadKey, StateRecord]
) -> dict[WorkloadKey, StateRecord]:
    """Return the records of what is left as it is: whose number waits, and what nobody asks for."""
    found = dict[WorkloadKey, StateRecord]()
    for key in arrival.left:
        record = records[key]
        held, scaling = record.held, counts_in_git.with_waiting(arrival, key, record.scaling)
        if held is not None and held.line not in arrival.asked:
            held = brakes.unasked(held)
        if (held, scaling) != (record.held, record.scaling):
            found[key] = replace(record, held=held, scaling=scaling)
    return found


def in_time(record: StateRecord, now: float) -> StateRecord:
    """Return a record whose ledger has no future: a clock was set back."""
    ledger = budget.settled(record.ledger, now)
    return record if ledger is record.ledger else replace(record, ledger=ledger)


def stays(arrival: Arrival, key: WorkloadKey, before: StateRecord, asked: Asked) -> bool:
    """Whether nothing of a record changes of which nothing is taken away, nor held.

    It says of most records what `next_record` would find out with more work: of a thousand
    workloads a commit is about one. Where it says no, `next_record` tells.
    """
    workload, known = arrival.reading.workloads.get(key), before.accepted
    if workload is None or known is None or before.deleting or before.held or known.unreviewed:
        return False
    scaling, wanted = asked.settled[key]
    if scaling is not before.scaling or wanted != before.in_effect:
        return False
    return _is_accepted(known, workload, workload.replicas)


def next_record(
    arrival: Arrival, key: WorkloadKey, before: StateRecord, part: Part, read_spec: ReadSpec
) -> StateRecord:
    """Return the record of a workload once a head was taken in; `before` has no future."""
    removal, held = part.removal, part.held
    workload = arrival.reading.workloads.get(key)
    if workload is None:
        if key in arrival.reading.invalid:
            # The spec is back, if broken: it goes on as it was accepted.
            scaling = counts_in_git.held_broken(arrival, before, read_spec)
            still = brakes.kept(before.held, None)
            accepted = _brought_back(before, arrival.reading.commit)
            return replace(before, accepted=accepted, deleting=False, held=still, scaling=scaling)
        if removal is None:
            return before
        if held and before.accepted is None:
            return replace(before, held=None)  # an orphan stays one: every head judges it anew
        if held:
            return replace(before, held=brakes.kept(before.held, held))
        ledger = _entered(arrival, before, part, removal.rooms)
        before = brakes.released(before)
        return replace(before, deleting=True, held=None, ledger=ledger, scaling=NO_SCALING)
    if held and (before.accepted or (removal and removal.cause is Cause.ROLLOUT)):
        # Refused as a whole: a new image beside the old count is what no commit ever asked for,
        # and would replace the very rooms that the refusal protects.
        known = carried_counts.carried_beside(arrival, workload, before, read_spec)
        back_to = counts_in_git.back_to(arrival, key, before)
        return brakes.braked(known, replace(held, back_to=back_to), workload)
    count = before.in_effect if before.accepted else arrival.unrecorded.get(key, 0)
    scaling, wanted = part.asked.settled[key]
    replicas = count if held else workload.replicas
    # One that had left Git is asked for by the commit that brought it back, whatever it says.
    known_spec = None if before.deleting else before.accepted
    accepted = _accepted(known_spec, workload, replicas, arrival.reading.commit)
    accepted = replace(accepted, unreviewed=bool(held) or _still_unreviewed(arrival, key, before))
    ledger = before.ledger
    if (count if held else wanted) != count:
        ledger = _entered(arrival, before, part, count)
    kept = (accepted, scaling, ledger) == (before.accepted, before.scaling, before.ledger)
    if kept and held == before.held and not before.deleting:
        return before
    return replace(
        before, accepted=accepted, deleting=False, held=held, ledger=ledger, scaling=scaling
    )


def _still_unreviewed(arrival: Arrival, key: WorkloadKey, before: StateRecord) -> bool:
    """Whether nobody has looked at it yet, for what people changed meanwhile waits in a freeze."""
    is_unreviewed = before.accepted is not None and before.accepted.unreviewed
    return is_unreviewed and any(edit.key == key for edit in arrival.waiting)


def _accepted(known: Accepted | None, workload: Workload, replicas: int, commit: str) -> Accepted:
    """Return what is accepted: `known` itself where nothing changed.

    No record is written for a commit that is not about it.
    """
    if known is not None and _is_accepted(known, workload, replicas):
        return known
    source = workload.source
    return Accepted(workload.spec_json, replicas, commit, source.file, source.line)


def _brought_back(before: StateRecord, commit: str) -> Accepted | None:
    """Return what was accepted, of one that had left Git with the commit that brought it back.

    What it says there has a mistake. Mended to what it said before it is as accepted as ever, and
    no later head tells that it was away.
    """
    known = before.accepted
    return replace(known, commit=commit) if known and before.deleting else known


def _is_accepted(known: Accepted, workload: Workload, replicas: int) -> bool:
    """Whether a spec with that count, from that place, was let through before."""
    source = workload.source
    same = known.replicas == replicas and known.spec_json == workload.spec_json
    return same and (known.file, known.line) == (source.file, source.line)


def _entered(
    arrival: Arrival, before: StateRecord, part: Part, count: int
) -> tuple[LedgerEntry, ...]:
    """Return the ledger with the count that was left.

    An approved removal begins a new ledger: what a person let through is no part of a budget.
    """
    if part.approved:
        return ()
    entry = LedgerEntry(arrival.spent_at, count)
    return budget.enter(before.ledger, entry, window_seconds(arrival))


def window_seconds(arrival: Arrival) -> int:
    """Return how far back budgets look, in seconds: the operator's window, or Git's if longer."""
    config = arrival.reading.config
    own_seconds = config.budgets.window_seconds if config else 0
    return max(arrival.ceiling.window_seconds, own_seconds)
