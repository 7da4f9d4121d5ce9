"""A tree is read whole: what is wrong is held, and what cannot be told is never absent."""

import pytest

from reconciler import assets
from reconciler.core.read import read_tree
from reconciler.core.spec_kit import SpecKit
from reconciler.model.findings import Severity
from reconciler.model.refs import WorkloadKey
from reconciler.model.specs import Permissions
from reconciler.model.trees import Entry, EntryKind, Tree
from tests.unit.core.reading import CONFIG, SPEC, kit, read, tree_of

ARENA = WorkloadKey("Scheduler", "arena", "arena")
LOBBY = SPEC.replace("name: arena", "name: lobby")


def test_a_sound_tree_gives_its_workloads_and_no_findings() -> None:
    reading = read({"schedulers/a.yaml": SPEC, "schedulers/deep/b.yml": LOBBY})

    assert [str(key) for key in reading.workloads] == ["Scheduler/arena", "Scheduler/lobby"]
    assert reading.findings == ()
    assert reading.config is not None
    assert reading.commit == "c1"


def test_a_mistake_holds_its_own_workload_and_no_other() -> None:
    reading = read({"schedulers/a.yaml": SPEC.replace("10", "ten"), "schedulers/b.yaml": LOBBY})

    assert [str(key) for key in reading.workloads] == ["Scheduler/lobby"]
    assert list(reading.invalid) == [ARENA]
    assert reading.unreadable == ()


def test_a_warning_holds_nothing() -> None:
    text = SPEC.replace("  template:", "  portRange: {start: 1, end: 9}\n  template:")
    reading = read({"schedulers/a.yaml": text})

    assert [finding.severity for finding in reading.findings] == [Severity.WARNING]
    assert list(reading.workloads) == [ARENA]
    assert reading.invalid == {}
    assert reading.errors == ()


UNTOLD = [
    pytest.param("kind: Scheduler\nmetadata: {name: [a]}\n", id="a name that is a list"),
    pytest.param(SPEC.replace("  name: arena", "  label: x"), id="no name"),
    pytest.param(SPEC.replace("name: arena", "name: Arena"), id="a name in capitals"),
    pytest.param(SPEC.replace("name: arena", "name: " + "a" * 53), id="a name of 53"),
    pytest.param(SPEC.replace("name: arena", "name: 7"), id="a number for a name"),
    pytest.param(SPEC.replace("kind: Scheduler", "kind: Schedulers"), id="a kind with a typo"),
    pytest.param(SPEC.replace("kind: Scheduler\n", ""), id="no kind"),
    pytest.param(SPEC.replace("kind: Scheduler", "kind: [x]"), id="a kind that is a list"),
    pytest.param("just text\n", id="a text"),
    pytest.param("- a\n- b\n", id="a list"),
    pytest.param(SPEC + "kind: Scheduler\n", id="two kinds"),
    pytest.param(SPEC + "  : [\n", id="no YAML"),
    pytest.param(SPEC + "---\nspec: {\n", id="a broken second document"),
]


@pytest.mark.parametrize("text", UNTOLD)
def test_while_kind_or_name_cannot_be_told_the_file_is_unreadable(text: str) -> None:
    reading = read({"schedulers/a.yaml": text, "schedulers/b.yaml": LOBBY})

    assert reading.unreadable == ("schedulers/a.yaml",)
    assert reading.errors
    assert WorkloadKey("Scheduler", "lobby", "lobby") in reading.workloads


def test_a_wrong_version_of_a_known_kind_and_name_is_invalid_not_unreadable() -> None:
    reading = read({"schedulers/a.yaml": SPEC.replace("gamekeeper.dev/v1", "v1")})

    assert list(reading.invalid) == [ARENA]
    assert reading.unreadable == ()


def test_a_name_that_is_taken_holds_the_workload_and_names_every_place() -> None:
    reading = read({"schedulers/a.yaml": SPEC, "schedulers/b.yaml": f"{LOBBY}---\n{SPEC}"})

    assert [str(key) for key in reading.workloads] == ["Scheduler/lobby"]
    assert [(one.file, one.line) for one in reading.invalid[ARENA]] == [
        ("schedulers/a.yaml", 4),
        ("schedulers/b.yaml", 18),
    ]
    assert "schedulers/b.yaml:18" in reading.findings[0].message


