from dataclasses import replace

from reconciler.model.changes import Cause
from reconciler.model.errors import Denied
from reconciler.model.holds import Hold, HoldKind
from reconciler.model.plans import Counts, DeleteRoom, Plan
from reconciler.model.refs import WorkloadKey
from reconciler.model.reports import Outcome, Report, Settled
from reconciler.model.wanted import Wanted
from reconciler.service.metrics import Metrics
from tests.unit.core.making import a_pod

ARENA = WorkloadKey("Scheduler", "arena", "arena")


def report(plan: Plan, *outcomes: Outcome) -> Report:
    return Report("local", "abc", (Settled(plan, outcomes),))


def test_rooms_that_were_deleted_count_by_their_cause() -> None:
    metrics = Metrics()
    gone, late = (
        DeleteRoom(a_pod(n), cause, "") for n, cause in enumerate((Cause.SCALE_IN, Cause.DEADLINE))
    )
    plan = Plan(ARENA, Counts(), removals=(gone, late))
    failed = Outcome(ARENA, "delete", gone.what, "", "another version")
    metrics.settled(report(plan, failed, Outcome(ARENA, "delete", late.what, "")))
    read = metrics.registry.get_sample_value
    name = "gamekeeper_room_removals_total"
    assert read(name, {"cluster": "local", "cause": "deadline"}) == 1
    assert read(name, {"cluster": "local", "cause": "scale-in"}) is None


def test_a_workload_that_is_gone_leaves_no_series() -> None:
    metrics = Metrics()
    held = Hold(HoldKind.SUSPENDED, ARENA, "suspended")
    metrics.planned("local", Plan(ARENA, Counts(), holds=(held,)))
    metrics.gone("local", ARENA)
    assert b"arena" not in metrics.text()


def test_steps_count_by_verb_and_result() -> None:
    metrics = Metrics()
    plan = Plan(ARENA, Counts())
    good = Outcome(ARENA, "create", "room arena-1", "too few")
    metrics.settled(report(plan, good, good, Outcome(ARENA, "create", "x", "y", "refused")))
    read = metrics.registry.get_sample_value
    labels = {"cluster": "local", "verb": "create"}
    assert read("gamekeeper_steps_total", {**labels, "result": "done"}) == 2
    assert read("gamekeeper_steps_total", {**labels, "result": "failed"}) == 1


def test_plans_count_by_what_they_do() -> None:
    metrics = Metrics()
    metrics.planned("local", Plan(ARENA, Counts()))
    held = Hold(HoldKind.SUSPENDED, ARENA, "suspended")
    metrics.planned("local", Plan(ARENA, Counts(), holds=(held,)))
    metrics.planned("local", Plan(ARENA, Counts(), forget=True))
    read = metrics.registry.get_sample_value
    for kind in ("idle", "holds", "writes"):
        assert read("gamekeeper_plans_total", {"cluster": "local", "kind": kind}) == 1


def test_requests_count_by_cluster_verb_kind_and_code() -> None:
    metrics = Metrics()
    metrics.requests_to("eu")("create", "Pod", 201, 0.01)
    labels = {"cluster": "eu", "verb": "create", "kind": "Pod", "code": "201"}
    assert metrics.registry.get_sample_value("gamekeeper_api_requests_total", labels) == 1


def test_failures_of_git_count_by_reason() -> None:
    metrics = Metrics()
    metrics.blind(Denied("no"))
    value = metrics.registry.get_sample_value("gamekeeper_git_failures_total", {"reason": "Denied"})
    assert value == 1


def test_holds_are_shown_for_as_long_as_they_hold() -> None:
    metrics = Metrics()
    labels = {"workload": "Scheduler/arena/arena", "kind": "suspended"}
    held = Hold(HoldKind.SUSPENDED, ARENA, "suspended")
    wanted = Wanted(holds=(held,))
    read = metrics.registry.get_sample_value

    metrics.planned("local", Plan(ARENA, Counts(), holds=(held,)))
    metrics.looked(wanted, None, 0.1)
    assert read("gamekeeper_held", labels) == 1
    metrics.planned("local", Plan(ARENA, Counts()))
    assert read("gamekeeper_held", labels) == 1, "the repository still holds it"
    metrics.looked(replace(wanted, holds=()), None, 0.1)
    assert read("gamekeeper_held", labels) is None


def test_the_leader_is_who_leads_when_the_page_is_read() -> None:
    metrics = Metrics()
    leading = False
    metrics.follow_leader(lambda: leading)
    assert metrics.registry.get_sample_value("gamekeeper_leader") == 0
    leading = True
    assert metrics.registry.get_sample_value("gamekeeper_leader") == 1


def test_who_does_not_lead_tells_nothing_of_what_is_held_or_was_looked_at() -> None:
    metrics = Metrics()
    leading = True
    metrics.follow_leader(lambda: leading)
    held = Hold(HoldKind.OVER_BUDGET, ARENA, "too many")
    metrics.looked(Wanted(holds=(held,)), None, 0.1)
    read = metrics.registry.get_sample_value
    assert (read("gamekeeper_refused"), read("gamekeeper_findings", {"severity": "error"})) == (
        1,
        0,
    )
    assert (
        read("gamekeeper_held", {"workload": "Scheduler/arena/arena", "kind": "over-budget"}) == 1
    )
    leading = False
    for name in ("held", "refused", "findings", "last_success_timestamp_seconds"):
        assert f"gamekeeper_{name}".encode() not in metrics.text(), "it would be of an earlier term"
    assert read("gamekeeper_git_look_seconds_count") == 1, "what happened here stays told"


def test_a_term_begins_with_nothing_held() -> None:
    metrics = Metrics()
    held = Hold(HoldKind.SUSPENDED, ARENA, "suspended")
    metrics.planned("local", Plan(ARENA, Counts(), holds=(held,)))
    metrics.looked(Wanted(), None, 0.1)
    metrics.leadership_changed()
    read = metrics.registry.get_sample_value
    assert (
        read("gamekeeper_held", {"workload": "Scheduler/arena/arena", "kind": "suspended"}) is None
    )
    assert read("gamekeeper_last_success_timestamp_seconds") == 0, "Git was not looked at since"
    metrics.planned("local", Plan(ARENA, Counts(), holds=(held,)))
    assert read("gamekeeper_held", {"workload": "Scheduler/arena/arena", "kind": "suspended"}) == 1
