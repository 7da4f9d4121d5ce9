"""The longest stretch for which one event loop is held up: real Git, real workers, no API server.

A stretch is one callback of the loop, in CPU of its thread; what holds the interpreter's lock in
another thread is seen by a beat of 1 ms that comes late, which a busy machine lengthens.
"""

import asyncio
import gc
import json
import tempfile
import time
from asyncio import events
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from benchmarks import stage
from benchmarks.results import Figure, Section, at_most
from reconciler.adapters.git.mirror import Mirror
from reconciler.adapters.git.source import Source
from reconciler.adapters.kubernetes.answers import object_of
from reconciler.adapters.kubernetes.client import PAGE
from reconciler.assets import kubernetes_definitions
from reconciler.cli.run import COLLECTED_AFTER
from reconciler.kube.schemas import Schemas
from reconciler.loop import head
from reconciler.loop.head_lane import HeadLane
from reconciler.loop.lane import Lane
from reconciler.loop.store import RecordStore
from reconciler.model.refs import Followed, Json, ObjectRef, ref_of
from reconciler.model.specs import LOOSEST, Permissions
from reconciler.ports import Listing
from reconciler.service.cluster_lane import ClusterLane
from reconciler.service.metrics import Metrics
from reconciler.service.pod_shelf import PodShelf
from reconciler.service.reflector import Reflector
from reconciler.service.views import ClusterView
from reconciler.wiring.compilers import make_compiler
from tests.gitservers.repositories import BareRepository

MOST_MS = 10.0
WORKLOADS, FILES, PODS = 1000, 10_000, 10_000
BEAT_SECONDS = 0.001


@dataclass(slots=True)
class Longest:
    """The longest stretch so far and where it was, and the latest beat; milliseconds."""

    stretch_ms: float = 0.0
    where: str = ""
    late_ms: float = 0.0