CONFIGS = [
    pytest.param("", "config-missing", id="an empty file"),
    pytest.param("a: [", "syntax", id="broken YAML"),
    pytest.param("text", "type", id="a text"),
    pytest.param(CONFIG + "spec: {poll: 1}\n", "unknown-property", id="an unknown property"),
    pytest.param(CONFIG + "---\n" + SPEC, "config-extra", id="a scheduler beside it"),
    pytest.param(CONFIG + "kind: Config\n", "duplicate-key", id="a duplicate key"),
]


@pytest.mark.parametrize(("text", "rule"), CONFIGS)
def test_a_config_with_a_mistake_is_none_and_specs_are_still_read(text: str, rule: str) -> None:
    reading = read({"gamekeeper.yaml": text, "schedulers/a.yaml": SPEC.replace("10", "x")})

    assert reading.config is None
    assert {finding.rule for finding in reading.findings} >= {rule, "type"}


def test_a_tree_without_config_says_so() -> None:
    reading = read_tree(tree_of({"schedulers/a.yaml": SPEC}), Permissions(), kit())

    assert reading.config is None
    assert [finding.rule for finding in reading.findings] == ["config-missing"]


def test_a_config_among_the_specs_is_a_finding_and_no_workload() -> None:
    reading = read({"schedulers/a.yaml": CONFIG})

    assert [finding.rule for finding in reading.findings] == ["config-place"]
    assert (reading.workloads, reading.invalid, reading.unreadable) == ({}, {}, ())


def test_specs_are_read_from_the_paths_and_a_missing_one_is_named() -> None:
    config = CONFIG + "spec: {paths: [games, lobbies]}\n"
    files = {"gamekeeper.yaml": config, "games/a.yaml": SPEC, "schedulers/b.yaml": "no: [spec"}
    reading = read(files)

    assert list(reading.workloads) == [ARENA]
    assert reading.missing_paths == ("lobbies",)
    assert [(one.rule, one.severity) for one in reading.findings] == [
        ("path-missing", Severity.WARNING)
    ]
    assert reading.config is not None


def test_links_and_submodules_among_the_specs_make_the_read_incomplete() -> None:
    entries = dict(tree_of({"gamekeeper.yaml": CONFIG}).entries)
    entries["schedulers/link.yaml"] = Entry(EntryKind.SYMLINK, "x", 1)
    entries["schedulers/sub"] = Entry(EntryKind.SUBMODULE, "x", 0)
    reading = read_tree(Tree("c", entries), Permissions(), kit())

    assert reading.unreadable == ("schedulers/link.yaml", "schedulers/sub")


def test_the_declared_version_judges_the_templates() -> None:
    hook = "          lifecycle: {preStop: {sleep: {seconds: 1}}}\n"
    old = CONFIG + 'spec: {kubernetesVersion: "1.25"}\n'

    assert read({"schedulers/a.yaml": SPEC + hook}).errors == ()
    assert read({"gamekeeper.yaml": old, "schedulers/a.yaml": SPEC + hook}).errors


def test_mistakes_of_a_hostile_document_are_bounded_and_say_so() -> None:
    text = SPEC + "".join(f"          a{number}: 1\n" for number in range(5000))
    reading = read({"schedulers/a.yaml": text})

    assert len(reading.findings) <= 201
    assert list(reading.invalid) == [ARENA]


def test_a_version_that_is_not_installed_is_told_and_specs_are_judged_by_the_newest() -> None:
    definitions = {"1.35": assets.kubernetes_definitions("1.35")}
    lean = SpecKit(assets.schemas(), definitions, {}, {})
    tree = tree_of({"gamekeeper.yaml": CONFIG, "schedulers/a.yaml": SPEC})
    reading = read_tree(tree, Permissions(), lean)

    assert reading.config is None
    assert [(one.rule, one.fix) for one in reading.findings] == [("version", "installed are 1.35")]
    assert list(reading.workloads) == [ARENA]


def test_mistakes_of_every_file_are_told_in_order() -> None:
    wrong = SPEC.replace("reports: none", "reports: all").replace("10", "ten")
    files = {f"schedulers/{name}.yaml": wrong.replace("arena", name) for name in "cab"}
    reading = read(files)

    assert [(one.file, one.line) for one in reading.findings] == [
        (f"schedulers/{name}.yaml", line) for name in "abc" for line in (7, 8)
    ]


def test_of_a_number_that_is_too_large_one_thing_is_told() -> None:
    text = SPEC.replace("replicas: 10", "replicas: 99999999999999999999")
    reading = read({"schedulers/a.yaml": text})
    assert [each.rule for each in reading.findings] == ["number"]
    assert list(reading.invalid) == [ARENA]
