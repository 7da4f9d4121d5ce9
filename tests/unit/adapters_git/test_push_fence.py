"""Whoever may not push any more begins no push, also one that waited for its turn until then."""

import asyncio
from pathlib import Path

import pytest

from reconciler.adapters.git.mirror import Mirror
from reconciler.adapters.git.source import Source
from reconciler.model.errors import Unavailable
from tests.contract.pushes import START, change
from tests.unit.adapters_git.repositories import bare


async def test_a_push_is_asked_for_after_its_last_wait(tmp_path: Path) -> None:
    repository = bare(tmp_path)
    base = repository.commit(START, "Start")
    leads = True
    source = Source(f"file://{repository.path}", fetch_deadline_seconds=15.0)
    mirror = Mirror(source, str(tmp_path / "cache"), may_push=lambda: leads)
    try:
        await mirror.fetch()
        written = await mirror.write(change(base))
        fetching = asyncio.create_task(mirror.fetch())
        await asyncio.sleep(0)
        pushing = asyncio.create_task(mirror.push(change(base), written))
        await asyncio.sleep(0)
        leads = False
        await fetching
        with pytest.raises(Unavailable, match="another process leads"):
            await pushing
        assert repository.head() == base
        leads = True
        assert (await mirror.push(change(base), written)).commit == repository.head() == written
    finally:
        await mirror.close()
