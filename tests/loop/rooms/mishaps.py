"""What goes wrong beyond one request: processes, servers, nodes, and people with kubectl."""

import asyncio
import json
import random
from collections.abc import Iterator
from contextlib import suppress

from reconciler.model.errors import PortError
from reconciler.model.labels import STATE
from reconciler.model.refs import Json
from reconciler.model.rooms import Why
from reconciler.sandbox.behaviour import nodes
from reconciler.sandbox.kinds import POD
from reconciler.sandbox.requests import Request, Response
from reconciler.sandbox.store import Stored
from tests.loop.rooms.house import Playhouse
from tests.loop.rooms.strangers import meddle
from tests.loop.rooms.wild import SPOILS, WildHouse, freeze
from tests.loop.safety import Unsafe
from tests.loop.service import Service

FEWEST_NODES = 3
EVICTED, REFUSED = 201, 429
MERGE = {"content-type": "application/merge-patch+json"}
WAYS = (
    *("history", "git", "server", "kill", "kill", "stop", "deaf"),
    *("evict", "hand", "node lost", "node silent", "cordon", "allocate"),
    *("git", "clock", "closed", "drain"),
    *("freeze", "stranger", "inject", "branch gone", "branch back"),
)
_STATE = f"/metadata/labels/{STATE.replace('/', '~1')}"


async def worsen(there: WildHouse, chance: random.Random, first: str) -> None:
    """Let something go wrong now and then, for ever: one of `WAYS` first, then as it comes."""
    number, way = 0, first
    while True:
        number += 1
        await asyncio.sleep(chance.uniform(5.0, 45.0))
        match way:
            case "history":
                there.world.sandbox.expire_history()
            case _ if way in SPOILS:
                await SPOILS[way](there, chance)
            case "stranger":
                await meddle(there, chance)
            case "server":
                await _lose_server(there, chance.uniform(1.0, 60.0))
            case "deaf":
                there.air.deaf = True
                there.weather.met["times nobody was heard"] += 1
                await asyncio.sleep(chance.uniform(5.0, 150.0))
                there.air.deaf = False
            case "freeze":
                await freeze(there, chance, f"process-{number}")
            case "kill" | "stop" as end:
                await _replace_process(there, chance, end, f"process-{number}")
            case "evict" | "hand" | "allocate" | "drain" as deed:
                await _meddle(there, chance, deed)
            case what:
                await _spoil_node(there, chance, what, f"new-{number}")
        way = chance.choice(WAYS)


async def _meddle(there: Playhouse, chance: random.Random, deed: str) -> None:
    """Let people or programs do something to rooms themselves."""
    match deed:
        case "evict":
            await evict_some(there, chance)
        case "hand":
            delete_one(there, chance)
        case "drain":
            await _drain_some(there, chance)
        case _:
            await _allocate_some(there, chance)


async def _replace_process(there: Playhouse, chance: random.Random, end: str, name: str) -> None:
    there.start(name)
    await asyncio.sleep(chance.uniform(0.0, 20.0))
    old = chance.choice([each for each in there.services if not each.killed])
    there.weather.met["processes killed" if end == "kill" else "processes stopped"] += 1
    await (old.kill() if end == "kill" else _stopped(old))


async def _spoil_node(there: Playhouse, chance: random.Random, what: str, other: str) -> None:
    node = chance.choice(sorted(_nodes(there)))
    match what:
        case "node lost":
            lose_node(there, node, other)
        case "node silent":
            there.world.sandbox.silence(node)
            there.weather.met["nodes silent"] += 1
            await asyncio.sleep(chance.uniform(5.0, 150.0))
            wake_all(there)
        case _:
            cordon(there, node, True)
            await asyncio.sleep(chance.uniform(5.0, 60.0))
            cordon(there, node, False)


async def evict_some(there: Playhouse, chance: random.Random) -> None:
    """Ask for rooms to be evicted, one after another, as who empties a node does."""
    for _ in range(8):
        pods = sorted(pod.key for pod in _standing(there))
        if pods:
            evict(there, chance.choice(pods))
        await asyncio.sleep(chance.uniform(0.1, 3.0))


def evict(there: Playhouse, room: str) -> int:
    """Ask for one room (`namespace/name`) to be evicted; return the status of the answer."""
    namespace, name = room.split("/")
    wrong = there.warden.why_kept(room)
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
    path = f"/api/v1/namespaces/{namespace}/pods/{name}/eviction"
    answer = _send(there, "POST", path, body, {"content-type": "application/json"})
    there.weather.met[f"evictions answered {answer.status}"] += 1
    if answer.status == EVICTED and wrong:
        there.unsafe.append(Unsafe(f"an eviction of {room} passed: {wrong}"))
    there.changed()
    return answer.status


