"""`suspend`: nothing of a workload is written, until somebody says so or its time is over.

Once `until` has passed all is as though `suspend` were not there. Nobody need commit anything.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from reconciler.core.instants import instant_of_text, told
from reconciler.core.mistakes import Mistake, shown
from reconciler.core.pod_parts import child, text
from reconciler.model.findings import Finding, Severity
from reconciler.model.readings import Reading
from reconciler.model.refs import Json, WorkloadKey
from reconciler.model.specs import Workload

_AT = ("spec", "suspend", "until")


def check_suspend(spec: Json) -> Iterator[Mistake]:
    """Yield the mistakes of a `suspend` that its schema cannot know of."""
    until = text(child(spec, "suspend"), "until")
    if until and instant_of_text(until) is None:
        fix = "write it as 2026-12-27T06:00:00+01:00, with the zone"
        yield Mistake(_AT, f"{shown(until)} is no date and time", fix, "date")


def doubt_ended(workloads: Iterable[Workload], now: float) -> Iterator[Finding]:
    """Yield a warning for each workload whose `suspend` has ended: what it says holds no more."""
    for each in workloads:
        until = each.suspension.until
        if each.suspend and until is not None and until <= now:
            message = f"{told(until)} has passed: {each.key} is not suspended"
            fix = "take suspend out, or write a later time"
            path, warning = ".".join(_AT), Severity.WARNING
            where = each.suspension.source or each.source
            yield Finding(where.file, where.line, where.column, path, message, fix, "past", warning)


def in_time(workload: Workload, now: float) -> Workload:
    """Return a workload as it is `now` (Unix seconds): suspended no more where that has ended."""
    until = workload.suspension.until
    if workload.suspend and until is not None and until <= now:
        return replace(workload, suspend=False)
    return workload


def all_in_time(reading: Reading, now: float) -> Reading:
    """Return a reading with every workload as it is `now`."""
    changed = {
        key: settled
        for key, workload in reading.workloads.items()
        if (settled := in_time(workload, now)) is not workload
    }
    return replace(reading, workloads={**reading.workloads, **changed}) if changed else reading


def next_end(workloads: Mapping[WorkloadKey, Workload]) -> float | None:
    """Return when the first of those that are suspended is so no more, None where none ends."""
    ends = (each.suspension.until for each in workloads.values() if each.suspend)
    return min((end for end in ends if end is not None), default=None)


def reason_of(workload: Workload) -> str:
    """Say by what a workload is suspended, why, and until when."""
    told_of = workload.suspension
    why = f": {told_of.reason}" if told_of.reason else ""
    end = f", until {told(told_of.until)}" if told_of.until is not None else ""
    place = told_of.source or f"the spec at {workload.source}"  # what is on record has no line
    return f"suspended by {place}{why}{end}: nothing is written"
