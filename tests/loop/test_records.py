"""Records whose writes got no answer, and names that a process remembers longer than they live."""

from contextlib import suppress
from dataclasses import replace
from functools import partial

import pytest

from reconciler.adapters.kubernetes.calls import Call
from reconciler.model import labels
from reconciler.model.errors import (
    AlreadyExists,
    Denied,
    Misconfigured,
    PortError,
    Unanswered,
    Unavailable,
)
from reconciler.model.records import Ordinals, StateRecord
from reconciler.model.refs import WorkloadKey
from tests.loop.world import Process, World, spec, turn_as_served

ARENA = WorkloadKey("Scheduler", "arena", "arena")


async def test_a_process_that_slept_makes_no_name_again() -> None:
    world = World()
    world.commit({"schedulers/arena.yaml": spec("arena", 2)})
    sleeper = await world.process()
    await _fail_to_post(sleeper)
    remembered = sleeper.lane.store.ordinals(ARENA)
    assert remembered is not None
    assert remembered.outstanding
    other = await world.process()
    await world.settle(other)
    before = {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in world.pods("arena")}
    for name in before:
        world.delete(f"/api/v1/namespaces/arena/pods/{name}")
    world.pass_time(5.0)
    for _ in range(5):
        await sleeper.turn()
        world.pass_time(2.0)
    assert len(world.pods("arena")) == 2
    assert not set(world.names("arena")) & set(before)


async def test_a_room_whose_making_got_no_answer_and_that_somebody_removed_is_another_one() -> None:
    world = World()
    world.commit({"schedulers/arena.yaml": spec("arena", 2)})
    process = await world.process()
    _lose_answers_of_pods(process)
    await process.turn()
    made = {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in world.pods("arena")}
    assert made
    for name in made:
        world.delete(f"/api/v1/namespaces/arena/pods/{name}")
    world.pass_time(40.0)
    assert not world.pods("arena")
    process.transport.after = lambda number, call: None
    await world.settle(process)
    assert len(world.pods("arena")) == 2
    assert not set(world.names("arena")) & set(made)


async def test_a_room_whose_making_got_no_answer_is_found_and_not_made_twice() -> None:
    world = World()
    world.commit({"schedulers/arena.yaml": spec("arena", 2)})
    process = await world.process()
    _lose_answers_of_pods(process)
    await process.turn()
    made = set(world.names("arena"))
    process.transport.after = lambda number, call: None
    await world.settle(process)
    assert set(world.names("arena")) == made == {"arena-0", "arena-1"}


async def test_a_name_that_the_server_refused_is_used_again() -> None:
    world = World()
    world.commit({"schedulers/arena.yaml": spec("arena", 2)})
    process = await world.process()
    await _fail_to_post(process)
    await world.settle(process)
    assert set(world.names("arena")) == {"arena-0", "arena-1"}


def _lose_answers_of_pods(process: Process) -> None:
    def lose(number: int, call: Call) -> None:
        if (call.verb, call.kind) == ("create", "Pod"):
            raise Unanswered("the connection was lost")

    process.transport.after = lose


async def _is_ready(world: World) -> bool:
    """Whether the record says so, as whoever reads it anew finds it."""
    shown = (await world.process()).lane.store.state(ARENA).conditions
    return {item.type: item.status for item in shown}["Ready"]


async def test_a_condition_whose_write_got_no_answer_is_written_again() -> None:
    world = World()
    world.commit({"schedulers/arena.yaml": spec("arena", 2)})
    process = await world.process()
    await world.settle(process)
    world.delete(f"/api/v1/namespaces/arena/pods/{world.names('arena')[0]}")

    def lose(number: int, call: object) -> None:
        if "scheduler-arena.arena" in str(call) and "Progressing" in str(call):
            raise Unavailable("the connection was lost")

    process.transport.after = lose
    await process.turn()
    process.transport.after = lambda number, call: None
    assert not await _is_ready(world), "it was carried out, and nobody heard of it"
    world.pass_time(5.0)
    assert len(world.pods("arena")) == 2, "all is as it is remembered: only the doubt is left"
    for _ in range(2):  # the first finds that another version stands there
        await process.turn()
    assert await _is_ready(world)


async def test_a_write_that_was_given_up_is_not_carried_out_after_the_next_one() -> None:
    world = World()
    world.commit({"schedulers/arena.yaml": spec("arena", 2)})
    process = await world.process()
    await world.settle(process)
    store, late = process.lane.store, []

    def lose(number: int, call: Call) -> None:
        if call.method == "PUT":
            late.append(call)
            raise Unavailable("no answer in 30 s")

    process.transport.before = lose
    with pytest.raises(Unavailable):
        await store.change_state(ARENA, lambda known: replace(known, deleting=True))
    process.transport.before = lambda number, call: None
    await store.change_state(ARENA, lambda known: known)  # as it stood before
    answer = process.transport.deliver(late[0])
    assert answer.status == 409
    assert not (await world.process()).lane.store.state(ARENA).deleting


