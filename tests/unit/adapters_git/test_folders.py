"""Which folder of a repository may be named, and how its paths are told."""

from pathlib import Path

import pytest

from reconciler.adapters.git.checkout import LocalCheckout
from reconciler.adapters.git.folders import check_folder, from_folder, from_top
from reconciler.adapters.git.mirror import Mirror
from reconciler.adapters.git.source import Source
from reconciler.model.errors import Misconfigured
from reconciler.model.trees import Folder
from tests.unit.adapters_git.repositories import bare, blob, commit_tree
from tests.unit.adapters_git.test_checkout import commit, git, write

FILES = {"eu/prod/gamekeeper.yaml": "kind: Config\n", "eu/prod/rooms/a.yaml": "kind: A\n"}


@pytest.mark.parametrize(
    ("written", "folder"),
    [
        pytest.param("", "", id="the whole repository"),
        pytest.param(".", "", id="its top"),
        pytest.param("./", "", id="its top, as shells complete it"),
        pytest.param("eu/prod/", "eu/prod", id="with a slash at the end"),
        pytest.param("./eu/prod", "eu/prod", id="from here"),
        pytest.param("eu prod/ü", "eu prod/ü", id="with blanks and letters of all kinds"),
    ],
)
def test_a_folder_is_known_as_git_writes_it(written: str, folder: str) -> None:
    assert check_folder(written) == folder


@pytest.mark.parametrize(
    "written",
    ["/eu", "../eu", "eu/../../x", "eu//prod", "eu/.git", ".GIT/x", "eu\n", "eu\\prod", "a" * 2000],
)
def test_what_leads_elsewhere_is_refused(written: str) -> None:
    with pytest.raises(Misconfigured, match="is no folder inside a repository"):
        check_folder(written)
    with pytest.raises(Misconfigured, match="--path"):
        Mirror(Source("file:///srv/x.git", path=written), "/nowhere")
    with pytest.raises(Misconfigured, match="--path"):
        LocalCheckout(".", written)


def test_paths_lead_there_and_back() -> None:
    assert from_top("eu", "a.yaml") == "eu/a.yaml"
    assert from_top("", "a.yaml") == "a.yaml"
    assert from_folder("eu", "eu/a.yaml") == "a.yaml"
    assert from_folder("", "eu/a.yaml") == "eu/a.yaml"
    assert from_folder("eu", "eu2/a.yaml") == "/eu2/a.yaml"
    assert from_top("eu", "/eu2/a.yaml") == "eu2/a.yaml"


@pytest.mark.long
@pytest.mark.parametrize(
    ("line", "folder"),
    [
        pytest.param(b"120000 blob %s\tprod\0", Folder.SYMLINK, id="a link"),
        pytest.param(b"160000 commit %s\tprod\0", Folder.SUBMODULE, id="a submodule"),
        pytest.param(b"100644 blob %s\tprod\0", Folder.FILE, id="a file"),
    ],
)
async def test_what_stands_in_place_of_the_folder_is_told(
    tmp_path: Path, line: bytes, folder: Folder
) -> None:
    repository = bare(tmp_path)
    there = b"1" * 40 if b"commit" in line else blob(repository, b"../elsewhere").encode()
    made = commit_tree(repository, line % there)
    for path in ("prod", "prod/rooms"):
        mirror = Mirror(Source(f"file://{repository.path}", path=path), str(tmp_path / "cache"))
        try:
            await mirror.fetch()
            tree = await mirror.tree(made)
        finally:
            await mirror.close()
        assert (tree.folder, dict(tree.entries)) == (folder, {})


@pytest.mark.parametrize("name", ["eu", "eu/prod", "eu/prod/rooms"])
async def test_a_folder_whose_tree_is_damaged_is_neither_absent_nor_empty(
    tmp_path: Path, name: str
) -> None:
    folder = tmp_path / "fleet"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    head = commit(folder, FILES)
    tree = git(folder, "rev-parse", f"{head}:{name}")
    (folder / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    checkout = LocalCheckout(str(folder), "eu/prod")
    try:
        with pytest.raises(Misconfigured, match="is damaged"):
            await checkout.tree(head)
    finally:
        await checkout.close()


@pytest.mark.parametrize("name", ["eu", "eu/prod"])
async def test_a_mirror_whose_tree_is_damaged_is_made_anew(tmp_path: Path, name: str) -> None:
    repository = bare(tmp_path)
    head = repository.commit(FILES, "Start")
    mirror = Mirror(Source(f"file://{repository.path}", path="eu/prod"), str(tmp_path / "cache"))
    try:
        await mirror.fetch()
        tree = repository.git("rev-parse", f"{head}:{name}")
        lost = Path(mirror.directory) / "objects" / tree[:2] / tree[2:]
        assert lost.is_file()
        lost.unlink()
        assert sorted((await mirror.tree(head)).entries) == ["gamekeeper.yaml", "rooms/a.yaml"]
        assert lost.is_file()
    finally:
        await mirror.close()


@pytest.mark.long
@pytest.mark.parametrize("place", [".", "eu", "us/rooms", "us/rooms/b.yaml"])
async def test_a_checkout_reads_its_folder_from_anywhere_in_it(tmp_path: Path, place: str) -> None:
    folder = tmp_path / "fleet"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    head = commit(folder, {**FILES, "us/gamekeeper.yaml": "c", "us/rooms/b.yaml": "b"})
    write(folder, {"eu/prod/rooms/new.yaml": "kind: New\n", "us/new.yaml": "n"})
    checkout = LocalCheckout(str(folder / place), "eu/prod")
    try:
        assert await checkout.root() == str(folder / "eu" / "prod")
        assert await checkout.folder() == "eu/prod"
        working, committed = await checkout.tree(""), await checkout.tree(head)
        assert await checkout.blob(head, "rooms/a.yaml") == b"kind: A\n"
    finally:
        await checkout.close()
    assert sorted(working.entries) == ["gamekeeper.yaml", "rooms/a.yaml", "rooms/new.yaml"]
    assert sorted(committed.entries) == ["gamekeeper.yaml", "rooms/a.yaml"]


async def test_a_plain_directory_has_folders_too(tmp_path: Path) -> None:
    write(tmp_path, {**FILES, "us/gamekeeper.yaml": "c"})
    (tmp_path / "link").symlink_to("eu")
    expected = {
        "eu/prod": Folder.THERE,
        "eu/dev": Folder.ABSENT,
        "link/prod": Folder.SYMLINK,
        "us/gamekeeper.yaml": Folder.FILE,
    }
    for path, there in expected.items():
        checkout = LocalCheckout(str(tmp_path), path)
        try:
            tree = await checkout.tree("")
        finally:
            await checkout.close()
        assert tree.folder is there, path
        assert sorted(tree.entries) == (
            ["gamekeeper.yaml", "rooms/a.yaml"] if there is Folder.THERE else []
        )
