"""What a head led to goes on record, before anything acts on it.

Judging takes a while, and the records may be read again meanwhile: another process led, and
judged a newer head. What was judged on records that are no more is not written over them.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

from reconciler.core import brakes
from reconciler.core.carried_counts import carried_beside
from reconciler.core.compile import workload_from_json
from reconciler.core.counts_in_git import settled, with_waiting
from reconciler.core.intake import Intake
from reconciler.loop.store import RecordStore
from reconciler.model.arrivals import Arrival
from reconciler.model.errors import Conflict
from reconciler.model.intents import Scaling
from reconciler.model.records import NO_RECORD, RepositoryRecord, StateRecord
from reconciler.model.refs import WorkloadKey

WRITES = 50
"""So many records are written at once: starting more is too long a stretch."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a head led to. `repository` and `records` are the records that it was judged on.

    `used` are the names of the approvals that are used up, `arrival` is the head itself.
    """

    result: Intake
    used: frozenset[str]
    repository: RepositoryRecord
    records: Mapping[WorkloadKey, StateRecord]
    arrival: Arrival


async def keep_records(store: RecordStore, verdict: Verdict) -> None:
    """Put a verdict on record.

    Raises Conflict where a record is another than it was judged on, and the cluster's errors.
    """
    introduced = _introduced(verdict)
    await store.change_repository(partial(_instead, verdict.repository, introduced))
    await _keep_states(store, verdict)
    await store.change_repository(partial(_instead, introduced, verdict.result.repository))


def _instead(
    before: RepositoryRecord, after: RepositoryRecord, newest: RepositoryRecord
) -> RepositoryRecord:
    _check_same(newest, before, "the repository record")
    return after


def _introduced(verdict: Verdict) -> RepositoryRecord:
    """Return the record with new workloads known: before that no name of theirs may be made.

    What else was judged of this head is not in effect before the state records are written.
    """
    before, after = verdict.repository, verdict.result.repository
    return replace(before, known=after.known, newborn=before.newborn | after.newborn)


async def _keep_states(store: RecordStore, verdict: Verdict) -> None:
    failures: list[BaseException] = []
    # Sorted: they came out of sets, whose order is another one in every process.
    items = sorted(verdict.result.records.items(), key=lambda item: item[0])
    for start in range(0, len(items), WRITES):
        changes = (
            store.change_state(key, partial(_judged, verdict, key, record))
            for key, record in items[start : start + WRITES]
        )
        told = await asyncio.gather(*changes, return_exceptions=True)
        failures += [item for item in told if isinstance(item, BaseException)]
    for failure in failures:
        raise failure


def _judged(
    verdict: Verdict, key: WorkloadKey, record: StateRecord, newest: StateRecord
) -> StateRecord:
    """Return `newest` with what the repository lane decided in `record`.

    What the cluster lane writes in the same records is left alone; where it decided a count
    meanwhile, the head is laid over that. Raises Conflict.
    """
    before = verdict.records.get(key, NO_RECORD)
    _check_same(_decided(newest), _decided(before), "a state record")
    return replace(
        newest,
        accepted=record.accepted,
        deleting=record.deleting,
        held=record.held,
        ledger=record.ledger,
        scaling=_scaling(verdict.arrival, key, record, newest),
    )


def _scaling(
    arrival: Arrival, key: WorkloadKey, record: StateRecord, newest: StateRecord
) -> Scaling:
    workload = arrival.reading.workloads.get(key)
    if record.deleting or (newest.deleting and workload is None):
        return record.scaling  # it is to go, or comes back broken: nothing was decided meanwhile
    if key in arrival.left:
        return with_waiting(arrival, key, newest.scaling)
    if workload is None:
        return newest.scaling  # its deletion is held, or its spec is broken: what acts goes on
    if record.held:
        # Of a commit that is refused nothing acts, and what was decided before stays.
        newest = brakes.released(newest)
        return carried_beside(arrival, workload, newest, workload_from_json).scaling
    return settled(arrival, workload, newest)[0]


def _decided(record: StateRecord) -> tuple[object, ...]:
    return record.accepted, record.deleting, record.held, record.ledger


def _check_same(newest: object, before: object, what: str) -> None:
    if newest != before:
        raise Conflict(f"{what} was changed meanwhile: judge again on what it says")
