"""Whether a room is one that reports."""

from dataclasses import replace
from typing import Any

import pytest

from reconciler.core.reporting import (
    is_drained_unheard,
    is_heard,
    is_listened_to,
    is_recorded,
    resting_mark,
)
from reconciler.model.rooms import Health, Mark, Why
from tests.unit.core.making import NOW, a_heard, a_pod, a_room, a_workload

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


def test_a_room_that_was_heard_stays_one_though_its_workload_reports_no_more() -> None:
    pod = a_room(0, mark=Mark.DRAINING, was_heard=True)
    assert resting_mark(pod, SILENT, None) is Mark.IDLE
    assert resting_mark(replace(pod, was_heard=False), SILENT, None) is Mark.NONE


@pytest.mark.parametrize(
    "kept", ["", '{"players":0,"health":"Creating"}'], ids=["", "and that is kept on its pod"]
)
def test_a_room_that_drains_and_said_no_more_than_that_it_is_made_rests_unmarked(kept: str) -> None:
    """As `idle` it would be on a matchmaker's list, and its silence would count."""
    creating = a_heard(health=Health.CREATING, tells=False, begun=False)
    for ready in (False, True):
        pod = a_room(0, ready=ready, mark=Mark.DRAINING, kept_report=kept)
        assert resting_mark(pod, REPORT, creating) is Mark.NONE
        assert resting_mark(pod, REPORT, None) is Mark.NONE
        assert resting_mark(replace(pod, was_heard=True), REPORT, a_heard()) is Mark.IDLE


@pytest.mark.parametrize(
    ("changes", "recorded"),
    [
        pytest.param({"was_heard": True}, True, id="it had a mark before"),
        pytest.param({}, False, id="it had none, or somebody marked it by hand"),
        pytest.param({"runs": (1,)}, False, id="and a container ended since"),
        pytest.param({"kept_report": '{"players":0}'}, True, id="its word is kept"),
    ],
)
def test_a_room_that_was_drained_before_anybody_heard_it_is_never_heard(
    changes: dict[str, Any], recorded: bool
) -> None:
    drained = {"mark": Mark.DRAINING, "leaving": Why.SCALE_IN, "leaving_since": NOW}
    pod = a_room(0, **{**drained, **changes})
    assert is_recorded(pod) is recorded
    assert is_drained_unheard(pod, REPORT, None) is not recorded
    assert resting_mark(pod, REPORT, None) is (Mark.IDLE if recorded else Mark.NONE)
    assert not is_drained_unheard(pod, REPORT, a_heard()), "it speaks"
    assert not is_drained_unheard(pod, SILENT, None), "nobody waits for its word"
    assert not is_drained_unheard(replace(pod, ready=False), REPORT, None), "it starts"
