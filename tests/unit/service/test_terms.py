"""What was read or judged in one term of leadership is nothing in the next."""

import asyncio

from reconciler.model.wanted import Wanted
from reconciler.service.app import App, Parts
from reconciler.service.lease import NoLease
from reconciler.service.voices import Voices
from tests.loop.world import Process, World


async def nothing() -> None:
    """Do nothing."""


def app_of(world: World, process: Process) -> App:
    lane, head, view = process.lane, process.head, process.view
    app = App(Parts(lane, head, view, world.time, Voices([]), nothing, nothing))
    app._leadership = NoLease("one")
    return app


async def loaded(app: App) -> None:
    loading = asyncio.create_task(app._term.run())
    for _ in range(100):
        await asyncio.sleep(0)
    loading.cancel()
    assert app.may_act()


async def test_records_that_were_read_in_an_earlier_term_are_read_again_before_anything() -> None:
    world = World()
    process = await world.process()
    app = app_of(world, process)
    may: list[bool] = []

    async def pause() -> None:
        may.append(app.may_act())
        if len(may) == 1:
            app.leadership_changed()  # lost and had again while the records are read

    process.transport.pause = pause
    app.leadership_changed()
    await loaded(app)
    assert may == [False, False]


async def test_what_a_look_of_an_earlier_term_published_is_forgotten() -> None:
    world = World()
    process = await world.process()
    app = app_of(world, process)

    async def pause() -> None:
        process.lane.wanted = Wanted(commit="of an earlier term")

    process.transport.pause = pause
    app.leadership_changed()
    await loaded(app)
    assert process.lane.wanted == Wanted()
