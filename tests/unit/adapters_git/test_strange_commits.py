"""Commits that no git of ours would write: what they say is told, and nobody else's is."""

from pathlib import Path

import pytest

from reconciler.model.pushes import Logged
from reconciler.model.trees import Head
from tests.gitservers.repositories import BareRepository
from tests.unit.adapters_git.repositories import (
    bare,
    blob,
    commit_of,
    literal_commit,
    literal_tree,
    mirror,
)

COMMIT = """tree {tree}
author Mallory <m@example.com> {date} +0000
committer Mallory <m@example.com> {date} +0000

Strange
"""


async def looked_at(repository: BareRepository, folder: Path) -> tuple[Head, list[Logged]]:
    made = mirror(repository, folder / "cache")
    try:
        head = await made.fetch()
        return head, list(await made.log(head.commit, [], 10))
    finally:
        await made.close()


@pytest.mark.parametrize("date", ["", "soon", "1" + "0" * 26, "99999999999999"])
async def test_a_commit_of_no_date_is_read_and_is_of_none(tmp_path: Path, date: str) -> None:
    repository = bare(tmp_path)
    tree = literal_tree(repository, ("100644", b"a.yaml", blob(repository, b"kind: A\n")))
    repository.reset(literal_commit(repository, COMMIT.format(tree=tree, date=date).encode()))

    head, log = await looked_at(repository, tmp_path)

    assert (head.subject, head.committed_at) == ("Strange", 0.0)
    assert [(each.subject, each.at, each.paths) for each in log] == [("Strange", 0.0, ("a.yaml",))]


async def test_a_path_that_looks_like_a_commit_is_none(tmp_path: Path) -> None:
    repository = bare(tmp_path)
    honest = repository.commit({"a.yaml": "kind: A\n"}, "Honest")
    content = blob(repository, b"x")
    lie = ("/" + honest, "", "Mallory", "m@example.com", "Mallory", "m@example.com", "1", "Lie")
    names = (*lie, "body", "\nb", "c")
    entries = sorted(("100644", name.encode(), content) for name in names if name)
    hostile = commit_of(repository, literal_tree(repository, *entries))

    _, log = await looked_at(repository, tmp_path)

    assert (log[0].commit, log[0].subject) == (hostile, "hostile")
    assert "Mallory" not in {each.author.name for each in log}
    assert {"Mallory", "Lie", " b", "c"} <= set(log[0].paths)
