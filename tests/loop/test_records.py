"""Records whose writes got no answer, and names that a process remembers longer than they live."""

from reconciler.model.errors import PortError, Unavailable
from reconciler.model.refs import WorkloadKey
from tests.loop.world import Process, World, spec

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


async def test_a_condition_whose_write_got_no_answer_is_written_again() -> None:
    world = World()
    world.commit({"schedulers/arena.yaml": spec("arena", 2)})
    process = await world.process()
    await world.settle(process)
    world.delete(f"/api/v1/namespaces/arena/pods/{world.names('arena')[0]}")

    def lose(number: int, call: object) -> None:
        if "scheduler-arena-arena" in str(call) and "Progressing" in str(call):
            process.transport.after = lambda number, call: None
            raise Unavailable("the connection was lost")

    process.transport.after = lose
    await world.settle(process)
    for _ in range(2):
        await process.turn()
    fresh = await world.process()
    shown = fresh.lane.store.state(ARENA).conditions
    assert [item.status for item in shown if item.type == "Ready"] == [True]


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
