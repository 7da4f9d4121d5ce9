"""Two processes, one fleet: a leader that stands still for a minute and goes on, clocks that jump.

Both decide counts and commit them, people commit beside them, and people play throughout (row 10).

*By their Lease*: one leads at a time, save for as long as a lease may be wrong. Who is frozen goes
on amid what it was about to write; and where its clock stood meanwhile (a virtual machine that is
moved), it truly leads beside the other until its next look at the lease, at most ten seconds by its
own clock. What it does then is up to the fence: uid and version at every delete, compare-and-swap
at every mark and record, nothing but fast-forwards in Git.

*With no lease at all*: both lead for the whole run, and the rooms' Service leads to one of them.
"""

import asyncio
import random
from functools import partial

import pytest
import yaml

from reconciler.model.labels import STATE
from reconciler.sandbox.players.demand import Tide
from reconciler.sandbox.players.natures import Nature, Voice
from reconciler.service.lease import RENEW_DEADLINE_SECONDS
from tests.loop.rooms.house import Air, playhouse
from tests.loop.rooms.parties import Parties
from tests.loop.rooms.rivals import LOOK_SECONDS, RATES, RivalHouse, disturb
from tests.loop.rooms.truth import Laws
from tests.loop.rooms.wishes import FREE, QUIET_SECONDS, Piece, Wish
from tests.loop.scaling.commits import foreign_bytes, in_memory
from tests.loop.scaling.counts import count_of
from tests.loop.shares import share
from tests.loop.virtual_time import elapsed, in_virtual_time
from tests.loop.wires import Weather
from tests.loop.world import World
from tests.scorecard import score

pytestmark = pytest.mark.long

ROW = 10
SEEDS = 16
PLAYED_SECONDS = 600.0
HELD_SECONDS = 120
"""How long a person's number holds."""
CONVERGED_SECONDS = 1500.0
LONGEST_SECONDS = RENEW_DEADLINE_SECONDS / min(RATES) + LOOK_SECONDS
"""How long two may lead at a time by their lease: until the slowest clock finds it run out."""


def _policy(buffer: int) -> dict[str, dict[str, object]]:
    down = {"stabilizationSeconds": 30, "cooldownSeconds": 0}
    policy = {"fixedBuffer": {"amount": buffer}}
    return {"autoscaling": {"min": 1, "max": 7, "policy": policy, "scaleDown": down}}


PIECES = (
    Piece("arena", Voice.MAESTRO, 3, more=_policy(2)),
    Piece("lobby", Voice.NATIVE, 2, 3, more=_policy(1)),
    Piece("duel", Voice.BOTH, 4, more={"removal": {"drainDeadlineSeconds": 90}}),
)
WRITE_BACK = {"quietSeconds": 20, "humanHoldSeconds": HELD_SECONDS}
CONFIG = yaml.safe_dump(
    {
        "apiVersion": "gamekeeper.dev/v1",
        "kind": "Config",
        "spec": {"budgets": {"workload": FREE, "total": FREE}, "writeBack": WRITE_BACK},
    }
)


class People:
    """Those who commit: other counts of what no policy counts, and other images."""

    def __init__(self, there: RivalHouse) -> None:
        self._world = there.world
        self.commits: list[str] = []
        self.images = dict.fromkeys((piece.name for piece in PIECES), 1)

    def text(self, piece: Piece) -> str:
        """Return the spec as it stands in Git."""
        host = self._world.host
        return host.commits[host.branches["main"]].files[piece.file].decode()

    def commit(self, chance: random.Random) -> None:
        """Commit one change."""
        piece, text = chance.choice(PIECES), ""
        if piece.name == "duel" and chance.random() < 0.6:
            text = piece.text(chance.randint(1, 6), self.images[piece.name])
        else:
            text = self.text(piece).replace(
                f"game:{self.images[piece.name]}", f"game:{self.images[piece.name] + 1}"
            )
            self.images[piece.name] += 1
        self.commits.append(self._world.commit({piece.file: text}))


def _is_as_in_git(there: RivalHouse, people: People) -> bool:
    return all(_stands(there, people, piece) for piece in PIECES)


def _stands(there: RivalHouse, people: People, piece: Piece) -> bool:
    pods = there.world.objects(f"/api/v1/namespaces/{piece.place}/pods")
    marks = [pod["metadata"]["labels"].get(STATE) for pod in pods]
    images = {pod["spec"]["containers"][0]["image"] for pod in pods}
    stays = all("deletionTimestamp" not in pod["metadata"] for pod in pods)
    count = count_of(people.text(piece))
    as_wanted = marks == ["idle"] * count and stays
    return as_wanted and images <= {f"registry.example/game:{people.images[piece.name]}"}


