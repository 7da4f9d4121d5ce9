"""A user's own checkout: read as it lies there, at any revision, merged, and never written."""

import contextlib
import os
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from reconciler.adapters.git.checkout import LocalCheckout
from reconciler.model.errors import Misconfigured
from reconciler.model.trees import EntryKind, Relation
from tests.gitservers.repositories import git_environment


def git(folder: Path, *words: str) -> str:
    argv = ["git", "-C", str(folder), *words]
    done = subprocess.run(argv, check=True, capture_output=True, env=git_environment())
    return done.stdout.decode().strip()


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def commit(folder: Path, files: dict[str, str], message: str = "change") -> str:
    write(folder, files)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", message)
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    folder = tmp_path / "fleet"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    commit(folder, {"gamekeeper.yaml": "kind: Config\n", "rooms/a.yaml": "kind: A\n"}, "Start")
    return folder


@contextlib.asynccontextmanager
async def opened(path: Path | str) -> AsyncIterator[LocalCheckout]:
    made = LocalCheckout(str(path))
    try:
        yield made
    finally:
        await made.close()


async def test_the_working_tree_is_what_lies_there_without_what_is_ignored(fleet: Path) -> None:
    write(
        fleet,
        {
            "rooms/a.yaml": "kind: Changed\n",
            "rooms/new.yaml": "kind: New\n",
            "out/ignored.yaml": "x",
            ".gitignore": "out/\n",
        },
    )
    (fleet / "gamekeeper.yaml").unlink()
    async with opened(fleet) as checkout:
        tree = await checkout.tree("")
    assert tree.commit == ""
    assert {p: e.text for p, e in tree.entries.items()} == {
        "rooms/a.yaml": b"kind: Changed\n",
        "rooms/new.yaml": b"kind: New\n",
    }
    assert tree.directories == {"rooms"}


async def test_an_unchanged_working_tree_equals_its_commit(fleet: Path) -> None:
    async with opened(fleet) as checkout:
        working, committed = await checkout.tree(""), await checkout.tree("HEAD")
    assert working.entries == committed.entries
    assert working.directories == committed.directories


