"""history and undo of a repository alone: merges, moves, a folder of a larger one, no cluster."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.commands import commit, fleet, gamekeeper, git

pytestmark = pytest.mark.long

SPEC = "schedulers/arena.yaml"


@pytest.fixture(scope="module")
def inside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fleet in a folder of a repository, with a number that people changed in every way."""
    top = tmp_path_factory.mktemp("studio")
    made = fleet(top / "fleet")
    git(made, "remote", "add", "elsewhere", str(top))
    commit(made, SPEC, "replicas: 2", "replicas: 3")
    git(made, "switch", "--quiet", "--create", "side")
    commit(made, SPEC, "replicas: 3", "replicas: 5")
    git(made, "switch", "--quiet", "main")
    (made / "README.md").write_text("words\n")
    git(made, "add", "--all")
    git(made, "commit", "--quiet", "--message", "words")
    git(made, "merge", "--quiet", "--no-ff", "--message", "five", "side")
    (made / "schedulers" / "eu").mkdir()
    git(made, "mv", SPEC, "schedulers/eu/arena.yaml")
    git(made, "commit", "--quiet", "--message", "moved")
    (made / "games").mkdir()
    for name in ("gamekeeper.yaml", "schedulers"):
        git(made, "mv", name, f"games/{name}")
    git(made, "commit", "--quiet", "--message", "into a folder")
    commit(made, "games/schedulers/eu/arena.yaml", "replicas: 5", "replicas: 8")
    return made / "games"


def history(folder: Path, *words: str) -> Any:
    done = gamekeeper("history", "arena", "--output", "json", *words, cwd=folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_number_is_followed_through_merges_moves_and_folders(inside: Path) -> None:
    found = history(inside)
    assert [(each["from"], each["to"]) for each in found["changes"]] == [
        (5, 8),
        (3, 5),
        (2, 3),
        (None, 2),
    ], "the merge brought what the branch changed, and moves changed nothing"
    assert found["source"] == "schedulers/eu/arena.yaml:12"
    assert found["changes"][0]["source"] == found["source"]
    assert (found["pending"], found["acts"]) == (None, None)
    assert found["unknown"].startswith("no instance is named")
    assert {each["ours"] for each in found["changes"]} == {None}


def test_a_shallow_clone_says_where_it_ends_and_tells_no_number_of_before(
    inside: Path, tmp_path: Path
) -> None:
    """What its eldest commit changed is not there: that one did not make the number."""
    there = tmp_path / "shallow"
    git(tmp_path, "clone", "--quiet", "--depth", "1", inside.parent.as_uri(), str(there))
    found = history(there / "games")
    ends_at = git(there, "rev-parse", "HEAD").strip()
    assert found["changes"] == []
    assert (found["count"], found["more"], found["shallow"]) == (8, True, True)
    done = gamekeeper("history", "arena", cwd=there / "games")
    assert f"shallow clone, which ends with commit {ends_at[:12]}" in done.stdout + done.stderr
    git(there, "fetch", "--quiet", "--unshallow")
    assert history(there / "games") == history(inside)


def test_a_shallow_clone_of_two_lines_tells_all_that_it_has(tmp_path: Path) -> None:
    """One line ends where the clone does, and the other goes on with a commit it has all of."""
    top = fleet(tmp_path / "fleet")
    commit(top, SPEC, "replicas: 2", "replicas: 3")
    git(top, "switch", "--quiet", "--create", "side")
    for name in ("one", "two", "three"):
        (top / f"{name}.md").write_text("words\n")
        git(top, "add", "--all")
        git(top, "commit", "--quiet", "--message", name)
    git(top, "switch", "--quiet", "main")
    commit(top, SPEC, "replicas: 3", "replicas: 4")
    commit(top, SPEC, "replicas: 4", "replicas: 5")
    git(top, "merge", "--quiet", "--no-ff", "--message", "merged", "side")
    there = tmp_path / "shallow"
    git(tmp_path, "clone", "--quiet", "--depth", "3", top.as_uri(), str(there))
    found = history(there)
    assert [(each["from"], each["to"]) for each in found["changes"]] == [(4, 5)]
    assert (found["more"], found["shallow"]) == (True, True)


def test_a_root_of_its_own_in_a_shallow_clone_is_no_end(tmp_path: Path) -> None:
    top = fleet(tmp_path / "fleet")
    git(top, "switch", "--quiet", "--orphan", "words")
    for name in ("one", "two", "three"):
        (top / f"{name}.md").write_text("words\n")
        git(top, "add", "--all")
        git(top, "commit", "--quiet", "--message", name)
    git(top, "merge", "--quiet", "--allow-unrelated-histories", "--message", "both", "main")
    there = tmp_path / "shallow"
    git(tmp_path, "clone", "--quiet", "--depth", "2", top.as_uri(), str(there))
    assert git(there, "rev-parse", "--is-shallow-repository").strip() == "true"
    found = history(there)
    assert [(each["from"], each["to"]) for each in found["changes"]] == [(None, 2)]
    assert found["shallow"] is False


def test_a_branch_of_counts_that_was_not_fetched_is_named(tmp_path: Path) -> None:
    made = fleet(tmp_path / "fleet")
    config = (made / "gamekeeper.yaml").read_text()
    assert "spec:" in config
    kept = config.partition("spec:")[0]
    (made / "gamekeeper.yaml").write_text(f"{kept}spec: {{writeBack: {{branch: counts}}}}\n")
    git(made, "commit", "--quiet", "--all", "--message", "counts apart")
    assert history(made)["unfetched"] == "counts"
    git(made, "branch", "counts")
    found = history(made)
    assert (found["unfetched"], found["countsBranch"]) == (None, "counts")
    assert found["countsCommit"] == git(made, "rev-parse", "counts")


def test_it_takes_a_git_identity_and_a_repository_to_undo(inside: Path) -> None:
    head = git(inside, "rev-parse", "HEAD")
    nobody = dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL"), "")
    done = gamekeeper("undo", head, cwd=inside, more=nobody)
    assert done.returncode == 1
    assert "git does not know whose commit this would be" in done.stderr
    wrong = gamekeeper("undo", head, "--author", "Ada", cwd=inside)
    assert '"Ada" is no name with an address' in wrong.stderr
    where = gamekeeper("undo", head, cwd=inside)
    assert "which repository is tracked is not known" in where.stderr
    assert "--repo" in where.stderr


def test_a_spec_with_objects_and_copies_that_are_not_allowed_here_has_a_history(
    tmp_path: Path,
) -> None:
    made = fleet(tmp_path / "fleet")
    text = (made / SPEC).read_text()
    more = """spec:
  objects: objects
  copyFrom: [{kind: Secret, namespace: shared, name: registry}]
"""
    (made / SPEC).write_text(text.replace("spec:\n", more, 1))
    (made / "objects").mkdir()
    map_of = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n"
    (made / "objects" / "configmap.yaml.j2").write_text(map_of)
    git(made, "add", "--all")
    git(made, "commit", "--quiet", "--message", "settings")
    commit(made, SPEC, "replicas: 2", "replicas: 3")
    assert [(each["from"], each["to"]) for each in history(made)["changes"]] == [(2, 3), (None, 2)]
