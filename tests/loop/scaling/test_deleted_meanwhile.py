"""A workload leaves Git while a count of it is on its way: no count outlives the deletion."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from reconciler.adapters.git.memory import MemoryHost, MemoryRepository
from reconciler.core import intents
from reconciler.core.deciding import Decided
from reconciler.loop import head
from reconciler.model.intents import NO_SCALING, Step
from reconciler.model.pushes import Change
from reconciler.model.records import StateRecord
from reconciler.model.refs import WorkloadKey
from reconciler.service.scalers import Scalers
from tests.loop.safety import Bounds
from tests.loop.scaling.house import ARENA, FILE, Habits, Scene, scaled, stage
from tests.loop.scaling.test_human_points import SlowCompiler
from tests.loop.virtual_time import elapsed, in_virtual_time
from tests.loop.world import World, spec

FROM_EIGHT = [{"from": "08:02", "to": "20:00", "replicas": 3}]
"""The world begins at 08:00."""
HOLD_SECONDS = 150.0
CONFIG = f"""
apiVersion: gamekeeper.dev/v1
kind: Config
spec: {{writeBack: {{humanHoldSeconds: {HOLD_SECONDS:.0f}}}}}
"""
OTHER = {"schedulers/other.yaml": spec("other", 1)}
"""The last spec of a repository does not leave it without an approval."""

Leaves = Callable[[], Awaitable[None]]


class OvertakenScalers(Scalers):
    """The deletion is taken in after a decision, and before that is put on record."""

    def __init__(self, leaves: Leaves, *rest: Any, **named: Any) -> None:
        super().__init__(*rest, **named)
        self._leaves = leaves

    async def keep(self, key: WorkloadKey, decided: Decided) -> bool:
        """Put it on record, too late."""
        await self._leaves()
        return await super().keep(key, decided)


class OvertakenRepository(MemoryRepository):
    """The deletion is taken in after a commit is made, and before it is put on record."""

    def __init__(self, host: MemoryHost, leaves: Leaves) -> None:
        super().__init__(host)
        self._leaves = leaves

    async def write(self, change: Change) -> str:
        """Write it, for nothing."""
        commit = await super().write(change)
        await self._leaves()
        return commit


class Leaving:
    """A person takes the spec out of Git, once, and the record says so before anybody goes on."""

    def __init__(self) -> None:
        self.there: Scene | None = None
        self.text = ""
        self.taken_in = asyncio.Event()

    async def __call__(self) -> None:
        """Let it leave."""
        if self.text or self.there is None or self.there.leader is None:
            return
        there, leader = self.there, self.there.leader
        self.text = there.text()
        there.world.commit({FILE: None})
        await leader.app.look_soon()
        async with asyncio.timeout(10.0):
            while True:
                await asyncio.sleep(0.001)
                if leader.lane.store.state(ARENA).deleting:
                    break
        self.taken_in.set()

    def scene(self, habits: Habits) -> AbstractAsyncContextManager[Scene]:
        """Open the scene."""
        files = {"gamekeeper.yaml": CONFIG, FILE: scaled(2, FROM_EIGHT), **OTHER}
        return stage(files, {"arena": Bounds(30, 0), "other": Bounds(30, 0)}, habits)


def _deciding(leaves: Leaves) -> Habits:
    return Habits(20.0, scalers=partial(OvertakenScalers, leaves), compiler=SlowCompiler())


def _committing(leaves: Leaves) -> Habits:
    return Habits(
        20.0,
        repository=lambda world, _: OvertakenRepository(world.host, leaves),
        compiler=SlowCompiler(),
    )


@pytest.mark.parametrize("habits", [_deciding, _committing], ids=["a decision", "a commit"])
def test_what_was_on_its_way_is_dropped(
    habits: Callable[[Leaves], Habits],
) -> None:
    async def main() -> None:
        leaving = Leaving()
        async with leaving.scene(habits(leaving)) as there:
            leaving.there = there
            there.start("one")
            await asyncio.wait_for(leaving.taken_in.wait(), 300.0)
            await asyncio.sleep(2.0)
            assert there.leader is not None
            record = there.leader.lane.store.state(ARENA)
            assert record.deleting
            assert replace(record.scaling, past=NO_SCALING.past) == NO_SCALING

    in_virtual_time(main())


@pytest.mark.parametrize("mistake", ["", "  surplus: 1\n"], ids=["whole", "to be mended"])
def test_who_brings_it_back_while_it_is_removed_has_the_number_and_the_policy_waits(
    mistake: str,
) -> None:
    async def main() -> None:
        leaving = Leaving()
        async with leaving.scene(_deciding(leaving)) as there:
            leaving.there = there
            there.start("one")
            await asyncio.wait_for(leaving.taken_in.wait(), 300.0)
            await asyncio.sleep(2.0)
            assert there.leader is not None
            store = there.leader.lane.store
            if mistake:
                there.world.commit({FILE: leaving.text.replace("spec:\n", f"spec:\n{mistake}", 1)})
                await there.leader.app.look_soon()
                await there.until("it stays", lambda: not store.state(ARENA).deleting, 10.0)
            there.world.commit({FILE: leaving.text})
            back = there.head()
            await there.leader.app.look_soon()
            await there.until("two again", lambda: there.wanted() == 2, 10.0)
            until = elapsed() + HOLD_SECONDS - 20.0
            while elapsed() < until:
                assert (there.wanted(), there.count_in_git(), there.head()) == (2, 2, back)
                await asyncio.sleep(10.0)
            await there.until("the policy's three", lambda: there.count_in_git() == 3, 120.0)

    in_virtual_time(main())


async def test_a_count_that_is_decided_while_a_deletion_is_judged_to_be_held_stays() -> None:
    world = World()
    world.commit({FILE: scaled(20, FROM_EIGHT), **OTHER})
    process = await world.process()
    await world.settle(process)
    store, decided = process.lane.store, list[StateRecord]()
    world.commit({FILE: None})
    process.head.approvals_changed = True

    def decide(newest: StateRecord) -> StateRecord:
        step = Step(world.time.now(), 20, 21, "schedule", "a test")
        decided.append(replace(newest, scaling=intents.decided(newest.scaling, 20, step)))
        return decided[-1]

    async def pause() -> None:
        # The look has taken its records and asks for approvals.
        if process.head.reading and not decided and FILE not in str(process.head.reading):
            await store.change_state(ARENA, decide)

    process.transport.pause = pause
    await head.look(process.head, world.time.now())
    record = store.state(ARENA)
    assert record.held
    assert record.scaling == decided[0].scaling
