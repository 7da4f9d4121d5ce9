"""A local repository wakes when its references move, and only then."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from reconciler.adapters.git import watch
from tests.gitservers.repositories import BareRepository
from tests.unit.adapters_git.repositories import bare
from tests.unit.adapters_git.test_checkout import commit, fleet, git, write

__all__ = ["fleet"]
WITHIN_SECONDS = 30.0


class Wakes:
    """Counts the wakes of a watch, as a task."""

    def __init__(self, path: Path) -> None:
        self._watch = watch.watch_local(str(path))
        self._seen = asyncio.Event()
        self._task = asyncio.create_task(self._count())

    async def _count(self) -> None:
        async for _ in self._watch:
            self._seen.set()

    async def woken(self) -> None:
        """Wait for a wake, and forget it."""
        async with asyncio.timeout(WITHIN_SECONDS):
            await self._seen.wait()
        self._seen.clear()

    async def quiet(self, seconds: float) -> bool:
        """Tell whether nothing wakes for so long."""
        self._seen.clear()
        await asyncio.sleep(seconds)
        return not self._seen.is_set()

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)


async def watching(path: Path) -> AsyncIterator[Wakes]:
    wakes = Wakes(path)
    await asyncio.sleep(0.4)
    yield wakes
    await wakes.close()


async def test_a_commit_in_a_work_tree_wakes_and_an_edit_does_not(fleet: Path) -> None:
    async for wakes in watching(fleet):
        write(fleet, {"rooms/a.yaml": "kind: Edited\n"})
        git(fleet, "add", "-A")
        assert await wakes.quiet(0.5)
        commit(fleet, {"rooms/b.yaml": "b"})
        await wakes.woken()


async def test_a_push_to_a_bare_repository_wakes_also_on_a_branch_in_a_new_folder(
    tmp_path: Path,
) -> None:
    repository = bare(tmp_path)
    repository.commit({"a.yaml": "a"}, "Start")
    async for wakes in watching(repository.path):
        repository.commit({"a.yaml": "b"}, "Second")
        await wakes.woken()
        repository.reset("main", branch="release/new/one")
        await wakes.woken()
        repository.git("pack-refs", "--all")
        await wakes.woken()


@pytest.mark.long
async def test_a_repository_that_comes_later_or_comes_back_wakes(tmp_path: Path) -> None:
    path = tmp_path / "srv" / "fleet.git"
    async for wakes in watching(path):
        repository = bare(tmp_path)
        repository.commit({"a.yaml": "a"}, "Start")
        await wakes.woken()
        await asyncio.sleep(0.4)
        repository.commit({"a.yaml": "b"}, "Second")
        await wakes.woken()
        shutil.rmtree(path)
        await asyncio.sleep(0.1)
        bare(tmp_path).commit({"a.yaml": "c"}, "Anew")
        await wakes.woken()
        await asyncio.sleep(watch._LOOK_AGAIN_SECONDS + 0.5)
        await wakes.quiet(0.3)
        BareRepository(path).commit({"a.yaml": "d"}, "Next")
        await wakes.woken()


def test_the_references_of_a_linked_work_tree_are_those_of_its_repository(
    fleet: Path, tmp_path: Path
) -> None:
    git(fleet, "worktree", "add", "-q", str(tmp_path / "linked"), "-b", "side")
    assert watch.git_directory(str(tmp_path / "linked")) == str(fleet / ".git")
    assert watch.git_directory(str(fleet)) == str(fleet / ".git")
    assert watch.git_directory(str(tmp_path)) is None
    assert watch.git_directory(str(tmp_path / "absent")) is None


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("/srv/f.git", "/srv/f.git"),
        ("file:///srv/a%20b", "/srv/a b"),
        ("https://git.example/f", None),
        ("git@git.example:f", None),
    ],
)
def test_only_a_local_repository_has_a_path_to_watch(url: str, path: str | None) -> None:
    assert watch.local_path(url) == path
