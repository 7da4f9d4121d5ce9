"""The spec of a workload that is wanted no more: how its rooms may go is still its own."""

import json
from collections.abc import Iterable
from functools import lru_cache

from reconciler.core.compile import workload_from_json
from reconciler.core.revision import tells_reports
from reconciler.model.live import LivePod
from reconciler.model.plans import Situation
from reconciler.model.records import StateRecord
from reconciler.model.refs import WorkloadKey
from reconciler.model.rooms import BUSY_MARKS, Mark
from reconciler.model.specs import (
    Departure,
    Disruption,
    Rollout,
    Scheduling,
    Source,
    Workload,
)

_NOWHERE = Source("the state record", 1)
_NO_SPEC = json.dumps({})
_UNKNOWN_QUIET_SECONDS = 60.0
"""How long a room is left alone before it goes where nobody knows what its spec asked for: longer
than the lists of most matchmakers are old."""


def workload_of(situation: Situation) -> Workload:
    """Return the last spec that was accepted of a workload.

    Where none is on record, its rooms themselves tell whether they report: one that stands as
    idle or busy does, or was made to, and then those that were not heard may not go.
    """
    return last_workload(situation.key, situation.record, situation.live.pods)


def last_workload(key: WorkloadKey, record: StateRecord, pods: Iterable[LivePod]) -> Workload:
    """Return the same from what it depends on: a workload's record and its rooms."""
    if record.accepted is not None:
        return _accepted(record.accepted.spec_json)
    reports = BUSY_MARKS | {Mark.IDLE}
    return unknown(
        key, hears=any(pod.mark in reports or tells_reports(pod.revision) for pod in pods)
    )


@lru_cache(maxsize=256)
def _accepted(spec_json: str) -> Workload:
    return workload_from_json(spec_json, _NOWHERE)


def is_known(workload: Workload) -> bool:
    """Whether a workload is one of a spec, and not what its rooms alone tell."""
    return workload.spec_json != _NO_SPEC


@lru_cache(maxsize=256)
def unknown(key: WorkloadKey, hears: bool) -> Workload:
    """Return a workload of which no spec is known, and whose rooms report or do not."""
    return Workload(
        key=key,
        game="",
        replicas=0,
        reports="required" if hears else "none",
        rollout=Rollout(),
        port_range=None,
        disruption=Disruption(),
        departure=Departure(quiet_seconds=_UNKNOWN_QUIET_SECONDS),
        scheduling=Scheduling.PACKED,
        suspend=False,
        template={},
        revision="",
        spec_json=_NO_SPEC,
        source=_NOWHERE,
        replicas_source=_NOWHERE,
    )
