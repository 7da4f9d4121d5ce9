"""Repositories made to hurt: read as data, flagged or refused, never followed."""

from pathlib import Path

import pytest

from reconciler.adapters.git import listing
from reconciler.model.errors import Misconfigured
from reconciler.model.trees import EntryKind, Tree
from tests.gitservers.repositories import BareRepository
from tests.unit.adapters_git.repositories import (
    bare,
    blob,
    commit_of,
    commit_tree,
    literal_tree,
    mirror,
)


async def read(repository: BareRepository, folder: Path) -> Tree:
    made = mirror(repository, folder / "cache")
    try:
        return await made.tree((await made.fetch()).commit)
    finally:
        await made.close()


def found_below(folder: Path, name: str) -> list[Path]:
    return list(folder.rglob(name))


async def test_a_symlink_is_flagged_and_not_followed(tmp_path: Path) -> None:
    repository = bare(tmp_path)
    target = blob(repository, b"/etc/passwd")
    commit_tree(
        repository, f"120000 blob {target}\ta.yaml\x00120000 blob {target}\trooms\0".encode()
    )
    tree = await read(repository, tmp_path)
    assert {path: entry.kind for path, entry in tree.entries.items()} == {
        "a.yaml": EntryKind.SYMLINK,
        "rooms": EntryKind.SYMLINK,
    }
    assert all(entry.text is None for entry in tree.entries.values())


async def test_a_submodule_is_flagged_and_not_fetched(tmp_path: Path) -> None:
    repository = bare(tmp_path)
    config = blob(repository, b'[submodule "x"]\n\tpath = rooms\n\turl = ext::touch-a-file\n')
    listed = f"100644 blob {config}\t.gitmodules\x00160000 commit {'1' * 40}\trooms\0"
    commit_tree(repository, listed.encode())
    tree = await read(repository, tmp_path)
    assert {path: entry.kind for path, entry in tree.entries.items()} == {
        "rooms": EntryKind.SUBMODULE
    }


async def test_a_name_that_is_no_utf8_is_kept_unread(tmp_path: Path) -> None:
    repository = bare(tmp_path)
    text = blob(repository, b"kind: A\n")
    commit_tree(repository, b"100644 blob %s\tr\xffm.yaml\0" % text.encode())
    tree = await read(repository, tmp_path)
    assert list(tree.entries) == ["r\ufffdm.yaml"]
    assert tree.entries["r\ufffdm.yaml"].text is None


async def test_names_that_git_would_quote_come_through_whole(tmp_path: Path) -> None:
    repository = bare(tmp_path)
    text = blob(repository, b"kind: A\n")
    names = ['a"b.yaml', "tab\there.yaml", "line\nbreak.yaml", "ünï.yaml", "-rf.yaml"]
    commit_tree(
        repository, b"".join(b"100644 blob %s\t%s\0" % (text.encode(), n.encode()) for n in names)
    )
    tree = await read(repository, tmp_path)
    assert sorted(tree.entries) == sorted(names)
    assert all(entry.text == b"kind: A\n" for entry in tree.entries.values())


async def test_a_name_that_leads_outside_is_read_nowhere(tmp_path: Path) -> None:
    repository = bare(tmp_path)
    text = blob(repository, b"kind: A\n")
    inner = literal_tree(repository, ("100644", b"a.yaml", text))
    commit_of(repository, literal_tree(repository, ("40000", b"..", inner)))
    with pytest.raises(Misconfigured, match=r"'\.\.' is no name that git takes"):
        await read(repository, tmp_path)
    assert not found_below(tmp_path, "a.yaml")


async def test_a_file_past_the_limit_is_listed_unread_with_its_size(tmp_path: Path) -> None:
    repository = bare(tmp_path)
    size = listing.SIZE_LIMIT_BYTES + 1
    repository.commit({"big.yaml": "x" * size, "a.yaml": "y" * listing.SIZE_LIMIT_BYTES}, "big")
    tree = await read(repository, tmp_path)
    assert (tree.entries["big.yaml"].size, tree.entries["big.yaml"].text) == (size, None)
    assert tree.entries["a.yaml"].text == b"y" * listing.SIZE_LIMIT_BYTES


@pytest.mark.long
async def test_more_yaml_than_we_hold_is_misconfigured(tmp_path: Path) -> None:
    repository = bare(tmp_path)
    text = "x" * listing.SIZE_LIMIT_BYTES
    repository.commit({f"{n}.yaml": text for n in range(65)}, "heavy")
    with pytest.raises(Misconfigured, match="64 MiB"):
        await read(repository, tmp_path)


@pytest.mark.long
async def test_a_tree_that_unfolds_without_end_is_misconfigured(tmp_path: Path) -> None:
    repository = bare(tmp_path)
    entry = f"100644 blob {blob(repository, b'x')}"
    folded = "".join(f"{entry}\t{n}.yaml\0" for n in range(10))
    for _ in range(9):
        tree = repository.git("mktree", "-z", stdin=folded.encode())
        folded = "".join(f"040000 tree {tree}\t{n}\0" for n in range(10))
    commit_tree(repository, folded.encode())
    with pytest.raises(Misconfigured, match="repository of their own"):
        await read(repository, tmp_path)


@pytest.mark.long
async def test_more_paths_than_we_hold_is_misconfigured(tmp_path: Path) -> None:
    repository = bare(tmp_path)
    entry = f"100644 blob {blob(repository, b'x')}"
    listed = "".join(f"{entry}\t{n}.txt\0" for n in range(listing.ENTRIES_LIMIT + 1))
    commit_tree(repository, listed.encode())
    with pytest.raises(Misconfigured, match="100001 paths"):
        await read(repository, tmp_path)


async def test_attributes_filters_and_replacements_of_a_repository_do_nothing(
    tmp_path: Path,
) -> None:
    repository = bare(tmp_path)
    marker = tmp_path / "ran"
    commit = repository.commit(
        {
            ".gitattributes": "*.yaml filter=evil diff=evil merge=evil text eol=crlf\n",
            ".gitconfig": f'[filter "evil"]\n\tsmudge = touch {marker}\n',
            ".lfsconfig": f"[lfs]\n\turl = file://{marker}\n",
            "a.yaml": "kind: A\n",
        },
        "filters",
    )
    other = repository.commit({"a.yaml": "kind: B\n"}, "other", branch="other")
    repository.git("replace", "-f", commit, other)
    tree = await read(repository, tmp_path)
    assert tree.entries["a.yaml"].text == b"kind: A\n"
    assert not marker.exists()


async def test_a_head_with_hostile_words_is_one_printable_line(tmp_path: Path) -> None:
    repository = bare(tmp_path)
    repository.commit({"a.yaml": "a"}, "\x1b[31m red https://bot:s3cret@h/x\r\x07 \x00end")
    made = mirror(repository, tmp_path / "cache")
    try:
        head = await made.fetch()
    finally:
        await made.close()
    assert head.subject.isprintable()
    assert "s3cret" not in head.subject
