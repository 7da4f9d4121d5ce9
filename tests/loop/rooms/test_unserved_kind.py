"""A server lacks a kind that the operator allows: rooms come, nothing goes, and that is told."""

import pytest

from reconciler.model.holds import HoldKind
from tests.loop.rooms.house import Playhouse
from tests.loop.rooms.test_refusing_clusters import are_standing, play, scene
from tests.loop.virtual_time import in_virtual_time

pytestmark = pytest.mark.long


def told(there: Playhouse) -> set[str]:
    """What the records tell of kinds that are not there."""
    store = there.services[0].lane.store
    return {
        each.message
        for key in there.services[0].lane.wanted.keys
        for each in store.state(key).conditions
        if each.reason == HoldKind.UNSERVED and each.status
    }


def test_the_loop_goes_on_without_it() -> None:
    async def main() -> None:
        async with scene(kinds=("ConfigMap", "ResourceQuota")) as (there, wish):
            await there.until("it is told", lambda: bool(told(there)), 30.0)
            (reason,) = told(there)
            assert (
                "has no ResourceQuota: nothing is deleted until it does, or --allow-kinds" in reason
            )
            wish.change("arena", 6, 1)
            await there.until("rooms come", lambda: are_standing(there, 6, 4), 60.0)
            wish.change("arena", 2, 1)
            await play(there, 120.0)
            assert len(there.world.pods("arena")) == 6, "who does not see all lets nothing go"

    in_virtual_time(main())
