"""The acceptance scenario of the Azure collections over our API, the leader killed at every step.

Steps 1 to 6e of its e2e tests (the last is of its autoscaler). Where they write `timesFailed`, we
count failures within a window; where they wait for a person for ever, a window that passed does.
"""

import asyncio
import json
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

import pytest

from reconciler.adapters.http.ask import Ask
from reconciler.core import failing, rollout
from reconciler.model.labels import LEAVING, STATE
from reconciler.model.refs import Json, WorkloadKey
from reconciler.sandbox.players.natures import Nature, Voice
from tests.loop.rooms.cast import Actor
from tests.loop.rooms.house import Air, Playhouse, playhouse
from tests.loop.rooms.truth import Laws
from tests.loop.rooms.wishes import SERVERS, Piece, Wish
from tests.loop.virtual_time import in_virtual_time
from tests.loop.wires import Weather
from tests.loop.world import World

pytestmark = pytest.mark.long

STEP_SECONDS = 120.0
WINDOW_SECONDS = 600
PLAYERS = 2
KEY = WorkloadKey("Fleet", SERVERS, "quake")


def quake(action: str) -> Piece:
    failure = {"action": action, "maxFailures": 2, "windowSeconds": WINDOW_SECONDS}
    return Piece("quake", Voice.COLLECTIONS, 5, namespace=SERVERS, more={"failure": failure})


@dataclass
class Story:
    """One collection, and who leads."""

    there: Playhouse
    wish: Wish
    leaders: int = 0
    failed: set[str] = field(default_factory=set)

    async def another_leads(self) -> None:
        """Kill whoever leads, with nothing more sent, and start another."""
        for service in self.there.services:
            if not service.killed:
                await service.kill()
        self.leaders += 1
        self.there.start(f"leader-{self.leaders}")
        await self.there.until("a leader", lambda: self.there.leader is not None, STEP_SECONDS)

    async def becomes(self, what: str, **expected: int) -> None:
        """Wait for these counts, see that they stay, and let another lead."""
        await self.there.until(
            f"{what}: {expected}, not {self.counts()}",
            lambda: all(self.counts()[name] == number for name, number in expected.items()),
            STEP_SECONDS,
        )
        await asyncio.sleep(12.0)
        assert {name: self.counts()[name] for name in expected} == expected, what
        self.there.judge()
        await self.another_leads()

    def pods(self) -> list[Json]:
        if SERVERS not in self.there.world.namespaces():
            return []
        return self.there.world.pods(SERVERS)

    def counts(self) -> dict[str, int]:
        """How many pods, rooms that are neither failed nor leaving, kept, and leaving."""
        pods = self.pods()
        states = [_state(pod) for pod in pods]
        leaving = sum(LEAVING in pod["metadata"].get("annotations", {}) for pod in pods)
        kept = states.count("failed")
        failed = sum(pod["metadata"]["name"] in self.failed for pod in pods) - kept
        return {
            "pods": len(pods),
            "kept": kept,
            "leaving": leaving - kept,
            "healthy": sum(state in ("idle", "busy") for state in states) - failed,
        }

    def actors(self, leaving: bool = False) -> list[Actor]:
        """The games of rooms that are to leave, or of those that stay."""
        found = [
            pod["metadata"]["name"]
            for pod in self.pods()
            if (LEAVING in pod["metadata"].get("annotations", {})) == leaving
            and pod["metadata"]["name"] not in self.failed
        ]
        named = (self.there.cast.named(f"{SERVERS}/{name}") for name in sorted(found))
        return [actor for actor in named if actor is not None]

    async def fails(self) -> None:
        """Let a room say that it failed, once."""
        actor = self.actors()[0]
        where = actor.game.where
        body = {"serverName": where.room, "namespace": where.namespace, "health": "Failed"}
        leader = self.there.leader
        assert leader is not None
        ask = Ask("POST", "/setsdgshealth", body=json.dumps(body).encode(), peer=actor.address)
        assert (await self.there.ask(leader, ask)).status == 200
        self.failed.add(where.room)

    def needs_people(self) -> bool:
        """Whether its record says that it needs intervention."""
        leader = self.there.leader
        assert leader is not None
        conditions = leader.lane.store.state(KEY).conditions
        return any(each.reason == "needs-intervention" and each.status for each in conditions)


def _state(pod: Json) -> str:
    return str(pod["metadata"]["labels"].get(STATE, ""))


@asynccontextmanager
async def story(action: str) -> AsyncIterator[Story]:
    """Open a playhouse with one collection of five."""
    world = World()
    piece = quake(action)
    wish = Wish(world, [piece])
    nature = partial(Nature, voice=Voice.COLLECTIONS, match_seconds=(9e6, 9e6))
    weather, air = Weather(random.Random(1)), Air(random.Random(1))
    async with playhouse(world, weather, {SERVERS: nature}, air, Laws.of([piece])) as there:
        made = Story(there, wish)
        await made.another_leads()
        await made.becomes("1: five are healthy", pods=5, healthy=5)
        yield made
        there.judge()


