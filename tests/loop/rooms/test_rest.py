"""Once nothing goes wrong any more, all is as wanted within 20 ticks; then nothing is written.

Rooms report and most are full throughout; a policy counts one workload and its count is committed,
people change the others. Everything is woken at every tick: nobody rests because nobody looks
(row 5). What goes on by the clock is the Lease alone, which is counted and named.
"""

import asyncio
import random
from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import cast

import pytest
import yaml

from reconciler.model.labels import STATE, WORKLOAD
from reconciler.model.refs import WorkloadKey
from reconciler.sandbox.kinds import POD
from reconciler.sandbox.players.natures import Voice
from tests.loop.disturbing import Disturbance
from tests.loop.rooms.house import Playhouse
from tests.loop.rooms.matches import full, in_match
from tests.loop.rooms.service import Player
from tests.loop.rooms.wishes import FREE, Piece, Wish
from tests.loop.service import Service, Theatre
from tests.loop.shares import share
from tests.loop.virtual_time import in_virtual_time
from tests.loop.wires import Weather
from tests.scorecard import score

pytestmark = pytest.mark.long

ROW = 5
SEEDS = 25
FAULTS_SECONDS = 240.0
TICK_SECONDS = 20.0
"""Two of them are a wire's longest silence and what follows from it."""
MOST_TICKS = 20
IDLE_TICKS = 100
IDLE_TICK_SECONDS = 6.0
EMPTY = 2
POLICY = {
    "autoscaling": {
        "min": 1,
        "max": 12,
        "policy": {"fixedBuffer": {"amount": EMPTY}},
        "scaleDown": {"stabilizationSeconds": 30, "cooldownSeconds": 0},
    }
}
PIECES = (
    Piece("arena", Voice.MAESTRO, 6, more=POLICY),
    Piece("lobby", Voice.NATIVE, 5, 3),
    Piece("duel", Voice.COLLECTIONS, 5, namespace="servers"),
)
CONFIG = yaml.safe_dump(
    {
        "apiVersion": "gamekeeper.dev/v1",
        "kind": "Config",
        "spec": {"budgets": {"workload": FREE, "total": FREE}, "writeBack": {"quietSeconds": 20}},
    }
)
Rooms = Counter[tuple[str, str, str]]
"""How many rooms there are, by workload, image and state."""


@dataclass(frozen=True)
class Ending:
    """What a run came to."""

    rooms: Rooms
    texts: tuple[bytes, ...]


class CountedHouse(Playhouse):
    """A playhouse in which counts are decided and committed."""

    def _process(self, name: str) -> Service:
        return Player(self.world, name, self.weather)


class Disturbed(Disturbance):
    """One in which nothing that rooms say may come here, too."""

    async def happen(self, what: str, there: Theatre, chance: random.Random, name: str) -> None:
        if what != "deaf":
            await super().happen(what, there, chance, name)
            return
        air = cast(CountedHouse, there).air
        air.deaf = True
        await asyncio.sleep(chance.uniform(5.0, 40.0))
        air.deaf = False


DISTURBANCE = Disturbed(
    ("process", "git", "server", "history", "deaf"),
    apart=(5.0, 30.0),
    git=(1.0, 60.0),
    server=(1.0, 40.0),
)


def happens(there: CountedHouse, wish: Wish) -> None:
    """Let more people play in one game, and another count and image be wanted of the others."""
    free = [actor for actor in there.cast.playing("arena") if not actor.game.players]
    for actor in sorted(free, key=lambda each: each.game.where.room):
        assert there.cast.join(actor, 1)
    wish.change("lobby", 7, 2)
    wish.change("duel", 4, 1)


def _tick(there: CountedHouse) -> None:
    """Wake everything: Git and every workload are looked at, whatever changed."""
    there.changed()
    for service in there.services:
        if not service.killed:
            service.app.head_service.wake()
            service.app.touched([_key(piece) for piece in PIECES])


def _key(piece: Piece) -> WorkloadKey:
    return WorkloadKey("Fleet" if piece.namespace else "Scheduler", piece.place, piece.name)


def ending_of(there: CountedHouse) -> Ending:
    rooms: Rooms = Counter()
    for pod in there.world.sandbox.world.store.shelves[POD].objects.values():
        image = pod.decode(POD)["spec"]["containers"][0]["image"]
        mark = "ending" if pod.ending else pod.labels.get(STATE, "")
        rooms[(pod.labels.get(WORKLOAD, ""), image, mark)] += 1
    host = there.world.host
    files = host.commits[host.branches["main"]].files
    return Ending(rooms, tuple(files[piece.file] for piece in PIECES))


