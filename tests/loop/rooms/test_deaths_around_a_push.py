"""A process dies where it writes and pushes a count, and every match goes on (row 1).

People fill the last free rooms of a workload with a policy, so that its count goes up and is
committed. Whoever leads dies on that way once; in the end rooms, counts and Git are as they are
where nobody died.
"""

import asyncio
import random
from dataclasses import replace
from typing import Any, cast

import pytest

from reconciler.adapters.git.memory import MemoryRepository
from reconciler.model.pushes import Change, Pushed
from tests.loop.rooms.matches import full, in_match
from tests.loop.rooms.service import Player
from tests.loop.rooms.test_rest import (
    CONFIG,
    EMPTY,
    PIECES,
    CountedHouse,
    happens,
    ticks_until,
    undisturbed,
)
from tests.loop.scaling.house import ORDINARY
from tests.loop.service import Service
from tests.loop.sweeps import part
from tests.loop.virtual_time import in_virtual_time
from tests.loop.world import World
from tests.scorecard import score

pytestmark = pytest.mark.long

ROW = 1
WHERE = (
    "the file is read",
    "the commit is written",
    "it is about to be pushed",
    "it is pushed, and nobody was told",
)
COMMITTED_SECONDS = 240.0
"""Until a count is decided and committed, with who dies in between."""


class DeadlyHouse(CountedHouse):
    """A counted house in which the first process that comes to a place of its commit dies there."""

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self.deadly = ""
        self._dying: list[asyncio.Task[None]] = []

    def _process(self, name: str) -> Service:
        def repository(world: World, name: str) -> MemoryRepository:
            return DeadlyRepository(self)

        habits = replace(ORDINARY, repository=repository)
        return Player(self.world, name, self.weather, habits)

    async def comes_to(self, where: str, repository: MemoryRepository) -> None:
        """Let a process come to a place; it comes no further where that is deadly."""
        if where != self.deadly:
            return
        self.deadly = ""
        players = [cast(Player, each) for each in self.services]
        (service,) = (each for each in players if each.repository is repository)
        service.killed = True
        service.transport.down = "this process is dead"
        self._dying.append(asyncio.create_task(service.kill()))
        self.start(f"process-{len(self.services)}")
        await asyncio.Event().wait()


class DeadlyRepository(MemoryRepository):
    """Tells where a commit of a process is on its way."""

    def __init__(self, house: DeadlyHouse) -> None:
        super().__init__(house.world.host)
        self._house = house

    async def blob(self, revision: str, path: str) -> bytes | None:
        """Read a file."""
        text = await super().blob(revision, path)
        await self._house.comes_to(WHERE[0], self)
        return text

    async def write(self, change: Change) -> str:
        """Make a commit."""
        commit = await super().write(change)
        await self._house.comes_to(WHERE[1], self)
        return commit

    async def push(self, change: Change, commit: str = "") -> Pushed:
        """Push it."""
        await self._house.comes_to(WHERE[2], self)
        pushed = await super().push(change, commit)
        await self._house.comes_to(WHERE[3], self)
        return pushed


async def _play(where: str) -> None:
    wanted = undisturbed()
    random.seed(0)
    async with in_match(PIECES, free=EMPTY, config=CONFIG, made=DeadlyHouse) as (house, wish):
        there = cast(DeadlyHouse, house)
        await asyncio.sleep(10.0)
        there.deadly = where
        happens(there, wish)
        playing = full(there)
        await there.until("a death", lambda: not there.deadly, COMMITTED_SECONDS)
        await asyncio.sleep(COMMITTED_SECONDS)
        await ticks_until(there, wanted)
        assert playing <= full(there), f"{len(playing - full(there))} matches were ended"


@pytest.mark.parametrize("where", part(WHERE, 4))
def test_who_dies_on_the_way_of_a_count_into_git_ends_no_match_and_is_gone_on_from(
    where: str,
) -> None:
    undisturbed()
    score(ROW, deaths_around_a_push=1, failed=1)
    in_virtual_time(_play(where))
    score(ROW, failed=-1)