def players_come_and_go() -> None:
    """Steps 1 to 4: out, in with players everywhere, and rooms that somebody deletes."""

    async def main() -> None:
        async with story("Remove") as told:
            there = told.there
            told.wish.change("quake", 10, 1)
            await told.becomes("2a: ten", pods=10, healthy=10)
            for actor in told.actors():
                assert there.cast.join(actor, PLAYERS) == PLAYERS
            await asyncio.sleep(20.0)
            told.wish.change("quake", 7, 1)
            await told.becomes("2b: ten, three of which are to leave", pods=10, leaving=3)
            listed = await there.listed()
            assert len(listed) == 7, "nobody is sent to who leaves"
            for actor in told.actors(leaving=True)[:1]:
                actor.game.empty(there.world.time.at)
                actor.moved.set()
            await told.becomes("2c: one of them is empty, and goes", pods=9, leaving=2)
            told.wish.change("quake", 8, 1)
            await told.becomes("2d: one more is wanted: one of them stays", pods=9, leaving=1)
            told.wish.change("quake", 7, 1)
            await told.becomes("2e: and is to leave again", pods=9, leaving=2)
            for actor in told.actors(leaving=True):
                actor.game.empty(there.world.time.at)
                actor.moved.set()
            await told.becomes("3: they are empty, and go", pods=7, leaving=0, healthy=7)
            for actor in told.actors()[:3]:
                there.world.delete(f"/api/v1/namespaces/{SERVERS}/pods/{actor.game.where.room}")
            there.changed()
            await told.becomes("4: three were deleted by hand", pods=7, healthy=7)

    in_virtual_time(main())


def failures_are_kept() -> None:
    """Steps 5a to 5d: failed rooms stay for a post-mortem, until there are too many."""

    async def main() -> None:
        async with story("Remove") as told:
            told.wish.change("quake", 7, 1)
            await told.becomes("seven", pods=7, healthy=7)
            await told.fails()
            await told.becomes("5a: the first is kept", pods=8, healthy=7, kept=1)
            await told.fails()
            await told.becomes("5b: the second is kept", pods=9, healthy=7, kept=2)
            assert not told.needs_people()
            await told.fails()
            await told.becomes("5c: the third stays in", pods=9, healthy=6, kept=2)
            await told.there.until("it needs people", told.needs_people, STEP_SECONDS)
            await told.fails()
            await told.becomes("5d: the fourth too", pods=9, healthy=5, kept=2)
            await told.there.until("it needs people", told.needs_people, STEP_SECONDS)
            await asyncio.sleep(WINDOW_SECONDS)
            await told.becomes("the window has passed", pods=11, healthy=7, kept=4)
            await told.there.until("it needs nobody", lambda: not told.needs_people(), STEP_SECONDS)

    in_virtual_time(main())


def failures_are_replaced() -> None:
    """Steps 6a to 6e: failed rooms are deleted, until there are too many; a commit ends that."""

    async def main() -> None:
        async with story("Delete") as told:
            await told.fails()
            await told.becomes("6b: the first is replaced", pods=5, healthy=5)
            await told.fails()
            await told.becomes("6c: the second is replaced", pods=5, healthy=5)
            await told.fails()
            await told.becomes("6d: the third stays", pods=5, healthy=4)
            await told.there.until("it needs people", told.needs_people, STEP_SECONDS)
            await told.fails()
            await told.becomes("6e: the fourth too", pods=5, healthy=3)
            told.wish.change("quake", 6, 1)
            await told.becomes("a commit begins anew", pods=6, healthy=6)
            await told.there.until("it needs nobody", lambda: not told.needs_people(), STEP_SECONDS)

    in_virtual_time(main())


@pytest.mark.parametrize(
    "act",
    [players_come_and_go, failures_are_kept, failures_are_replaced],
    ids=lambda act: act.__doc__,
)
def test_the_collections_acceptance_scenario_whoever_leads(act: Callable[[], None]) -> None:
    act()


def nobody_is_told(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(rollout, "_tells_busy_rooms", lambda rooms: False)


def nobody_may_stay(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(rollout, "may_stay", lambda rooms: [])


def failures_are_forgotten(patch: pytest.MonkeyPatch) -> None:
    of_rooms = failing.of_rooms
    patch.setattr(failing, "of_rooms", lambda there, known, now: of_rooms(there, (), now))


@pytest.mark.long
@pytest.mark.parametrize(
    ("plant", "act"),
    [
        pytest.param(nobody_is_told, players_come_and_go, id="busy rooms are not told to leave"),
        pytest.param(nobody_may_stay, players_come_and_go, id="who was to leave cannot stay"),
        pytest.param(failures_are_forgotten, failures_are_kept, id="a restart forgets failures"),
    ],
)
def test_a_planted_bug_ends_the_story(
    plant: Callable[[pytest.MonkeyPatch], None],
    act: Callable[[], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plant(monkeypatch)
    with pytest.raises(AssertionError):
        act()
