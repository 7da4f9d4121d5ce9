"""What was read or judged in one term of leadership is nothing in the next."""

import asyncio

from reconciler.adapters.kubernetes.calls import Call
from reconciler.model.errors import Misconfigured
from reconciler.model.refs import Json
from reconciler.model.wanted import Wanted
from reconciler.service.app import App, Parts
from reconciler.service.lease import NoLease
from reconciler.service.voices import Voices
from tests.loop.world import CONFIG, Process, World, spec

NEWER = {"data": {"schema": "99"}}


async def nothing() -> None:
    """Do nothing."""


def app_of(world: World, process: Process) -> App:
    lane, head, view = process.lane, process.head, process.view
    app = App(Parts(lane, head, view, world.time, Voices([]), nothing, nothing))
    app._leadership = NoLease("one")
    return app


async def loads(app: App) -> bool:
    loading = asyncio.create_task(app._term.run())
    for _ in range(300):
        await asyncio.sleep(0)
    loading.cancel()
    return app.may_act()


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
    assert await loads(app)
    assert may == [False, False]


async def test_what_a_look_of_an_earlier_term_published_is_forgotten() -> None:
    world = World()
    process = await world.process()
    app = app_of(world, process)

    async def pause() -> None:
        process.lane.wanted = Wanted(commit="of an earlier term")

    process.transport.pause = pause
    app.leadership_changed()
    assert await loads(app)
    assert process.lane.wanted == Wanted()


async def test_who_could_not_list_the_records_does_not_act() -> None:
    """A proxy answered with a page, say: that is no record which cannot be read."""
    world = World()
    world.commit({"gamekeeper.yaml": CONFIG, "schedulers/arena.yaml": spec("arena", 1)})
    await world.settle(await world.process())
    process = Process(world)
    send, refused, attr = process.transport.send, list[Call](), "send"

    async def sent(call: Call) -> tuple[int, Json]:
        if (call.verb, call.kind) == ("list", "ConfigMap") and not refused:
            refused.append(call)
            raise Misconfigured("the answer is a web page")
        return await send(call)

    setattr(process.transport, attr, sent)
    app = app_of(world, process)
    app.leadership_changed()
    assert await loads(app)
    assert refused
    assert process.lane.store.states(), "they were read at the second try"
    assert process.lane.unanswered_at, "what was sent before may come yet"


async def test_who_cannot_read_the_repositorys_record_has_read_the_others() -> None:
    world = World()
    world.commit({"gamekeeper.yaml": CONFIG, "schedulers/arena.yaml": spec("arena", 1)})
    await world.settle(await world.process())
    world.patch("/api/v1/namespaces/gamekeeper/configmaps/gamekeeper-main", NEWER)
    process = Process(world)
    app = app_of(world, process)
    app.leadership_changed()
    assert await loads(app)
    assert process.lane.store.states()
    assert process.lane.unanswered_at
    assert process.lane.doomed_until
