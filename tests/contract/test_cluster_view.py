"""What the view shows of a cluster that moves: the same on the sandbox and the real one."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

import pytest

from reconciler.adapters.kubernetes.client import KubernetesCluster
from reconciler.model import labels
from reconciler.model.errors import Conflict
from reconciler.model.live import LivePod, Phase
from reconciler.model.refs import Json, ObjectRef, WorkloadKey, ref_of
from reconciler.service.events import Events
from reconciler.service.lease import Lease
from reconciler.service.views import ClusterView
from tests.contract.cluster_world import ApiServer, config_map, pod

INSTANCE = "contract"
PATIENCE_SECONDS = 90.0


class RealClock:
    """The machine's clock."""

    def now(self) -> float:
        return time.time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class Watched:
    """A running view of one workload in its own namespace."""

    def __init__(self, cluster: KubernetesCluster, namespace: str) -> None:
        self.key = WorkloadKey("Scheduler", namespace, namespace)
        self.cluster = cluster
        self.dirty: set[WorkloadKey] = set()
        self.rung: list[ObjectRef] = []
        self.view = ClusterView(cluster, INSTANCE, RealClock(), self.dirty.update, self._rung)

    def _rung(self, ref: ObjectRef, gone: bool) -> None:
        self.rung.append(ref)

    def marks(self) -> dict[str, str]:
        return {
            labels.INSTANCE: INSTANCE,
            labels.KIND: "Scheduler",
            labels.WORKLOAD: self.key.name,
        }

    def room(self, ordinal: int, host_port: int = 0) -> Json:
        body = pod(self.key.namespace, f"{self.key.name}-{ordinal}", labels=self.marks())
        body["metadata"]["annotations"] = {labels.REVISION: "1-abc"}
        if host_port:
            ports = [{"containerPort": 1, "hostPort": host_port}]
            body["spec"]["containers"][0]["ports"] = ports
        return body

    def rooms(self) -> tuple[LivePod, ...]:
        return self.view.of(self.key).pods


@pytest.fixture
async def watched(cluster: KubernetesCluster, namespace: str) -> AsyncIterator[Watched]:
    watched = Watched(cluster, namespace)
    running = asyncio.create_task(watched.view.run())
    await asyncio.wait_for(watched.view.synced(), PATIENCE_SECONDS)
    yield watched
    running.cancel()
    await asyncio.wait([running])


async def test_a_room_is_followed_from_its_creation_to_its_end(watched: Watched) -> None:
    await watched.cluster.create(watched.room(7, host_port=7001))
    await until(lambda: any(each.ready for each in watched.rooms()))
    [room] = watched.rooms()
    assert (room.ordinal, room.revision, room.phase) == (7, "1-abc", Phase.RUNNING)
    assert (room.instance, room.workload) == (INSTANCE, watched.key.name)
    assert room.node
    assert room.host_ip
    assert watched.view.port_use()[7001] == 1
    assert watched.key in watched.dirty
    assert watched.key in watched.view.workloads()
    await watched.cluster.delete(
        ObjectRef("v1", "Pod", room.namespace, room.name), room.uid, room.resource_version
    )
    await until(lambda: all(each.terminating for each in watched.rooms()))
    await until(lambda: not watched.rooms())
    assert watched.view.port_use()[7001] == 0


async def test_what_was_just_written_is_seen_at_once(watched: Watched) -> None:
    made = await watched.cluster.create(watched.room(1))
    watched.view.expect_created(made)
    assert [room.ordinal for room in watched.rooms()] == [1]
    await until(lambda: any(each.ready for each in watched.rooms()))
    [room] = watched.rooms()
    ref = ObjectRef("v1", "Pod", room.namespace, room.name)
    assert await watched.cluster.delete(ref, room.uid, room.resource_version)
    watched.view.expect_deleted(room.uid)
    assert all(each.terminating for each in watched.rooms())
    await until(lambda: not watched.rooms())


async def test_two_hundred_rooms_are_all_seen(watched: Watched) -> None:
    bodies = iter([watched.room(number) for number in range(200)])

    async def worker() -> None:
        for body in bodies:
            watched.view.expect_created(await watched.cluster.create(body))

    await asyncio.gather(*(worker() for _ in range(16)))
    await until(lambda: sum(each.ready for each in watched.rooms()) == 200)
    assert sorted(room.ordinal for room in watched.rooms()) == list(range(200))


