"""A delete of a namespace may be under way: nobody's room ends with it."""

import pytest

from reconciler.adapters.kubernetes.calls import Call
from reconciler.core.ending import LATE_SECONDS
from reconciler.loop import head, joining
from reconciler.loop.tick import tick
from reconciler.model.errors import Denied, PortError, Unanswered, Unavailable
from reconciler.model.refs import Json
from tests.loop.test_late_requests import DUEL, QUAKE, SPACE, turns
from tests.loop.test_shared_namespace import BOTH, budgets, fleet, settled
from tests.loop.test_unseen_objects import DUEL_KEY, lose
from tests.loop.world import Process, World, spec

BUSY = {"metadata": {"labels": {"gamekeeper.dev/state": "busy"}}}
RECORD = "/api/v1/namespaces/gamekeeper/configmaps/gamekeeper-main-local-fleet-servers.quake"
GIVEN_UP = Unanswered("the server said nothing for 30 s")
MISTAKE = {"schedulers/odd.yaml": "a: [\n"}
COMES: dict[str, dict[str, str | None]] = {
    "another": {DUEL: BOTH[DUEL]},
    "who left": {QUAKE: BOTH[QUAKE]},
    "who left, and another": {**BOTH},
    "another, beside a mistake": {**MISTAKE, DUEL: BOTH[DUEL]},
}


async def deleting(
    told: PortError = GIVEN_UP,
) -> tuple[World, Process, list[Call]]:
    """A fleet left; the delete of its namespace was sent, and is under way whatever was `told`."""
    world, process = await settled({QUAKE: BOTH[QUAKE]})
    return world, process, await left(world, process, told)


async def left(world: World, process: Process, told: PortError = GIVEN_UP) -> list[Call]:
    """Let the only fleet of a namespace leave until its delete was sent, which is kept back."""
    send, late, attr = process.transport.send, list[Call](), "send"

    async def sent(call: Call) -> tuple[int, Json]:
        if (call.verb, call.kind) == ("delete", "Namespace") and not late:
            call.check()
            late.append(call)
            raise told
        return await send(call)

    setattr(process.transport, attr, sent)
    world.commit({QUAKE: None})
    for _ in range(20):
        if not late:
            await turns(world, process, 1)
    return late


def haunt(process: Process, pod: Json) -> None:
    """Let a watch have lost that a pod is gone."""
    read, attr = process.view.read, "read"

    async def read_and_one() -> None:
        await read()
        process.view._pods.put(pod)

    setattr(process.view, attr, read_and_one)


def forbid(process: Process, verb: str) -> None:
    """Let a policy refuse what changes a namespace so."""
    send, attr = process.transport.send, "send"

    async def sent(call: Call) -> tuple[int, Json]:
        if (call.verb, call.kind) == (verb, "Namespace"):
            raise Denied("a policy lets nobody change a namespace")
        return await send(call)

    setattr(process.transport, attr, sent)


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
    forbid(process, "patch")
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


@pytest.mark.parametrize("told", [Unavailable("429"), Denied("403")], ids=str)
async def test_a_refusal_may_be_that_of_a_second_try(told: PortError) -> None:
    """A connection was lost, and what was sent on it is sent once more by the library."""
    world, process, late = await deleting(told)
    world.commit({DUEL: BOTH[DUEL]})
    await plays(world, process, "duel")
    assert process.transport.deliver(late[0]).status == 409


async def test_the_server_is_asked_where_a_watch_missed_the_namespace() -> None:
    world, process, late = await deleting()
    space = world.ask(SPACE)
    process = await world.process()
    lose(process, "Namespace", {**space, "apiVersion": "v1", "kind": "Namespace"})
    world.commit({DUEL: BOTH[DUEL]})
    await plays(world, process, "duel")
    assert process.transport.deliver(late[0]).status == 409