async def test_names_that_were_raised_in_vain_do_not_come_onto_the_record_late() -> None:
    """The rooms are not wanted any more: nothing else would write that record again."""
    world = World()
    world.commit({"schedulers/arena.yaml": spec("arena", 2)})
    process = await world.process()
    await world.settle(process)
    late: list[Call] = []

    def lose(number: int, call: Call) -> None:
        if call.method == "PUT" and "/configmaps/gamekeeper-arena" in call.path:
            late.append(call)
            raise Unavailable("no answer in 30 s")

    process.transport.before = lose
    world.commit({"schedulers/arena.yaml": spec("arena", 4)})
    await process.turn()
    assert late
    process.transport.before = lambda number, call: None
    world.commit({"schedulers/arena.yaml": spec("arena", 2)})
    await turn_as_served(world, process)
    assert process.transport.deliver(late[0]).status == 409
    known = (await world.process()).lane.store.ordinals(ARENA)
    assert known is not None
    assert not known.outstanding
    assert len(world.pods("arena")) == 2


async def test_a_record_of_names_that_is_refused_holds_back_nothing_but_new_rooms() -> None:
    world = World()
    world.commit({"schedulers/arena.yaml": spec("arena", 2)})
    process = await world.process()
    await world.settle(process)

    def refuse(number: int, call: Call) -> None:
        if call.method == "PUT" and "/configmaps/gamekeeper-arena" in call.path:
            raise Denied("a webhook refuses it")

    process.transport.before = refuse
    world.commit({"schedulers/arena.yaml": spec("arena", 4)})
    await process.turn()
    assert len(world.pods("arena")) == 2
    world.commit({"schedulers/arena.yaml": spec("arena", 1)})
    for _ in range(40):
        await turn_as_served(world, process)
    assert len(world.pods("arena")) == 1


@pytest.mark.parametrize("stands", [False, True], ids=["did not stand", "stood"])
async def test_of_a_record_whose_making_got_no_answer_no_empty_one_is_made(stands: bool) -> None:
    world = World()
    process = await world.process()
    store = process.lane.store

    def lose(number: int, call: Call) -> None:
        if call.method == "POST":
            raise Unavailable("the connection was lost")

    setattr(process.transport, "after" if stands else "before", lose)
    with pytest.raises(Unavailable):
        await store.change_state(ARENA, lambda known: replace(known, deleting=True))
    process.transport.before = process.transport.after = lambda number, call: None
    await store.change_state(ARENA, lambda known: known)
    assert (ARENA in store.states()) == stands
    assert store.state(ARENA).deleting == stands
    anew = (await world.process()).lane.store
    assert (ARENA in anew.states()) == stands


async def test_what_says_that_it_is_a_record_elsewhere_is_none() -> None:
    world = World()
    world.commit({"schedulers/arena.yaml": spec("arena", 2)})
    process = await world.process()
    await world.settle(process)
    for name in ("gamekeeper-main", "gamekeeper-main-local-scheduler-arena.arena", "gamekeeper-no"):
        marks = {labels.INSTANCE: "main", labels.WORKLOAD: "arena"}
        for record in ("repository", "state", "ordinals"):
            body = {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {
                    "name": f"{name}-{record}" if record == "ordinals" else name,
                    "namespace": "arena" if record != "state" else "default",
                    "labels": {**marks, labels.KIND: "Scheduler", labels.RECORD: record},
                },
                "data": {"schema": "1", "record": "{}", "key": "local/Scheduler/arena/arena"},
            }
            with suppress(AlreadyExists):
                await process.cluster.create(body)
    fresh = await world.process()
    assert fresh.lane.store.repository == process.lane.store.repository
    assert fresh.lane.store.state(ARENA) == process.lane.store.state(ARENA)
    assert fresh.lane.store.ordinals(ARENA) == process.lane.store.ordinals(ARENA)


@pytest.mark.parametrize("what", ["state", "ordinals"])
async def test_an_unreadable_record_holds_its_own_workload_alone(what: str) -> None:
    world = World()
    world.commit({f"schedulers/{name}.yaml": spec(name, 2) for name in ("arena", "lobby")})
    process = await world.process()
    await world.settle(process)
    store = process.lane.store
    ref = store._places.state(ARENA) if what == "state" else store._places.ordinals(ARENA)
    await process.cluster.merge_patch(ref, {"data": {"schema": "9"}})
    fresh = await world.process()
    assert str(ref) in fresh.lane.store.unreadable(ARENA)
    write = {
        "state": partial(fresh.lane.store.change_state, ARENA, lambda newest: StateRecord()),
        "ordinals": partial(fresh.lane.store.save_ordinals, ARENA, Ordinals(7)),
    }
    with pytest.raises(Misconfigured, match="schema version '9'"):
        await write[what]()
    lobby = WorkloadKey("Scheduler", "lobby", "lobby")
    assert fresh.lane.store.state(lobby) == store.state(lobby)
    assert not fresh.lane.store.unreadable(lobby)


async def test_an_unreadable_repository_record_stops_the_start() -> None:
    world = World()
    process = await world.process()
    await process.turn()
    ref = process.lane.store.repository_ref
    await process.cluster.merge_patch(ref, {"data": {"schema": "9"}})
    with pytest.raises(Misconfigured, match="schema version '9'"):
        await world.process()


async def _fail_to_post(process: Process) -> None:
    """Let a process raise the record, and none of its POSTs arrive."""

    def refuse(number: int, call: object) -> None:
        if "create Pod" in str(call):
            raise Unavailable("the connection was lost")

    process.transport.before = refuse
    for _ in range(2):
        try:
            await process.turn()
        except PortError:
            continue
    process.transport.before = lambda number, call: None
