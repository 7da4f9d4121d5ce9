"""Nodes that are lost, come back or are cordoned: only what must move moves."""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

import pytest

from reconciler.model.labels import STATE
from reconciler.model.refs import Json
from reconciler.sandbox.players.natures import Nature, Voice
from tests.loop.rooms.house import Air, Playhouse, playhouse
from tests.loop.rooms.mishaps import cordon
from tests.loop.rooms.truth import Laws
from tests.loop.rooms.wishes import Piece, Wish
from tests.loop.virtual_time import elapsed, in_virtual_time
from tests.loop.wires import Weather
from tests.loop.world import World

PATIENCE_SECONDS = 120.0
EVICTED_SECONDS = 50.0 + 300.0
"""Kubernetes hears nothing of a node, and then bears with it: only then its pods are given up."""
REPLACED_SECONDS = 60.0
ROOMS = 12
ARENA = Piece(
    "arena",
    Voice.MAESTRO,
    ROOMS,
    more={"portRange": {"start": 7000, "end": 7003}, "timeouts": {"pingSeconds": 60}},
)
"""Rooms on four host ports: no node takes more than four of them, so they stand on all."""


@dataclass
class Scene:
    """A fleet on all nodes, every other room of each with players."""

    there: Playhouse
    wish: Wish

    def pods(self) -> list[Json]:
        """All pods of the workload, those that end too."""
        pods = self.there.world.objects("/api/v1/namespaces/arena/pods")
        return sorted(pods, key=lambda pod: str(pod["metadata"]["name"]))

    def names(self) -> set[str]:
        return {pod["metadata"]["name"] for pod in self.pods()}

    def standing(self) -> set[str]:
        """Names of the pods that do not end."""
        return {
            pod["metadata"]["name"]
            for pod in self.pods()
            if "deletionTimestamp" not in pod["metadata"]
        }

    def open_rooms(self) -> set[str]:
        """Names of the rooms that were heard and do not leave."""
        return {
            pod["metadata"]["name"]
            for pod in self.pods()
            if pod["metadata"]["labels"].get(STATE) in ("idle", "busy")
        }

    def on(self, node: str) -> set[str]:
        return {p["metadata"]["name"] for p in self.pods() if p["spec"].get("nodeName") == node}

    def nodes(self) -> list[str]:
        """Nodes by how many rooms they have, the fullest first."""
        there = Counter(pod["spec"]["nodeName"] for pod in self.pods())
        return [node for node, _ in there.most_common()]

    def lose(self, node: str) -> None:
        self.there.world.sandbox.silence(node)
        self.there.changed()

    def find(self, node: str) -> None:
        self.there.world.sandbox.wake(node)
        self.there.changed()

    def deaf(self) -> bool:
        """Whether our ears are suspect, everywhere or for one node."""
        leader = self.there.leader
        assert leader is not None
        return bool(leader.desk.book.suspicion)

    def is_calm(self, rooms: int = ROOMS) -> bool:
        marks = [pod["metadata"]["labels"].get(STATE, "") for pod in self.pods()]
        return len(self.standing()) == rooms and all(mark in ("idle", "busy") for mark in marks)


@asynccontextmanager
async def scene() -> AsyncIterator[Scene]:
    """Open a playhouse with a fleet in it, half of it full."""
    world = World()
    wish = Wish(world, [ARENA])
    nature = partial(Nature, voice=Voice.MAESTRO, ping_seconds=15.0, match_seconds=(9e6, 9e6))
    weather, air = Weather(random.Random(1)), Air(random.Random(1))
    async with playhouse(world, weather, {"arena": nature}, air, Laws.of([ARENA])) as there:
        made = Scene(there, wish)
        there.start("one")
        await there.until("a fleet", made.is_calm, PATIENCE_SECONDS)
        for node in made.nodes():
            for name in sorted(made.on(node))[::2]:
                actor = there.cast.named(f"arena/{name}")
                assert actor is not None
                assert there.cast.join(actor, 2)
        await asyncio.sleep(30.0)
        yield made
        there.judge()


