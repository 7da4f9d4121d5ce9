"""A count stands in its spec, in `replicas.yaml`, on a branch of counts, or nowhere yet."""

from dataclasses import replace

import pytest

from reconciler.core.read import read_tree
from reconciler.core.spec_files import lay_over
from reconciler.model.findings import Severity
from reconciler.model.readings import Reading
from reconciler.model.refs import WorkloadKey
from reconciler.model.specs import Permissions
from tests.unit.core.reading import CONFIG, SPEC, kit, tree_of

ARENA = WorkloadKey("Scheduler", "arena", "arena")
MOVED = SPEC.replace("  reports: none\n", "  reports: none\n  autoscaling: {min: 2, max: 50, "
                     "policy: {schedule: [{replicas: 20}]}}\n")  # fmt: skip
BARE = MOVED.replace("  replicas: 10\n", "")
OFF = MOVED.replace("autoscaling: {", "autoscaling: {enabled: false, ")
COUNTS = "apiVersion: gamekeeper.dev/v1\nkind: Replicas\nspec:\n  counts:\n"
TWELVE = COUNTS + "    Scheduler/arena: 12\n"


def read(spec: str, back: str = "", listed: str = "", over: str | None = None) -> Reading:
    """Read a spec with a Config, a `replicas.yaml`, and one that lies over it."""
    files = {
        "gamekeeper.yaml": CONFIG + f"spec: {{writeBack: {{{back}}}}}\n",
        "schedulers/a.yaml": spec,
    }
    tree = tree_of(files | ({"replicas.yaml": listed} if listed else {}))
    if over is not None:
        tree = lay_over(tree, "counts", tree_of({"replicas.yaml": over}))
    return read_tree(tree, Permissions(), kit())


@pytest.mark.parametrize(
    ("spec", "listed", "over", "count", "place", "own"),
    [
        pytest.param(MOVED, "", TWELVE, 12, "counts:replicas.yaml:5", 10, id="over its spec's"),
        pytest.param(
            BARE,
            COUNTS + "    Scheduler/arena: 7\n",
            TWELVE,
            12,
            "counts:replicas.yaml:5",
            7,
            id="over that of the tracked branch's file",
        ),
        pytest.param(
            BARE, "", TWELVE, 12, "counts:replicas.yaml:5", None, id="where there is no other"
        ),
        pytest.param(SPEC, "", TWELVE, 10, "schedulers/a.yaml:7", None, id="not without a policy"),
        pytest.param(OFF, "", TWELVE, 10, "schedulers/a.yaml:7", None, id="not where it is off"),
        pytest.param(
            MOVED, "", COUNTS[:-9] + "{}\n", 10, "schedulers/a.yaml:7", None, id="not listed"
        ),
        pytest.param(MOVED, "", None, 10, "schedulers/a.yaml:7", None, id="no such file"),
    ],
)
def test_a_count_of_the_branch_of_counts_lies_over_what_a_policy_moves(
    spec: str, listed: str, over: str | None, count: int, place: str, own: int | None
) -> None:
    reading = read(spec, "branch: counts", listed, over)

    workload = reading.workloads[ARENA]
    assert (workload.replicas, str(workload.replicas_source)) == (count, place)
    assert reading.own == ({} if own is None else {ARENA: own})
    assert reading.errors == ()
    assert str(workload.source).startswith("schedulers/a.yaml")


@pytest.mark.parametrize(
    "over",
    [
        pytest.param(COUNTS + "    Scheduler/arena: many\n", id="no number"),
        pytest.param(COUNTS + "    Scheduler/arena: -1\n", id="a number that no count is"),
        pytest.param("spec: [\n", id="no YAML"),
        pytest.param("", id="no document"),
        pytest.param(SPEC, id="a spec"),
        pytest.param("a: {{ }}\n", id="a template"),
    ],
)
def test_a_count_that_cannot_be_told_holds_its_workload_and_nothing_is_taken_for_gone(
    over: str,
) -> None:
    reading = read(MOVED, "branch: counts", over=over)

    assert (list(reading.invalid), reading.workloads) == ([ARENA], {})
    assert reading.unreadable == (), "what is wanted can be told: deletions go on"
    assert {one.file for one in reading.errors} == {"counts:replicas.yaml", "schedulers/a.yaml"}
    assert "counts:replicas.yaml has a mistake" in reading.invalid[ARENA][0].message