async def test_who_may_not_have_the_namespace_ends_no_wait_of_others() -> None:
    """A Scheduler comes first, to which a Fleet's namespace does not belong."""
    world, process, late = await deleting()
    forbid(process, "apply")
    world.commit({"schedulers/servers.yaml": spec("servers", 1)})
    await turns(world, process, 2)
    world.commit({"schedulers/servers.yaml": None, DUEL: BOTH[DUEL]})
    await turns(world, process, 14)
    assert world.names("servers")
    assert process.transport.deliver(late[0]).status == 409


async def test_a_budget_waits_for_no_namespace_after_a_fail_over() -> None:
    world, process = await settled({**BOTH})
    world.patch(f"{SPACE}/pods/duel-0", BUSY)
    process = await world.process()
    forbid(process, "patch")
    world.delete("/apis/policy/v1/namespaces/servers/poddisruptionbudgets/duel")
    await turns(world, process, 3)
    assert "duel" in budgets(world)


async def test_a_room_that_is_gone_and_shown_yet_is_no_proof_that_somebody_came() -> None:
    world, process = await settled({QUAKE: BOTH[QUAKE]})
    ghost = {**world.ask(f"{SPACE}/pods/quake-0"), "apiVersion": "v1", "kind": "Pod"}
    late = await left(world, process)
    world.commit({QUAKE: fleet("quake", replicas=2)})
    other = await world.process()
    haunt(other, ghost)
    await turns(world, other, 6)
    world.patch(f"{SPACE}/pods/{world.names('servers')[0]}", BUSY)
    await turns(world, other, 1)
    assert other.transport.deliver(late[0]).status == 409
    assert "deletionTimestamp" not in world.ask(SPACE)["metadata"]


@pytest.mark.parametrize("stands", [True, False])
async def test_where_it_may_not_be_changed_rooms_come_beside_one_that_the_server_shows(
    stands: bool,
) -> None:
    world, _ = await settled({QUAKE: BOTH[QUAKE]})
    other = await world.process()
    forbid(other, "patch")
    if not stands:
        haunt(other, {**world.ask(f"{SPACE}/pods/quake-0"), "apiVersion": "v1", "kind": "Pod"})
        world.delete(f"{SPACE}/pods/quake-0")
        world.pass_time(5.0)
    world.commit({QUAKE: fleet("quake", replicas=2)})
    await turns(world, other, 3)
    assert len(world.names("servers")) == (2 if stands else 0)


async def test_an_answer_that_comes_when_somebody_came_already_is_no_defect() -> None:
    world, process = await settled({QUAKE: BOTH[QUAKE]})
    send, done, attr = process.transport.send, list[Call](), "send"

    async def sent(call: Call) -> tuple[int, Json]:
        answer = await send(call)
        if (call.verb, call.kind) == ("delete", "Namespace") and not done:
            done.append(call)
            world.pass_time(30.0)
            await process.view.read()
            assert "servers" not in world.namespaces()
            world.commit(COMES["another"])
            await head.look(process.head, world.time.now())
            for _ in range(4):
                await tick(process.lane, [DUEL_KEY], world.time.now())
                world.pass_time(2.0)
                await process.view.read()
        return answer

    setattr(process.transport, attr, sent)
    world.commit({QUAKE: None})
    await turns(world, process, 20)
    assert done
    assert world.names("servers") == ["duel-0"]


async def test_an_answer_of_an_earlier_term_ends_no_wait_of_a_later_one() -> None:
    _, process = await settled({QUAKE: BOTH[QUAKE]})
    lane = process.lane
    with joining.doomed(lane, "fleet-servers"):
        lane.doomed_until["fleet-servers"] = 77.0  # a term began meanwhile
    assert lane.doomed_until["fleet-servers"] == 77.0
    with joining.doomed(lane, "fleet-servers"):
        assert lane.doomed_until["fleet-servers"] > 77.0
    assert "fleet-servers" not in lane.doomed_until
