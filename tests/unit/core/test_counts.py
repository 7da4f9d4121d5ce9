"""A count stands in `replicas.yaml` or in the spec; one that cannot be told is never a zero."""

import pytest

from reconciler.core.counts import key_named
from reconciler.model.findings import Severity
from reconciler.model.readings import Reading
from reconciler.model.refs import WorkloadKey
from tests.unit.core.reading import CONFIG, SPEC, read

ARENA = WorkloadKey("Scheduler", "arena", "arena")
LOBBY = SPEC.replace("name: arena", "name: lobby")
BARE = SPEC.replace("  replicas: 10\n", "")
MOVED = BARE.replace("  reports: none\n", "  reports: none\n  autoscaling: {min: 2, max: 50, "
                     "policy: {schedule: [{replicas: 20}]}}\n")  # fmt: skip
HEAD = "apiVersion: gamekeeper.dev/v1\nkind: Replicas\n"
COUNTS = HEAD + "spec:\n  counts:\n"


def rules(reading: Reading) -> list[tuple[str, int, str]]:
    return [(one.file, one.line, one.rule) for one in reading.findings]


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("Scheduler/arena", ARENA),
        ("Fleet/arena", WorkloadKey("Fleet", "arena", "arena")),
        ("Fleet/eu/arena", WorkloadKey("Fleet", "eu", "arena")),
        ("Fleet/arena/arena", None),
        ("Scheduler/eu/arena", None),
        ("Scheduler/arena/arena", None),
        ("Fleet/eu/arena/x", None),
        ("Fleet/eu/", None),
        ("Pod/arena", None),
        ("Scheduler", None),
        ("Scheduler/Arena", None),
        ("arena", None),
        ("", None),
    ],
)
def test_a_name_of_a_count_is_the_one_way_to_write_a_workload(
    name: str, key: WorkloadKey | None
) -> None:
    assert key_named(name) == key
    assert key is None or str(key) == name


def test_a_spec_without_a_count_has_that_of_the_file_and_says_where_it_stands() -> None:
    files = {"schedulers/a.yaml": BARE, "replicas.yaml": COUNTS + "    Scheduler/arena: 4\n"}
    reading = read(files)

    workload = reading.workloads[ARENA]
    assert (workload.replicas, str(workload.replicas_source)) == (4, "replicas.yaml:5")
    assert str(workload.source) == "schedulers/a.yaml:1"
    assert workload.spec_json == read({"a/a.yaml": "", **_spelled(4)}).workloads[ARENA].spec_json
    assert reading.counts == {ARENA: 4}
    assert reading.findings == ()


def _spelled(count: int) -> dict[str, str]:
    return {"schedulers/a.yaml": SPEC.replace("10", str(count))}


def test_the_revision_does_not_depend_on_where_the_count_stands() -> None:
    files = {"schedulers/a.yaml": BARE, "replicas.yaml": COUNTS + "    Scheduler/arena: 4\n"}

    assert read(files).workloads[ARENA].revision == read(_spelled(4)).workloads[ARENA].revision


def test_a_count_in_both_places_holds_its_workload_and_no_other() -> None:
    files = {
        "schedulers/a.yaml": SPEC,
        "schedulers/b.yaml": LOBBY,
        "replicas.yaml": COUNTS + "    Scheduler/arena: 4\n",
    }
    reading = read(files)

    assert list(reading.invalid) == [ARENA]
    assert [str(key) for key in reading.workloads] == ["Scheduler/lobby"]
    assert rules(reading) == [("schedulers/a.yaml", 7, "replicas-twice")]
    assert "replicas.yaml:5" in reading.findings[0].message


