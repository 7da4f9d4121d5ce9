"""A delete of a namespace may be under way: nobody's room ends with it."""

import pytest

from reconciler.adapters.kubernetes.calls import Call
from reconciler.core.ending import LATE_SECONDS
from reconciler.model.errors import Denied, Unanswered
from reconciler.model.refs import Json
from tests.loop.test_late_requests import DUEL, QUAKE, SPACE, turns
from tests.loop.test_shared_namespace import BOTH, settled
from tests.loop.world import Process, World

BUSY = {"metadata": {"labels": {"gamekeeper.dev/state": "busy"}}}
RECORD = "/api/v1/namespaces/gamekeeper/configmaps/gamekeeper-main-local-fleet-servers.quake"
MISTAKE = {"schedulers/odd.yaml": "a: [\n"}
COMES: dict[str, dict[str, str | None]] = {
    "another": {DUEL: BOTH[DUEL]},
    "who left": {QUAKE: BOTH[QUAKE]},
    "who left, and another": {**BOTH},
    "another, beside a mistake": {**MISTAKE, DUEL: BOTH[DUEL]},
}


async def deleting() -> tuple[World, Process, list[Call]]:
    """A fleet left; the delete of its namespace was sent, and given up after 30 s."""
    world, process = await settled({QUAKE: BOTH[QUAKE]})
    send, late, attr = process.transport.send, list[Call](), "send"

    async def sent(call: Call) -> tuple[int, Json]:
        if (call.verb, call.kind) == ("delete", "Namespace") and not late:
            call.check()
            late.append(call)
            raise Unanswered(f"{call.what}: said nothing for 30 s")
        return await send(call)

    setattr(process.transport, attr, sent)
    world.commit({QUAKE: None})
    for _ in range(20):
        if not late:
            await turns(world, process, 1)
    return world, process, late


async def plays(world: World, process: Process, name: str) -> None:
    await turns(world, process, 8)
    room = next(each for each in world.names("servers") if each.startswith(name))
    world.patch(f"{SPACE}/pods/{room}", BUSY)
    await turns(world, process, 2)


@pytest.mark.parametrize("fails_over", [False, True])
@pytest.mark.parametrize("who", COMES)
async def test_a_delete_that_comes_late_takes_no_room_along(who: str, fails_over: bool) -> None:
    world, process, late = await deleting()
    world.commit(COMES[who])
    if fails_over:
        process = await world.process()
    await plays(world, process, "quake" if who == "who left" else "duel")
    assert process.transport.deliver(late[0]).status == 409


async def test_nor_where_the_record_of_who_left_cannot_be_read() -> None:
    world, process, late = await deleting()
    world.patch(RECORD, {"data": dict.fromkeys(world.ask(RECORD)["data"], "{")})
    world.commit({DUEL: BOTH[DUEL]})
    await plays(world, await world.process(), "duel")
    assert process.transport.deliver(late[0]).status == 409


async def test_where_the_namespace_may_not_be_changed_rooms_come_once_no_delete_can() -> None:
    world, process, _ = await deleting()
    send, attr = process.transport.send, "send"

    async def sent(call: Call) -> tuple[int, Json]:
        if (call.verb, call.kind) == ("patch", "Namespace"):
            raise Denied("a policy lets nobody change a namespace")
        return await send(call)

    setattr(process.transport, attr, sent)
    world.commit({DUEL: BOTH[DUEL]})
    await turns(world, process, 8)
    assert not world.names("servers")
    world.pass_time(LATE_SECONDS)
    await turns(world, process, 8)
    assert any(each.startswith("duel") for each in world.names("servers"))


async def test_a_namespace_is_changed_once_and_not_for_each_room() -> None:
    world, process, _ = await deleting()
    world.commit({**BOTH})
    await turns(world, process, 8)
    for room in world.names("servers"):
        world.delete(f"{SPACE}/pods/{room}")
        await turns(world, process, 8)
    patches = [call for call in process.transport.calls if call.kind == "Namespace"]
    # Both come at once.
    assert 1 <= [call.verb for call in patches].count("patch") <= 2
