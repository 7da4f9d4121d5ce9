"""The whole service when what is around it fails: cluster, Git, permissions, clocks, signals."""

import asyncio
import random
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from operator import attrgetter
from typing import Any

import pytest

from reconciler.adapters.kubernetes.calls import Call
from reconciler.model.errors import Denied
from reconciler.service.health import FREEZE_INTERVALS
from tests.loop.safety import Bounds, Watchman
from tests.loop.scenarios import breaks
from tests.loop.service import Service, Theatre, theatre
from tests.loop.virtual_time import elapsed, in_virtual_time
from tests.loop.wires import Weather
from tests.loop.world import CONFIG, World, spec

pytestmark = pytest.mark.usefixtures("no_time_of_this_machine")
SURGE = {"maxSurge": 1, "maxUnavailable": 0}
SECOND = "registry.example/game:2"
ROOMS = 4
LEASE_SECONDS = 15.0
GRACE_SECONDS = 31.0
"""Of the health check beyond its intervals, and a look at it."""


def _arena(world: World, rooms: int = ROOMS, image: str = "registry.example/game:1") -> None:
    world.commit({"schedulers/arena.yaml": spec("arena", rooms, image, rollout=SURGE)})


@asynccontextmanager
async def _stage(slow: float = 0.0, wires: float = 0.0) -> AsyncIterator[Theatre]:
    world = World()
    world.commit({"gamekeeper.yaml": CONFIG})
    _arena(world)
    watchman = Watchman(world, {"arena": Bounds(ROOMS + 1, 0)})
    async with theatre(world, Weather(random.Random(1), slow=slow, wires=wires), watchman) as there:
        yield there
        there.judge()


def _stands(there: Theatre, rooms: int = ROOMS, image: str = "") -> bool:
    if "arena" not in there.world.namespaces():
        return False
    pods = there.world.pods("arena")
    ready = [pod for pod in pods if pod["status"].get("phase") == "Running"]
    images = {pod["spec"]["containers"][0]["image"] for pod in pods}
    return len(pods) == len(ready) == rooms and (not image or images == {image})


async def _standing(there: Theatre, seconds: float = 60.0) -> Service:
    service = there.start("one")
    await there.until("a fleet", lambda: _stands(there), seconds)
    return service


def _rooms_written(there: Theatre) -> int:
    return sum(call.kind == "Pod" for call in there.writes)


def test_a_cluster_that_is_away_at_the_start_is_waited_for() -> None:
    async def main() -> None:
        async with _stage() as there:
            service = there.start("one")
            service.transport.down = "connection refused"
            await asyncio.sleep(600.0)
            assert service.task is not None
            assert not service.task.done()
            assert "not read" in service.app.not_ready()
            service.transport.down = ""
            await there.until("a fleet", lambda: _stands(there), 90.0)
            assert service.app.not_ready() == ""

    in_virtual_time(main())


def test_git_that_is_away_at_the_start_leaves_what_is_on_record_in_force() -> None:
    async def main() -> None:
        async with _stage() as there:
            await (await _standing(there)).kill()
            there.world.host.down()
            victim = there.world.names("arena")[0]
            there.world.delete(f"/api/v1/namespaces/arena/pods/{victim}")
            there.start("two")

            def is_healed() -> bool:
                return victim not in there.world.names("arena") and _stands(there)

            await there.until("it is healed", is_healed, 90.0)
            await asyncio.sleep(600.0)
            assert _stands(there)
            _arena(there.world, 2)
            there.world.host.heal()
            await there.until("the commit acts", lambda: _stands(there, 2), 400.0)

    in_virtual_time(main())


def test_git_that_is_away_at_the_first_start_lets_nothing_be_done() -> None:
    async def main() -> None:
        async with _stage() as there:
            there.world.host.down()
            there.start("one")
            await asyncio.sleep(600.0)
            assert _rooms_written(there) == 0
            there.world.host.heal()
            await there.until("a fleet", lambda: _stands(there), 400.0)

    in_virtual_time(main())


@pytest.mark.long
def test_git_and_cluster_that_go_and_come_back_lose_nothing() -> None:
    async def main() -> None:
        async with _stage() as there:
            service = await _standing(there)
            before = set(there.world.names("arena"))
            there.world.host.down()
            service.transport.down = "connection refused"
            _arena(there.world, ROOMS + 1)
            await asyncio.sleep(700.0)
            service.transport.down = ""
            await asyncio.sleep(600.0)
            assert set(there.world.names("arena")) == before
            there.world.host.heal()
            await there.until("the commit acts", lambda: _stands(there, ROOMS + 1), 400.0)
            assert before < set(there.world.names("arena"))

    in_virtual_time(main())


def _forbid(service: Service, kind: str) -> Callable[[], None]:
    """Refuse all that is asked about a kind; return what allows it again."""

    def refuse(call: Call) -> None:
        if call.kind == kind:
            raise Denied(f"{call.what}: forbidden")

    service.transport.refuse = refuse
    return lambda: setattr(service.transport, "refuse", lambda call: None)


def test_without_permission_for_the_lease_nothing_is_written_until_it_is_given() -> None:
    async def main() -> None:
        async with _stage() as there:
            service = there.start("one")
            allow = _forbid(service, "Lease")
            await asyncio.sleep(600.0)
            assert _rooms_written(there) == 0
            assert service.app.not_ready() == ""
            allow()
            await there.until("a fleet", lambda: _stands(there), 60.0)

    in_virtual_time(main())