def test_a_directory_on_the_branch_of_counts_holds_what_would_be_listed_there() -> None:
    tree = tree_of({"gamekeeper.yaml": CONFIG, "schedulers/a.yaml": MOVED})
    laid = lay_over(tree, "counts", tree_of({"replicas.yaml/x.yaml": "a: 1"}))

    reading = read_tree(laid, Permissions(), kit())

    assert (list(reading.invalid), reading.unreadable) == ([ARENA], ())
    assert "counts:replicas.yaml" in {one.file for one in reading.errors}


def test_a_file_of_counts_that_nobody_could_read_is_not_absent() -> None:
    tree = tree_of({"gamekeeper.yaml": CONFIG, "schedulers/a.yaml": MOVED})
    laid = lay_over(tree, "counts", tree_of({"replicas.yaml": TWELVE}))
    left = {path: entry for path, entry in laid.entries.items() if path != laid.counts_file}

    reading = read_tree(replace(laid, entries=left), Permissions(), kit())

    assert list(reading.invalid) == [ARENA]


def test_what_lies_over_is_no_spec_where_all_of_the_repository_is_read() -> None:
    tree = tree_of({"gamekeeper.yaml": CONFIG + "spec: {paths: [.]}\n", "a.yaml": MOVED})
    reading = read_tree(
        lay_over(tree, "counts", tree_of({"replicas.yaml": TWELVE})), Permissions(), kit()
    )

    assert (list(reading.workloads), reading.errors) == ([ARENA], ())


@pytest.mark.parametrize("back", ["to: file", "branch: counts"])
def test_a_count_that_stands_nowhere_yet_is_the_least(back: str) -> None:
    reading = read(BARE, back)

    assert reading.workloads[ARENA].replicas == 2
    assert (reading.unnumbered, reading.errors) == (frozenset({ARENA}), ())


@pytest.mark.parametrize(
    ("spec", "back", "listed"),
    [
        pytest.param(BARE, "", "", id="where counts stand inline"),
        pytest.param(
            OFF.replace("  replicas: 10\n", ""), "to: file", "", id="where nothing moves it"
        ),
        pytest.param(
            BARE, "to: file", COUNTS + "    Scheduler/arena: x\n", id="where its line is wrong"
        ),
        pytest.param(BARE, "to: file", "a: [\n", id="where the file cannot be read"),
        pytest.param(
            MOVED, "to: file", COUNTS + "    Scheduler/arena: 9\n", id="where it stands twice"
        ),
    ],
)
def test_a_count_that_is_missing_for_another_reason_is_a_mistake(
    spec: str, back: str, listed: str
) -> None:
    reading = read(spec, back, listed)

    assert (list(reading.invalid), reading.unnumbered) == ([ARENA], frozenset())


def test_a_line_is_the_count_as_ever() -> None:
    reading = read(BARE, "to: file", COUNTS + "    Scheduler/arena: 9\n")

    assert (reading.workloads[ARENA].replicas, reading.unnumbered) == (9, frozenset())


@pytest.mark.parametrize("line", ["12", "many"])
def test_a_line_that_a_merge_of_the_branch_of_counts_brought_is_warned_of_alone(line: str) -> None:
    reading = read(MOVED, "branch: counts", TWELVE.replace("12", line), TWELVE)
    assert (reading.invalid, reading.workloads[ARENA].replicas) == ({}, 12)
    assert reading.own == {ARENA: 10}
    told = {finding.rule: finding.severity for finding in reading.findings}
    assert told["replicas-twice"] is Severity.WARNING

    alone = read(MOVED, "", TWELVE)
    assert list(alone.invalid) == [ARENA], "without such a branch nobody can tell which is meant"
