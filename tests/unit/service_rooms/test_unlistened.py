"""What is told of rooms that should report, to a process that listens nowhere."""

import pytest

from reconciler.core.departing import unknown
from reconciler.model.refs import WorkloadKey
from reconciler.model.rooms import NO_EARS
from reconciler.model.specs import Workload
from reconciler.service.rooms.unlistened import UNLISTENED, Unlistened
from tests.unit.core.making import a_workload

KEY = WorkloadKey("Scheduler", "arena", "arena")


@pytest.mark.parametrize(
    ("workload", "deaf"),
    [
        pytest.param(a_workload(reports="required"), True, id="its rooms should report"),
        pytest.param(a_workload(reports="none"), False, id="its rooms report nothing anyway"),
        pytest.param(unknown(KEY, True), True, id="its rooms report, and its spec is not known"),
        pytest.param(unknown(KEY, False), False, id="nor do its rooms"),
    ],
)
def test_it_is_deaf_where_somebody_should_be_heard(workload: Workload, deaf: bool) -> None:
    reports = Unlistened(lambda key: workload)
    for ears in (reports.of(KEY), reports.of_room(KEY, "uid-0")):
        assert ears is (UNLISTENED if deaf else NO_EARS)
    assert "--rooms-listen" in UNLISTENED.deaf
