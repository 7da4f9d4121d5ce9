import asyncio
from collections.abc import Callable

import pytest

from reconciler.loop import requests
from reconciler.model.errors import Conflict
from reconciler.model.records import RepositoryRecord
from reconciler.service.head_lane import HeadService
from tests.loop.world import World, spec


class Silent:
    """Hears everything and says nothing."""

    def __init__(self) -> None:
        self.errors: list[object] = []

    def looked(self, wanted: object, reading: object, seconds: float) -> None:
        """Hear."""

    def blind(self, error: object) -> None:
        """Hear."""
        self.errors.append(error)

    def stumbled(self, error: object) -> None:
        """Hear."""


async def test_a_request_that_met_a_failing_look_is_answered_by_the_next_one() -> None:
    world = World()
    world.commit({"schedulers/arena.yaml": spec("arena", 1)})
    process = await world.process()
    await process.view.read()
    service = HeadService(process.head, world.time, Silent(), lambda: True, lambda wanted: None)
    await requests.ask(process.cluster, service.request_ref, "main", "r1")
    service.record_changed(service.request_ref)
    world.host.down()
    await service._look()
    assert await requests.pending(process.cluster, service.request_ref) == "r1"
    world.host.fault = None
    await service._look()
    assert await requests.pending(process.cluster, service.request_ref) == ""


async def test_a_conflict_is_not_worth_a_word_unless_it_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World()
    process = await world.process()
    await process.view.read()
    heard = Silent()
    service = HeadService(process.head, world.time, heard, lambda: True, lambda wanted: None)

    async def always(change: Callable[[RepositoryRecord], RepositoryRecord]) -> None:
        raise Conflict("somebody was faster")

    monkeypatch.setattr(process.lane.store, "change_repository", always)
    for _ in range(4):
        assert await service._look() < 1.0
    assert not heard.errors
    for _ in range(4):
        await service._look()
    assert [str(error) for error in heard.errors][-1] == "somebody was faster"


async def test_who_is_told_to_end_in_the_turn_in_which_its_wait_ends_does_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World()
    process = await world.process()
    service = HeadService(process.head, world.time, Silent(), lambda: False, lambda wanted: None)

    async def take() -> set[str]:
        await asyncio.sleep(0)
        serving.cancel()
        return set()

    monkeypatch.setattr(service.wakes, "take", take)
    serving = asyncio.create_task(service.run())
    ended, _ = await asyncio.wait({serving}, timeout=60.0)
    monkeypatch.undo()
    serving.cancel()
    assert ended == {serving}
