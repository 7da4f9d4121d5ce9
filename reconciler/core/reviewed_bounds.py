"""Counts inside bounds that people reviewed: nobody's mistake to be refused.

The policy itself may go there at any moment, and a revert of what it did must act at once (ADR 16).
"""

from reconciler.core.carried_counts import ReadSpec
from reconciler.core.suspension import in_time
from reconciler.model.arrivals import Arrival
from reconciler.model.changes import Cause, Removal
from reconciler.model.records import StateRecord
from reconciler.model.scaling import Autoscaling
from reconciler.model.specs import Source, Workload


def is_reviewed(
    arrival: Arrival, removal: Removal, record: StateRecord | None, read_spec: ReadSpec
) -> bool:
    """Whether a smaller count lies inside the bounds of its policy, those before and those now."""
    workload = arrival.reading.workloads.get(removal.key)
    if removal.cause is not Cause.SCALE_IN or workload is None or record is None:
        return False
    if record.accepted is None or record.accepted.unreviewed:
        return False
    before = read_spec(record.accepted.spec_json, Source(record.accepted.file, 1))
    before = in_time(before, arrival.dated)
    return all(_allows(each, removal.to) for each in (before, workload))


def _allows(workload: Workload, count: int) -> bool:
    autoscaling = workload.autoscaling
    if autoscaling is None or not workload.scales:
        return False
    return _holds(autoscaling, count)


def is_shut_out(count: int, acting: Workload, head: Workload) -> bool:
    """Whether a count inside the bounds that act lies outside those that a head would bring.

    Outside both it is a person's, which stands as it is while it holds.
    """
    here, there = acting.autoscaling, head.autoscaling
    if here is None or there is None:
        return False
    return _holds(here, count) and not _holds(there, count)


def _holds(autoscaling: Autoscaling, count: int) -> bool:
    return autoscaling.bounds.clamp(count) == count
