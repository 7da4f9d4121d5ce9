"""A watch of rooms judges them by what stands around them now, not by what stood when it began."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager

import pytest

from reconciler.adapters.kubernetes.client import KubernetesCluster
from reconciler.cli import room_follow
from reconciler.cli.room_reading import Around, SeenRoom, read_around, read_pods, see
from reconciler.model import labels
from reconciler.model.errors import Denied, PortError, Unavailable
from reconciler.model.refs import Followed, Json, ObjectRef, WorkloadKey
from reconciler.ports import Listing, WatchEvent
from reconciler.settings import Settings
from reconciler.wiring.clock import SystemClock
from tests.loop.world import Process, World, spec

SETTINGS = Settings(instance="main")
ARENA = WorkloadKey("Scheduler", "arena", "arena")
AT_ONCE: Json = {"removal": {"quietSeconds": 0}, "rollout": {"maxSurge": 2, "maxUnavailable": 0}}


class Watched(KubernetesCluster):
    """A sandbox in virtual time, whose pods are told of whenever they are not as before."""

    lists = 0

    async def list(
        self, api_version: str, kind: str, namespace: str = "", labels: str = "", fields: str = ""
    ) -> Listing:
        self.lists += kind != "Pod"
        return await super().list(api_version, kind, namespace, labels, fields)

    async def listing(self, followed: Followed) -> Listing:
        namespace, selector = followed.namespace, followed.labels
        return await self.list(followed.api_version, followed.kind, namespace, selector)

    async def watch(self, followed: Followed, resource_version: str) -> AsyncIterator[WatchEvent]:
        before: dict[str, Json] = {}
        while True:
            listing = await self.listing(followed)
            now = {each["metadata"]["uid"]: each for each in listing.items}
            for uid in before.keys() - now.keys():
                yield WatchEvent("DELETED", before[uid])
            for uid, each in now.items():
                if each != before.get(uid):
                    yield WatchEvent("MODIFIED", each)
            before = now
            await asyncio.sleep(0.02)


async def place() -> tuple[World, Process, Watched]:
    world = World()
    world.commit({"schedulers/arena.yaml": spec("arena", 2, **AT_ONCE)})
    process = await world.process()
    await world.settle(process)
    return world, process, Watched(process.transport, "main")


async def seen_in(cluster: KubernetesCluster) -> dict[str, SeenRoom]:
    pods = await read_pods(cluster, "main")
    return {room.name: room for room in see(pods, await read_around(cluster, SETTINGS))}


@asynccontextmanager
async def followed(cluster: Watched) -> AsyncIterator[dict[str, SeenRoom]]:
    """Keep rooms as a watch shows them, for as long as the block takes."""
    around, seen = await read_around(cluster, SETTINGS), await seen_in(cluster)

    async def keep_up() -> None:
        async for _ in room_follow.follow(cluster, SETTINGS, around, ("", ""), seen):
            pass

    task = asyncio.create_task(keep_up())
    try:
        yield seen
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


class Hasty(SystemClock):
    """A clock whose pauses are over soon, however long chance made them."""

    async def sleep(self, seconds: float) -> None:
        await super().sleep(min(seconds, 0.01))


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room_follow, "SystemClock", Hasty)
    for name in ("AROUND_SECONDS", "API_SECONDS"):
        monkeypatch.setattr(room_follow, name, 0.1)


async def test_in_a_roll_out_the_new_rooms_are_the_wanted_ones() -> None:
    world, process, cluster = await place()
    async with followed(cluster) as seen, asyncio.timeout(60):
        await asyncio.sleep(0.5)
        old = {name for name, room in seen.items() if room.current}
        assert len(old) == 2
        changed = spec("arena", 2, "registry.example/game:2", **AT_ONCE)
        world.commit({"schedulers/arena.yaml": changed})
        while old & seen.keys() or [room.current for room in seen.values()] != [True, True]:
            await process.turn()
            world.pass_time(1.0)
            await asyncio.sleep(0.05)


async def test_while_no_pod_changes_nothing_around_them_is_read() -> None:
    _, _, cluster = await place()
    async with followed(cluster), asyncio.timeout(60):
        lists = -1
        while cluster.lists != lists:  # what came at the start may be followed by one more
            lists = cluster.lists
            await asyncio.sleep(0.5)


async def until(holds: Callable[[], bool]) -> None:
    while not holds():  # noqa: ASYNC110 (it lists, and has no event)
        await asyncio.sleep(0.05)


class Refusing(Watched):
    """A cluster that may refuse to tell what stands around the rooms."""

    refuses: PortError | None = None
    refused = read = 0

    async def list(
        self, api_version: str, kind: str, namespace: str = "", labels: str = "", fields: str = ""
    ) -> Listing:
        if kind != "Pod" and self.refuses is not None:
            self.refused += 1
            raise self.refuses
        listing = await super().list(api_version, kind, namespace, labels, fields)
        self.read += kind == "Node"
        return listing


@pytest.mark.parametrize("refuses", [Unavailable("no answer"), Denied("forbidden")])
async def test_what_was_known_stands_while_it_cannot_be_read_and_is_read_again(
    refuses: PortError,
) -> None:
    _, process, _ = await place()
    cluster = Refusing(process.transport, "main")
    async with followed(cluster) as seen, asyncio.timeout(60):
        await asyncio.sleep(0.5)
        cluster.refuses = refuses
        pod = ObjectRef("v1", "Pod", "arena", "arena-0")
        note = {"op": "add", "path": "/metadata/annotations/example.com~1note", "value": "new"}
        await process.cluster.json_patch(pod, [note])
        await until(lambda: cluster.refused >= 4)
        assert [room.current for room in seen.values()] == [True, True]
        assert [room.address for room in seen.values()] != ["", ""]
        cluster.refuses, read = None, cluster.read
        await until(lambda: cluster.read > read)  # no pod changes that would ask for it


class Restricted(Watched):
    """What somebody reaches who may list only some: of a kind, or of a namespace."""

    def __init__(self, process: Process, *, kind: str = "", namespace: str = "") -> None:
        super().__init__(process.transport, "main")
        self._kind, self._namespace = kind, namespace

    async def list(
        self, api_version: str, kind: str, namespace: str = "", labels: str = "", fields: str = ""
    ) -> Listing:
        if self._kind not in ("", kind) or self._namespace not in ("", namespace):
            raise Denied(f"list {kind}: forbidden")
        return await super().list(api_version, kind, namespace, labels, fields)

    async def pages(self, followed: Followed) -> AsyncIterator[Listing]:
        yield await self.listing(followed)


@pytest.mark.parametrize("only", [ARENA, None])
async def test_whoever_may_read_one_namespace_can_watch_its_rooms(only: WorkloadKey | None) -> None:
    """One who asks for all rooms is told so, and waits for nothing."""
    _, process, _ = await place()
    cluster = Restricted(process, namespace="arena")
    seen: dict[str, SeenRoom] = {}
    shown = room_follow.follow(cluster, SETTINGS, Around(), ("", ""), seen, only)
    async with asyncio.timeout(60), aclosing(shown):
        if only is None:
            with pytest.raises(Denied, match="list Pod: forbidden"):
                await anext(shown)
        else:
            assert {(await anext(shown))[0].name for _ in range(2)} == {
                "arena/arena-0",
                "arena/arena-1",
            }


class Faltering(Watched):
    """A cluster that does not answer the first list, and refuses what it is asked then."""

    lists_of_pods = denied = 0

    def __init__(self, process: Process, refused: str) -> None:
        super().__init__(process.transport, "main")
        self._refused = refused

    async def pages(self, followed: Followed) -> AsyncIterator[Listing]:
        self.lists_of_pods += 1
        if self.lists_of_pods == 1:
            raise Unavailable("no answer")
        if self._refused == "list":
            raise Denied("list Pod: forbidden")
        yield await self.listing(followed)

    async def watch(self, followed: Followed, resource_version: str) -> AsyncIterator[WatchEvent]:
        if self._refused == "watch":
            self.denied += 1
            raise Denied("watch Pod: forbidden")
        async for event in super().watch(followed, resource_version):
            yield event
            self._refused = "watch"
            raise Unavailable("broken off")


@pytest.mark.parametrize("refused", ["list", "watch"])
async def test_what_may_not_be_followed_ends_a_watch_also_after_no_answer(refused: str) -> None:
    _, process, _ = await place()
    shown = room_follow.follow(Faltering(process, refused), SETTINGS, Around(), ("", ""), {})
    async with asyncio.timeout(30), aclosing(shown):
        with pytest.raises(Denied, match=f"{refused} Pod: forbidden"):
            async for _ in shown:
                pass


async def test_a_watch_that_was_followed_waits_for_a_permission_that_was_taken_away() -> None:
    _, process, _ = await place()
    cluster, seen = Faltering(process, "later"), dict[str, SeenRoom]()
    shown = room_follow.follow(cluster, SETTINGS, Around(), ("", ""), seen)
    async with asyncio.timeout(30), aclosing(shown):
        assert {(await anext(shown))[0].name for _ in range(2)} == {
            "arena/arena-0",
            "arena/arena-1",
        }
        more = asyncio.create_task(anext(shown))
        await until(lambda: cluster.denied >= 2)  # it asks again
        assert not more.done()
        more.cancel()
        await asyncio.gather(more, return_exceptions=True)


async def test_where_nodes_may_not_be_listed_the_address_is_the_one_on_the_pod() -> None:
    _, process, _ = await place()
    path = "/metadata/annotations/" + labels.ADDRESS.replace("/", "~1")
    spoken = ObjectRef("v1", "Pod", "arena", "arena-0")
    await process.cluster.json_patch(spoken, [{"op": "add", "path": path, "value": "203.0.113.7"}])
    rooms = await seen_in(Restricted(process, kind="Pod"))
    assert [room.address for room in rooms.values()] == ["203.0.113.7", ""]
    around = await read_around(Restricted(process, kind="Pod"), SETTINGS)
    assert "the address of a room that never reported is not known" in around.notes[0]
