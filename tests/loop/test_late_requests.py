"""A request that was given up may be carried out yet: for a minute what knows of it stays."""

import asyncio
from collections.abc import Callable

import pytest

from reconciler.adapters.kubernetes.calls import Call
from reconciler.loop import head
from reconciler.loop.tick import tick
from reconciler.model.errors import Unanswered
from reconciler.model.refs import Json
from reconciler.service.cluster_lane import ClusterLane
from tests.loop.test_lanes import _Silent
from tests.loop.test_shared_namespace import BOTH, budgets, fleet, records, settled
from tests.loop.test_unseen_objects import DUEL_KEY, FLEET, NAMESPACES
from tests.loop.world import CONFIG, Process, World, spec

LOBBY = {"gamekeeper.yaml": CONFIG, "schedulers/lobby.yaml": spec("lobby", 1)}
DUEL, QUAKE = "schedulers/duel.yaml", "schedulers/quake.yaml"
SPACE = f"{NAMESPACES}servers"
ACCOUNTS = f"{SPACE}/serviceaccounts"
SOURCE = {"kind": "Secret", "namespace": "shared", "name": "pull"}
Given = Callable[[Call], None]


def gives_up(call: Call) -> None:
    raise Unanswered(f"{call.what}: said nothing for 30 s")


def given_up(
    process: Process, verb: str, kind: str, name: str, then: Given = gives_up
) -> list[Call]:
    """Keep back the first such request; whoever sent it gives it up."""
    send, late, attr = process.transport.send, list[Call](), "send"

    async def sent(call: Call) -> tuple[int, Json]:
        body = call.body if isinstance(call.body, dict) else {}
        asked = (call.verb, call.kind, body.get("metadata", {}).get("name"))
        if not late and not call.tries and asked == (verb, kind, name):
            late.append(call)
            then(call)
            await asyncio.sleep(3600)
        return await send(call)

    setattr(process.transport, attr, sent)
    return late


async def turns(world: World, process: Process, number: int = 12) -> None:
    for _ in range(number):
        await process.turn()
        world.pass_time(2.0)


async def begun() -> tuple[World, Process]:
    world = World()
    world.commit({**LOBBY, QUAKE: BOTH[QUAKE]})
    process = await world.process()
    await world.settle(process)
    return world, process


async def left_and_came(world: World, process: Process, late: list[Call]) -> None:
    """The workload leaves Git; then the server carries the request out; then the other leaves."""
    world.commit({DUEL: None})
    await turns(world, process)
    assert FLEET in records(world)
    assert process.transport.deliver(late[0]).status < 300
    world.pass_time(90.0)
    await turns(world, process, 20)
    assert FLEET not in records(world)
    world.commit(dict.fromkeys(BOTH))
    await turns(world, process, 40)
    assert "servers" not in world.namespaces()


@pytest.mark.parametrize(
    ("verb", "kind", "name"),
    [
        pytest.param("apply", "ServiceAccount", "duel", id="an object"),
        pytest.param("create", "ConfigMap", "gamekeeper-duel", id="the record of names"),
    ],
)
async def test_what_is_made_late_goes_with_its_workload(verb: str, kind: str, name: str) -> None:
    world, process = await begun()
    late = given_up(process, verb, kind, name)
    world.commit({DUEL: BOTH[DUEL]})
    await process.turn()
    await left_and_came(world, process, late)


async def test_what_another_process_asked_for_is_waited_for_too() -> None:
    world, process = await begun()
    late = given_up(process, "apply", "ServiceAccount", "duel")
    world.commit({DUEL: BOTH[DUEL]})
    await process.turn()
    await left_and_came(world, await world.process(), late)


async def test_what_a_plan_asked_for_that_was_given_up_is_waited_for_by_the_next_term() -> None:
    world, process = await begun()
    sent = asyncio.Event()
    late = given_up(process, "apply", "ServiceAccount", "duel", lambda call: sent.set())
    world.commit({DUEL: BOTH[DUEL]})
    turn = asyncio.create_task(process.turn())
    await sent.wait()
    turn.cancel()
    await asyncio.gather(turn, return_exceptions=True)
    await process.lane.begin_term()
    await left_and_came(world, process, late)


@pytest.mark.parametrize("leaves", [True, False])
@pytest.mark.parametrize("again", [True, False], ids=["a second try was answered", "none was"])
@pytest.mark.parametrize("alone", [True, False], ids=["namespace of its own", "shared"])
async def test_a_copy_that_is_made_late_is_taken_away(
    leaves: bool, again: bool, alone: bool
) -> None:
    world = World()
    world.copy_from = ("shared",)
    world.create("/api/v1/namespaces", {"metadata": {"name": "shared"}})
    pull = {"metadata": {"name": "pull"}, "data": {"key": "Zg=="}}
    world.create(f"{NAMESPACES}shared/secrets", pull)
    world.commit({**LOBBY, **({} if alone else {QUAKE: BOTH[QUAKE]})})
    process = await world.process()
    process.lane.content_kinds = (*process.lane.content_kinds, ("v1", "Secret"))
    await world.settle(process)
    late = given_up(process, "apply", "Secret", "pull")
    asks = "  copyFrom: [{kind: Secret, namespace: shared, name: pull}]\n  reports:"
    world.commit({DUEL: fleet("duel").replace("  reports:", asks)})
    await turns(world, process, 8 if again else 1)
    assert len(world.objects(f"{SPACE}/secrets")) == again
    world.commit({DUEL: None if leaves else BOTH[DUEL]})
    await turns(world, process, 16)
    assert not world.objects(f"{SPACE}/secrets")
    assert process.transport.deliver(late[0]).status < 300
    world.pass_time(90.0)
    await turns(world, process, 40)
    stands = "servers" in world.namespaces()
    assert stands is not (leaves and alone)
    assert not (stands and world.objects(f"{SPACE}/secrets"))
    assert (FLEET in records(world)) is not leaves


