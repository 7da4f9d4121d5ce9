"""JSON patches of rooms: what their tests hold against, on the sandbox and on the real server."""

import asyncio
from dataclasses import replace

import pytest

from reconciler.adapters.kubernetes.client import KubernetesCluster
from reconciler.core import room_patch
from reconciler.model import labels
from reconciler.model.errors import Conflict
from reconciler.model.live import LivePod
from reconciler.model.refs import Json, ObjectRef, ref_of
from reconciler.model.rooms import Mark, Why
from reconciler.service.live_records import pod_of
from tests.contract.cluster_world import pod

SINCE = 1_800_000_000.25
GUARD = ("false", "true")


async def made(cluster: KubernetesCluster, namespace: str, name: str = "room-1") -> LivePod:
    """A room that was never marked."""
    metadata = {"labels": {labels.WORKLOAD: "room"}, "annotations": {labels.REVISION: "1-a"}}
    return pod_of(await cluster.create(pod(namespace, name, **metadata)))


def ref(room: LivePod) -> ObjectRef:
    return ObjectRef("v1", "Pod", room.namespace, room.name)


async def mark(
    cluster: KubernetesCluster, room: LivePod, to: Mark, leaving: Why = Why.STAYS
) -> LivePod | None:
    """Write a mark on the room as it was seen."""
    patch = room_patch.operations(room, to, leaving, SINCE, GUARD)
    answer = await cluster.json_patch(ref(room), patch)
    return None if answer is None else pod_of(answer)


async def test_a_label_that_is_not_there_passes_a_test_for_null(
    cluster: KubernetesCluster, namespace: str
) -> None:
    room = await made(cluster, namespace)
    assert room.mark is Mark.NONE
    marked = await mark(cluster, room, Mark.BUSY)
    assert marked is not None
    assert (marked.mark, marked.guard, marked.uid) == (Mark.BUSY, GUARD, room.uid)


async def test_a_label_that_is_there_fails_a_test_for_null(
    cluster: KubernetesCluster, namespace: str
) -> None:
    room = await made(cluster, namespace)
    await mark(cluster, room, Mark.BUSY)
    with pytest.raises(Conflict, match="room-1"):
        await mark(cluster, room, Mark.IDLE)


async def test_of_two_who_saw_the_same_one_is_too_late(
    cluster: KubernetesCluster, namespace: str
) -> None:
    idle = await mark(cluster, await made(cluster, namespace), Mark.IDLE)
    assert idle is not None
    drained, busy = await asyncio.gather(
        mark(cluster, idle, Mark.DRAINING, Why.SCALE_IN),
        mark(cluster, idle, Mark.BUSY),
        return_exceptions=True,
    )
    late = [each for each in (drained, busy) if isinstance(each, Conflict)]
    assert len(late) == 1
    found = await cluster.get(ref(idle))
    assert found is not None
    assert pod_of(found).mark is (Mark.BUSY if drained in late else Mark.DRAINING)


async def test_a_write_of_somebody_else_on_another_field_is_no_race(
    cluster: KubernetesCluster, namespace: str
) -> None:
    room = await made(cluster, namespace)
    other: Json = {"metadata": {"annotations": {"studio.example/note": "seen"}}}
    await cluster.merge_patch(ref(room), other)
    assert await mark(cluster, room, Mark.BUSY) is not None


async def test_another_pod_of_that_name_is_never_marked(
    cluster: KubernetesCluster, namespace: str
) -> None:
    room = await made(cluster, namespace)
    with pytest.raises(Conflict):
        await mark(cluster, replace(room, uid="00000000-0000-0000-0000-000000000000"), Mark.BUSY)
    found = await cluster.get(ref(room))
    assert found is not None
    assert pod_of(found).mark is Mark.NONE


async def test_a_room_that_is_not_there_is_none(cluster: KubernetesCluster, namespace: str) -> None:
    room = await made(cluster, namespace)
    assert await mark(cluster, replace(room, name="room-2"), Mark.BUSY) is None


async def test_a_room_is_told_to_leave_and_that_is_taken_back(
    cluster: KubernetesCluster, namespace: str
) -> None:
    room = await made(cluster, namespace)
    leaving = await mark(cluster, room, Mark.DRAINING, Why.REQUEST)
    assert leaving is not None
    assert (leaving.mark, leaving.leaving) == (Mark.DRAINING, Why.REQUEST)
    assert leaving.leaving_since == SINCE
    stays = await mark(cluster, leaving, Mark.NONE)
    assert stays is not None
    assert (stays.mark, stays.leaving, stays.leaving_since) == (Mark.NONE, Why.STAYS, 0.0)