async def test_objects_beside_rooms_are_seen_whole(watched: Watched) -> None:
    body = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {
            "name": watched.key.name,
            "namespace": watched.key.namespace,
            "labels": watched.marks(),
        },
        "spec": {"minAvailable": 1, "selector": {"matchLabels": watched.marks()}},
    }
    made = await watched.cluster.apply(body)
    await until(lambda: bool(watched.view.of(watched.key).objects))
    [seen] = watched.view.of(watched.key).objects
    assert seen.ref == ref_of(body)
    assert seen.uid == made["metadata"]["uid"]
    assert seen.body["spec"]["minAvailable"] == 1
    assert seen.body["apiVersion"] == "policy/v1"
    await _delete(watched)
    await until(lambda: not watched.view.of(watched.key).objects)


async def test_a_pod_of_another_instance_is_no_room_but_holds_its_port(watched: Watched) -> None:
    body = watched.room(1, host_port=7002)
    body["metadata"]["labels"][labels.INSTANCE] = "another"
    await watched.cluster.create(body)
    await until(lambda: watched.view.port_use()[7002] == 1)
    assert not watched.rooms()


async def test_a_changed_record_rings(watched: Watched) -> None:
    marks = {labels.INSTANCE: INSTANCE}
    record = config_map(watched.key.namespace, "record", {"n": "1"}, labels=marks)
    made = await watched.cluster.create(record)
    await until(lambda: ref_of(made) in watched.rung)


async def test_a_new_view_is_complete_after_its_first_read(
    cluster: KubernetesCluster, namespace: str
) -> None:
    watched = Watched(cluster, namespace)
    await cluster.create(watched.room(1))
    assert not watched.view.complete
    await watched.view.read()
    assert watched.view.complete
    assert [room.ordinal for room in watched.rooms()] == [1]
    assert len(watched.view.nodes.open) >= 3


@pytest.mark.long
async def test_one_of_two_leads_and_the_other_takes_over_when_it_leaves(
    cluster: KubernetesCluster, namespace: str
) -> None:
    ref = ObjectRef("coordination.k8s.io/v1", "Lease", namespace, "gamekeeper")
    first = Lease(cluster, ref, "first", RealClock())
    second = Lease(cluster, ref, "second", RealClock())
    running = asyncio.create_task(first.run())
    await until(lambda: first.leading)
    waiting = asyncio.create_task(second.run())
    await until(lambda: second.holder == "first")
    assert not second.leading
    running.cancel()
    await asyncio.wait([running])
    assert not first.leading
    await until(lambda: second.leading)
    lease = await cluster.get(ref)
    assert lease is not None
    assert lease["spec"]["holderIdentity"] == "second"
    assert lease["spec"]["leaseTransitions"] == 1
    waiting.cancel()
    await asyncio.wait([waiting])


@pytest.mark.long
async def test_a_lease_that_somebody_deleted_is_made_again_by_who_leads(
    cluster: KubernetesCluster, namespace: str
) -> None:
    ref = ObjectRef("coordination.k8s.io/v1", "Lease", namespace, "gamekeeper")
    first = Lease(cluster, ref, "first", RealClock())
    await first.attempt()
    lease = await cluster.get(ref)
    assert lease is not None
    await cluster.delete(ref, lease["metadata"]["uid"], lease["metadata"]["resourceVersion"])
    await first.attempt()
    await first.attempt()
    assert first.leading
    lease = await cluster.get(ref)
    assert lease is not None
    assert lease["spec"]["holderIdentity"] == "first"


async def test_an_event_stands_in_the_namespace_it_tells_of(
    api_server: ApiServer, cluster: KubernetesCluster, namespace: str
) -> None:
    events = Events(cluster, INSTANCE, RealClock())
    about = await cluster.get(ObjectRef("v1", "Namespace", "", namespace))
    assert about is not None
    uid = about["metadata"]["uid"]
    assert await events.tell(ref_of(about), uid, "HeldRemoval", "three rooms are held", "Warning")
    assert not await events.tell(ref_of(about), uid, "HeldRemoval", "three rooms are held")
    listing = await cluster.list("v1", "Event", namespace, fields="reason=HeldRemoval")
    [event] = listing.items
    assert event["message"] == "three rooms are held"
    assert event["involvedObject"]["name"] == namespace
    stranger = Events(api_server.strangers_client(), INSTANCE, RealClock())
    assert not await stranger.tell(ref_of(about), uid, "HeldRemoval", "may not be written")


async def _delete(watched: Watched) -> None:
    """Delete the object as it is seen; its status is written meanwhile, which is a conflict."""
    for _ in range(50):
        [seen] = watched.view.of(watched.key).objects
        with suppress(Conflict):
            assert await watched.cluster.delete(seen.ref, seen.uid, seen.resource_version)
            return
        await asyncio.sleep(0.1)
    pytest.fail("the object changes all the time")


async def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        if is_so():
            return
        await asyncio.sleep(0.02)
    pytest.fail(f"it did not come to be so within {PATIENCE_SECONDS:.0f} s")
