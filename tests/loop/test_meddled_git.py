"""The loop behind a network that breaks answers of a real Git host: it tells, and takes nothing."""

import time
from pathlib import Path

import pytest

from reconciler.adapters.git.mirror import Mirror
from reconciler.adapters.git.source import Source
from reconciler.model.errors import PortError
from reconciler.service.head_lane import HeadService
from tests.gitservers.http import HttpGitServer
from tests.gitservers.meddler import Meddler, Meddling, meddler
from tests.gitservers.repositories import BareRepository
from tests.loop.world import CONFIG, Process, World, spec
from tests.unit.service.test_head_lane import Silent

DEADLINE_SECONDS = 20.0
FAULTS = (
    Meddling(cut_at=0),
    Meddling(cut_at=-20),
    Meddling(status=429, retry_after="60"),
    Meddling(status=503),
    Meddling(status=407),
    Meddling(page=b"<html>Log in</html>"),
    Meddling(status=302, elsewhere="http://127.0.0.1:1/fleet.git/info/refs"),
    Meddling(lost_end=25, only="/git-upload-pack"),
    Meddling(flipped=-10, only="/git-upload-pack"),
)


async def _settled(world: World, process: Process, rooms: int) -> None:
    for _ in range(30):
        await process.turn()
        world.pass_time(5.0)
        if "arena" in world.namespaces() and len(world.pods("arena")) == rooms:
            return
    raise AssertionError(f"no {rooms} rooms")


async def _told(proxy: Meddler, process: Process, world: World) -> str:
    """Look once, as the service does, and return what is told of it."""
    heard = Silent()
    service = HeadService(process.head, world.time, heard, lambda: True, lambda wanted: None)
    proxy.met = 0
    await service._look()
    assert proxy.met, "the fault was met"
    (error,) = heard.errors
    assert isinstance(error, PortError), error
    return str(error)


@pytest.mark.long
async def test_no_broken_answer_takes_a_room_and_the_next_good_one_acts(tmp_path: Path) -> None:
    repository = BareRepository.create(tmp_path / "srv", "fleet.git")
    repository.commit({"gamekeeper.yaml": CONFIG, "schedulers/arena.yaml": spec("arena", 5)}, "5")
    world = World()
    process = await world.process()
    with HttpGitServer(tmp_path / "srv", tls=False) as server:
        async with meddler(server.url("fleet.git")) as proxy:
            source = Source(proxy.url, fetch_deadline_seconds=DEADLINE_SECONDS)
            mirror = process.head.repository = Mirror(source, str(tmp_path / "cache"))
            try:
                await _settled(world, process, 5)
                for number, fault in enumerate(FAULTS):
                    before = world.names("arena")
                    # What it would take away were it read: a fleet less, or all of them.
                    wanted = 5 - number % 2
                    repository.commit({"schedulers/arena.yaml": spec("arena", wanted)}, "next")
                    proxy.meddling = fault
                    began = time.monotonic()
                    told = await _told(proxy, process, world)
                    assert time.monotonic() - began < DEADLINE_SECONDS + 40.0
                    assert told.startswith("cannot fetch branch 'main' of http://127.0.0.1"), told
                    assert "\n" not in told
                    await process.turn()
                    world.pass_time(30.0)
                    assert world.names("arena") == before, fault
                    proxy.meddling = None
                    await _settled(world, process, wanted)
            finally:
                await mirror.close()


@pytest.mark.parametrize("at", [0, 9, -15])
async def test_a_first_fetch_that_is_cut_lets_nothing_be_done(tmp_path: Path, at: int) -> None:
    repository = BareRepository.create(tmp_path / "srv", "fleet.git")
    repository.commit({"gamekeeper.yaml": CONFIG, "schedulers/arena.yaml": spec("arena", 2)}, "2")
    world = World()
    process = await world.process()
    with HttpGitServer(tmp_path / "srv", tls=False) as server:
        async with meddler(server.url("fleet.git")) as proxy:
            proxy.meddling = Meddling(cut_at=at)
            mirror = process.head.repository = Mirror(Source(proxy.url), str(tmp_path / "cache"))
            try:
                await process.turn()
                assert "arena" not in world.namespaces()
                proxy.meddling = None
                await _settled(world, process, 2)
            finally:
                await mirror.close()