async def test_mark_and_last_report_are_written_in_one_patch(
    cluster: KubernetesCluster, namespace: str
) -> None:
    room = await made(cluster, namespace)
    patch = [
        *room_patch.operations(room, Mark.BUSY, Why.STAYS, SINCE),
        room_patch.kept('{"players":3}', room.kept_report),
    ]
    answer = await cluster.json_patch(ref(room), patch)
    assert answer is not None
    written = pod_of(answer)
    assert (written.mark, written.kept_report) == (Mark.BUSY, '{"players":3}')


async def test_a_room_that_was_stripped_of_all_annotations_is_marked_all_the_same(
    cluster: KubernetesCluster, namespace: str
) -> None:
    metadata = {"labels": {labels.WORKLOAD: "room"}}
    bare = pod_of(await cluster.create(pod(namespace, "room-1", **metadata)))
    assert bare.bare
    patch = [
        *room_patch.operations(bare, Mark.DRAINING, Why.ROLLOUT, SINCE, GUARD, "203.0.113.9"),
        room_patch.keeps(""),
        room_patch.kept('{"players":0}', ""),
    ]
    answer = await cluster.json_patch(ref(bare), patch)
    assert answer is not None
    marked = pod_of(answer)
    assert (marked.mark, marked.leaving, marked.guard) == (Mark.DRAINING, Why.ROLLOUT, GUARD)
    assert (marked.kept_report, marked.bare) == ('{"players":0}', False)


async def test_what_somebody_notes_on_a_stripped_room_meanwhile_is_not_lost(
    cluster: KubernetesCluster, namespace: str
) -> None:
    metadata = {"labels": {labels.WORKLOAD: "room"}}
    bare = pod_of(await cluster.create(pod(namespace, "room-1", **metadata)))
    other: Json = {"metadata": {"annotations": {"studio.example/note": "seen"}}}
    await cluster.merge_patch(ref(bare), other)
    with pytest.raises(Conflict):
        await mark(cluster, bare, Mark.BUSY)
    found = await cluster.get(ref(bare))
    assert found is not None
    assert found["metadata"]["annotations"] == {"studio.example/note": "seen"}
    again = await mark(cluster, pod_of(found), Mark.BUSY)
    assert again is not None
    assert again.mark is Mark.BUSY


async def test_a_public_address_is_written_with_the_mark_and_changed_without_one(
    cluster: KubernetesCluster, namespace: str
) -> None:
    room = await made(cluster, namespace)
    for mark_to, address in ((Mark.IDLE, "203.0.113.9"), (Mark.IDLE, "2001:db8::9")):
        patch = room_patch.operations(room, mark_to, Why.STAYS, SINCE, None, address)
        answer = await cluster.json_patch(ref(room), patch)
        assert answer is not None
        room = pod_of(answer)
        assert (room.mark, room.address) == (mark_to, address)
        assert answer["metadata"]["annotations"][labels.ADDRESS] == address


async def test_a_patch_that_fails_in_one_place_writes_nothing(
    cluster: KubernetesCluster, namespace: str
) -> None:
    room = await made(cluster, namespace)
    patch = [
        *room_patch.operations(room, Mark.BUSY, Why.STAYS, SINCE),
        {"op": "test", "path": "/metadata/labels/gamekeeper.dev~1workload", "value": "another"},
    ]
    with pytest.raises(Conflict):
        await cluster.json_patch(ref(room), patch)
    found = await cluster.get(ref(room))
    assert found is not None
    assert pod_of(found).mark is Mark.NONE
    assert ref_of(found) == ref(room)


async def test_a_room_marked_after_it_was_seen_is_not_deleted(
    cluster: KubernetesCluster, namespace: str
) -> None:
    draining = await mark(cluster, await made(cluster, namespace), Mark.DRAINING, Why.SCALE_IN)
    assert draining is not None
    await mark(cluster, draining, Mark.BUSY, Why.SCALE_IN)
    with pytest.raises(Conflict):
        await cluster.delete(ref(draining), draining.uid, draining.resource_version)