def test_a_leader_that_loses_the_permission_for_its_lease_stops_within_its_time() -> None:
    async def main() -> None:
        async with _stage() as there:
            service = await _standing(there)
            _forbid(service, "Lease")
            await asyncio.sleep(LEASE_SECONDS)
            _arena(there.world, 2)
            before = _rooms_written(there)
            await asyncio.sleep(300.0)
            assert _rooms_written(there) == before

    in_virtual_time(main())


def test_without_permission_for_events_the_loop_goes_on() -> None:
    async def main() -> None:
        async with _stage() as there:
            service = there.start("one")
            _forbid(service, "Event")
            await there.until("a fleet", lambda: _stands(there), 60.0)
            broken = spec("arena", ROOMS).replace(f"replicas: {ROOMS}", "replicas: many")
            there.world.commit({"schedulers/arena.yaml": broken})
            await asyncio.sleep(120.0)
            _arena(there.world, 2)
            await there.until("the next commit acts", lambda: _stands(there, 2), 120.0)

    in_virtual_time(main())


@pytest.mark.long
@pytest.mark.parametrize("jump", [3600.0, -3600.0], ids=["an hour on", "an hour back"])
def test_a_clock_that_jumps_costs_neither_the_lease_nor_the_roll_out(jump: float) -> None:
    async def main() -> None:
        async with _stage(slow=0.3, wires=0.3) as there:
            service = await _standing(there, 200.0)
            transitions = _transitions(there)
            _arena(there.world, ROOMS, SECOND)
            await there.until("it begins", lambda: len(there.world.pods("arena")) > ROOMS, 120.0)
            service.clock.ahead = jump
            await there.until("it ends", lambda: _stands(there, ROOMS, SECOND), 600.0)
            _arena(there.world, 2, SECOND)
            await there.until("the next commit acts", lambda: _stands(there, 2), 400.0)
            assert _transitions(there) == transitions

    in_virtual_time(main())


def _transitions(there: Theatre) -> int:
    leases = "/apis/coordination.k8s.io/v1/namespaces/gamekeeper/leases/gamekeeper-main"
    return int(there.world.ask(leases)["spec"]["leaseTransitions"])


@pytest.mark.parametrize("jump", [3600.0, -3600.0], ids=["an hour on", "an hour back"])
def test_a_clock_that_jumps_while_rooms_end_does_not_hold_new_ones_for_an_hour(jump: float) -> None:
    async def main() -> None:
        async with _stage() as there:
            service = await _standing(there)
            for _ in range(4):
                breaks(0)(there.world)
                await there.until("it is made anew", lambda: _stands(there), 60.0)
            breaks(0)(there.world)
            await asyncio.sleep(10.0)
            assert not _stands(there)
            service.clock.ahead = jump
            await there.until("they are made", lambda: _stands(there), 400.0)

    in_virtual_time(main())


@pytest.mark.parametrize("signals", [1, 2], ids=["SIGTERM", "SIGTERM twice"])
def test_who_is_told_to_go_in_a_batch_of_creates_finishes_it_and_hands_over(signals: int) -> None:
    async def main() -> None:
        async with _stage() as there:
            service = there.start("one")
            told_at: list[float] = []

            def told(call: Call) -> None:
                if call.verb == "create" and call.kind == "Pod" and service.task:
                    told_at.append(elapsed())
                    service.transport.pause = partial(asyncio.sleep, 2.0)
                    if len(told_at) <= signals:
                        service.task.cancel()

            service.transport.refuse = told
            await there.until("it is told to go", lambda: bool(told_at), 60.0)
            assert service.task is not None
            await asyncio.wait({service.task}, timeout=25.0)
            assert service.task.cancelled()
            assert len(there.world.pods("arena")) == ROOMS
            written = len(there.writes)
            await asyncio.sleep(30.0)
            assert len(there.writes) == written
            began = elapsed()
            there.start("two")
            await there.until("the other acts", lambda: len(there.writes) > written, 10.0)
            await there.until("a fleet", lambda: _stands(there), 60.0)
            assert elapsed() - began < LEASE_SECONDS
            assert len(there.watchman.names) == ROOMS

    in_virtual_time(main())


async def _never(*_: Any) -> Any:
    await asyncio.Event().wait()


@pytest.mark.long
@pytest.mark.parametrize(
    ("where", "what", "who"),
    [
        pytest.param("head.repository", "fetch", "repository", id="a fetch that never returns"),
        pytest.param("app.head_service", "_look", "repository", id="a look that never returns"),
        pytest.param("app.cluster_lane", "_serve", "local", id="a plan that never returns"),
    ],
)
def test_a_lane_that_freezes_is_told_by_the_health_check(where: str, what: str, who: str) -> None:
    async def main() -> None:
        async with _stage() as there:
            service = await _standing(there)
            beating = asyncio.create_task(_beat(service))
            for _ in range(18):
                await asyncio.sleep(60.0)
                assert service.health.problem() == ""
            polled, passed = service.app.head_service.poll_seconds, service.app.resync_seconds()
            interval = polled if who == "repository" else passed
            setattr(attrgetter(where)(service), what, _never)
            told = FREEZE_INTERVALS * interval + GRACE_SECONDS
            # The round that it is in may come round yet.
            await there.until("it is told", lambda: bool(service.health.problem()), told + interval)
            said = re.match(rf"{who} has not come round for (\d+) s", service.health.problem())
            assert said
            assert int(said[1]) <= told
            beating.cancel()

    in_virtual_time(main())


async def _beat(service: Service) -> None:
    while True:
        await asyncio.sleep(1.0)
        service.health.beat()