def _plays(act: Callable[[Scene], Awaitable[None]]) -> None:
    async def main() -> None:
        async with scene() as made:
            await act(made)

    in_virtual_time(main())


@pytest.mark.long
def test_a_lost_node_moves_nothing_until_kubernetes_gives_it_up_and_then_just_its_rooms() -> None:
    async def act(made: Scene) -> None:
        node = made.nodes()[0]
        before, lost = made.names(), made.on(node)
        assert 3 <= len(lost) <= 4
        made.lose(node)
        began = elapsed()
        while elapsed() - began < EVICTED_SECONDS - 60.0:
            await asyncio.sleep(5.0)
            assert made.names() == before, "Kubernetes has not given it up"
        await made.there.until(
            "it is given up", lambda: not lost & made.standing(), 2 * PATIENCE_SECONDS
        )
        await made.there.until("its rooms are replaced", made.is_calm, REPLACED_SECONDS)
        await asyncio.sleep(300.0)
        fresh = made.names() - before
        assert len(fresh) == len(lost), "each is replaced once"
        assert before - lost <= made.standing()
        assert not made.there.warden.removed_alive
        made.there.world.delete(f"/api/v1/nodes/{node}")
        made.there.changed()
        await asyncio.sleep(300.0)
        assert made.names() == (before - lost) | fresh, "nothing more moves"

    _plays(act)


@pytest.mark.long
def test_a_node_that_comes_back_in_time_moves_nothing() -> None:
    async def act(made: Scene) -> None:
        node, before = made.nodes()[0], made.names()
        made.lose(node)
        await asyncio.sleep(EVICTED_SECONDS - 100.0)
        made.find(node)
        await asyncio.sleep(300.0)
        assert made.names() == made.standing() == before
        assert not made.there.warden.removed_rooms
        assert not made.deaf()

    _plays(act)


def test_a_lost_node_raises_the_suspicion_that_we_are_deaf_and_that_ends() -> None:
    async def act(made: Scene) -> None:
        node = made.nodes()[0]
        made.lose(node)
        await made.there.until("we are deaf", made.deaf, PATIENCE_SECONDS)
        await made.there.until("we are not", lambda: not made.deaf(), 2 * EVICTED_SECONDS)
        await made.there.until("all is well", made.is_calm, REPLACED_SECONDS)

    _plays(act)


@pytest.mark.long
def test_a_cordoned_node_keeps_its_rooms_and_gets_no_more() -> None:
    async def act(made: Scene) -> None:
        node = made.nodes()[-1]
        before, there = made.names(), made.on(node)
        cordon(made.there, node, True)
        await asyncio.sleep(300.0)
        assert made.names() == before
        made.wish.change("arena", ROOMS + 2, 1)
        await made.there.until("two more", lambda: made.is_calm(ROOMS + 2), PATIENCE_SECONDS)
        assert made.on(node) == there
        made.wish.change("arena", ROOMS - 2, 1)
        await made.there.until("fewer", lambda: made.is_calm(ROOMS - 2), PATIENCE_SECONDS)
        await asyncio.sleep(60.0)
        assert made.is_calm(ROOMS - 2)

    _plays(act)


@pytest.mark.long
def test_while_half_of_the_nodes_are_lost_a_roll_out_leaves_as_many_rooms_as_there_are() -> None:
    async def act(made: Scene) -> None:
        lost = made.nodes()[:2]
        gone = made.on(lost[0]) | made.on(lost[1])
        for node in lost:
            made.lose(node)
        await made.there.until("we are deaf", made.deaf, PATIENCE_SECONDS)
        await asyncio.sleep(30.0)
        least = len(made.open_rooms() - gone)
        made.wish.change("arena", ROOMS, 2)
        for _ in range(60):
            await asyncio.sleep(2.0)
            assert gone <= made.names(), "nobody knows of their players"
            assert len(made.open_rooms() - gone) >= least, "each is replaced before it goes"

    _plays(act)
