"""A record whose making was not answered is dropped too: else it keeps its namespace for ever."""

import pytest

from reconciler.adapters.kubernetes.calls import Call
from reconciler.model.errors import Unavailable
from reconciler.model.records import Ordinals
from reconciler.model.refs import WorkloadKey
from tests.loop.world import World

KEY = WorkloadKey("Scheduler", "gamekeeper", "arena")


@pytest.mark.parametrize("took_effect", [True, False], ids=["it was made", "it was not made"])
async def test_a_record_whose_making_was_not_answered_is_dropped(took_effect: bool) -> None:
    world = World()
    process = await world.process()

    def lost(number: int, call: Call) -> None:
        if call.verb == "create" and call.kind == "ConfigMap":
            raise Unavailable("the connection was lost")

    if took_effect:
        process.transport.after = lost
    else:
        process.transport.before = lost
    with pytest.raises(Unavailable):
        await process.lane.store.save_ordinals(KEY, Ordinals(3))
    process.transport.before = process.transport.after = lambda number, call: None
    await process.lane.store.drop_ordinals(KEY)
    names = [each["metadata"]["name"] for each in world.objects("/api/v1/configmaps")]
    assert not [name for name in names if "arena" in name]
    assert process.lane.store.ordinals(KEY) is None
