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
from reconciler.model.specs import (
    Budgets,
    Config,
    Disruption,
    PortRange,
    Rollout,
    Scheduling,
    Share,
    Source,
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


def test_a_workload_knows_its_lines() -> None:
    workload = compile_workload(document_of(SPEC))

    assert workload.source == Source("a.yaml", 1, 1)
    assert workload.replicas_source == Source("a.yaml", 7, 13)


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
    budgets = spec["budgets"]["properties"]
    assert budgets["windowSeconds"]["default"] == plain.budgets.window_seconds
    for name, rooms, percent in (("workload", 3, 10), ("total", 3, 5)):
        inner = budgets[name]["properties"]
        assert (inner["rooms"]["default"], inner["percent"]["default"]) == (rooms, percent)
        assert getattr(plain.budgets, f"{name}_rooms") == rooms
        assert getattr(plain.budgets, f"{name}_percent") == percent
