"""Rooms from now on: every room that changed, as a command with `--watch` or `--wait` needs it."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

from reconciler.cli.failures import Failure
from reconciler.cli.room_reading import Around, SeenRoom, read_around, see, with_api
from reconciler.cli.room_text import row_of
from reconciler.model import labels
from reconciler.model.errors import PortError
from reconciler.model.live import LivePod
from reconciler.model.refs import Followed, WorkloadKey
from reconciler.ports import Cluster
from reconciler.service.pod_shelf import PodShelf
from reconciler.service.reflector import Reflector
from reconciler.settings import Settings
from reconciler.wiring.clock import SystemClock

COALESCE_SECONDS = 0.1
API_SECONDS = 2.0
"""How often the API is asked: players change without a change of the pod."""
AROUND_SECONDS = 2.0
"""So long what stands around the rooms is taken for what it was, when pods changed meanwhile."""
LOOKS_SHARE = 10
"""So many times as long as it took: of a great cluster nodes and records are many."""


async def follow(
    cluster: Cluster,
    settings: Settings,
    around: Around,
    api: tuple[str, str],
    seen: dict[str, SeenRoom],
    only: WorkloadKey | None = None,
) -> AsyncGenerator[tuple[SeenRoom, bool], None]:
    """Yield every room that reads otherwise than in `seen`, and whether it is gone.

    The API is asked for the rooms of one workload where it is `only` that. What stands around the
    rooms is read anew where pods changed, for a roll-out changes both; where none does it is not.

    Never ends by itself; a cluster that does not answer is asked again. Raises Denied and
    Misconfigured where it may not be listed and watched at all: then there would never be anything
    to tell. What is taken away later is waited for.
    """
    changed, behind, due = asyncio.Event(), False, time.monotonic() + AROUND_SECONDS
    namespace = only.namespace if only else ""  # of one workload, whoever may list that much can
    async with _followed(cluster, settings, changed, namespace) as (shelf, following):
        while True:
            await _some_time(changed, API_SECONDS if api[0] or behind else None)
            if following.done():
                following.result()  # it ends by an error alone
            behind = behind or changed.is_set()
            changed.clear()
            if behind and time.monotonic() >= due:
                around, behind, due = await _anew(cluster, settings, around)
            with suppress(Failure):  # a loop that hands over is asked again; the rooms go on
                around = await with_api(around, api, only)
            for room, gone in _differing(shelf, around, seen):
                yield room, gone


async def _anew(cluster: Cluster, settings: Settings, around: Around) -> tuple[Around, bool, float]:
    """Read what stands around the rooms; return it, whether it is to be read again, and when.

    What was read stands until the cluster answers again, and lets us read as much as at first.
    """
    began, behind = time.monotonic(), True
    with suppress(PortError):
        read = await read_around(cluster, settings, before=around)
        behind = not set(read.notes) <= set(around.notes)  # what may not be read any more
        around = replace(read, told=around.told, notes=around.notes)
    now = time.monotonic()
    return around, behind, now + max(AROUND_SECONDS, LOOKS_SHARE * (now - began))


@asynccontextmanager
async def _followed(
    cluster: Cluster, settings: Settings, changed: asyncio.Event, namespace: str
) -> AsyncIterator[tuple[PodShelf, asyncio.Task[None]]]:
    """Keep a shelf of the rooms, and what keeps it; wait until it was read, or that has ended."""
    clock = SystemClock()
    shelf = PodShelf(settings.instance, lambda _: changed.set(), clock.now)
    selector = f"{labels.INSTANCE}={settings.instance},{labels.WORKLOAD}"
    reflector = Reflector(cluster, Followed("v1", "Pod", selector, namespace), shelf, clock)
    following = asyncio.create_task(reflector.run(gives_up=True))
    following.add_done_callback(lambda _: changed.set())
    synced = asyncio.create_task(reflector.synced.wait())
    try:
        await asyncio.wait((following, synced), return_when=asyncio.FIRST_COMPLETED)
        yield shelf, following
    finally:
        following.cancel()
        synced.cancel()
        await asyncio.gather(following, synced, return_exceptions=True)


async def _some_time(changed: asyncio.Event, longest_seconds: float | None) -> None:
    """Wait for a change, a moment longer for those that come with it, or until time is up."""
    try:
        async with asyncio.timeout(longest_seconds):
            await changed.wait()
            await asyncio.sleep(COALESCE_SECONDS)
    except TimeoutError:
        return


def _differing(
    shelf: PodShelf, around: Around, seen: dict[str, SeenRoom]
) -> Iterator[tuple[SeenRoom, bool]]:
    """Take in what is there now, and tell what reads otherwise than before."""
    now = time.time()
    rooms = {room.name: room for room in see(_pods(shelf), around)}
    for name in sorted(seen.keys() - rooms.keys()):
        yield seen.pop(name), True
    for name, room in rooms.items():
        before = seen.get(name)
        seen[name] = room
        # Compared as of one moment: an age is no change.
        if before is None or row_of(before, now) != row_of(room, now):
            yield room, False


def _pods(shelf: PodShelf) -> Iterator[tuple[WorkloadKey, LivePod]]:
    for key in list(shelf.workloads()):
        for pod in shelf.of(key):
            yield key, pod
