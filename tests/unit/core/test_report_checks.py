"""What a spec may ask of rooms that report, and of rooms that do not."""

import pytest

from reconciler.core.report_checks import check_reports, lost_protection
from reconciler.model.findings import Severity
from reconciler.model.refs import Json
from reconciler.model.specs import Workload
from tests.unit.core.making import a_workload
from tests.unit.core.reading import loaded, rules

ALL: Json = loaded(
    "{timeouts: {pingSeconds: 60, silentBusySeconds: 60, initializeSeconds: 1}, matches: {max: 2}, "
    "removal: {drainDeadlineSeconds: 60}, disruption: {intervalSeconds: 9, mode: count}}"
)


def test_what_needs_reports_is_told_of_where_there_are_none() -> None:
    found = list(check_reports({"reports": "none", **ALL}))

    assert {one.severity for one in found} == {Severity.WARNING}
    assert {".".join(map(str, one.path)) for one in found} == {
        "spec.timeouts.pingSeconds",
        "spec.timeouts.silentBusySeconds",
        "spec.removal.drainDeadlineSeconds",
        "spec.matches.max",
        "spec.disruption.intervalSeconds",
    }
    assert list(check_reports({"reports": "required", **ALL})) == []


@pytest.mark.parametrize(
    ("timeouts", "refused"),
    [
        pytest.param({"silentBusySeconds": 239}, True, id="below the usual silence"),
        pytest.param({"silentBusySeconds": 240}, False, id="as long as the usual silence"),
        pytest.param({"silentBusySeconds": 60, "pingSeconds": 61}, True, id="below its own"),
        pytest.param({"silentBusySeconds": None}, False, id="never"),
        pytest.param({"silentBusySeconds": "60"}, False, id="no number: the schema says so"),
        pytest.param({"silentBusySeconds": 60, "pingSeconds": []}, False, id="nor the other"),
    ],
)
def test_a_busy_room_is_not_given_up_before_it_is_silent(timeouts: Json, refused: bool) -> None:
    found = check_reports({"reports": "required", "timeouts": timeouts})
    assert rules(found) == ({("spec.timeouts.silentBusySeconds", "timeouts")} if refused else set())


def test_busy_rooms_can_be_kept_only_where_they_report() -> None:
    def asked(reports: str) -> Json:
        return {"reports": reports, "disruption": {"mode": "occupied"}}

    (found,) = check_reports(asked("none"))
    assert found.severity is Severity.ERROR
    assert found.path == ("spec", "disruption", "mode")
    assert list(check_reports(asked("required"))) == []


def test_a_deadline_that_ends_a_pod_whoever_plays_there_is_told_where_rooms_are_protected() -> None:
    def asked(reports: str, limit: object) -> Json:
        pod = {"containers": [], "activeDeadlineSeconds": limit}
        return {"reports": reports, "template": {"spec": pod}}

    (found,) = check_reports(asked("required", 86400))
    assert found.severity is Severity.WARNING
    assert found.path == ("spec", "template", "spec", "activeDeadlineSeconds")
    assert "86400 s after its start, whoever plays there" in found.message
    assert list(check_reports(asked("none", 86400))) == []
    assert list(check_reports(asked("required", "a day"))) == []
    assert list(check_reports({"reports": "required", "template": []})) == []


def test_the_protection_that_is_lost_is_told_with_the_workloads_that_lose_it() -> None:
    def unheard(*names: str) -> list[Workload]:
        return [a_workload(name) for name in names]

    assert lost_protection([a_workload(reports="required")]) == ""
    one = lost_protection([a_workload(reports="required"), *unheard("duel")])
    assert one.startswith("reports: none (Scheduler/duel): which rooms are occupied is not known")
    many = lost_protection(unheard("a", "b", "c", "d", "e"))
    assert "(Scheduler/a, Scheduler/b, Scheduler/c and 2 more)" in many
