"""A process that lost its lease in the middle of a plan writes nothing more."""

import pytest

from reconciler.model.errors import Unavailable
from reconciler.service.fence import Fenced
from tests.loop.world import World, spec


async def test_a_plan_ends_where_the_lease_does() -> None:
    world = World()
    world.commit({"schedulers/arena.yaml": spec("arena", 5)})
    process = await world.process()
    await process.turn()
    world.commit({"schedulers/arena.yaml": spec("arena", 9)})
    writes = iter([True, True])  # the state record and one more
    fenced = Fenced(process.cluster, lambda: next(writes, False))
    process.lane.cluster = fenced
    before = len(process.transport.writes)
    report = await process.turn()
    assert any("another process leads" in item.failure for item in report.settled)
    made = [call for call in process.transport.writes[before:] if call.kind == "Pod"]
    assert len(made) <= 2


async def test_reading_and_dry_runs_go_on() -> None:
    world = World()
    process = await world.process()
    fenced = Fenced(process.cluster, lambda: False)
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "arena"}}
    await fenced.create(namespace, dry_run=True)
    assert (await fenced.list("v1", "Namespace")).items
    with pytest.raises(Unavailable):
        await fenced.create(namespace)
    assert "arena" not in world.namespaces()
