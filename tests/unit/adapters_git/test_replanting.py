"""Files changed in a tree: what stands beside them stays, whatever its mode and name."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from reconciler.adapters.git.mirror import Mirror
from reconciler.model.errors import Misconfigured
from tests.contract.pushes import change
from tests.gitservers.repositories import BareRepository
from tests.unit.adapters_git.repositories import (
    bare,
    blob,
    commit_of,
    commit_tree,
    literal_tree,
    made_tree,
    mirror,
)


@asynccontextmanager
async def fetched(repository: BareRepository, folder: Path) -> AsyncIterator[Mirror]:
    """Return a mirror that has fetched."""
    made = mirror(repository, folder / "cache")
    try:
        await made.fetch()
        yield made
    finally:
        await made.close()


async def test_a_file_keeps_its_mode_and_every_other_entry_its_place(tmp_path: Path) -> None:
    repository = bare(tmp_path)
    text, link = blob(repository, b"a\n"), blob(repository, b"elsewhere")
    tree = b"".join(
        b"%s %s %s\t%s\0" % entry
        for entry in (
            (b"100755", b"blob", text.encode(), b"run.yaml"),
            (b"120000", b"blob", link.encode(), b"link.yaml"),
            (b"160000", b"commit", b"1" * 40, b"module"),
            (b"100644", b"blob", text.encode(), "läuft \u2728.yaml".encode()),
            (b"100644", b"blob", text.encode(), b"latin-\xe9.yaml"),
        )
    )
    base = commit_tree(repository, tree)
    async with fetched(repository, tmp_path) as made:
        files = {"run.yaml": b"b\n", "läuft \u2728.yaml": b"c\n", "-n.yaml": b"d\n"}
        pushed = await made.push(change(base, files))
        for path in ("link.yaml", "module", "module/a.yaml", "link.yaml/a.yaml"):
            with pytest.raises(Misconfigured, match="cannot be written"):
                await made.write(change(base, {path: b"x"}))
    before = repository.git("ls-tree", "-r", base).splitlines()
    after = repository.git("ls-tree", "-r", pushed.commit).splitlines()
    assert [line.split()[0] for line in set(after) - set(before)].count("100755") == 1
    assert len(set(before) - set(after)) == 2
    assert len(after) == len(before) + 1
    assert repository.git("show", f"{pushed.commit}:-n.yaml") == "d"


@pytest.mark.parametrize("name", [b".git", b"git~1", b"..", b"GIT~1", ".g\u200cit".encode()])
@pytest.mark.parametrize("place", ["the top", "its folder", "elsewhere"])
async def test_a_name_that_no_index_takes_keeps_no_other_file_from_being_written(
    tmp_path: Path, name: bytes, place: str
) -> None:
    repository = bare(tmp_path)
    text = blob(repository, b"replicas: 1\n").encode()
    odd = b"100644 blob %s\t%s\0" % (text, name)
    folders = []
    for folder, file in ((b"else", b"a.yaml"), (b"rooms", b"rooms.yaml")):
        inside = b"100644 blob %s\t%s\0" % (text, file)
        odder = {"its folder": b"rooms", "elsewhere": b"else"}.get(place) == folder
        tree = made_tree(repository, inside + odd * odder)
        folders.append(b"40000 tree %s\t%s\0" % (tree.encode(), folder))
    base = commit_tree(repository, b"".join(folders) + odd * (place == "the top"))
    async with fetched(repository, tmp_path) as made:
        pushed = await made.push(change(base, {"rooms/rooms.yaml": b"replicas: 2\n"}))
    before, after = (
        repository.git("ls-tree", "-r", "-z", at).split("\0") for at in (base, pushed.commit)
    )
    [gone], [came] = set(before) - set(after), set(after) - set(before)
    assert gone.endswith("\trooms/rooms.yaml")
    assert came.endswith("\trooms/rooms.yaml")
    assert len(after) == len(before)


@pytest.mark.parametrize(
    ("folder", "file", "beside", "then"),
    [
        pytest.param("040000", "100644", "040000", "100644", id="folders of old tools"),
        pytest.param("40755", "0100644", "40000", "100644", id="odd bits, a padded file"),
        pytest.param("40000", "100664", "40000", "100644", id="a file of a group"),
        pytest.param("40000", "0100755", "0160000", "100755", id="a program, a submodule beside"),
        pytest.param("40000", "100644", "0120000", "100644", id="a link beside"),
    ],
)
async def test_modes_that_git_reads_and_does_not_write_are_written_as_its_own(
    tmp_path: Path, folder: str, file: str, beside: str, then: str
) -> None:
    repository = bare(tmp_path)
    text = blob(repository, b"replicas: 1\n")

    inner = literal_tree(repository, (file, b"a.yaml", text))
    other = {"40000": literal_tree(repository, ("100644", b"b.yaml", text)), "60000": "1" * 40}
    known = other.get(beside[-5:], text)
    tree = literal_tree(repository, (beside, b"else", known), (folder, b"rooms", inner))
    base = commit_of(repository, tree)
    async with fetched(repository, tmp_path) as made:
        pushed = await made.push(change(base, {"rooms/a.yaml": b"replicas: 2\n"}))
    after = repository.git("ls-tree", "-r", "-t", pushed.commit)
    assert f"{then} blob" in [line.rsplit(" ", 1)[0] for line in after.splitlines()]
    assert repository.git("show", f"{pushed.commit}:rooms/a.yaml") == "replicas: 2"
    assert repository.git("rev-parse", f"{pushed.commit}:else") == known


@pytest.mark.parametrize(
    ("mode", "name"),
    [("100644", b"a/b"), ("160000", b"module"), ("100644", b"rooms.yaml")],
    ids=["a slash in a name", "a blob as a module", "a name twice"],
)
async def test_a_tree_that_no_git_makes_is_named_and_costs_us_no_mirror(
    tmp_path: Path, mode: str, name: bytes
) -> None:
    repository = bare(tmp_path)
    text = blob(repository, b"replicas: 1\n")
    tree = literal_tree(repository, (mode, name, text), ("100644", b"rooms.yaml", text))
    base = commit_of(repository, tree)
    async with fetched(repository, tmp_path) as made:
        mark = Path(made.directory) / "mark"
        mark.touch()
        with pytest.raises(Misconfigured, match="git makes no such tree"):
            await made.write(change(base, {"rooms.yaml": b"replicas: 2\n"}))
        assert mark.exists(), "it was thrown away and fetched whole"


async def test_a_folder_comes_with_its_first_file_and_goes_with_its_last(tmp_path: Path) -> None:
    repository = bare(tmp_path)
    base = repository.commit({"a/b/c.yaml": "c", "a/d.yaml": "d", "e.yaml": "e"}, "Start")
    async with fetched(repository, tmp_path) as made:
        files = {"a/b/c.yaml": None, "x/y/z.yaml": b"z", "x/w.yaml": b"w", "e.yaml": b"e"}
        pushed = await made.push(change(base, files))
        listed = repository.git("ls-tree", "-r", "-t", "--name-only", pushed.commit).split()
        assert listed == ["a", "a/d.yaml", "e.yaml", "x", "x/w.yaml", "x/y", "x/y/z.yaml"]
        assert await made.write(change(pushed.commit, {"e.yaml": b"e", "no.yaml": None})) == (
            pushed.commit
        )
        gone = dict.fromkeys(("a/d.yaml", "e.yaml", "x/w.yaml", "x/y/z.yaml"))
        nothing = await made.push(change(pushed.commit, gone))
        assert repository.git("ls-tree", nothing.commit) == ""
