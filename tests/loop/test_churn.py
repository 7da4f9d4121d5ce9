"""Workloads that come and go leave nothing behind in a process that stays."""

import asyncio
import types
from collections import Counter, deque
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, suppress
from enum import Enum
from typing import Any

import pytest
import yaml

from reconciler.loop import head
from reconciler.model.refs import ObjectRef, WorkloadKey
from reconciler.model.specs import LOOSEST
from reconciler.service.cluster_lane import ClusterLane
from reconciler.service.health import Health
from reconciler.service.metrics import Metrics
from reconciler.service.voice import LogVoice
from reconciler.service.voices import Voices
from tests.loop.world import Process, World, spec

pytestmark = pytest.mark.long

WORKLOADS = 10
ROUNDS = 10
LONGEST_SECONDS = 60.0
FORGOTTEN_SECONDS = 400.0
"""Longer than anything is kept for a while: expectations, graves, the window of the budgets."""
BUDGETS = {
    "workload": {"rooms": 1000, "percent": 100},
    "total": {"rooms": 1000, "percent": 100},
    "windowSeconds": 60,
}
BOUNDED = ("_repository.value.offers", "_repository.value.known", "wakes._dirty")
"""Hashes that may be approved, digests of what ever was: so many are kept and no more. Keys that
are dirty just now are taken every 20 ms."""
OURS = ("reconciler.", "prometheus_client.")
NOT_WALKED = ("reconciler.sandbox.", "reconciler.adapters.git.")
NAMES = (WorkloadKey, ObjectRef)
"""Tuples of texts: as many stand there as the containers have that they are in."""
LEAVES = (
    *(str, bytes, int, float, Enum, type, types.FunctionType, types.ModuleType, type(None)),
    *NAMES,
)


async def test_workloads_that_come_and_go_leave_nothing_behind() -> None:
    world = World()
    config = {"apiVersion": "gamekeeper.dev/v1", "kind": "Config", "spec": {"budgets": BUDGETS}}
    world.commit({"gamekeeper.yaml": yaml.safe_dump(config), **files(["stays"])})
    process = await world.process()
    process.head.ceiling = LOOSEST
    async with serving(process) as lane:
        sizes = []
        for number in range(ROUNDS):
            names = [f"r{number}-{index}" for index in range(WORKLOADS)]
            world.commit(files(names))
            await settle(lane, process, {"stays", *names})
            world.commit(dict.fromkeys(files(names)))
            await settle(lane, process, {"stays"})
            world.pass_time(FORGOTTEN_SECONDS)
            await settle(lane, process, {"stays"})
            sizes.append(sizes_of({"lane": lane, "head": process.head}))
    first, last = sizes[0], sizes[-1]
    assert last["lane.lane.view._snapshots"] == 1, "the walk finds what is kept"
    grown = {
        where: (first[where], size)
        for where, size in last.items()
        if size > first[where] and not any(name in where for name in BOUNDED)
    }
    assert not grown, "these grow with every workload that was ever there"


def files(names: Iterable[str]) -> dict[str, str | None]:
    return {f"schedulers/{name}.yaml": spec(name, 1) for name in names}


@asynccontextmanager
async def serving(process: Process) -> AsyncIterator[ClusterLane]:
    """Serve the lane of a process, heard by all voices."""
    voices = Voices([LogVoice(), Metrics(), Health(process.world.time.now)])
    lane = ClusterLane(process.lane, process.world.time, voices, lambda: True)
    task = asyncio.create_task(lane.run())
    try:
        yield lane
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def settle(lane: ClusterLane, process: Process, names: set[str]) -> None:
    """Go on until there are exactly the rooms of these workloads, and nothing is in flight."""
    async with asyncio.timeout(LONGEST_SECONDS):
        while True:
            await process.view.read()
            await head.look(process.head, process.world.time.now())
            lane.wake_all()
            await asyncio.sleep(0.05)
            await lane.finish()
            process.world.pass_time(2.0)
            known = {key.name for key in process.lane.store.states()}
            ready = {
                pod["metadata"]["namespace"]
                for pod in process.world.objects("/api/v1/pods")
                if pod["status"].get("phase") == "Running"
            }
            if known == ready == names:
                return


def sizes_of(roots: dict[str, Any]) -> Counter[str]:
    """Return how many entries the containers below `roots` have, by the path to them."""
    sizes: Counter[str] = Counter()
    seen: set[int] = set()
    waiting = deque(roots.items())
    while waiting:
        path, value = waiting.popleft()
        if id(value) in seen or isinstance(value, LEAVES):
            continue
        seen.add(id(value))
        if isinstance(value, dict | list | tuple | set | frozenset | deque):
            sizes[path] += len(value)
        waiting.extend(_inside(path, value))
    return sizes


def _inside(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from ((f"{path}[]", inner) for pair in value.items() for inner in pair)
    elif isinstance(value, list | tuple | set | frozenset | deque):
        yield from ((f"{path}[]", inner) for inner in value)
    elif _is_walked(type(value).__module__):
        yield from ((f"{path}.{name}", inner) for name, inner in _attributes(value))


def _is_walked(module: str) -> bool:
    return module.startswith(OURS) and not module.startswith(NOT_WALKED)


def _attributes(value: Any) -> Iterator[tuple[str, Any]]:
    yield from vars(value).items() if hasattr(value, "__dict__") else ()
    for kind in type(value).__mro__:
        for name in getattr(kind, "__slots__", ()):
            if hasattr(value, name):
                yield name, getattr(value, name)
