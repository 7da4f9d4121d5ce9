from typing import Any

import pytest

from reconciler.core import vanish
from reconciler.model.findings import Finding, Severity
from reconciler.model.holds import HoldKind
from reconciler.model.specs import Config
from reconciler.model.trees import Relation
from tests.unit.core.making import a_key, a_reading, a_workload

FINDING = Finding("a.yaml", 1, 1, "", "is wrong")


@pytest.mark.parametrize(
    ("relation", "same", "kind"),
    [
        pytest.param(Relation.FORWARD, True, None, id="a fast-forward is trusted"),
        pytest.param(Relation.SAME, True, None, id="so is the accepted commit itself"),
        pytest.param(Relation.DIVERGED, True, HoldKind.FORCE_PUSHED, id="a force-push is not"),
        pytest.param(Relation.UNKNOWN, True, HoldKind.FORCE_PUSHED, id="nor a rewritten history"),
        pytest.param(None, True, HoldKind.NO_ACCEPTED_COMMIT, id="nor a start without memory"),
        pytest.param(
            Relation.FORWARD, False, HoldKind.REPOSITORY_CHANGED, id="nor another repository"
        ),
        pytest.param(None, False, HoldKind.REPOSITORY_CHANGED, id="which is said first"),
    ],
)
def test_of_heads(relation: Relation | None, same: bool, kind: HoldKind | None) -> None:
    found = vanish.head_problem(relation, same, "main")
    assert (found and found[0]) == kind


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        pytest.param(("a", "b"), ("b", "a"), None, id="another order of paths"),
        pytest.param(("a",), ("a", "b"), None, id="one more path"),
        pytest.param(("a", "b"), ("a",), HoldKind.PATHS_CHANGED, id="one path fewer"),
        pytest.param(("a",), ("b",), HoldKind.PATHS_CHANGED, id="a path renamed"),
        pytest.param(None, ("b",), None, id="nothing to compare with"),
    ],
)
def test_of_paths(
    before: tuple[str, ...] | None, after: tuple[str, ...], kind: HoldKind | None
) -> None:
    accepted_config = Config(paths=before) if before else None
    reading = a_reading(a_workload(), config=Config(paths=after))
    found = vanish.content_problem(accepted_config, reading, 1)
    assert (found and found[0]) == kind


def test_paths_that_are_listed_no_more_are_repeated_short_and_masked() -> None:
    paths = ("password=hunter2hunter2", "x" * 480, *(f"y{n}" for n in range(90)))
    found = vanish.content_problem(Config(paths=paths), a_reading(config=Config()), 1)
    assert found is not None
    assert "hunter2" not in found[1]
    assert found[1].endswith(" and 87 more any more")
    assert len(found[1]) < 300


@pytest.mark.parametrize(
    ("changes", "known", "kind"),
    [
        pytest.param({}, 2, HoldKind.LAST_SPEC, id="nothing is left"),
        pytest.param({}, 0, None, id="nothing was there"),
        pytest.param({"invalid": {a_key(): (FINDING,)}}, 2, None, id="a broken spec is a spec"),
    ],
)
def test_of_the_last_spec(changes: dict[str, Any], known: int, kind: HoldKind | None) -> None:
    found = vanish.content_problem(Config(), a_reading(**changes), known)
    assert (found and found[0]) == kind


@pytest.mark.parametrize(
    ("file", "missing_paths", "vanished"),
    [
        pytest.param("eu/arena.yaml", (), False, id="its directory is there"),
        pytest.param("us/arena.yaml", (), True, id="its directory is gone"),
        pytest.param("eu/west/arena.yaml", (), True, id="its directory in another is gone"),
        pytest.param("arena.yaml", (), False, id="the root is always there"),
        pytest.param("arena.yaml", ("arena.yaml",), True, id="a file that Config names"),
        pytest.param("eu/arena.yaml", ("eu",), True, id="a path that Config names"),
        pytest.param("eu/arena.yaml", ("e",), False, id="a path that only begins alike"),
    ],
)
def test_of_directories(file: str, missing_paths: tuple[str, ...], vanished: bool) -> None:
    reading = a_reading(directories=frozenset({"eu"}), missing_paths=missing_paths)
    found = vanish.directory_problem(file, reading)
    assert bool(found) is vanished
    assert found is None or found[0] is HoldKind.PATH_VANISHED


EMPTY = Finding("a.yaml", 0, 0, "", "empty", "", vanish.EMPTY_FILE, Severity.WARNING)
WARNED = Finding("a.yaml", 3, 1, "", "a hint", severity=Severity.WARNING)


@pytest.mark.parametrize(
    ("findings", "unreadable", "reason"),
    [
        pytest.param((), (), "", id="a file without mistakes, or none at all"),
        pytest.param((WARNED,), (), "", id="a warning"),
        pytest.param((Finding("b.yaml", 1, 1, "", "wrong"),), (), "", id="another file's mistake"),
        pytest.param((EMPTY,), (), "a.yaml is there, but holds no document", id="an emptied file"),
        pytest.param((FINDING,), (), "a.yaml:1 has a mistake", id="a mistake beside"),
        pytest.param((FINDING,), ("a.yaml",), "", id="an unreadable file, which holds everything"),
    ],
)
def test_of_files_that_are_there_still(
    findings: tuple[Finding, ...], unreadable: tuple[str, ...], reason: str
) -> None:
    found = vanish.file_problem("a.yaml", a_reading(findings=findings, unreadable=unreadable))
    assert bool(found) is bool(reason)
    assert found is None or (found[0] is HoldKind.FILE_IN_DOUBT and reason in found[1])
