import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest

from reconciler.model import labels
from reconciler.model.errors import Denied, Unserved
from reconciler.model.refs import Followed, Json, ObjectRef, WorkloadKey
from reconciler.ports import Listing, WatchEvent
from reconciler.service.pod_shelf import EXPECTATION_SECONDS
from reconciler.service.shelves import Bell, NodeShelf
from reconciler.service.views import ClusterView
from tests.unit.service_views.scripted import INSTANCE, NoCluster, VirtualClock, room

ARENA = WorkloadKey("Scheduler", "arena", "arena")


class Kinds(NoCluster):
    """A cluster that lists what a test says of each kind; its watches are silent."""

    def __init__(self, **items: list[Json]) -> None:
        self.items = items
        self.denied: set[str] = set()
        self.absent: set[str] = set()
        self.selectors: dict[str, str] = {}

    async def pages(self, followed: Followed) -> AsyncIterator[Listing]:
        kind = followed.kind
        self.selectors[kind] = followed.labels
        if kind in self.denied:
            raise Denied(f"list {kind}: no")
        if kind in self.absent:
            raise Unserved(f"scripted serves no {kind} in {followed.api_version}")
        yield Listing(self.items.get(kind, []), "10")

    async def watch(self, followed: Followed, resource_version: str) -> AsyncIterator[WatchEvent]:
        yield WatchEvent("BOOKMARK", {"metadata": {"resourceVersion": resource_version}})
        await asyncio.Event().wait()


class Running:
    """A view over such a cluster."""

    def __init__(self, cluster: Kinds) -> None:
        self.dirty: list[WorkloadKey] = []
        self.rung: list[ObjectRef] = []
        self.view = ClusterView(
            cluster,
            INSTANCE,
            VirtualClock(),
            self.dirty.extend,
            lambda ref, gone: self.rung.append(ref),
        )

    async def play(self) -> None:
        task = asyncio.create_task(self.view.run())
        for _ in range(100):
            await asyncio.sleep(0)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def account(name: str, instance: str = INSTANCE, version: int = 1) -> Json:
    marks = {labels.INSTANCE: instance, labels.KIND: "Scheduler", labels.WORKLOAD: name}
    metadata = {
        "name": name,
        "namespace": name,
        "uid": f"uid-sa-{name}",
        "resourceVersion": str(version),
        "labels": marks,
    }
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}


@pytest.mark.parametrize(
    ("kind", "complete"),
    [
        pytest.param("Pod", False, id="rooms are needed"),
        pytest.param("PodDisruptionBudget", False, id="what stands beside rooms is needed"),
        pytest.param("Node", True, id="nodes are only useful"),
        pytest.param("ConfigMap", True, id="the bell of records is only useful"),
    ],
)
async def test_a_view_is_complete_when_every_needed_kind_was_read(
    kind: str, complete: bool
) -> None:
    cluster = Kinds()
    cluster.denied = {kind}
    running = Running(cluster)
    await running.play()
    assert running.view.complete is complete


async def test_a_kind_that_the_server_lacks_is_not_waited_for_and_makes_no_view_complete() -> None:
    cluster = Kinds()
    cluster.absent = {"PodDisruptionBudget"}
    running = Running(cluster)
    await running.play()
    async with asyncio.timeout(30):
        await running.view.synced()
    assert running.view.unserved == ("PodDisruptionBudget",)
    assert (running.view.complete, running.view.rooms_complete) == (False, True)
    cluster.absent.clear()
    await running.play()
    assert not running.view.unserved
    assert running.view.complete


async def test_a_kind_that_is_refused_by_now_is_told_to_be_missing_no_more() -> None:
    cluster = Kinds()
    cluster.absent = {"PodDisruptionBudget"}
    running = Running(cluster)
    await running.play()
    assert running.view.unserved
    cluster.absent, cluster.denied = set(), {"PodDisruptionBudget"}
    await running.play()
    assert not running.view.unserved
    assert not running.view.complete


async def test_only_our_objects_are_asked_for_but_the_pods_of_all() -> None:
    cluster = Kinds()
    await Running(cluster).play()
    assert cluster.selectors["Pod"] == ""
    assert cluster.selectors["ServiceAccount"] == labels.INSTANCE
    assert cluster.selectors["ConfigMap"] == f"{labels.INSTANCE}={INSTANCE}"


async def test_a_snapshot_is_the_same_value_until_something_of_it_changes() -> None:
    running = Running(Kinds(Pod=[room("arena-1"), room("lobby-1", workload="lobby")]))
    await running.play()
    before = running.view.of(ARENA)
    assert running.view.of(ARENA) is before
    running.view.expect_created(room("lobby-2", workload="lobby"))
    assert running.view.of(ARENA) is before
    running.view.expect_deleted("uid-arena-1")
    assert [pod.terminating for pod in running.view.of(ARENA).pods] == [True]
    assert [pod.terminating for pod in before.pods] == [False]


