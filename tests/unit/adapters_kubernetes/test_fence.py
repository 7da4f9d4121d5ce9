"""A process that lost its lease in the middle of a plan writes nothing more."""

from collections.abc import Awaitable, Callable

import pytest

from reconciler.adapters.kubernetes.client import KubernetesCluster
from reconciler.adapters.kubernetes.fence import WRITES
from reconciler.model.errors import Unavailable
from reconciler.model.refs import Json, ObjectRef
from tests.loop.world import World, spec

NAMESPACE: Json = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "arena"}}
REF = ObjectRef("v1", "Namespace", "", "arena")
Write = Callable[[KubernetesCluster, Json], Awaitable[object]]
ALL_WRITES: dict[str, Write] = {
    "create": lambda cluster, there: cluster.create({**NAMESPACE, "metadata": {"name": "duel"}}),
    "update": lambda cluster, there: cluster.replace(there),
    "apply": lambda cluster, there: cluster.apply(NAMESPACE),
    "patch": lambda cluster, there: cluster.merge_patch(REF, {"metadata": {"labels": {"a": "b"}}}),
    "json patch": lambda cluster, there: cluster.json_patch(
        REF, [{"op": "add", "path": "/metadata/labels/a", "value": "b"}]
    ),
    "delete": lambda cluster, there: cluster.delete(
        REF, there["metadata"]["uid"], there["metadata"]["resourceVersion"]
    ),
}


async def test_a_plan_ends_where_the_lease_does() -> None:
    world = World()
    world.commit({"schedulers/arena.yaml": spec("arena", 5)})
    process = await world.process()
    await process.turn()
    world.commit({"schedulers/arena.yaml": spec("arena", 9)})
    writes = iter([True] * 4)  # the state record and one more, each asked at once and when sent
    process.lane.cluster = process.cluster.fenced(lambda: next(writes, False))
    before = len(process.transport.writes)
    report = await process.turn()
    assert any("another process leads" in item.failure for item in report.settled)
    made = [call for call in process.transport.writes[before:] if call.kind == "Pod"]
    assert len(made) <= 2


async def test_reading_and_dry_runs_go_on() -> None:
    world = World()
    process = await world.process()
    fenced = process.cluster.fenced(lambda: False)
    await fenced.create(NAMESPACE, dry_run=True)
    await fenced.apply(NAMESPACE, dry_run=True)
    assert (await fenced.list("v1", "Namespace")).items
    with pytest.raises(Unavailable):
        await fenced.create(NAMESPACE)
    assert "arena" not in world.namespaces()


@pytest.mark.parametrize("write", ALL_WRITES.values(), ids=ALL_WRITES)
async def test_a_write_that_waits_for_its_turn_while_the_lease_ends_is_not_sent(
    write: Write,
) -> None:
    world = World()
    world.create("/api/v1/namespaces", {"metadata": {"name": "arena", "labels": {"of": "us"}}})
    process = await world.process()
    leads = [True]

    async def wait() -> None:
        leads.clear()

    there = await process.cluster.get(REF)
    assert there is not None
    before = len(process.transport.writes)
    process.transport.pause = wait
    with pytest.raises(Unavailable, match="another process leads"):
        await write(process.cluster.fenced(lambda: bool(leads)), there)
    assert len(process.transport.writes) == before
    # The same write of one who leads is sent: it was the fence that kept it back.
    await write(process.cluster.fenced(lambda: True), there)
    assert {call.verb for call in process.transport.writes[before:]} <= WRITES
    assert len(process.transport.writes) == before + 1


async def test_a_time_that_is_over_for_another_reason_is_not_told_as_the_end_of_a_lease() -> None:
    world = World()
    process = await world.process()

    async def wait() -> None:
        raise TimeoutError("of its own")

    process.transport.pause = wait
    with pytest.raises(TimeoutError, match="of its own"):
        await process.cluster.fenced(lambda: True).create(NAMESPACE)
