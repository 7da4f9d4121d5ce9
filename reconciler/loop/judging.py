"""A head judged: what it asks for, and, once approvals are known, what of it acts.

Both are pure. Of a head with many workloads each takes longer than a serving event loop may be
held up, so it is done in a thread: all that it looks at is immutable.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import ParamSpec, TypeVar

from reconciler.core import (
    approval,
    brakes,
    counts_in_git,
    freezing,
    gates,
    intake,
    suspension,
    withholding,
)
from reconciler.core.approval import Ask
from reconciler.core.asked import Asked, asked_by
from reconciler.core.calendar import Zones
from reconciler.core.compile import workload_from_json
from reconciler.core.waits import soonest
from reconciler.model.arrivals import Arrival
from reconciler.model.freezes import Edit
from reconciler.model.records import RepositoryRecord, StateRecord
from reconciler.model.refs import WorkloadKey

BIG_HEAD_WORKLOADS = 100
"""From so many on a head is judged in a thread."""

_P = ParamSpec("_P")
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Scene:
    """A head beside what is on record, all at one instant; `zones` are those of its dates."""

    arrival: Arrival
    repository: RepositoryRecord
    records: Mapping[WorkloadKey, StateRecord]
    zones: Zones

    @property
    def is_big(self) -> bool:
        """Whether it is judged beside the event loop."""
        most = max(len(self.records), len(self.arrival.reading.workloads))
        return most >= BIG_HEAD_WORKLOADS


@dataclass(frozen=True, slots=True)
class Asking:
    """What a head asks for; `repository` is the record with the hashes that approve it.

    `asked` is what it asks for while nothing of it waits for the end of a freeze.
    """

    arrival: Arrival
    asked: Asked
    edits: tuple[Edit, ...]
    ask: Ask
    repository: RepositoryRecord


@dataclass(frozen=True, slots=True)
class Judged:
    """What of a head acts; `due_at` (Unix seconds) is the next date that changes that."""

    arrival: Arrival
    result: intake.Intake
    due_at: float | None


async def beside(scene: Scene, judge: Callable[_P, _T], *args: _P.args, **named: _P.kwargs) -> _T:
    """Return what `judge` finds: beside the event loop where the scene is big."""
    if not scene.is_big:
        return judge(*args, **named)
    return await asyncio.to_thread(judge, *args, **named)


def asked_for(scene: Scene) -> Asking:
    """Return what a head asks for, with the freezes that it stands under."""
    arrival, before, records = scene.arrival, scene.repository, scene.records
    arrival = counts_in_git.numbered_anew(arrival, records)
    arrival = replace(arrival, reading=suspension.all_in_time(arrival.reading, arrival.dated))
    arrival = replace(arrival, freezes=freezing.open_freezes(arrival, before, scene.zones))
    released = _released(records, arrival)
    asked = asked_by(arrival, released, workload_from_json)
    edits = freezing.edits_of(arrival, records, asked.removals)
    frozen = gates.frozen_lines(arrival, before, released, asked.removals, edits)
    ask = approval.ask_of(arrival, asked.removals, edits, frozenset(frozen))
    offered = approval.offer(before, ask, approval.waiting(before, records, frozen))
    arrival = replace(arrival, asked=ask.marks, frozen=frozen)
    return Asking(arrival, asked, edits, ask, offered)


def _released(
    records: Mapping[WorkloadKey, StateRecord], arrival: Arrival
) -> Mapping[WorkloadKey, StateRecord]:
    """Return what a head is judged beside: without brakes, for it pulls its own.

    One that is held as a whole pulls none, so those that are pulled stay.
    """
    if gates.commit_held(arrival.reading) is not None:
        return records
    return brakes.all_released(records, arrival.reading.workloads)


def _changed(
    before: Mapping[WorkloadKey, StateRecord],
    released: Mapping[WorkloadKey, StateRecord],
    after: Mapping[WorkloadKey, StateRecord],
) -> Mapping[WorkloadKey, StateRecord]:
    """Return the records that a head changed: a brake is released first, and pulled again or not.

    `after` are those that are others than the `released` ones.
    """
    if released is before:
        return after
    judged = {key: each for key, each in released.items() if each is not before.get(key)}
    return {key: each for key, each in (judged | dict(after)).items() if each != before.get(key)}


def judged(scene: Scene, asking: Asking, repository: RepositoryRecord) -> Judged:
    """Return what of a head acts; `repository` is the record with what approvals let through."""
    records, zones, now = scene.records, scene.zones, asking.ask.now
    approved = {entry.line for entry in repository.approved if entry.until > now}
    arrival = freezing.lifted(asking.arrival, asking.edits, approved, zones)
    # In a freeze what acts goes on as it is, with its brakes.
    arrival = withholding.withheld(arrival, asking.edits, approved, records, workload_from_json)
    records = _released(records, arrival)
    # What waits is as though nobody had asked for it; else nothing is another than it was there.
    waits, asked = bool(arrival.waiting), asking.asked
    asked = asked_by(arrival, records, workload_from_json) if waits else asked
    result = intake.take_in(arrival, repository, records, workload_from_json, asked)
    result = replace(result, records=_changed(scene.records, records, result.records))
    ends = suspension.next_end({**arrival.reading.workloads, **result.effective})
    changes = freezing.next_change(arrival, scene.repository, zones)
    return Judged(arrival, result, soonest(ends, changes))
