"""Whether a room is one that reports."""

import pytest

from reconciler.core.reporting import is_heard, is_listened_to
from reconciler.model.rooms import Mark
from tests.unit.core.making import a_pod, a_room, a_workload

REPORT, SILENT = a_workload(reports="required"), a_workload()


def test_a_room_is_waited_for_that_was_made_to_report_or_has_done_so() -> None:
    assert is_heard(a_room(0), REPORT)
    assert not is_heard(a_pod(0), REPORT), "it has no token: it would be waited for for ever"
    assert is_heard(a_pod(0, mark=Mark.IDLE), REPORT)
    assert not is_heard(a_room(0), SILENT), "it never spoke, and is not asked to any more"
    assert is_heard(a_room(0, revision=""), REPORT), "somebody took its revision away"


@pytest.mark.parametrize("mark", [Mark.IDLE, Mark.BUSY, Mark.ALLOCATED])
def test_a_room_that_has_reported_is_heard_to_its_end(mark: Mark) -> None:
    assert is_heard(a_room(0, mark=mark), SILENT)
    assert is_listened_to(a_room(0, mark=mark), SILENT)


def test_a_room_that_never_spoke_is_listened_to_where_its_workload_reports() -> None:
    assert is_listened_to(a_pod(0), REPORT)
    assert not is_listened_to(a_room(0), SILENT)
    assert is_listened_to(a_room(0, mark=Mark.DRAINING), SILENT)
