"""A head that arrives, as tests of intake and its gates need it."""

from dataclasses import replace
from typing import Any

from reconciler.core import intake
from reconciler.core.asked import asked_by
from reconciler.core.intake import Intake
from reconciler.model.arrivals import Arrival
from reconciler.model.holds import HoldKind
from reconciler.model.readings import Reading
from reconciler.model.records import RepositoryRecord, StateRecord
from reconciler.model.refs import WorkloadKey
from reconciler.model.specs import Budgets, Config, Workload
from reconciler.model.trees import Relation
from tests.unit.core.making import NOW, accepted, read_spec

ON_RECORD = RepositoryRecord("git@host:fleet", "main", "c1")


def an_arrival(reading: Reading, **changes: Any) -> Arrival:
    arrival = Arrival(
        reading=reading,
        repository="git@host:fleet",
        branch="main",
        relation=Relation.FORWARD,
        cluster="local",
        ceiling=Budgets(),
        accepted_config=Config(),
        unrecorded={},
        now=NOW,
    )
    return replace(arrival, **changes)


def take_in(
    reading: Reading,
    *on_record: Workload,
    remembered: RepositoryRecord = ON_RECORD,
    records: dict[WorkloadKey, StateRecord] | None = None,
    **changes: Any,
) -> Intake:
    known = {workload.key: accepted(workload) for workload in on_record} | (records or {})
    arrival = an_arrival(reading, **changes)
    asked = asked_by(arrival, known, read_spec)
    return intake.take_in(arrival, remembered, known, read_spec, asked)


def kinds(result: Intake) -> dict[str, HoldKind]:
    return {hold.key.name if hold.key else "": hold.kind for hold in result.holds}


def counts(result: Intake) -> dict[str, int]:
    return {key.name: workload.replicas for key, workload in result.effective.items()}
