"""Documents become workloads with defaults, and come back from their JSON the same."""

from dataclasses import replace

from reconciler import assets
from reconciler.core.compile import (
    canonical,
    compile_config,
    compile_workload,
    config_from_json,
    workload_from_json,
)
from reconciler.model.refs import WorkloadKey
from reconciler.model.shares import Share
from reconciler.model.specs import (
    Budgets,
    Config,
    Departure,
    Disruption,
    FailurePolicy,
    PortRange,
    Rollout,
    Scheduling,
    Source,
    Timeouts,
)
from tests.unit.core.reading import CONFIG, SPEC, document_of, loaded

FULL = SPEC.replace(
    "  template:",
    """\
  rollout: {maxSurge: 3, maxUnavailable: 10%}
  portRange: {start: 100, end: 200}
  disruption: {mode: count, safetyPercentage: 1}
  scheduling: distributed
  suspend: true
  template:""",
)


def test_what_is_not_written_is_the_default() -> None:
    workload = compile_workload(document_of(SPEC))

    assert workload.rollout == Rollout(Share(25, percent=True), Share(0))
    assert workload.port_range is None
    assert workload.disruption == Disruption("count", 0.05)
    assert workload.scheduling is Scheduling.PACKED
    assert not workload.suspend


def test_what_is_written_is_taken_over() -> None:
    workload = compile_workload(document_of(FULL))

    assert (workload.game, workload.replicas, workload.reports) == ("arena", 10, "none")
    assert workload.rollout == Rollout(Share(3), Share(10, percent=True))
    assert workload.port_range == PortRange(100, 200)
    assert workload.disruption == Disruption("count", 1.0)
    assert workload.scheduling is Scheduling.DISTRIBUTED
    assert workload.suspend
    assert workload.template == loaded(SPEC)["spec"]["template"]


REPORTING = SPEC.replace("reports: none", "reports: required")
FLEET = REPORTING.replace("kind: Scheduler", "kind: Fleet").replace("  game: arena\n", "")


def test_what_is_not_written_of_rooms_that_report_is_the_default() -> None:
    workload = compile_workload(document_of(REPORTING))

    assert workload.hears
    assert workload.matches_max == 1
    assert workload.disruption == Disruption("occupied", 0.05, 5)
    assert workload.timeouts == Timeouts(300, 240, 120, None)
    assert workload.departure == Departure(5, None)
    assert workload.failure == FailurePolicy("delete", None, 3600)
    assert workload.ports_to_expose is None


def test_what_is_written_of_rooms_that_report_is_taken_over() -> None:
    written = (
        "  matches: {max: 4}\n"
        "  timeouts: {initializeSeconds: 1, pingSeconds: 5, terminateSeconds: 2,"
        " silentBusySeconds: 60}\n"
        "  removal: {quietSeconds: 0, drainDeadlineSeconds: 90}\n"
        "  failure: {action: Remove, maxFailures: 0, windowSeconds: 60}\n"
        "  disruption: {mode: count, intervalSeconds: 9}\n"
    )
    workload = compile_workload(document_of(REPORTING + written))

    assert workload.matches_max == 4
    assert workload.disruption == Disruption("count", 0.05, 9)
    assert workload.timeouts == Timeouts(1, 5, 2, 60)
    assert workload.departure == Departure(0, 90)
    assert workload.failure == FailurePolicy("remove", 0, 60)


def test_a_fleet_has_a_namespace_ports_and_a_game_of_its_own_unless_it_says_otherwise() -> None:
    plain = compile_workload(document_of(FLEET))
    other = compile_workload(
        document_of(
            FLEET + "  namespace: servers\n  portRange: null\n  portsToExpose: [7]\n  game: quake\n"
        )
    )

    assert plain.key == WorkloadKey("Fleet", "arena", "arena")
    assert plain.port_range == PortRange(20000, 30000)
    assert (plain.game, plain.ports_to_expose) == ("arena", None)
    assert other.key == WorkloadKey("Fleet", "servers", "arena")
    assert other.port_range is None
    assert (other.game, other.ports_to_expose) == ("quake", (7,))
    assert workload_from_json(other.spec_json, other.source).key == other.key


def test_a_workload_knows_its_lines() -> None:
    workload = compile_workload(document_of(SPEC))

    assert workload.source == Source("a.yaml", 1, 1)
    assert workload.replicas_source == Source("a.yaml", 7, 13)


def test_a_secret_in_the_reason_of_a_suspension_is_told_nowhere() -> None:
    suspended = FULL.replace("suspend: true", f"suspend: {{reason: use ghp_{'a' * 36}}}")
    assert compile_workload(document_of(suspended)).suspension.reason == "use ***"


def test_an_accepted_spec_gives_the_same_workload_back() -> None:
    workload = compile_workload(document_of(FULL))
    source = Source("old.yaml", 3)

    again = workload_from_json(workload.spec_json, source)

    assert again == replace(workload, source=source, replicas_source=source)


def test_the_canonical_text_does_not_depend_on_the_order_of_keys() -> None:
    assert canonical({"b": 1, "a": "é"}) == canonical({"a": "é", "b": 1}) == '{"a":"é","b":1}'


def test_a_config_without_spec_has_every_default() -> None:
    value = loaded(CONFIG)

    assert compile_config(value) == replace(Config(), spec_json=canonical(value))


def test_a_config_comes_back_from_its_json() -> None:
    config = compile_config(
        loaded(
            CONFIG + "spec: {paths: [a], kubernetesVersion: '1.35', resyncSeconds: 20, pollSeconds:"
            " 9, budgets: {workload: {rooms: 1, percent: 2}, total: {rooms: 4, percent: 5.5}, "
            "windowSeconds: 60}}"
        )
    )

    assert config.budgets == Budgets(1, 2.0, 4, 5.5, 60)
    assert (config.paths, config.kubernetes_version) == (("a",), "1.35")
    assert (config.resync_seconds, config.poll_seconds) == (20, 9)
    assert config_from_json(config.spec_json) == config


def test_the_defaults_of_the_schema_are_those_of_the_model() -> None:
    spec = assets.schemas()["Config"]["properties"]["spec"]["properties"]
    plain = Config()

    assert tuple(spec["paths"]["default"]) == plain.paths
    assert spec["kubernetesVersion"]["default"] == plain.kubernetes_version
    assert spec["resyncSeconds"]["default"] == plain.resync_seconds
    assert spec["pollSeconds"]["default"] == plain.poll_seconds
    back = spec["writeBack"]["properties"]
    assert back["mode"]["default"] == plain.write_back.mode
    assert back["quietSeconds"]["default"] == plain.write_back.quiet_seconds
    assert back["humanHoldSeconds"]["default"] == plain.write_back.human_hold_seconds
    assert back["message"]["default"] == plain.write_back.message
    budgets = spec["budgets"]["properties"]
    assert budgets["windowSeconds"]["default"] == plain.budgets.window_seconds
    for name, rooms, percent in (("workload", 3, 10), ("total", 3, 5)):
        inner = budgets[name]["properties"]
        assert (inner["rooms"]["default"], inner["percent"]["default"]) == (rooms, percent)
        assert getattr(plain.budgets, f"{name}_rooms") == rooms
        assert getattr(plain.budgets, f"{name}_percent") == percent
