"""A revision whose rooms end by themselves is replaced ever more seldom, whoever leads."""

import pytest

from reconciler.model.refs import ObjectRef
from reconciler.sandbox.behaviour import EXIT
from tests.loop.world import World, spec

LONG_SECONDS = 600.0
CRASHES = spec("arena", 1, "registry.example/game:crash")


async def _made(text: str, *, anew: bool = False, plays_seconds: int = 0) -> int:
    """Let rooms end for a while, well after so many seconds, or by their image.

    With `anew` another process leads at each look.
    """
    world = World()
    world.commit({"schedulers/arena.yaml": text})
    process, names = await world.process(), set[str]()
    began = world.time.at
    while world.time.at < began + LONG_SECONDS:
        await process.turn()
        for name in world.names("arena") if plays_seconds else ():
            ends = {"metadata": {"annotations": {EXIT: str(plays_seconds)}}}
            await process.cluster.merge_patch(ObjectRef("v1", "Pod", "arena", name), ends)
        names.update(world.names("arena"))
        world.pass_time(2.0)
        if anew:
            process = await world.process()
    return len(names)


def _images(world: World) -> set[str]:
    return {pod["spec"]["containers"][0]["image"] for pod in world.pods("arena")}


async def test_a_change_of_leader_makes_no_more_rooms_of_an_image_that_fails() -> None:
    made = await _made(CRASHES)
    assert 4 < made < 10
    assert await _made(CRASHES, anew=True) <= made + 1


def _plays_once(policy: str) -> str:
    game = {"name": "game", "image": "game:1", "resources": {"requests": {"cpu": "100m"}}}
    return spec("arena", 1, template={"spec": {"containers": [game], "restartPolicy": policy}})


@pytest.mark.parametrize("policy", ["Never", "OnFailure"])
async def test_rooms_that_end_well_at_once_are_made_ever_more_seldom(policy: str) -> None:
    made = await _made(_plays_once(policy), plays_seconds=1)
    assert 4 < made < 10
    assert await _made(_plays_once(policy), plays_seconds=1, anew=True) <= made + 1


async def test_rooms_that_end_with_their_match_wait_for_nothing() -> None:
    assert await _made(_plays_once("Never"), plays_seconds=20) > LONG_SECONDS / 30


async def test_an_image_that_is_mended_waits_for_nothing() -> None:
    world = World()
    world.commit({"schedulers/arena.yaml": CRASHES})
    process = await world.process()
    began = world.time.at
    while world.time.at < began + LONG_SECONDS:
        await process.turn()
        world.pass_time(2.0)
    world.commit({"schedulers/arena.yaml": spec("arena", 1, "registry.example/game:2")})
    mended = world.time.at
    while _images(world) != {"registry.example/game:2"}:
        assert world.time.at - mended < 30.0
        await process.turn()
        world.pass_time(2.0)
