"""A mirror that reads what another one beside it has fetched, and what if that goes away."""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from reconciler.adapters.git.mirror import Mirror
from reconciler.adapters.git.process import GitProcess
from tests.contract.pushes import START, change
from tests.gitservers.repositories import BareRepository
from tests.unit.adapters_git.repositories import bare, mirror

READ = b"replicas: 5\n"


@asynccontextmanager
async def two(repository: BareRepository, cache: Path) -> AsyncIterator[tuple[Mirror, Mirror]]:
    """Yield the mirror that fetches, and the one beside it that writes."""
    fetches = mirror(repository, cache)
    writes = mirror(repository, cache, beside=fetches)
    try:
        yield fetches, writes
    finally:
        await writes.close()
        await fetches.close()


async def test_what_the_other_has_fetched_is_written_upon_without_a_fetch(tmp_path: Path) -> None:
    repository = bare(tmp_path)
    base = repository.commit(START, "Start")
    async with two(repository, tmp_path / "cache") as (fetches, writes):
        assert not await writes.holds(base)
        await fetches.fetch()
        assert await writes.holds(base)
        pushed = await writes.push(change(base))
        assert repository.head() == pushed.commit != base
        theirs = repository.commit({"c.yaml": "c\n"}, "A human")
        await fetches.fetch()
        assert await writes.holds(theirs)
        assert (await writes.push(change(theirs, {"c.yaml": b"d\n"}))).commit == repository.head()


async def test_a_mirror_beside_that_goes_away_costs_a_fetch_and_nothing_else(
    tmp_path: Path,
) -> None:
    repository = bare(tmp_path)
    base = repository.commit(START, "Start")
    async with two(repository, tmp_path / "cache") as (fetches, writes):
        await fetches.fetch()
        assert await writes.holds(base)
        await writes.write(change(base))
        shutil.rmtree(fetches.directory)
        assert not await writes.holds(base)
        assert (await writes.fetch()).commit == base
        pushed = await writes.push(change(base))
        assert await writes.blob(pushed.commit, "rooms/arena.yaml") == READ
    assert repository.head() == pushed.commit


async def test_a_mirror_beside_with_holes_is_not_read_for_ever(tmp_path: Path) -> None:
    repository = bare(tmp_path)
    base = repository.commit(START, "Start")
    async with two(repository, tmp_path / "cache") as (fetches, writes):
        await fetches.fetch()
        assert await writes.holds(base)
        # The commit is there and its tree is not: a write finds that, and fetches all of it.
        tree = repository.git("rev-parse", f"{base}^{{tree}}").strip()
        (Path(fetches.directory) / "objects" / tree[:2] / tree[2:]).unlink()
        pushed = await writes.push(change(base))
    assert repository.head() == pushed.commit


async def test_a_mirror_that_only_pushes_keeps_house_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reconciler.adapters.git.mirror._TIDY_EVERY", 2)
    asked: list[str] = []
    ask = GitProcess.ask

    async def noted(self: GitProcess, operation: str, *given: Any, **more: Any) -> Any:
        asked.append(operation)
        return await ask(self, operation, *given, **more)

    monkeypatch.setattr(GitProcess, "ask", noted)
    repository = bare(tmp_path)
    base = repository.commit(START, "Start")
    async with two(repository, tmp_path / "cache") as (fetches, writes):
        await fetches.fetch()
        assert await writes.holds(base)
        first = await writes.push(change(base))
        assert "tidy" not in asked
        await writes.push(change(first.commit, {"c.yaml": b"c\n"}))
    assert asked.count("tidy") == 1
    assert repository.git("show", "main:c.yaml") == "c"
