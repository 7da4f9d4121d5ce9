"""What a head asks for beside what is on record, before anything of it is held."""

from collections.abc import Mapping
from dataclasses import dataclass

from reconciler.core import counts_in_git
from reconciler.core.carried_counts import ReadSpec
from reconciler.core.counts_in_git import Settled
from reconciler.core.reviewed_bounds import is_reviewed
from reconciler.model.arrivals import Arrival
from reconciler.model.changes import Cause, Removal
from reconciler.model.records import StateRecord
from reconciler.model.refs import WorkloadKey


@dataclass(frozen=True, slots=True)
class Asked:
    """What a head asks for.

    `settled` are the counts that it leads to, `removals` what it takes away from what was accepted,
    or lives without a record.
    """

    settled: Settled
    removals: tuple[Removal, ...]


def asked_by(
    arrival: Arrival, records: Mapping[WorkloadKey, StateRecord], read_spec: ReadSpec
) -> Asked:
    """Return what a head asks for; of one without a Config, which is held as a whole, nothing."""
    if arrival.reading.config is None:
        return Asked({}, ())
    settled = counts_in_git.all_settled(arrival, records)
    wanted = {key: count for key, (_, count) in settled.items()}
    return Asked(settled, _removals(arrival, records, wanted, read_spec))


def removals_between(
    base: Mapping[WorkloadKey, int],
    head: Mapping[WorkloadKey, int],
    present: frozenset[WorkloadKey],
    cluster: str,
) -> tuple[Removal, ...]:
    """Return what goes: base and head are counts by workload; `present` keys have not left Git.

    A document with a Finding is present without a count: it asks for nothing.
    """
    found = []
    for key, count in base.items():
        if key in head and head[key] < count:
            found.append(Removal(cluster, key, Cause.SCALE_IN, head[key], count - head[key]))
        elif key not in head and key not in present:
            found.append(Removal(cluster, key, Cause.LEFT_GIT, 0, count))
    return tuple(sorted(found))


def _removals(
    arrival: Arrival,
    records: Mapping[WorkloadKey, StateRecord],
    wanted: Mapping[WorkloadKey, int],
    read_spec: ReadSpec,
) -> tuple[Removal, ...]:
    wanted = {**wanted, **_unreviewed(arrival, records, wanted)}
    # Objects alone, without a record and without rooms, are given: no head asks anything of them.
    counts = {key: rooms for key, rooms in arrival.unrecorded.items() if rooms} | {
        key: record.in_effect
        for key, record in records.items()
        if record.accepted and not record.deleting
    }
    reading, unjudged = arrival.reading, {*arrival.unreadable, *arrival.left}
    present = {*reading.workloads, *reading.invalid, *unjudged}
    between = removals_between(counts, wanted, frozenset(present), arrival.cluster)
    replaced = [
        Removal(arrival.cluster, key, Cause.ROLLOUT, _approved(arrival, key, wanted), counts[key])
        for key in arrival.outdated & wanted.keys()
    ]
    others = (
        removal
        for removal in between
        if removal.key not in arrival.outdated
        and not is_reviewed(arrival, removal, records.get(removal.key), read_spec)
    )
    return tuple(sorted((*others, *replaced)))


def _approved(arrival: Arrival, key: WorkloadKey, wanted: Mapping[WorkloadKey, int]) -> int:
    """Return the number in the line that lets a replacement through.

    Of a spec without one it is what lives that goes on. That changes with each room that ends, and
    the line may not: there it is the least that the spec allows.
    """
    autoscaling = arrival.reading.workloads[key].autoscaling
    if key in arrival.reading.unnumbered and autoscaling is not None:
        return autoscaling.bounds.minimum
    return wanted[key]


def _unreviewed(
    arrival: Arrival, records: Mapping[WorkloadKey, StateRecord], wanted: Mapping[WorkloadKey, int]
) -> dict[WorkloadKey, int]:
    """Return what a head itself says of counts that nobody reviewed, where that is less.

    What a policy decided over it takes nothing away, and so would let the head's own number pass.
    """
    numbered = wanted.keys() - arrival.reading.unnumbered
    return {
        key: min(wanted[key], arrival.reading.workloads[key].replicas)
        for key, record in records.items()
        if record.accepted and record.accepted.unreviewed and key in numbered
    }
