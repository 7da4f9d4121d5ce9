"""Records that somebody deletes under a running loop, which remembers them."""

from reconciler.core.ending import LATE_SECONDS
from reconciler.model.refs import ObjectRef, WorkloadKey
from reconciler.service.head_lane import HeadService
from tests.loop.world import Process, World, spec, turn_as_served
from tests.unit.service.test_head_lane import Silent

ARENA = WorkloadKey("Scheduler", "arena", "arena")


async def settled(world: World) -> Process:
    world.commit({f"schedulers/{name}.yaml": spec(name, 2) for name in ("arena", "lobby")})
    process = await world.process()
    await world.settle(process)
    return process


def lose(world: World, process: Process, key: WorkloadKey | None = ARENA) -> ObjectRef:
    store = process.lane.store
    ref = next(ref for ref, whose in store.written().items() if whose == key)
    world.delete(f"/api/v1/namespaces/gamekeeper/configmaps/{ref.name}")
    return ref


def service_of(process: Process) -> HeadService:
    time = process.world.time
    return HeadService(process.head, time, Silent(), lambda: True, lambda wanted: None)


async def test_a_state_record_that_is_seen_to_go_is_written_again_as_it_was() -> None:
    world = World()
    process = await settled(world)
    before = process.lane.store.state(ARENA)
    service = service_of(process)
    ref = lose(world, process)
    service.record_changed(ref, gone=True)
    assert service.wakes._dirty
    await service._look()
    assert (await world.process()).lane.store.state(ARENA) == before
    assert not process.lane.store.suspected


async def test_a_request_finds_the_records_that_went_unseen() -> None:
    world = World()
    process = await settled(world)
    before = process.lane.store.repository
    lose(world, process)
    lose(world, process, None)
    service = service_of(process)
    await service._look()
    assert (await world.process()).lane.store.state(ARENA).accepted is None
    service.record_changed(service.request_ref)
    await service._look()
    fresh = await world.process()
    assert fresh.lane.store.repository == before
    assert fresh.lane.store.state(ARENA) == process.lane.store.state(ARENA)


async def test_a_commit_after_a_record_went_unseen_is_not_held() -> None:
    world = World()
    process = await settled(world)
    lose(world, process)
    world.commit({"schedulers/arena.yaml": spec("arena", 1, "registry.example/game:2")})
    for _ in range(12):
        await turn_as_served(world, process)
    assert not process.lane.wanted.holds
    assert len(world.pods("arena")) == 1
    accepted = (await world.process()).lane.store.state(ARENA).accepted
    assert accepted is not None
    assert accepted.replicas == 1


async def test_a_room_is_healed_after_a_record_went_unseen() -> None:
    world = World()
    process = await settled(world)
    lose(world, process)
    world.delete(f"/api/v1/namespaces/arena/pods/{world.names('arena')[0]}")
    world.pass_time(5.0)
    for _ in range(6):
        await turn_as_served(world, process)
    assert len(world.pods("arena")) == 2
    assert (await world.process()).lane.store.state(ARENA).accepted is not None


async def test_what_left_git_while_a_process_slept_is_not_brought_back_by_it() -> None:
    world = World()
    sleeper = await settled(world)
    ref = sleeper.lane.store._places.state(ARENA)
    world.commit({"schedulers/arena.yaml": None})
    other = await world.process()
    world.pass_time(LATE_SECONDS)
    await world.settle(other)
    assert other.lane.store.state(ARENA).accepted is None
    sleeper.lane.store.suspected.add(ref)
    sleeper.lane.store.doubted = True
    for _ in range(4):
        await turn_as_served(world, sleeper)
    assert (await world.process()).lane.store.state(ARENA).accepted is None
    assert not world.pods("arena")


async def test_an_idle_look_asks_for_no_record() -> None:
    world = World()
    process = await settled(world)
    calls: list[str] = []
    process.transport.before = lambda number, call: calls.append(str(call))
    await service_of(process)._look()
    assert not calls