def test_a_count_that_leaves_the_file_is_missing_not_zero() -> None:
    reading = read({"schedulers/a.yaml": BARE, "replicas.yaml": HEAD})

    assert list(reading.invalid) == [ARENA]
    assert rules(reading) == [("schedulers/a.yaml", 5, "missing-property")]


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        pytest.param("Scheduler/arena: -1", "range", id="less than none"),
        pytest.param("Scheduler/arena: 10001", "range", id="too many"),
        pytest.param("Scheduler/arena: ten", "type", id="a word"),
        pytest.param("Scheduler/arena: 1.0", "type", id="a fraction"),
        pytest.param("Scheduler/arena:", "type", id="nothing"),
        pytest.param("Scheduler/arena: !!int 4", "tag", id="a tag"),
        pytest.param("Scheduler/arena: 4\n    Scheduler/arena: 5", "duplicate-key", id="twice"),
    ],
)
def test_a_count_with_a_mistake_holds_its_workload_alone(line: str, rule: str) -> None:
    files = {
        "schedulers/a.yaml": BARE,
        "schedulers/b.yaml": BARE.replace("name: arena", "name: lobby"),
        "replicas.yaml": f"{COUNTS}    Scheduler/lobby: 3\n    {line}\n",
    }
    reading = read(files)

    assert list(reading.invalid) == [ARENA]
    assert [workload.replicas for workload in reading.workloads.values()] == [3]
    assert {one.rule for one in reading.findings} >= {rule, "replicas-file"}
    assert reading.unreadable == ()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(COUNTS + "    Scheduler/arenas/x: 4\n", id="a name that is none"),
        pytest.param(HEAD + "spec: {count: {Scheduler/arena: 4}}\n", id="an unknown property"),
        pytest.param(HEAD + "spec: {counts: }\n", id="no mapping"),
        pytest.param(HEAD.replace("v1", "v2") + "spec: {counts: {}}\n", id="another version"),
        pytest.param("", id="an empty file"),
    ],
)
def test_while_a_mistake_is_beside_the_counts_a_spec_without_one_is_held(text: str) -> None:
    files = {"schedulers/a.yaml": BARE, "schedulers/b.yaml": LOBBY, "replicas.yaml": text}
    reading = read(files)

    assert list(reading.invalid) == [ARENA]
    assert ("schedulers/a.yaml", 5, "replicas-file") in rules(reading)
    assert [str(key) for key in reading.workloads] == ["Scheduler/lobby"]
    assert reading.unreadable == ()


def test_a_directory_in_place_of_the_file_holds_whose_count_would_stand_there() -> None:
    files = {"schedulers/a.yaml": MOVED, "schedulers/b.yaml": LOBBY, "replicas.yaml/x.txt": ""}
    config = CONFIG + "spec: {writeBack: {to: file}}\n"
    reading = read(files | {"gamekeeper.yaml": config})

    assert ("replicas.yaml", 0, "directory") in rules(reading)
    assert list(reading.invalid) == [ARENA]
    assert [str(key) for key in reading.workloads] == ["Scheduler/lobby"]
    assert reading.unreadable == (), "what is wanted can be told: deletions go on"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a: [", id="no YAML"),
        pytest.param(LOBBY, id="a scheduler"),
        pytest.param(HEAD + "---\n" + LOBBY, id="a scheduler beside the counts"),
        pytest.param(HEAD + "---\n" + HEAD, id="two of them"),
        pytest.param("- a\n", id="a list"),
    ],
)
def test_what_else_stands_in_the_file_may_be_anything_so_nothing_is_deleted(text: str) -> None:
    reading = read({"schedulers/a.yaml": BARE, "replicas.yaml": text})

    assert reading.unreadable == ("replicas.yaml",)
    assert list(reading.invalid) == [ARENA]
    assert reading.counts == {}


def test_a_count_of_nobody_is_a_warning() -> None:
    files = {"schedulers/a.yaml": SPEC, "replicas.yaml": COUNTS + "    Scheduler/gone: 4\n"}
    reading = read(files)

    assert rules(reading) == [("replicas.yaml", 5, "count-of-nobody")]
    assert [one.severity for one in reading.findings] == [Severity.WARNING]
    assert list(reading.workloads) == [ARENA]
    assert list(reading.counts) == [WorkloadKey("Scheduler", "gone", "gone")]


def test_while_a_file_cannot_be_read_nobody_knows_whose_count_it_is() -> None:
    files = {"schedulers/a.yaml": "a: [", "replicas.yaml": COUNTS + "    Scheduler/gone: 4\n"}

    assert [one.rule for one in read(files).findings] == ["syntax"]


def test_counts_among_the_specs_are_a_finding_and_count_nothing() -> None:
    files = {
        "schedulers/a.yaml": BARE,
        "schedulers/replicas.yaml": COUNTS + "    Scheduler/arena: 4\n",
    }
    reading = read(files)

    assert [one.rule for one in reading.findings] == ["missing-property", "replicas-place"]
    assert reading.unreadable == ()


def test_the_file_of_the_root_is_no_spec_even_where_all_of_it_is_read() -> None:
    config = "apiVersion: gamekeeper.dev/v1\nkind: Config\nspec: {paths: [.]}\n"
    counts = COUNTS + "    Scheduler/arena: 4\n"
    reading = read({"gamekeeper.yaml": config, "a.yaml": BARE, "replicas.yaml": counts})

    assert reading.findings == ()
    assert reading.workloads[ARENA].replicas == 4


def test_a_spec_that_is_no_mapping_is_told_once() -> None:
    text = "apiVersion: gamekeeper.dev/v1\nkind: Scheduler\nmetadata: {name: arena}\nspec: 5\n"

    assert [one.rule for one in read({"schedulers/a.yaml": text}).findings] == ["type"]