async def _play(seed: int | None) -> Ending:
    """Play a seed to the end without a mishap, and rest there; None is that end."""
    wanted = None if seed is None else undisturbed()
    chance = random.Random(seed or 0)
    random.seed(seed or 0)
    async with in_match(PIECES, free=EMPTY, config=CONFIG, made=CountedHouse) as (house, wish):
        there = cast(CountedHouse, house)
        if seed is not None:
            there.weather = Weather(chance, fails=0.05, slow=0.05, wires=0.5, old=0.1)
            there.services[-1].transport.weather = there.weather
            there.air.chance, there.air.lost, there.air.slow = chance, 0.05, 0.05
        worse = asyncio.create_task(DISTURBANCE.go_on(there, chance)) if seed is not None else None
        await asyncio.sleep(10.0)
        playing = full(there)
        happens(there, wish)
        playing |= full(there)
        await asyncio.sleep(FAULTS_SECONDS)
        if worse is not None:
            worse.cancel()
            await asyncio.gather(worse, return_exceptions=True)
        _calm(there)
        ticks = await ticks_until(there, wanted)
        writes, commits = await _rest(there)
        assert playing <= full(there), f"{len(playing - full(there))} matches were ended"
        if wanted is not None:
            score(ROW, runs=1, most_ticks_until_as_wanted=ticks, idle_ticks=IDLE_TICKS)
            score(ROW, writes_at_rest=writes, commits_at_rest=commits)
        assert (writes, commits) == (0, 0)
        return ending_of(there)


def _calm(there: CountedHouse) -> None:
    there.weather.calm()
    there.air.calm()
    there.world.host.heal()
    for service in there.services:
        service.transport.down = ""
    if there.services[-1].killed:
        there.start("the last process")


async def ticks_until(there: CountedHouse, wanted: Ending | None) -> int:
    """Tick until all is as wanted and a whole tick wrote nothing; return how many it took."""
    for number in range(1, MOST_TICKS + 1):
        written = len(there.writes)
        _tick(there)
        await asyncio.sleep(TICK_SECONDS)
        is_wanted = wanted is None or ending_of(there) == wanted
        if is_wanted and len(there.writes) == written:
            return number
    shown = wanted and (
        ending_of(there).rooms - wanted.rooms,
        wanted.rooms - ending_of(there).rooms,
    )
    last = [call.what for call in there.writes[-3:]]
    raise AssertionError(f"not as wanted after {MOST_TICKS} ticks: {shown}; written last: {last}")


async def _rest(there: CountedHouse) -> tuple[int, int]:
    """Return how many writes and commits there were in the idle ticks."""
    written, head = len(there.writes), there.world.host.branches["main"]
    renewed, moved = _renewals(there), len(there.world.host.moves)
    for _ in range(IDLE_TICKS):
        _tick(there)
        await asyncio.sleep(IDLE_TICK_SECONDS)
    score(ROW, renewals_of_the_lease_meanwhile=_renewals(there) - renewed)
    assert there.world.host.branches["main"] == head
    assert [call.what for call in there.writes[written:]] == []
    return len(there.writes) - written, len(there.world.host.moves) - moved


def _renewals(there: CountedHouse) -> int:
    calls = [call for each in there.services for call in each.transport.writes]
    return sum(call.kind == "Lease" for call in calls)


@cache
def undisturbed() -> Ending:
    endings = []

    async def main() -> None:
        endings.append(await _play(None))

    in_virtual_time(main())
    return endings[0]


@pytest.mark.parametrize("seed", share(range(SEEDS), "rest"), ids=lambda seed: f"seed-{seed}")
def test_what_was_disturbed_comes_to_rest_and_stays_there(seed: int) -> None:
    undisturbed()
    in_virtual_time(_play(seed))


def test_the_end_without_a_mishap_is_what_people_and_the_policy_want() -> None:
    ending = undisturbed()
    counts = Counter({"arena": 0})
    for (name, _, _), number in ending.rooms.items():
        counts[name] += number
    assert ending.rooms[("arena", "registry.example/game:1", "busy")] == 6
    assert ending.rooms[("arena", "registry.example/game:1", "idle")] == EMPTY
    assert counts["arena"] == 6 + EMPTY
    assert b"replicas: 8" in ending.texts[0]
    assert ending.rooms[("lobby", "registry.example/game:1", "busy")] == 3, "they play on"
