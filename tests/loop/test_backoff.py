"""A revision whose rooms end by themselves is replaced ever more seldom, whoever leads."""

from tests.loop.world import World, spec

LONG_SECONDS = 600.0


async def _made(*, anew: bool) -> int:
    """Let an image fail for a while; with `anew` another process leads at each look."""
    world = World()
    world.commit({"schedulers/arena.yaml": spec("arena", 1, "registry.example/game:crash")})
    process, names = await world.process(), set[str]()
    began = world.time.at
    while world.time.at < began + LONG_SECONDS:
        await process.turn()
        names.update(world.names("arena"))
        world.pass_time(2.0)
        if anew:
            process = await world.process()
    return len(names)


def _images(world: World) -> set[str]:
    return {pod["spec"]["containers"][0]["image"] for pod in world.pods("arena")}


async def test_a_change_of_leader_makes_no_more_rooms_of_an_image_that_fails() -> None:
    made = await _made(anew=False)
    assert 4 < made < 10
    assert await _made(anew=True) <= made + 1


async def test_an_image_that_is_mended_waits_for_nothing() -> None:
    world = World()
    world.commit({"schedulers/arena.yaml": spec("arena", 1, "registry.example/game:crash")})
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
