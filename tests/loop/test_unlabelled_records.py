"""A record whose labels somebody took is found at its place, and gets them back."""

import pytest

from reconciler.adapters.kubernetes.client import KubernetesCluster
from reconciler.loop import head
from reconciler.model import labels
from reconciler.model.refs import ObjectRef, WorkloadKey
from tests.loop.transport import SandboxTransport
from tests.loop.world import Process, World, spec, turn_as_served

ARENA = WorkloadKey("Scheduler", "arena", "arena")


def at_its_place(process: Process, what: str) -> ObjectRef:
    places = process.lane.store._places
    if what == "repository":
        return places.repository
    return {"state": places.state, "ordinals": places.ordinals}[what](ARENA)


@pytest.mark.parametrize("restarted", [False, True], ids=["while it runs", "before it starts"])
@pytest.mark.parametrize("what", ["state", "ordinals", "repository"])
async def test_a_record_without_its_label_stops_nobody_and_gets_it_back(
    what: str, restarted: bool
) -> None:
    world = World()
    world.commit({f"schedulers/{name}.yaml": spec(name, 2) for name in ("arena", "lobby")})
    process = await world.process()
    await world.settle(process)
    names = set(world.names("arena"))
    place = at_its_place(process, what)
    hand = KubernetesCluster(SandboxTransport(world.sandbox, world.time.now), "hand")
    await hand.merge_patch(place, {"metadata": {"labels": {labels.RECORD: None}}})
    if restarted:
        process = await world.process()
    world.commit({f"schedulers/{name}.yaml": spec(name, 4) for name in ("arena", "lobby")})
    for _ in range(8):
        await turn_as_served(world, process)
    assert (len(world.names("arena")), len(world.names("lobby"))) == (4, 4)
    assert names < set(world.names("arena"))
    there = await hand.get(place)
    assert there is not None
    assert there["metadata"]["labels"][labels.RECORD] == what
    await head.look(process.head, world.time.now())
    assert not process.lane.wanted.holds