async def _play(seed: int, made: type[RivalHouse]) -> None:
    chance = random.Random(seed)
    random.seed(seed)
    world = World(seed=seed)
    Wish(world, PIECES)
    world.commit({"gamekeeper.yaml": CONFIG})
    weather = Weather(chance, fails=0.02, slow=0.03, wires=0.2, old=0.05)
    air = Air(chance, lost=0.02, slow=0.02, astray=0.05 if made.leased else 0.0)
    natures = {
        piece.place: partial(
            Nature, voice=piece.voice, matches=piece.matches, match_seconds=(30.0, 300.0)
        )
        for piece in PIECES
    }
    tides = {piece.place: Tide(8.0, seed=seed, period_seconds=600.0) for piece in PIECES}
    wanted = {place: partial(_players, tide, world) for place, tide in tides.items()}
    parties = Parties(random.Random(seed), QUIET_SECONDS)
    async with playhouse(world, weather, natures, air, Laws.of(PIECES), made) as there:
        assert isinstance(there, RivalHouse)
        for name in ("one", "two"):
            process = there._process(name)
            process.clock.rate = chance.choice(RATES)
            there.enter(process)
        people = People(there)
        tasks = [
            asyncio.create_task(there.send_players(parties, wanted)),
            asyncio.create_task(disturb(there, chance)),
            asyncio.create_task(there.count_leaders()),
        ]
        while elapsed() < PLAYED_SECONDS:
            await asyncio.sleep(chance.uniform(20.0, 120.0))
            people.commit(chance)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        _calm(there)
        await there.rivals[1 - there.labelled].kill()
        try:
            await there.until("as in Git", lambda: _is_as_in_git(there, people), CONVERGED_SECONDS)
        finally:
            there.judge()
        _count(there)
        _judge_git(world, people)


def _players(tide: Tide, world: World) -> int:
    return tide.players(world.time.at)


def _calm(there: RivalHouse) -> None:
    """Nothing goes wrong any more but the clocks, and everybody goes home."""
    there.weather.calm()
    there.air.calm()
    for each in there.rivals:
        each.clock.go_on()
        each.flows.set()
    there.cast.end_all()


def _count(there: RivalHouse) -> None:
    met, warden = there.weather.met, there.warden
    score(ROW, pauses_of_a_leader=met["pauses of a leader"], clocks_set=met["clocks set"])
    together = round(there.together_seconds)
    if there.leased:
        score(ROW, seconds_of_two_leaders_by_lease=together)
    else:
        score(ROW, seconds_of_two_leaders_without=together)
    score(ROW, players=there.arrivals, rooms_made=len(warden.names))
    score(ROW, rooms_removed_that_ran=len(warden.removed_alive), laws_broken=len(there.unsafe))
    assert met["pauses of a leader"], "nobody who led was frozen"
    if there.leased:
        assert there.longest_seconds <= LONGEST_SECONDS, "a lease was wrong for longer"


def _judge_git(world: World, people: People) -> None:
    """Nothing was forced, nothing lost, and of ours only counts were written."""
    host = world.host
    history = host.ancestors(host.branches["main"])
    lost = [commit for commit in people.commits if commit not in history]
    lost += [move.after for move in host.moves if move.after not in history]
    score(ROW, commits_of_people=len(people.commits), commits_of_ours=len(host.moves))
    score(ROW, lost_commits=len(lost))
    assert not lost
    assert not [move for move in host.moves if move.forced]
    assert foreign_bytes(in_memory(host)) == []
    assert host.moves, "nothing was written back"


@pytest.mark.parametrize("seed", share(range(SEEDS), "pauses"), ids=lambda seed: f"seed-{seed}")
def test_a_leader_that_was_frozen_ends_no_match_and_loses_no_commit(seed: int) -> None:
    score(ROW, runs_by_lease=1, failed=1)
    in_virtual_time(_play(seed, RivalHouse))
    score(ROW, failed=-1)


class LeaselessHouse(RivalHouse):
    """Nobody asks who leads."""

    leased = False


@pytest.mark.long
@pytest.mark.parametrize("seed", share(range(SEEDS), "no lease"), ids=lambda seed: f"seed-{seed}")
def test_two_that_lead_throughout_end_no_match_and_lose_no_commit(seed: int) -> None:
    score(ROW, runs_of_two_leaders=1, failed=1)
    in_virtual_time(_play(seed, LeaselessHouse))
    score(ROW, failed=-1)