async def test_a_room_that_is_made_late_finds_its_budget() -> None:
    world, process = await begun()
    late = given_up(process, "create", "Pod", "duel-0")
    world.commit({DUEL: BOTH[DUEL]})
    await process.turn()
    world.commit({DUEL: None})
    await turns(world, process)
    assert process.transport.deliver(late[0]).status < 300
    assert "duel-0" in world.names("servers")
    assert "duel" in budgets(world)
    await turns(world, process, 60)
    assert FLEET not in records(world)
    assert budgets(world) == {"quake"}


async def test_a_file_with_a_mistake_does_not_end_the_wait() -> None:
    world, process = await begun()
    given_up(process, "apply", "ServiceAccount", "duel")
    world.commit({DUEL: BOTH[DUEL]})
    await process.turn()
    world.commit({DUEL: None})
    await turns(world, process)
    world.commit({"schedulers/odd.yaml": "a: [\n"})
    await process.turn()
    await ClusterLane(process.lane, world.time, _Silent(), lambda: True)._pass({DUEL_KEY})
    world.commit({"schedulers/odd.yaml": None})
    await turns(world, process, 2)
    assert FLEET in records(world)


async def test_a_state_record_that_is_made_late_is_found_by_who_asked_for_it() -> None:
    """Its spec left Git before anybody asked again: the next process would find it."""
    world, process = await begun()
    late = given_up(process, "create", "ConfigMap", FLEET)
    world.commit({DUEL: BOTH[DUEL]})
    await process.turn()
    world.commit({DUEL: None})
    await turns(world, process)
    assert FLEET not in records(world)
    assert process.transport.deliver(late[0]).status < 300
    await turns(world, process, 60)
    assert FLEET not in records(world)
    assert DUEL_KEY not in process.lane.store.states()


async def comes(world: World, process: Process) -> None:
    """Another fleet comes into the namespace, and players into its room."""
    world.commit({DUEL: BOTH[DUEL]})
    await head.look(process.head, world.time.now())
    for _ in range(4):
        await tick(process.lane, [DUEL_KEY], world.time.now())
        world.pass_time(2.0)
        await process.view.read()
    busy = {"metadata": {"labels": {"gamekeeper.dev/state": "busy"}}}
    world.patch(f"{SPACE}/pods/duel-0", busy)


@pytest.mark.parametrize(
    ("verb", "kind"),
    [
        pytest.param("list", "ServiceAccount", id="while it is looked through"),
        pytest.param("delete", "Namespace", id="while its delete waits for its turn"),
    ],
)
async def test_a_namespace_stays_for_who_comes_into_it(verb: str, kind: str) -> None:
    world, process = await settled({QUAKE: BOTH[QUAKE]})
    send, came, attr = process.transport.send, list[Call](), "send"

    async def sent(call: Call) -> tuple[int, Json]:
        is_there = call.kind == "Namespace" or "/servers/" in call.path
        if (call.verb, call.kind) == (verb, kind) and is_there and not came:
            came.append(call)
            await comes(world, process)
        return await send(call)

    setattr(process.transport, attr, sent)
    world.commit({QUAKE: None})
    await turns(world, process, 15)
    assert came
    assert "duel-0" in world.names("servers")
    assert "deletionTimestamp" not in world.ask(SPACE)["metadata"]


async def test_a_copy_that_is_never_answered_keeps_no_other_on_record() -> None:
    world = World()
    world.copy_from = ("shared",)
    world.create("/api/v1/namespaces", {"metadata": {"name": "shared"}})
    for name in ("pull", "other"):
        world.create(f"{NAMESPACES}shared/secrets", {"metadata": {"name": name}, "data": {}})

    def asks(name: str) -> str:
        source = f"  copyFrom: [{{kind: Secret, namespace: shared, name: {name}}}]\n  reports:"
        return fleet("duel").replace("  reports:", source)

    world.commit({**LOBBY, DUEL: asks("other")})
    process = await world.process()
    await world.settle(process)
    send, attr = process.transport.send, "send"

    async def sent(call: Call) -> tuple[int, Json]:
        if (call.verb, call.kind) == ("apply", "Secret"):
            gives_up(call)
        return await send(call)

    setattr(process.transport, attr, sent)
    world.commit({DUEL: asks("pull")})
    await turns(world, process, 100)
    assert [ref.name for ref in process.lane.store.state(DUEL_KEY).copied] == ["pull"]


async def test_what_waits_for_a_finalizer_stops_no_delete_of_the_rest() -> None:
    world, process = await settled({DUEL: BOTH[DUEL]})
    kept = {"metadata": {"finalizers": ["studio.example/audit"]}}
    world.patch(f"{ACCOUNTS}/duel", kept)
    world.patch("/apis/policy/v1/namespaces/servers/poddisruptionbudgets/duel", kept)
    send, attr = process.transport.send, "send"

    async def sent(call: Call) -> tuple[int, Json]:
        answer = await send(call)
        if call.verb == "delete":
            await process.view.read()
        return answer

    setattr(process.transport, attr, sent)
    world.commit({DUEL: None})
    failures = []
    for _ in range(12):
        report = await process.turn()
        failures += [item.failure for item in report.settled if item.failure]
        world.pass_time(2.0)
    assert not failures
