from dataclasses import replace

from reconciler.core.compile import canonical
from reconciler.core.departing import workload_of
from reconciler.model.records import Accepted, StateRecord
from reconciler.model.rooms import Mark
from tests.unit.core.making import a_pod, a_room, a_situation

SPEC = {
    "apiVersion": "gamekeeper.dev/v1",
    "kind": "Scheduler",
    "metadata": {"name": "arena"},
    "spec": {
        "game": "arena",
        "replicas": 2,
        "reports": "required",
        "removal": {"quietSeconds": 30},
        "template": {"spec": {"containers": []}},
    },
}


def test_a_workload_goes_as_its_own_spec_said() -> None:
    record = StateRecord(Accepted(canonical(SPEC), 2, "c1", "schedulers/arena.yaml", 1))
    workload = workload_of(replace(a_situation(None, [a_pod(0)]), record=record))
    assert workload.hears
    assert workload.departure.quiet_seconds == 30


def test_without_a_record_the_rooms_tell_whether_they_report() -> None:
    assert not workload_of(a_situation(None, [a_pod(0)])).hears
    assert not workload_of(a_situation(None, [a_pod(0, mark=Mark.DRAINING)])).hears
    assert workload_of(a_situation(None, [a_room(0, mark=Mark.DRAINING)])).hears
    assert workload_of(a_situation(None, [a_pod(0), a_pod(1, mark=Mark.BUSY)])).hears