async def test_objects_of_another_instance_are_shown_but_make_no_workload_of_ours() -> None:
    stranger = account("theirs", instance="another")
    running = Running(Kinds(ServiceAccount=[account("arena"), stranger]))
    await running.play()
    assert set(running.view.workloads()) == {ARENA}
    [theirs] = running.view.of(WorkloadKey("Scheduler", "theirs", "theirs")).objects
    assert theirs.instance == "another"


async def test_a_shared_namespace_is_shown_to_all_that_are_in_it_and_makes_no_workload() -> None:
    def inside(name: str) -> Json:
        marks = {labels.INSTANCE: INSTANCE, labels.KIND: "Fleet", labels.WORKLOAD: name}
        one = account(name)
        one["metadata"] |= {"namespace": "servers", "labels": marks}
        return one

    marks = {labels.INSTANCE: INSTANCE, labels.KIND: "Fleet"}
    metadata = {"name": "servers", "uid": "uid-ns", "resourceVersion": "1", "labels": marks}
    shared = {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
    kinds = Kinds(ServiceAccount=[inside("duel"), inside("quake")], Namespace=[shared])
    running = Running(kinds)
    await running.play()
    keys = {WorkloadKey("Fleet", "servers", name) for name in ("duel", "quake")}

    assert set(running.view.workloads()) == keys
    for key in keys:
        assert {item.ref.kind for item in running.view.of(key).objects} == {
            "ServiceAccount",
            "Namespace",
        }
    alone = WorkloadKey("Scheduler", "servers", "servers")
    assert running.view.of(alone).objects == ()

    running.dirty.clear()
    running.view._objects["Namespace"].drop(shared)
    assert set(running.dirty) == keys
    for key in keys:
        assert {item.ref.kind for item in running.view.of(key).objects} == {"ServiceAccount"}


async def test_every_workload_of_which_something_is_seen_is_dirty() -> None:
    running = Running(Kinds(Pod=[room("arena-1")], ServiceAccount=[account("lobby")]))
    await running.play()
    assert set(running.dirty) == {ARENA, WorkloadKey("Scheduler", "lobby", "lobby")}


async def test_expectations_that_were_not_met_are_taken_back_when_the_view_is_asked() -> None:
    clock = VirtualClock()
    view = ClusterView(
        Kinds(),
        INSTANCE,
        clock,
        lambda keys: None,
    )
    view.expect_created(room("arena-1"))
    assert len(view.of(ARENA).pods) == 1
    clock.at += EXPECTATION_SECONDS + 1
    assert not view.of(ARENA).pods


async def test_the_bell_rings_for_records_of_ours() -> None:
    record = account("record") | {"kind": "ConfigMap"}
    running = Running(Kinds(ConfigMap=[record]))
    await running.play()
    assert [ref.name for ref in running.rung] == ["record"]


def test_a_record_that_goes_is_rung_for_whether_a_watch_or_a_list_shows_it() -> None:
    rung: list[tuple[str, bool]] = []
    bell = Bell(lambda ref, gone: rung.append((ref.name, gone)))
    records = [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": "n", "uid": name, "resourceVersion": "1"},
        }
        for name in ("watched", "listed", "there")
    ]
    for record in (*records, *records):
        bell.put(record)
    bell.drop(records[0])
    bell.keep_only({"there"})
    assert rung == [
        ("watched", False),
        ("listed", False),
        ("there", False),
        ("watched", True),
        ("listed", True),
    ]


def a_node(name: str, version: str, **spec: object) -> Json:
    conditions = [{"type": "Ready", "status": "True", "lastHeartbeatTime": version}]
    metadata = {"name": name, "uid": f"uid-{name}", "resourceVersion": version}
    return {"metadata": metadata, "spec": spec, "status": {"conditions": conditions}}


def test_nodes_are_the_same_value_until_one_of_them_changes() -> None:
    shelf = NodeShelf()
    shelf.put(a_node("one", "1"))
    shelf.put(a_node("two", "2"))
    before = shelf.snapshot
    shelf.put(a_node("two", "3"))
    assert shelf.snapshot is before, "a heartbeat is no change"
    shelf.put(a_node("two", "4", unschedulable=True))
    assert [node.name for node in shelf.snapshot.open] == ["one"]
    assert [node.name for node in shelf.snapshot.all] == ["one", "two"]
    shelf.drop(a_node("one", "5"))
    assert not shelf.snapshot.open
    assert len(before.open) == 2


def test_public_addresses_are_the_same_value_until_one_changes() -> None:
    shelf = NodeShelf()
    assert not shelf.addresses
    bare, node = a_node("bare", "1"), a_node("one", "1")
    node["status"]["addresses"] = [{"type": "ExternalIP", "address": "203.0.113.9"}]
    for each in (bare, node):
        shelf.put(each)
    before = shelf.addresses
    assert before == {"one": "203.0.113.9"}
    shelf.put(a_node("bare", "2", unschedulable=True))
    assert shelf.addresses is before
    node["status"]["addresses"][0]["address"] = "203.0.113.8"
    shelf.put(node)
    assert shelf.addresses == {"one": "203.0.113.8"}
    assert before == {"one": "203.0.113.9"}
