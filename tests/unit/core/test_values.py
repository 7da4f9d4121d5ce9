"""Values of one environment over the specs of all: what comes of both, and where it stands."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from reconciler.core.known_tree import known_of
from reconciler.core.messages import as_text
from reconciler.core.read import read_tree
from reconciler.core.rereading import part_of
from reconciler.model.readings import Reading
from reconciler.model.refs import WorkloadKey
from reconciler.model.specs import Permissions
from tests.unit.core.reading import kit, tree_of

ARENA = WorkloadKey("Scheduler", "arena", "arena")
HEAD = "apiVersion: gamekeeper.dev/v1\nkind: "
CONFIG = HEAD + "Config\nspec: {writeBack: {quietSeconds: 90}}\n"
SPEC = (
    HEAD
    + """Scheduler
metadata: {name: arena}
spec:
  game: arena
  replicas: 2
  reports: none
  rollout: {maxSurge: 1}
  template:
    spec:
      containers:
        - {name: game, image: "a:1", env: [{name: A, value: a}, {name: B, value: b}], args: [x, y]}
        - {name: logs, image: "l:1"}
"""
)
LOBBY = SPEC.replace("name: arena", "name: lobby")
EU, MORE = "environments/eu.yaml", "environments/more.yaml"
ALLOWED = Permissions(values=(EU,), tracked="main")
NONE = "    {}\n"
MOVED = '{min: 1, max: 9, policy: {schedule: [{from: "18:00", to: "23:00", replicas: 3}]}}'


def values(workloads: str, config: str = "{}") -> str:
    return f"{HEAD}Values\nspec:\n  config: {config}\n  workloads:\n{workloads or NONE}"


def read(
    files: Mapping[str, str | None] | None = None, permissions: Permissions = ALLOWED
) -> Reading:
    given: dict[str, str | None] = {
        "gamekeeper.yaml": CONFIG,
        "schedulers/arena.yaml": SPEC,
        EU: values(""),
        **(files or {}),
    }
    return read_tree(
        tree_of({name: text for name, text in given.items() if text is not None}),
        permissions,
        kit(),
    )


def laid(workloads: str) -> Any:
    reading = read({EU: values(workloads)})
    assert [as_text(finding) for finding in reading.findings] == []
    return json.loads(reading.workloads[ARENA].spec_json)["spec"]


def test_a_mapping_is_laid_over_a_mapping_and_null_takes_out() -> None:
    spec = laid(
        "    Scheduler/arena: {replicas: 20, rollout: {maxUnavailable: 1}, reports: none}\n"
    )
    assert (spec["replicas"], spec["rollout"]) == (20, {"maxSurge": 1, "maxUnavailable": 1})
    assert "rollout" not in laid("    Scheduler/arena: {rollout: null}\n")


def test_containers_and_their_environment_are_laid_over_by_name_and_other_lists_replaced() -> None:
    spec = laid(
        "    Scheduler/arena:\n      template:\n        spec:\n          containers:\n"
        '            - {name: game, env: [{name: B, value: c}, {name: C, value: d}], args: ["z"]}\n'
        '            - {name: more, image: "m:1"}\n'
    )
    game, logs, more = spec["template"]["spec"]["containers"]
    assert [(one["name"], one["value"]) for one in game["env"]] == [
        ("A", "a"),
        ("B", "c"),
        ("C", "d"),
    ]
    assert (game["image"], game["args"], logs["name"], more["image"]) == (
        "a:1",
        ["z"],
        "logs",
        "m:1",
    )


def test_where_a_count_stands_is_where_it_is_written() -> None:
    reading = read({EU: values("    Scheduler/arena:\n      replicas: 20\n")})
    workload = reading.workloads[ARENA]
    assert (workload.replicas, str(workload.replicas_source)) == (20, f"{EU}:7")
    assert str(workload.source) == "schedulers/arena.yaml:1"
    assert str(read().workloads[ARENA].replicas_source) == "schedulers/arena.yaml:6"


def test_of_two_files_the_later_one_is_laid_over_the_earlier() -> None:
    both = Permissions(values=(EU, MORE))
    files = {
        EU: values("    Scheduler/arena: {replicas: 20, game: quake}\n"),
        MORE: values("    Scheduler/arena: {replicas: 30}\n"),
    }
    workload = read(files, both).workloads[ARENA]
    assert (workload.replicas, workload.game) == (30, "quake")


def test_the_config_has_values_too() -> None:
    reading = read({EU: values("", "{writeBack: {branch: counts-eu}}")})
    assert reading.config is not None
    assert reading.config.write_back.branch == "counts-eu"
    assert reading.config.write_back.quiet_seconds == 90


def test_without_the_setting_they_say_nothing() -> None:
    reading = read({EU: "}{"}, Permissions())
    assert (reading.workloads[ARENA].replicas, reading.findings) == (2, ())


@pytest.mark.parametrize(
    ("workloads", "said"),
    [
        pytest.param("{replicas: many}", f"{EU}:6:33: error: spec.replicas", id="a value"),
        pytest.param("{replicsa: 2}", f"{EU}:6:23: error: spec.replicsa", id="a property"),
        pytest.param("[]", f"{EU}:6:22: error: ", id="no mapping"),
        pytest.param("{namespace: x}", "says which workload it is", id="another workload"),
        pytest.param(
            "{template: {spec: {containers: [{name: game, imagee: x}]}}}",
            f"{EU}:6:67: error: spec.template.spec.containers[0].imagee",
            id="deep inside",
        ),
        pytest.param(
            "{template: {spec: {containers: [{name: new}]}}}",
            "containers[2]: image is missing",
            id="an item that is new",
        ),
    ],
)
def test_a_mistake_is_told_at_its_line_and_holds_its_workload(workloads: str, said: str) -> None:
    text = values(f"    Scheduler/arena: {workloads}\n    Scheduler/lobby: {{replicas: 3}}\n")
    reading = read({EU: text, "schedulers/lobby.yaml": LOBBY})
    assert said in "\n".join(as_text(finding) for finding in reading.findings)
    assert list(reading.invalid) == [ARENA]
    assert [one.replicas for one in reading.workloads.values()] == [3]
    assert reading.config is not None
    assert not reading.unreadable


def test_a_mistake_of_the_spec_stays_its_own() -> None:
    broken = SPEC.replace("reports: none", "reports: nine")
    reading = read(
        {EU: values("    Scheduler/arena: {replicas: 3}\n"), "schedulers/arena.yaml": broken}
    )
    assert {finding.file for finding in reading.findings} == {"schedulers/arena.yaml"}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(None, id="a file that is not there"),
        pytest.param("}{", id="no YAML"),
        pytest.param("", id="an empty one"),
        pytest.param(CONFIG, id="another kind"),
        pytest.param(values("") + "---\n" + values(""), id="two documents"),
        pytest.param(values("    arena: {replicas: 3}\n"), id="a name that is none"),
        pytest.param(values("").replace("config", "confg"), id="an unknown property"),
        pytest.param(values("", "{freeze: []}"), id="a part of the Config that all share"),
        pytest.param(values("    Scheduler/a: {replicas: 3}\n" * 2), id="one workload twice"),
        pytest.param(values("", "{writeBack: {mode: maybe}}"), id="a Config that is none then"),
    ],
)
def test_values_that_leave_in_doubt_what_they_say_hold_the_commit(text: str | None) -> None:
    reading = read({EU: text})
    assert reading.config is None
    assert reading.errors


def test_values_of_a_workload_that_is_not_there_are_told() -> None:
    reading = read({EU: values("    Scheduler/lobby: {replicas: 3}\n")})
    (finding,) = reading.findings
    assert as_text(finding).startswith(f"{EU}:6:5: warning: ")
    assert "there is no Scheduler/lobby" in finding.message


@pytest.mark.parametrize(
    ("config", "right"),
    [
        pytest.param("{}", False, id="into the specs that all share"),
        pytest.param("{writeBack: {branch: main}}", False, id="on the tracked branch"),
        pytest.param("{writeBack: {branch: counts-eu}}", True, id="on a branch of its own"),
        pytest.param('{writeBack: {mode: "off"}}', True, id="nowhere"),
    ],
)
def test_a_count_is_written_where_no_other_environment_reads_it(config: str, right: bool) -> None:
    moved = f"    Scheduler/arena: {{autoscaling: {MOVED}}}\n"
    reading = read({EU: values(moved, config)})
    assert (ARENA in reading.workloads) == right
    if not right:
        (finding,) = reading.invalid[ARENA]
        assert "where other environments read theirs" in finding.message


def test_a_branch_that_the_shared_config_names_is_no_environments_own() -> None:
    shared = CONFIG.replace("{quietSeconds: 90}", "{branch: counts}")
    moved = f"    Scheduler/arena: {{autoscaling: {MOVED}}}\n"
    assert ARENA in read({EU: values(moved), "gamekeeper.yaml": shared}).invalid


def test_what_a_file_of_values_says_is_of_all_files_so_each_tree_is_read_whole() -> None:
    files = {"gamekeeper.yaml": CONFIG, "schedulers/arena.yaml": SPEC, EU: values("")}
    files |= {f"schedulers/s{n}.yaml": SPEC.replace("arena", f"s{n}") for n in range(9)}
    before = tree_of(files)
    after = tree_of({**files, "schedulers/s1.yaml": SPEC.replace("arena", "s1") + "# more\n"})
    for permissions, whole in ((ALLOWED, True), (replace(ALLOWED, values=()), False)):
        known = known_of(before, permissions, read_tree(before, permissions, kit()))
        assert (part_of(known, after, permissions) is None) == whole


@pytest.mark.parametrize(
    ("file", "told"),
    [
        pytest.param(
            "eu/v.yaml",
            'v.yaml: error: --values names it "eu/v.yaml", and is read inside "eu"\n'
            "  write --values v.yaml",
            id="one that is named with its folder",
        ),
        pytest.param(
            "v.yaml",
            "v.yaml: error: there is no such file, which --values names\n"
            "  add it, or name another one",
            id="one that is not there",
        ),
    ],
)
def test_a_file_that_is_missing_in_a_folder_is_named_by_its_one_place(file: str, told: str) -> None:
    tree = replace(tree_of({"gamekeeper.yaml": CONFIG}), path="eu")
    found = read_tree(tree, Permissions(values=(file,)), kit()).findings
    assert [as_text(each) for each in found if each.rule == "values-missing"] == [told]


@pytest.mark.parametrize(
    ("config", "told"),
    [
        pytest.param("{pollSecond: 30}", "spec.config.pollSecond", id="a typo"),
        pytest.param("{pollSeconds: x}", "spec.config.pollSeconds", id="of another type"),
        pytest.param("{paths: [x]}", "spec.config.paths", id="what is the repository's own"),
    ],
)
def test_a_mistake_in_the_values_of_the_config_is_told_once_and_no_untrue_one(
    config: str, told: str
) -> None:
    bad = values('    Scheduler/arena: {replicas: "5"}\n', config)
    found = [(each.file, each.path) for each in read({EU: bad}).findings]
    assert found == [(EU, told), (EU, "spec.replicas"), ("gamekeeper.yaml", "")]


def test_beside_a_mistake_the_rest_of_the_config_is_laid_over() -> None:
    bad = values("", '{pollSecond: 30, kubernetesVersion: "9.99"}')
    paths = [each.path for each in read({EU: bad}).findings]
    assert paths == ["spec.config.pollSecond", "spec.kubernetesVersion", ""]