async def test_a_plain_directory_is_read_whole_and_has_no_revisions(tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    write(
        folder, {"gamekeeper.yaml": "c", "rooms/a.yaml": "a", "rooms/x.txt": "x", ".git/y.yaml": ""}
    )
    (folder / ".git" / "y.yaml").unlink()
    (folder / ".git").rmdir()
    async with opened(folder) as checkout:
        tree = await checkout.tree("")
        with pytest.raises(Misconfigured, match="no Git repository"):
            await checkout.tree("HEAD")
        with pytest.raises(Misconfigured, match="no Git repository"):
            await checkout.fetch()
    assert sorted(tree.entries) == ["gamekeeper.yaml", "rooms/a.yaml"]
    assert tree.directories == {"rooms"}


async def test_links_in_a_working_tree_are_flagged_and_never_followed(
    fleet: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    write(outside, {"secret.yaml": "s3cret"})
    (fleet / "file.yaml").symlink_to(outside / "secret.yaml")
    (fleet / "folder").symlink_to(outside)
    git(fleet, "add", "-A")
    # A tracked folder that was replaced by a link: what git tracked is not there any more.
    (fleet / "rooms" / "a.yaml").unlink()
    (fleet / "rooms").rmdir()
    (outside / "a.yaml").write_text("s3cret")
    (fleet / "rooms").symlink_to(outside)
    async with opened(fleet) as checkout:
        tree = await checkout.tree("")
    kinds = {path: entry.kind for path, entry in tree.entries.items() if path != "gamekeeper.yaml"}
    assert kinds == dict.fromkeys(("file.yaml", "folder", "rooms"), EntryKind.SYMLINK)
    assert not any(entry.text and b"s3cret" in entry.text for entry in tree.entries.values())


async def test_links_in_a_plain_directory_are_flagged_and_never_followed(tmp_path: Path) -> None:
    write(tmp_path, {"plain/a.yaml": "a", "outside/secret.yaml": "s3cret"})
    folder = tmp_path / "plain"
    (folder / "loop").symlink_to(folder)
    (folder / "rooms").symlink_to(tmp_path / "outside")
    async with opened(folder) as checkout:
        tree = await checkout.tree("")
    assert {path: entry.kind for path, entry in tree.entries.items()} == {
        "a.yaml": EntryKind.FILE,
        "loop": EntryKind.SYMLINK,
        "rooms": EntryKind.SYMLINK,
    }


async def test_a_pipe_named_like_a_spec_does_not_hang_the_reader(fleet: Path) -> None:
    os.mkfifo(fleet / "rooms" / "pipe.yaml")
    async with opened(fleet) as checkout:
        assert "rooms/pipe.yaml" not in (await checkout.tree("")).entries


@pytest.mark.long
@pytest.mark.parametrize("inner", ["", "rooms", "rooms/a.yaml", "docs/deep"])
async def test_the_root_is_the_nearest_directory_with_a_config(fleet: Path, inner: str) -> None:
    commit(fleet, {"docs/deep/x.txt": "x"})
    async with opened(fleet / inner) as checkout:
        assert await checkout.root() == str(fleet)
        assert "rooms/a.yaml" in (await checkout.tree("")).entries


async def test_a_fleet_inside_a_larger_repository_is_read_from_its_own_root(fleet: Path) -> None:
    first = commit(fleet, {"big/y.yaml": "y"})
    commit(fleet, {"games/gamekeeper.yaml": "c", "games/rooms/b.yaml": "b"})
    async with opened(fleet / "games" / "rooms") as checkout:
        working, committed = await checkout.tree(""), await checkout.tree("HEAD")
        before = await checkout.tree(first)
        merged = await checkout.merge(first, "HEAD")
    assert (
        sorted(working.entries) == sorted(committed.entries) == ["gamekeeper.yaml", "rooms/b.yaml"]
    )
    assert before.entries == {}
    assert merged.tree is not None
    assert merged.tree.entries == committed.entries


async def test_branches_are_merged_without_touching_the_repository(fleet: Path) -> None:
    git(fleet, "checkout", "-q", "-b", "change")
    commit(fleet, {"rooms/b.yaml": "kind: B\n"})
    git(fleet, "checkout", "-q", "main")
    commit(fleet, {"rooms/c.yaml": "kind: C\n"})
    before = git(fleet, "count-objects", "-v")
    async with opened(fleet) as checkout:
        merged = await checkout.merge("main", "change")
        assert await checkout.relation("main~1", "main") is Relation.FORWARD
        assert await checkout.relation("change", "main") is Relation.DIVERGED
    assert merged.tree is not None
    assert sorted(merged.tree.entries) == [
        "gamekeeper.yaml",
        *(f"rooms/{name}.yaml" for name in "abc"),
    ]
    assert git(fleet, "count-objects", "-v") == before
    assert git(fleet, "status", "--porcelain") == ""


async def test_a_conflict_names_the_paths(fleet: Path) -> None:
    git(fleet, "checkout", "-q", "-b", "change")
    commit(fleet, {"rooms/a.yaml": "kind: Theirs\n"})
    git(fleet, "checkout", "-q", "main")
    commit(fleet, {"rooms/a.yaml": "kind: Ours\n"})
    async with opened(fleet) as checkout:
        merged = await checkout.merge("main", "change")
    assert (merged.tree, merged.conflicts) == (None, ("rooms/a.yaml",))


async def test_a_shallow_clone_is_told_how_deep_to_fetch(fleet: Path, tmp_path: Path) -> None:
    first = git(fleet, "rev-parse", "HEAD")
    commit(fleet, {"rooms/b.yaml": "b"})
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{fleet}", "shallow")
    async with opened(tmp_path / "shallow") as checkout:
        for asked in (checkout.tree(first), checkout.merge(first, "HEAD")):
            with pytest.raises(Misconfigured, match=r"--unshallow.*fetch-depth: 0.*GIT_DEPTH: 0"):
                await asked


async def test_a_shallow_merge_without_common_ancestor_is_told_how_deep_to_fetch(
    fleet: Path, tmp_path: Path
) -> None:
    git(fleet, "checkout", "-q", "-b", "change")
    commit(fleet, {"rooms/b.yaml": "b"})
    git(fleet, "checkout", "-q", "main")
    commit(fleet, {"rooms/c.yaml": "c"})
    git(tmp_path, "clone", "-q", "--depth", "1", "--no-single-branch", f"file://{fleet}", "shallow")
    async with opened(tmp_path / "shallow") as checkout:
        with pytest.raises(Misconfigured, match=r"no common ancestor.*fetch-depth: 0"):
            await checkout.merge("origin/main", "origin/change")


async def test_a_revision_that_is_not_fetched_names_the_command(fleet: Path) -> None:
    async with opened(fleet) as checkout:
        with pytest.raises(Misconfigured, match="git fetch origin main"):
            await checkout.tree("origin/main")


async def test_a_name_of_a_tag_and_a_branch_is_no_revision_and_an_id_always_is(fleet: Path) -> None:
    """Git takes the tag: `diff main` would compare with another commit than the branch's."""
    first = git(fleet, "rev-parse", "HEAD")
    git(fleet, "tag", "main")
    git(fleet, "update-ref", f"refs/heads/{first}", first)
    second = commit(fleet, {"rooms/b.yaml": "b"})
    async with opened(fleet) as checkout:
        for revision in ("main", "main^0"):
            with pytest.raises(Misconfigured, match=r"more than one reference.*refs/heads/main"):
                await checkout.resolve(revision)
        assert await checkout.resolve("refs/heads/main") == second
        assert await checkout.resolve(first) == first


async def test_the_head_of_a_checkout_is_described(fleet: Path) -> None:
    async with opened(fleet) as checkout:
        head = await checkout.fetch()
        assert head.commit == await checkout.resolve("main")
    assert (head.subject, head.author) == ("Start", "A Player")


async def test_a_bare_repository_has_revisions_and_no_working_tree(
    fleet: Path, tmp_path: Path
) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(fleet), "bare.git")
    async with opened(tmp_path / "bare.git") as checkout:
        assert "rooms/a.yaml" in (await checkout.tree("main")).entries
        with pytest.raises(Misconfigured, match="name a revision"):
            await checkout.tree("")


async def test_a_linked_work_tree_is_read_like_any_other(fleet: Path, tmp_path: Path) -> None:
    git(fleet, "worktree", "add", "-q", str(tmp_path / "linked"), "-b", "side")
    write(tmp_path / "linked", {"rooms/n.yaml": "n"})
    async with opened(tmp_path / "linked") as checkout:
        assert "rooms/n.yaml" in (await checkout.tree("")).entries
        assert (await checkout.merge("main", "side")).tree is not None


async def test_a_path_that_is_not_there_is_misconfigured(tmp_path: Path) -> None:
    async with opened(tmp_path / "absent") as checkout:
        with pytest.raises(Misconfigured, match="no file or directory"):
            await checkout.tree("")


async def test_a_damaged_repository_names_fsck(fleet: Path) -> None:
    head = git(fleet, "rev-parse", "HEAD^{tree}")
    path = fleet / ".git" / "objects" / head[:2] / head[2:]
    remove(path)
    async with opened(fleet) as checkout:
        with pytest.raises(Misconfigured, match="git fsck"):
            await checkout.tree("HEAD")


async def test_a_hook_that_calls_us_does_not_lead_us_astray(
    fleet: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    monkeypatch.chdir(fleet)
    async with opened(".") as checkout:
        assert "rooms/a.yaml" in (await checkout.tree("")).entries


async def test_programs_named_in_the_repository_s_configuration_are_not_run(
    fleet: Path, tmp_path: Path
) -> None:
    marker = tmp_path / "ran"
    for key in ("core.fsmonitor", "core.pager", "diff.external", "log.showSignature"):
        git(fleet, "config", key, "true" if key.startswith("log") else f"touch {marker}; false")
    async with opened(fleet) as checkout:
        await checkout.tree("")
        await checkout.tree("HEAD")
        await checkout.merge("HEAD", "HEAD")
    assert not is_there(marker)


def remove(path: Path) -> None:
    path.unlink()


def is_there(path: Path) -> bool:
    return path.exists()


async def test_a_repository_without_commits_says_to_commit_first(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    checkout = LocalCheckout(str(tmp_path))
    for revision in ("HEAD", "main"):
        with pytest.raises(Misconfigured, match="no commit yet; commit first"):
            await checkout.tree(revision)
    await checkout.close()


async def test_another_branch_stands_where_it_was_last_fetched_from_its_host(fleet: Path) -> None:
    start = git(fleet, "rev-parse", "HEAD")
    git(fleet, "branch", "counts")
    async with opened(fleet) as checkout:
        assert await checkout.tip("counts") == start
        fetched = commit(fleet, {"replicas.yaml": "kind: Replicas\n"})
        git(fleet, "update-ref", "refs/remotes/origin/counts", fetched)
        assert await checkout.tip("counts") == fetched
        assert await checkout.tip("elsewhere") == ""
        with pytest.raises(Misconfigured, match="no branch name"):
            await checkout.tip("a..b")
