import pytest

from reconciler.core.guards import guard_for
from reconciler.model import labels
from reconciler.model.refs import Json
from reconciler.model.rooms import Mark
from tests.unit.core.making import a_workload

KEEP, LET_GO = ("false", "true"), ("true", "false")
EMPTY = {Mark.IDLE, Mark.DRAINING}


@pytest.mark.parametrize("mark", Mark)
def test_a_room_that_does_not_report_is_always_kept(mark: Mark) -> None:
    assert guard_for(a_workload(reports="none"), mark) == KEEP


@pytest.mark.parametrize("mark", Mark)
def test_a_room_that_reports_is_kept_unless_it_is_known_to_be_empty(mark: Mark) -> None:
    wanted = LET_GO if mark in EMPTY else KEEP
    assert guard_for(a_workload(reports="required"), mark) == wanted


@pytest.mark.parametrize(
    ("annotations", "mark", "wanted"),
    [
        pytest.param({labels.SAFE_TO_EVICT: "true"}, Mark.BUSY, ("true", "true"), id="the first"),
        pytest.param({labels.DO_NOT_DISRUPT: "true"}, Mark.IDLE, ("true", "true"), id="the second"),
        pytest.param(None, Mark.IDLE, LET_GO, id="neither"),
    ],
)
def test_what_the_users_template_says_stands(
    annotations: Json | None, mark: Mark, wanted: tuple[str, str]
) -> None:
    template = {"metadata": {"annotations": annotations}, "spec": {}}
    assert guard_for(a_workload(reports="required", template=template), mark) == wanted
