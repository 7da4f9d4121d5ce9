"""Whether a room is one that reports."""

from typing import Any

import pytest

from reconciler.core.reporting import is_heard, is_listened_to, is_recorded, resting_mark
from reconciler.model.rooms import Mark, Why
from tests.unit.core.making import NOW, a_pod, a_room, a_workload

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


START_SECONDS = REPORT.timeouts.initialize_seconds


@pytest.mark.parametrize(
    ("played_since", "changes", "recorded"),
    [
        pytest.param(NOW - 2 * START_SECONDS - 60.0, {}, True, id="long after its start"),
        pytest.param(NOW - START_SECONDS - 61.0, {}, True, id="after its start, by whatever clock"),
        pytest.param(NOW - START_SECONDS - 59.0, {}, False, id="perhaps within its start"),
        pytest.param(NOW + 5.0, {}, False, id="before its container ran"),
        pytest.param(0.0, {}, False, id="it does not run yet"),
        pytest.param(NOW + 5.0, {"runs": (1,)}, True, id="it ran before"),
        pytest.param(NOW + 5.0, {"kept_report": '{"players":0}'}, True, id="its word is kept"),
    ],
)
def test_a_room_that_was_drained_in_its_start_is_one_that_was_never_heard(
    played_since: float, changes: dict[str, Any], recorded: bool
) -> None:
    drained = {"mark": Mark.DRAINING, "leaving": Why.SCALE_IN, "leaving_since": NOW}
    pod = a_room(0, played_since=played_since, **drained, **changes)
    assert is_recorded(pod, REPORT) is recorded
    assert resting_mark(pod, REPORT, None) is (Mark.IDLE if recorded else Mark.NONE)
