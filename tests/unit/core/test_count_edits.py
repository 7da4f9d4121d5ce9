"""Numbers are put where they stand, in a spec or in the file of counts, or refused by name."""

from typing import Any

import pytest

from reconciler.core import count_edits
from reconciler.core.count_edits import doubt_exact, with_counts
from reconciler.core.read import read_tree
from reconciler.core.spec_files import REPLICAS_FILE
from reconciler.model.findings import Severity
from reconciler.model.refs import WorkloadKey
from reconciler.model.specs import Permissions
from tests.unit.core.reading import kit, tree_of

ARENA = WorkloadKey("Scheduler", "arena", "arena")
SPEC = b"""\
apiVersion: gamekeeper.dev/v1
kind: Scheduler
metadata: {name: arena}   # a comment
spec:
  replicas: 5 # five
"""


def test_a_number_in_a_spec_changes_alone() -> None:
    after, refused = with_counts("a.yaml", SPEC, {ARENA: 12})
    assert (after, refused) == (SPEC.replace(b"replicas: 5", b"replicas: 12"), ())


def test_a_number_in_the_file_of_counts_changes_alone() -> None:
    before, _ = with_counts(REPLICAS_FILE, b"", {ARENA: 5})
    after, refused = with_counts(REPLICAS_FILE, before, {ARENA: 12})
    assert (after, refused) == (before.replace(b"arena: 5", b"arena: 12"), ())


def test_a_refusal_names_its_workload_wherever_the_number_stands() -> None:
    for file, text in (("a.yaml", SPEC.replace(b" 5 ", b" '5' ")), (REPLICAS_FILE, b"[")):
        after, (refusal,) = with_counts(file, text, {ARENA: 12})
        assert after == text
        assert refusal.edit.where == ARENA


@pytest.mark.parametrize("file", ["du\\el.yaml", "du\nel.yaml", "rooms/../duel.yaml", "d/" * 2049])
def test_a_file_that_no_commit_of_ours_may_name_is_refused_alone(file: str) -> None:
    after, (refusal,) = with_counts(file, SPEC, {ARENA: 12})
    assert (after, refusal.edit.where, refusal.line) == (SPEC, ARENA, 0)
    assert "rename it" in refusal.reason


HEAD = "apiVersion: gamekeeper.dev/v1\nkind: Config\nspec: "
DOCUMENT = """\
apiVersion: gamekeeper.dev/v1
kind: Scheduler
metadata: {name: arena}
spec:
  game: arena
  reports: none
  replicas: 5
  autoscaling: {min: 2, max: 20, policy: {schedule: [{replicas: 5}]}}
  template:
    spec:
      containers: [{name: game, image: "registry.example/a:1"}]
"""
SHARED = DOCUMENT.replace(": 5\n", ": &count 5\n").replace("max: 20", "max: *count")


@pytest.mark.parametrize(
    ("text", "config", "message"),
    [
        pytest.param(DOCUMENT, "{}", "", id="plain"),
        pytest.param(
            DOCUMENT.replace("game: arena", "game: &game arena"), "{}", "", id="beside it"
        ),
        pytest.param(SHARED, "{}", "is used again", id="shared"),
        pytest.param(SHARED.replace("{min", "{enabled: false, min"), "{}", "", id="no policy"),
        pytest.param(SHARED, "{writeBack: {mode: off}}", "", id="nothing is written"),
        pytest.param(SHARED, "{writeBack: {branch: counts}}", "", id="written elsewhere"),
        pytest.param(SHARED, "{writeBack: {branch: main}}", "is used again", id="written here"),
        pytest.param(
            "# At last!\n" + DOCUMENT.replace("  replicas: 5\n", ""),
            "{writeBack: {to: file}}",
            "",
            id="none is written yet",
        ),
    ],
)
def test_a_number_that_no_commit_could_change_is_doubted_before_one_is_to(
    text: str, config: str, message: str
) -> None:
    tree = tree_of({"gamekeeper.yaml": f"{HEAD}{config}\n", "schedulers/a.yaml": text})
    reading = read_tree(tree, Permissions(), kit())
    assert ARENA in reading.workloads
    found = list(doubt_exact(reading, tree, "main"))
    assert len(found) == bool(message)
    for each in found:
        assert (each.file, each.line, each.severity) == ("schedulers/a.yaml", 8, Severity.WARNING)
        assert message in each.message


def test_a_file_is_looked_at_once_for_all_that_it_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand looks at one of a thousand documents took 22 s, and plain text needs none."""
    names = ["arena", "duel", "race"]
    text = "---\n".join(SHARED.replace("name: arena", f"name: {name}") for name in names)
    plain = DOCUMENT.replace("name: arena", "name: solo")
    tree = tree_of(
        {"gamekeeper.yaml": f"{HEAD}{{}}\n", "schedulers/a.yaml": text, "schedulers/b.yaml": plain}
    )
    reading = read_tree(tree, Permissions(), kit())
    looks: list[str] = []

    def counted(file: str, *rest: Any) -> Any:
        looks.append(file)
        return with_counts(file, *rest)

    monkeypatch.setattr(count_edits, "with_counts", counted)
    found = list(doubt_exact(reading, tree, "main"))
    assert [each.message.partition(":")[0].split()[-1] for each in found] == [
        f"Scheduler/{name}" for name in names
    ]
    assert [each.line for each in found] == [8, 20, 32]
    assert looks == ["schedulers/a.yaml"]
