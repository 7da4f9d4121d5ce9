"""What the records say of a log, and that they say nothing where nobody wrote any."""

import pytest

from reconciler.cli.log_reading import Recorded, recorded_in
from reconciler.loop.store import RecordStore
from reconciler.settings import Settings
from tests.loop.world import World, spec


@pytest.mark.parametrize("instance", ["main", "other"])
async def test_of_an_instance_that_took_nothing_in_no_commit_is_told_to_be_a_persons(
    instance: str,
) -> None:
    world = World()
    process = await world.process()
    world.commit({"schedulers/arena.yaml": spec("arena", 1)})
    await process.turn()
    store = RecordStore(process.cluster, "gamekeeper", instance)
    await store.load()
    recorded = recorded_in(store, Settings(instance=instance, namespace="gamekeeper"))
    if instance == "main":
        assert recorded == Recorded(process.lane.store.repository, process.lane.store.states())
        assert recorded.ours == frozenset()
    else:
        where = "in namespace gamekeeper of this cluster"
        assert recorded == Recorded(problem=f'instance "other" has taken nothing in {where}')
        assert recorded.ours is None
