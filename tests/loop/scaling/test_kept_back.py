"""A count that acts and cannot be committed beside a mistake says what it waits for."""

from reconciler.core.standing import Standing, standing_of
from reconciler.model.outbox import EMPTY_OUTBOX
from reconciler.model.specs import WriteBack
from tests.loop.scaling.house import ARENA, FILE, Scene, scaled, scene
from tests.loop.scaling.test_counts_branch import FROM_EIGHT
from tests.loop.virtual_time import in_virtual_time


def standing(there: Scene) -> Standing | None:
    """Where the count of the arena stands, as `status` tells it."""
    assert there.leader is not None
    leader = there.leader
    record = leader.lane.store.state(ARENA)
    return standing_of(ARENA, record, EMPTY_OUTBOX, WriteBack(), leader.clock.now())


def test_a_count_beside_a_mistake_in_its_spec_says_so_until_it_is_mended() -> None:
    async def main() -> None:
        good = scaled(2, FROM_EIGHT)
        async with scene(good) as there:
            there.start("one")
            await there.until("two rooms", lambda: there.rooms() == 2, 60.0)
            there.world.commit({FILE: good.replace("max: 20", "max: many")})
            await there.until("six act", lambda: there.wanted() == 6, 400.0)
            await there.until(
                "it is told",
                lambda: "to be mended first" in getattr(standing(there), "why", ""),
                200.0,
            )
            assert there.count_in_git() == 2
            there.world.commit({FILE: good})
            await there.until("six in Git", lambda: there.count_in_git() == 6, 200.0)

    in_virtual_time(main())