class Clock:
    """The machine's time."""

    def now(self) -> float:
        """Return Unix seconds."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        """Sleep."""
        await asyncio.sleep(seconds)


class Shelf:
    """A cluster in a dict, which answers at once and as JSON read from bytes."""

    name = "local"

    def __init__(self) -> None:
        self._objects: dict[ObjectRef, bytes] = {}
        self._version = 1
        self.pods: list[bytes] = []

    async def get(self, ref: ObjectRef) -> Json | None:
        """Read one object."""
        text = self._objects.get(ref)
        return None if text is None else object_of(text, "get")

    async def create(self, body: Json, *, dry_run: bool = False) -> Json:
        """Keep an object."""
        self._version += 1
        marks = {"uid": f"uid-{self._version}", "resourceVersion": str(self._version)}
        text = json.dumps({**body, "metadata": {**body["metadata"], **marks}}).encode()
        self._objects[ref_of(body)] = text
        return object_of(text, "create")

    replace = create

    async def list(self, *asked: Any, **more: Any) -> Listing:
        """List everything that is kept."""
        items = [text for ref, text in self._objects.items() if ref.kind == asked[1]]
        found: list[Json] = []
        for start in range(0, len(items), PAGE):
            page = b"[" + b",".join(items[start : start + PAGE]) + b"]"
            found += object_of(b'{"items":' + page + b"}", "list")["items"]
            await asyncio.sleep(0)
        return Listing(found, "1")

    async def pages(self, *asked: Any) -> AsyncIterator[Listing]:
        """List the pods."""
        for page in self.pods:
            await asyncio.sleep(0)
            yield Listing(object_of(page, "list")["items"], "1")


def measure() -> Section:
    """Measure all of it."""
    found: dict[str, Longest] = {}
    gc.freeze()
    gc.set_threshold(*COLLECTED_AFTER)
    asyncio.run(_measured(found))
    figures = [at_most(what, each.stretch_ms, MOST_MS, "ms", 1) for what, each in found.items()]
    figures += [
        Figure(f"{what}: latest beat", f"{each.late_ms:.1f} ms") for what, each in found.items()
    ]
    notes = [f"{what}: the longest was {each.where}." for what, each in found.items()]
    return Section("stretches", "how long the event loop is held up", figures, notes)


async def _measured(found: dict[str, Longest]) -> None:
    with tempfile.TemporaryDirectory(prefix="gamekeeper-bench-") as name:
        found["cold start, 10,000 pods"] = await _longest(_pods())
        bare = BareRepository.create(Path(name), "fleet.git")
        bare.commit(_files(3, WORKLOADS), "A thousand")
        lane = _lane(bare.path, Path(name))
        try:
            look = _looker(lane)
            found["first commit, 1,000 workloads"] = await _longest(look)
            found["1,000 records read"] = await _longest(lane.home.store.load)
            bare.commit(dict(_files(4, 1)), "One of them")
            found["a commit about 1 of 1,000"] = await _longest(look)
            bare.commit(dict(_files(5, WORKLOADS)), "All of them")
            found["a commit about all 1,000"] = await _longest(look)
            found["every plan of 1,000"] = await _longest(_planner(lane.home))
            bare.commit({f"notes/{n}.yaml": f"a: {n}\n" for n in range(FILES)}, "Ten thousand")
            found["a repository of 10,000 files"] = await _longest(look)
        finally:
            await lane.repository.close()
            await lane.compiler.close()


def _files(replicas: int, workloads: int) -> dict[str, str]:
    return stage.files({f"arena-{number}": replicas for number in range(workloads)})


def _looker(lane: HeadLane) -> Callable[[], Awaitable[object]]:
    return lambda: head.look(lane, time.time())


def _planner(lane: Lane) -> Callable[[], Awaitable[object]]:
    served = ClusterLane(lane, Clock(), Metrics(), lambda: True)
    cast(Any, served)._is_due = lambda plan: False  # planned, not carried out

    async def planned() -> None:
        served.wake_all()
        await served._pass(await served.wakes.take())

    return planned


def _lane(repository: Path, folder: Path) -> HeadLane:
    cluster: Any = Shelf()
    view = ClusterView(cluster, "main", Clock(), lambda keys: None)
    for each in view._needed:
        each.synced.set()
    store = RecordStore(cluster, "gamekeeper", "main")
    schemas = Schemas(kubernetes_definitions("1.36"))
    home = Lane("local", "main", cluster, view, store, schemas, ())
    mirror = Mirror(Source(f"file://{repository}"), str(folder / "cache"))
    compiler = make_compiler()
    return HeadLane("bench", "main", mirror, compiler, Permissions(), LOOSEST, home)


def _pods() -> Callable[[], Awaitable[None]]:
    cluster: Any = Shelf()
    pods = [_pod(number) for number in range(PODS)]
    cluster.pods = [
        json.dumps({"items": pods[start : start + PAGE]}).encode() for start in range(0, PODS, PAGE)
    ]
    shelf = PodShelf("main", lambda key: None, time.time)
    return Reflector(cluster, Followed("v1", "Pod"), shelf, Clock()).read


def _pod(number: int) -> Json:
    """Return a pod as large as a real one that runs."""
    fields: Json = {f"f:field-{n}": {"f:name": {}, "f:value": {}} for n in range(60)}
    marks = {f"gamekeeper.dev/{name}": "arena" for name in ("workload", "instance")}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"arena-{number}",
            "namespace": "arena",
            "uid": f"uid-{number}",
            "resourceVersion": str(number + 1),
            "labels": {**marks, "gamekeeper.dev/kind": "Scheduler"},
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "managedFields": [{"manager": f"m{n}", "fieldsV1": fields} for n in range(3)],
        },
        "spec": {"containers": [{"name": "game", "ports": [{"hostPort": 7000 + number}]}]},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    }


async def _longest(work: Callable[[], Awaitable[object]]) -> Longest:
    with _watched() as longest:
        beating = asyncio.create_task(_beat(longest))
        try:
            await asyncio.create_task(_run(work))
        finally:
            beating.cancel()
            await asyncio.gather(beating, return_exceptions=True)
    return longest


async def _run(work: Callable[[], Awaitable[object]]) -> None:
    await work()


async def _beat(longest: Longest) -> None:
    while True:
        due = time.monotonic() + BEAT_SECONDS
        await asyncio.sleep(BEAT_SECONDS)
        longest.late_ms = max(longest.late_ms, (time.monotonic() - due) * 1000)


@contextmanager
def _watched() -> Iterator[Longest]:
    """Time every callback of the loop."""
    longest, loop_handle = Longest(), cast(Any, events.Handle)
    run = loop_handle._run

    def timed(handle: Any) -> None:
        started = time.thread_time()
        try:
            run(handle)
        finally:
            took = (time.thread_time() - started) * 1000
            # A callback that goes on after the end is no longer the work that is measured.
            if took > longest.stretch_ms and loop_handle._run is timed:
                longest.stretch_ms, longest.where = took, _place(handle._callback)

    loop_handle._run = timed
    try:
        yield longest
    finally:
        loop_handle._run = run


def _place(callback: Any) -> str:
    """Name where the task of a callback stands now, from the outside in."""
    task = getattr(callback, "__self__", None)
    if not isinstance(task, asyncio.Task):
        return f"`{getattr(callback, '__qualname__', callback)}`"
    names, coroutine = [], cast(Any, task.get_coro())
    while hasattr(coroutine, "cr_await"):
        names.append(coroutine.__qualname__)
        coroutine = coroutine.cr_await
    return f"`{' > '.join(names[-3:])}`"


if __name__ == "__main__":
    print(measure().text())
