"""Rooms are led to whoever decides: the label goes with the lease, before the first decision."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from reconciler.adapters.kubernetes.calls import Call
from reconciler.adapters.kubernetes.client import KubernetesCluster
from reconciler.model import labels
from reconciler.model.refs import ObjectRef
from reconciler.service.leader_label import LeaderLabel
from tests.loop.safety import Bounds, Watchman
from tests.loop.service import Service, Theatre, theatre
from tests.loop.virtual_time import in_virtual_time
from tests.loop.wires import Weather
from tests.loop.world import CONFIG, World, spec

pytestmark = pytest.mark.usefixtures("no_time_of_this_machine")
OURS = "/api/v1/namespaces/gamekeeper/pods"


@asynccontextmanager
async def _stage() -> AsyncIterator[Theatre]:
    """Two pods of ours, and a spec of two rooms."""
    world = World()
    world.commit({"gamekeeper.yaml": CONFIG, "schedulers/arena.yaml": spec("arena", 2)})
    world.create("/api/v1/namespaces", {"metadata": {"name": "gamekeeper"}})
    world.pass_time(5.0)
    for name in ("one", "two"):
        marks = {labels.NAME: "gamekeeper"}
        body = {"metadata": {"name": name, "labels": marks}, "spec": {"containers": [CONTAINER]}}
        world.create(OURS, body)
    watchman = Watchman(world, {"arena": Bounds(3, 0)})
    async with theatre(world, Weather(random.Random(1)), watchman) as there:
        yield there
        there.judge()


CONTAINER = {"name": "gamekeeper", "image": "registry.example/gamekeeper:1"}


def _start(there: Theatre, name: str) -> Service:
    """Start a process that runs in the pod of this name."""
    service = there.start(name)
    own = KubernetesCluster(service.transport, "main")
    clock, app = service.clock, service.app
    label = LeaderLabel(own, "gamekeeper", name, clock, lambda: app.leading)
    app._parts.label = app._term._label = label
    return service


def _led_to(world: World) -> list[str]:
    """The pods that the rooms' Service selects."""
    found = world.objects(f"{OURS}?labelSelector={labels.NAME}=gamekeeper,{labels.LEADS}=true")
    return [pod["metadata"]["name"] for pod in found]


def _first_writes(service: Service, count: int) -> list[str]:
    """What a process wrote first, its lease and our namespace left out."""
    writes = [call for call in service.transport.writes if call.kind not in ("Lease", "Namespace")]
    return [_short(call) for call in writes[:count]]


def _short(call: Call) -> str:
    return f"{call.method} {call.path.partition('?')[0].removeprefix(OURS)}"


def test_a_successor_takes_it_from_one_that_died_before_it_decides_anything() -> None:
    async def main() -> None:
        async with _stage() as there:
            one = _start(there, "one")
            await there.until("rooms", lambda: len(there.world.pods("arena")) == 2, 60.0)
            assert _led_to(there.world) == ["one"]
            assert _first_writes(one, 1) == ["PATCH /one"]
            two = _start(there, "two")
            await asyncio.sleep(30.0)
            assert _led_to(there.world) == ["one"], "who waits for the lease is not led to"
            await one.kill()
            there.world.commit({"schedulers/arena.yaml": spec("arena", 3)})
            await there.until("it decides", lambda: len(there.world.pods("arena")) == 3, 90.0)
            assert _led_to(there.world) == ["two"]
            assert _first_writes(two, 2) == ["PATCH /one", "PATCH /two"]

    in_virtual_time(main())


def test_who_stops_takes_it_off_itself() -> None:
    async def main() -> None:
        async with _stage() as there:
            one = _start(there, "one")
            await there.until("rooms", lambda: len(there.world.pods("arena")) == 2, 60.0)
            await one.stop()
            assert _led_to(there.world) == []

    in_virtual_time(main())


def test_a_label_that_somebody_takes_off_is_put_on_again() -> None:
    async def main() -> None:
        async with _stage() as there:
            _start(there, "one")
            await there.until("it leads", lambda: _led_to(there.world) == ["one"], 60.0)
            own = KubernetesCluster(there.services[0].transport, "main")
            gone = {"op": "remove", "path": "/metadata/labels/gamekeeper.dev~1leads"}
            await own.json_patch(ObjectRef("v1", "Pod", "gamekeeper", "one"), [gone])
            assert _led_to(there.world) == []
            await there.until("it leads again", lambda: _led_to(there.world) == ["one"], 15.0)

    in_virtual_time(main())
