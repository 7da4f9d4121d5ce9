"""Heads in a freeze, and what is on record of them."""

from typing import Any

from reconciler.core import freezing, withholding
from reconciler.core.compile import canonical, compile_config, workload_from_json
from reconciler.model.arrivals import Arrival
from reconciler.model.freezes import Freeze
from reconciler.model.intents import Intent, Landing, Scaling
from reconciler.model.records import Accepted, StateRecord
from reconciler.model.refs import WorkloadKey
from reconciler.model.specs import Config, Source, Workload
from tests.unit.core.arriving import an_arrival
from tests.unit.core.making import NOW, a_key, a_reading

FREEZE = Freeze(NOW + 600, NOW - 600, "cup", "", "gamekeeper.yaml:5")
KEY = a_key()
DAY = {"name": "day", "from": "2027-01-15", "until": "2027-01-15", "timeZone": "UTC"}
"""NOW is 2027-01-15 08:00 UTC."""


def the_spec(replicas: int = 3, image: str = "game:1", **more: Any) -> Workload:
    document = {
        "apiVersion": "gamekeeper.dev/v1",
        "kind": "Scheduler",
        "metadata": {"name": "arena"},
        "spec": {
            "replicas": replicas,
            "reports": "none",
            "template": {"spec": {"containers": [{"name": "game", "image": image}]}},
            **more,
        },
    }
    return workload_from_json(canonical(document), Source("schedulers/arena.yaml", 1))


def on_record(workload: Workload, **changes: Any) -> dict[WorkloadKey, StateRecord]:
    accepted = Accepted(workload.spec_json, workload.replicas, "c1", "schedulers/arena.yaml", 1)
    return {KEY: StateRecord(accepted, **changes)}


def a_config(**spec: Any) -> Config:
    return compile_config({"apiVersion": "v1", "kind": "Config", "spec": spec})


def a_head(workload: Workload | None, **changes: Any) -> Arrival:
    reading = a_reading(*([] if workload is None else [workload]))
    changes = {"freezes": (FREEZE,), "dated": NOW, **changes}
    return an_arrival(reading, **changes)


def a_landing(value: int) -> Scaling:
    return Scaling(intent=Intent(3, value, ()), landings=(Landing("ours", value, NOW - 9),))


def waits(arrival: Arrival, records: dict[WorkloadKey, StateRecord]) -> Arrival:
    """Return the head as it is judged in the freeze."""
    edits = freezing.edits_of(arrival, records, ())
    return withholding.withheld(arrival, edits, (), records, workload_from_json)
