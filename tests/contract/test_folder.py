"""What every Repository keeps of which one folder is read: all else is as if it were not there."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from reconciler.adapters.git.memory import MemoryRepository
from reconciler.adapters.git.mirror import Mirror
from reconciler.model.trees import Folder
from reconciler.ports import WritableRepository
from tests.contract.pushes import change
from tests.contract.upstreams import InMemory, OnDisk, Upstream, upstream

START = {
    "gamekeeper.yaml": "kind: Config\n",
    "envs/eu/gamekeeper.yaml": "kind: Config\n",
    "envs/eu/rooms/arena.yaml": "replicas: 3  # läuft\r\n",
    "envs/eu2/rooms/arena.yaml": "replicas: 2\n",
}
AT = "rooms/arena.yaml"


@pytest.fixture(params=["memory", "file"])
def far(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Upstream]:
    with upstream(request.param, tmp_path) as host:
        yield host


def below(far: Upstream, path: str) -> WritableRepository:
    if isinstance(far, InMemory):
        return MemoryRepository(far.host, path=path)
    assert isinstance(far, OnDisk)
    return Mirror(replace(far.source, path=path), str(far.cache))


async def test_a_tree_is_that_of_the_folder_and_of_nothing_beside_it(far: Upstream) -> None:
    commit = far.commit({**START, "envs/eu.yaml": "x", "zone.yaml": "x" * 2_000_000})
    repository = below(far, "envs/eu/")
    try:
        await repository.fetch()
        tree = await repository.tree(commit)
    finally:
        await repository.close()
    assert sorted(tree.entries) == ["gamekeeper.yaml", AT]
    assert tree.directories == {"rooms"}
    assert (tree.path, tree.folder) == ("envs/eu", Folder.THERE)


@pytest.mark.parametrize("path", ["envs/us", "envs/eu/rooms/more", "environments", "envs/e", ":eu"])
async def test_a_folder_that_is_not_there_is_no_empty_one(far: Upstream, path: str) -> None:
    commit = far.commit(START)
    repository = below(far, path)
    try:
        await repository.fetch()
        tree = await repository.tree(commit)
        assert await repository.blob(commit, AT) is None
    finally:
        await repository.close()
    assert (dict(tree.entries), tree.folder) == ({}, Folder.ABSENT)


@pytest.mark.parametrize("path", ["envs/eu/gamekeeper.yaml", "envs/eu/gamekeeper.yaml/more"])
async def test_a_file_is_no_folder(far: Upstream, path: str) -> None:
    commit = far.commit(START)
    repository = below(far, path)
    try:
        await repository.fetch()
        assert (await repository.tree(commit)).folder is Folder.FILE
    finally:
        await repository.close()


async def test_what_is_written_stands_in_the_folder_and_all_else_stays(far: Upstream) -> None:
    base = far.commit(START)
    repository, whole = below(far, "envs/eu"), below(far, "")
    try:
        await repository.fetch()
        assert await repository.blob(base, AT) == START["envs/eu/rooms/arena.yaml"].encode()
        files = {AT: b"replicas: 5\n", "replicas.yaml": b"kind: Replicas\n"}
        pushed = await repository.push(change(base, files))
        await whole.fetch()
        after = await whole.tree(pushed.commit)
    finally:
        await repository.close()
        await whole.close()
    texts = {path: entry.text for path, entry in after.entries.items()}
    before = {path: text.encode() for path, text in START.items()}
    assert texts == {**before, **{f"envs/eu/{path}": text for path, text in files.items()}}


async def test_a_log_tells_of_the_folder(far: Upstream) -> None:
    first = far.commit(START, "Start")
    far.commit({"envs/eu2/rooms/arena.yaml": "replicas: 4\n"}, "Elsewhere")
    both = {"envs/eu/rooms/arena.yaml": "replicas: 4\n", "README.md": "hi\n"}
    third = far.commit(both, "Both")
    repository = below(far, "envs/eu")
    try:
        await repository.fetch()
        found = await repository.log(third, (AT,))
        every = await repository.log(third)
    finally:
        await repository.close()
    elsewhere = ("/envs/eu2/rooms/arena.yaml",)
    assert [(each.commit, each.paths) for each in found] == [
        (third, ("/README.md", AT)),
        (first, ("gamekeeper.yaml", AT, *elsewhere, "/gamekeeper.yaml")),
    ]
    assert [each.paths for each in every] == [("/README.md", AT), elsewhere, found[1].paths]


async def test_a_merge_is_that_of_the_folder(far: Upstream) -> None:
    base = far.commit(START)
    head = far.commit({"envs/eu/rooms/duel.yaml": "replicas: 1\n"}, branch="other")
    beside = far.commit({"envs/eu2/rooms/arena.yaml": None}, branch="main")
    repository = below(far, "envs/eu")
    try:
        await repository.fetch()
        assert await repository.tip("other") == head
        merged = await repository.merge(beside, head)
    finally:
        await repository.close()
    assert base != beside
    assert merged.tree is not None
    assert sorted(merged.tree.entries) == ["gamekeeper.yaml", AT, "rooms/duel.yaml"]
