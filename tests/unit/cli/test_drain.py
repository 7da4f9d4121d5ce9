"""What a word of `gamekeeper drain` means: a room, a node, or too much."""

from dataclasses import replace

import pytest

from reconciler.adapters.kubernetes.client import KubernetesCluster
from reconciler.cli import drain
from reconciler.cli.failures import Failure
from reconciler.cli.leavers import ask
from reconciler.model import labels
from reconciler.model.errors import Denied
from reconciler.model.refs import Json, ObjectRef
from reconciler.model.rooms import Mark, Why
from reconciler.ports import Listing
from reconciler.settings import Settings
from tests.loop.world import Process, World, spec

SETTINGS = Settings(instance="main")


async def place() -> Process:
    world = World()
    world.commit({"schedulers/arena.yaml": spec("arena", 2)})
    process = await world.process()
    await world.settle(process)
    return process


def node(name: str, **more: object) -> Json:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "spec": {**more}}


async def test_a_node_means_every_room_on_it() -> None:
    process = await place()
    where = process.world.pods("arena")[0]["spec"]["nodeName"]
    there = [p["metadata"]["name"] for p in process.world.pods("arena")]
    for word in (where, f"node/{where}"):
        target, _ = await drain._target(process.cluster, SETTINGS, word)
        assert [room.pod.name for room in target.rooms] == sorted(there)
        assert (target.node, target.takes_pods) == (where, True)


async def test_a_node_that_takes_no_pods_needs_no_cordon() -> None:
    process = await place()
    process.world.create("/api/v1/nodes", node("empty", unschedulable=True))
    target, _ = await drain._target(process.cluster, SETTINGS, "empty")
    assert (target.rooms, target.takes_pods) == ([], False)


async def test_a_name_of_a_node_and_a_room_is_an_error_that_lists_both() -> None:
    process = await place()
    process.world.create("/api/v1/nodes", node("arena-0"))
    with pytest.raises(Failure, match="Write one of node/arena-0, arena/arena-0"):
        await drain._target(process.cluster, SETTINGS, "arena-0")
    target, _ = await drain._target(process.cluster, SETTINGS, "arena/arena-0")
    assert [room.pod.name for room in target.rooms] == ["arena-0"]
    target, _ = await drain._target(process.cluster, SETTINGS, "node/arena-0")
    assert target.node == "arena-0"


async def test_rooms_of_another_instance_are_not_there() -> None:
    process = await place()
    with pytest.raises(Failure, match="There are no rooms of this instance there"):
        await drain._target(process.cluster, replace(SETTINGS, instance="other"), "arena-0")


class OnlyPods(KubernetesCluster):
    """What somebody reaches whose Role names the pods of one namespace, and nothing else."""

    async def list(
        self, api_version: str, kind: str, namespace: str = "", labels: str = "", fields: str = ""
    ) -> Listing:
        if (kind, namespace) != ("Pod", "arena"):
            raise Denied(f"list {kind}: forbidden")
        return await super().list(api_version, kind, namespace, labels, fields)


async def test_who_may_touch_the_pods_of_one_namespace_alone_drains_a_room_there() -> None:
    process = await place()
    narrow = OnlyPods(process.transport, "main")
    target, around = await drain._target(narrow, SETTINGS, "arena/arena-0")
    (asked,) = await ask(narrow, target.rooms, around, leaves=True, now=process.world.time.now)
    assert (asked.pod.leaving, asked.done) == (Why.REQUEST, True)
    assert around.notes == (
        "nodes may not be listed: whether arena/arena-0 is one, and takes new rooms, is not known",
        "records may not be read: which revision is wanted is not known",
    )
    with pytest.raises(Denied):
        await drain._target(narrow, SETTINGS, "arena-0")
    assert drain._suspended(target, [asked], around) == []
    # The loop, which knows the spec, draws the consequence.
    await process.turn()
    marks = {p["metadata"]["name"]: p["metadata"]["labels"] for p in process.world.pods("arena")}
    assert marks["arena-0"][labels.STATE] == Mark.DRAINING


@pytest.mark.parametrize(
    ("word", "what", "fix"),
    [
        pytest.param(
            "node-9",
            'no node and no room "node-9" of this instance was found in any namespace',
            "gamekeeper rooms lists all rooms with their nodes, kubectl get nodes all nodes",
            id="a name",
        ),
        pytest.param(
            "node/node-9",
            'no node "node-9" was found, and no room of this instance is on it',
            "kubectl get nodes lists all",
            id="a node",
        ),
    ],
)
async def test_what_is_neither_node_nor_room_is_told_with_what_was_looked_for(
    word: str, what: str, fix: str
) -> None:
    process = await place()
    with pytest.raises(Failure) as raised:
        await drain._target(process.cluster, SETTINGS, word)
    assert str(raised.value).startswith(what + ".")
    assert str(raised.value).endswith(fix + ".")


@pytest.mark.parametrize("word", ["arena-1", "arena/arena-1"])
async def test_a_room_that_was_is_gone_and_no_other_one_is_offered(word: str) -> None:
    process = await place()
    process.world.commit({"schedulers/arena.yaml": spec("arena", 1)})
    await process.world.settle(process)
    assert [pod["metadata"]["name"] for pod in process.world.pods("arena")] == ["arena-0"]
    with pytest.raises(Failure, match="room arena-1 of Scheduler/arena is not there") as raised:
        await drain._target(process.cluster, SETTINGS, word)
    assert "arena-0" not in str(raised.value)


async def test_no_node_is_guessed_whose_number_is_another() -> None:
    process = await place()
    for name in ("worker-1", "ip-10-0-0-8.internal"):
        process.world.create("/api/v1/nodes", node(name))
    for word in ("node/worker-2", "node/ip-10-0-0-9.internal"):
        with pytest.raises(Failure, match="was found, and no room of this") as raised:
            await drain._target(process.cluster, SETTINGS, word)
        assert "Did you mean" not in str(raised.value)
    with pytest.raises(Failure, match='Did you mean "worker-1"'):
        await drain._target(process.cluster, SETTINGS, "node/wroker-1")


async def test_a_room_whose_labels_somebody_changed_is_not_told_as_gone() -> None:
    process = await place()
    pod = ObjectRef("v1", "Pod", "arena", "arena-1")
    await process.cluster.merge_patch(pod, {"metadata": {"labels": {labels.INSTANCE: None}}})
    with pytest.raises(Failure, match="pod arena/arena-1 is there without"):
        await drain._target(process.cluster, SETTINGS, "arena-1")


@pytest.mark.parametrize("word", ["arena", "scheduler/arena"])
async def test_a_workload_is_not_drained_but_its_rooms_are(word: str) -> None:
    process = await place()
    with pytest.raises(Failure, match=f'"{word}" is a workload, and a room is asked for'):
        await drain._target(process.cluster, SETTINGS, word)


async def test_of_a_suspended_workload_it_is_said_that_no_room_goes_yet() -> None:
    process = await place()
    world = process.world
    for suspend, told in ((True, ["Scheduler/arena"]), (False, [])):
        world.commit({"schedulers/arena.yaml": spec("arena", 2, suspend=suspend)})
        await world.settle(process)
        target, around = await drain._target(process.cluster, SETTINGS, "arena-0")
        now = world.time.now
        asked = await ask(process.cluster, target.rooms, around, leaves=True, now=now)
        keys = drain._suspended(target, asked, around)
        assert [str(key) for key in keys] == told
        target, _ = await drain._target(process.cluster, SETTINGS, "arena-0")
        back = await ask(process.cluster, target.rooms, around, leaves=False, now=now)
        assert drain._suspended(target, back, around) == []