async def _drain_some(there: Playhouse, chance: random.Random) -> None:
    """Let people ask rooms to leave by the API of rooms, and some of them to stay after all."""
    for leaves in (True, True, False):
        leader = there.leader
        rooms = [] if leader is None or leader.desk.closed() else [*leader.desk.rooms()]
        if leader is not None and rooms:
            asked = [each for each in rooms if leaves is (each.pod.leaving is Why.STAYS)]
            with suppress(PortError):
                await leader.desk.leave(chance.choice(asked or rooms), leaves, "anna", own=False)
            there.weather.met["rooms asked to leave or stay"] += 1
        await asyncio.sleep(chance.uniform(0.1, 20.0))


async def _allocate_some(there: Playhouse, chance: random.Random) -> None:
    """Give idle rooms to somebody for a while, as who allocates by Kubernetes' API does."""
    for _ in range(3):
        pods = sorted(pod.key for pod in _standing(there))
        if pods:
            room = chance.choice(pods)
            there.weather.met["rooms allocated"] += _marked(there, room, "idle", "allocated")
        await asyncio.sleep(chance.uniform(0.1, 40.0))
    give_back_all(there)


def give_back_all(there: Playhouse) -> None:
    """Take all allocations back."""
    for pod in list(_standing(there)):
        _marked(there, pod.key, "allocated", "idle")


def _marked(there: Playhouse, room: str, before: str, after: str) -> bool:
    """Mark a room anew where it is marked as `before`; whether it was."""
    namespace, name = room.split("/")
    steps = (("test", before), ("replace", after))
    patch = [{"op": op, "path": _STATE, "value": mark} for op, mark in steps]
    headers = {"content-type": "application/json-patch+json"}
    answer = _send(there, "PATCH", f"/api/v1/namespaces/{namespace}/pods/{name}", patch, headers)
    there.changed()
    return answer.status == 200


def delete_one(there: Playhouse, chance: random.Random) -> None:
    """Delete a room by hand, whoever plays there: that is not our doing."""
    pods = sorted(pod.key for pod in _standing(there))
    if pods:
        namespace, name = chance.choice(pods).split("/")
        there.world.delete(f"/api/v1/namespaces/{namespace}/pods/{name}")
        there.weather.met["rooms deleted by hand"] += 1
        there.changed()


def lose_node(there: Playhouse, node: str, other: str) -> None:
    """Take a node away with all that runs there, and let the cloud bring another."""
    if len(_nodes(there)) > FEWEST_NODES:
        there.world.delete(f"/api/v1/nodes/{node}")
        there.weather.met["nodes lost"] += 1
    there.world.sandbox.add_nodes(nodes(1, other), there.world.time.at)
    there.changed()


def cordon(there: Playhouse, node: str, closed: bool) -> None:
    """Let no more pods on a node, or let them there again."""
    if node not in _nodes(there):
        return  # it is lost by now
    _send(there, "PATCH", f"/api/v1/nodes/{node}", {"spec": {"unschedulable": closed}}, MERGE)
    there.changed()


def uncordon_all(there: Playhouse) -> None:
    """Let pods on every node again."""
    for node in _nodes(there):
        cordon(there, node, False)


def wake_all(there: Playhouse) -> None:
    """Let every kubelet speak again."""
    for node in _nodes(there):
        there.world.sandbox.wake(node)
    there.changed()


def _nodes(there: Playhouse) -> list[str]:
    return [node["metadata"]["name"] for node in there.world.objects("/api/v1/nodes")]


def _standing(there: Playhouse) -> Iterator[Stored]:
    for pod in there.world.sandbox.world.store.shelves[POD].objects.values():
        if not pod.ending:
            yield pod


def _send(
    there: Playhouse, method: str, path: str, body: Json | list[Json], headers: dict[str, str]
) -> Response:
    """Send a request of somebody else; a server that is away from us may be there for others."""
    request = Request.of(method, path, json.dumps(body).encode(), headers)
    answer = there.world.sandbox.handle(request, there.world.time.at)
    assert isinstance(answer, Response)
    return answer


async def _lose_server(there: Playhouse, seconds: float) -> None:
    away = [each.transport for each in there.services if not each.killed]
    for transport in away:
        transport.down = "the server is away"
    await asyncio.sleep(seconds)
    for transport in away:
        transport.down = ""


async def _stopped(service: Service) -> None:
    await service.stop()
    service.killed = True
