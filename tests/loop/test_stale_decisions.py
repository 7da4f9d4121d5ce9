"""What was decided on something that is no more is not carried out: plans, judgements, doubts."""

import asyncio
from contextlib import suppress
from dataclasses import replace

import pytest

from reconciler.adapters.git.memory import MemoryHost, MemoryRepository
from reconciler.loop import head
from reconciler.loop.settle import settle
from reconciler.loop.tick import plan_key
from reconciler.model.errors import Conflict, Unavailable
from reconciler.model.plans import Plan
from reconciler.model.refs import WorkloadKey
from reconciler.model.reports import Settled
from reconciler.model.trees import Relation
from tests.loop.world import Process, World, spec

KEY = WorkloadKey("Scheduler", "arena", "arena")
FILE = "schedulers/arena.yaml"


async def settled(replicas: int = 3) -> tuple[World, Process]:
    world = World()
    world.commit({FILE: spec("arena", replicas), "schedulers/other.yaml": spec("other", 1)})
    process = await world.process()
    await world.settle(process)
    return world, process


async def taken_in(world: World, process: Process, text: str | None) -> None:
    world.commit({FILE: text})
    await head.look(process.head, world.time.now())


async def planned(world: World, process: Process, text: str | None) -> Plan:
    await taken_in(world, process, text)
    return plan_key(process.lane, KEY, world.time.now())


def refused(done: Settled) -> bool:
    return "taken in meanwhile" in done.failure


@pytest.mark.parametrize(
    "planned_for",
    [
        pytest.param(None, id="the workload had left Git"),
        pytest.param(spec("arena", 1), id="rooms were to go"),
        pytest.param(spec("arena", 3, image="registry.example/game:2"), id="an image was new"),
        pytest.param(spec("arena", 5), id="rooms were to come"),
    ],
)
async def test_a_plan_of_a_commit_that_was_reverted_meanwhile_writes_nothing(
    planned_for: str | None,
) -> None:
    world, process = await settled()
    before = world.names("arena")
    plan = await planned(world, process, planned_for)
    assert not plan.idle
    await taken_in(world, process, spec("arena", 3))
    done = await settle(process.lane, plan, world.time.now())
    assert refused(done)
    assert world.names("arena") == before
    await world.settle(process)
    assert world.names("arena") == before


async def test_a_deletion_stops_where_the_newest_commit_wants_the_workload_again() -> None:
    world, process = await settled()
    told = await planned(world, process, None)
    await settle(process.lane, told, world.time.now())
    world.pass_time(6.0)
    await process.view.read()
    plan = plan_key(process.lane, told.key, world.time.now())
    assert len(plan.removals) == 3
    world.commit({FILE: spec("arena", 3)})
    checked = len(process.transport.calls) + 1
    looks: list[int] = []

    async def pause() -> None:
        if len(process.transport.calls) == checked and not looks:
            looks.append(checked)
            await head.look(process.head, world.time.now())

    process.transport.pause = pause
    process.lane.slots = asyncio.Semaphore(1)
    done = await settle(process.lane, plan, world.time.now())
    assert refused(done)
    assert len(world.names("arena")) == 3, "the one whose DELETE waited for its turn stays, too"


async def test_a_deletion_stops_where_the_newest_config_is_broken() -> None:
    world, process = await settled()
    plan = await planned(world, process, None)
    world.commit({"gamekeeper.yaml": "no config"})
    await head.look(process.head, world.time.now())
    assert refused(await settle(process.lane, plan, world.time.now()))
    assert len(world.names("arena")) == 3


async def test_a_judgement_is_not_written_over_what_another_process_judged_since() -> None:
    world, process = await settled()
    other = await world.process()
    await other.view.read()
    world.commit({FILE: spec("arena", 4)})
    process.head.approvals_changed = True
    newer: list[str] = []

    async def pause() -> None:
        # Our look has taken its records and asks for approvals: the lease goes and comes back.
        if process.head.reading and not newer:
            newer.append(world.commit({FILE: spec("arena", 6)}))
            await head.look(other.head, world.time.now())
            await process.lane.store.load()

    process.transport.pause = pause
    with suppress(Conflict):
        await head.look(process.head, world.time.now())
    fresh = await world.process()
    accepted = fresh.lane.store.state(KEY).accepted
    assert accepted is not None
    assert (accepted.replicas, fresh.lane.store.repository.commit) == (6, newer[0])


async def test_a_commit_of_ours_that_goes_on_record_beside_a_head_is_no_other_process() -> None:
    world, process = await settled()
    store = process.lane.store
    head_of_theirs = world.commit({FILE: spec("arena", 4)})
    noted: list[str] = []

    async def pause() -> None:
        # Our look has taken its records and asks for approvals.
        if process.head.reading and process.head.reading.commit == head_of_theirs and not noted:
            noted.append("f" * 40)
            await store.change_repository(lambda newest: replace(newest, pushed=tuple(noted)))

    process.transport.pause = pause
    process.head.approvals_changed = True
    with pytest.raises(Conflict, match="the repository record was changed meanwhile"):
        await head.look(process.head, world.time.now())
    await head.look(process.head, world.time.now())
    assert (store.repository.commit, store.repository.pushed) == (head_of_theirs, tuple(noted))


async def test_what_we_write_while_a_record_is_compared_is_no_other_process() -> None:
    _, process = await settled()
    store = process.lane.store
    compared: list[None] = []

    async def pause() -> None:
        # Both comparisons ask before anything is written, and are answered after it.
        if len(compared) < 2:
            compared.append(None)
            for _ in range(50):
                await asyncio.sleep(0)

    process.transport.pause = pause

    async def write() -> None:
        await store.change_state(KEY, lambda newest: replace(newest, observed_commit="theirs"))
        await store.change_repository(lambda newest: replace(newest, pushed_at=1.0))

    await asyncio.gather(store.check_repository(), store.check_state(KEY), write())


class Stuttering(MemoryRepository):
    """A repository that does not answer the first question of how two commits are related."""

    def __init__(self, host: MemoryHost) -> None:
        super().__init__(host)
        self.asked = 0

    async def relation(self, before: str, after: str) -> Relation:
        self.asked += 1
        if self.asked == 1:
            raise Unavailable("a moment, please")
        return await super().relation(before, after)


async def test_a_doubt_outlives_a_look_that_failed() -> None:
    world, process = await settled()
    process.head.repository = repository = Stuttering(world.host)
    process.lane.store.doubted = True
    with pytest.raises(Unavailable):
        await head.look(process.head, world.time.now())
    await head.look(process.head, world.time.now() + 1)
    await head.look(process.head, world.time.now() + 2)
    assert repository.asked == 2, "judged once more, and then no more"
