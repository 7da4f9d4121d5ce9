"""Rooms with players through seeded weather: nobody is thrown out of a match, counts converge.

One seed is one run, in any process and after any other. `GAMEKEEPER_SEEDS` is how many are played
(30 where it is not set) or which, as `150-299`; `GAMEKEEPER_SEEDS=17-17 pytest
tests/loop/rooms/test_rooms_weather.py -k seed-17` plays one again.
"""

import asyncio
import json
import random
from collections.abc import Callable

import pytest
import yaml

from reconciler.sandbox.players.demand import Demand, Tide
from reconciler.sandbox.players.matchmaker import Matchmaker
from reconciler.sandbox.players.natures import Lie, Nature, Voice
from tests.loop.conftest import POINTS
from tests.loop.rooms.house import Air, Playhouse, playhouse
from tests.loop.rooms.seeds import SEEDS
from tests.loop.service import Service, tame
from tests.loop.virtual_time import elapsed, in_virtual_time
from tests.loop.wires import Weather
from tests.loop.world import World, spec

CONVERGED_SECONDS = 1500.0
SURGE = {"maxSurge": 2, "maxUnavailable": 0}
SECOND = "registry.example/game:2"
FREE = {"rooms": 1000, "percent": 100}
CONFIG = yaml.safe_dump(
    {
        "apiVersion": "gamekeeper.dev/v1",
        "kind": "Config",
        "spec": {"budgets": {"workload": FREE, "total": FREE}},
    }
)
VOICES = {"arena": Voice.MAESTRO, "lobby": Voice.NATIVE, "duel": Voice.COLLECTIONS}
MATCHES = {"arena": 1, "lobby": 3, "duel": 1}
QUIET_SECONDS = 8.0
PINGS_SECONDS = 60


def scheduler(name: str, replicas: int, image: str = "registry.example/game:1") -> str:
    """The text of a Scheduler whose rooms report."""
    text = spec(
        name,
        replicas,
        image,
        rollout=SURGE,
        matches={"max": MATCHES[name]},
        portRange={"start": 7000, "end": 7019},
        removal={"quietSeconds": int(QUIET_SECONDS)},
        timeouts={"pingSeconds": PINGS_SECONDS},
    )
    document = yaml.safe_load(text)
    document["spec"]["reports"] = "required"
    container = document["spec"]["template"]["spec"]["containers"][0]
    container["ports"] = [{"name": "game", "containerPort": 7777, "protocol": "UDP"}]
    return yaml.safe_dump(document, sort_keys=False)


class Wish:
    """What Git asks for, by workload: how many rooms, of which image."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.wanted = {"arena": (4, 1), "lobby": (3, 1), "duel": (3, 1)}
        self.files = {"gamekeeper.yaml": CONFIG}
        world.commit({**self.files, **{self._file(name): self._text(name) for name in self.wanted}})

    def change(self, name: str, rooms: int, image: int) -> None:
        """Commit another count and image; 0 rooms deletes the spec."""
        if rooms:
            self.wanted[name] = rooms, image
        else:
            self.wanted.pop(name, None)
        self.world.commit({self._file(name): self._text(name) if rooms else None})

    def _file(self, name: str) -> str:
        return f"schedulers/{name}.yaml"

    def _text(self, name: str) -> str:
        rooms, image = self.wanted[name]
        return scheduler(name, rooms, f"registry.example/game:{image}")


def natures(chance: random.Random, trouble: asyncio.Event) -> dict[str, Callable[[], Nature]]:
    """What is played in the rooms of each workload: mostly sound games, some that are not.

    Those that begin when `trouble` is over are sound.
    """

    def of(name: str) -> Callable[[], Nature]:
        def draw() -> Nature:
            sound = Nature(voice=VOICES[name], matches=MATCHES[name])
            lies = chance.random() < 0.12
            odd = Nature(
                voice=VOICES[name],
                lie=chance.choice([lie for lie in Lie if lie]) if lies else Lie.NONE,
                ping_seconds=chance.choice((3.0, 20.0)),
                matches=MATCHES[name],
                match_seconds=(15.0, 150.0),
                crash_after_seconds=_perhaps(chance, 0.1, 20.0, 400.0),
                hang_after_seconds=_perhaps(chance, 0.1, 20.0, 400.0),
            )
            return odd if trouble.is_set() else sound

        return draw

    return {name: of(name) for name in VOICES}


def _perhaps(chance: random.Random, probability: float, least: float, most: float) -> float | None:
    return chance.uniform(least, most) if chance.random() < probability else None


async def _worsen(there: Playhouse, chance: random.Random) -> None:
    """Let what is beyond one request go wrong now and then."""
    number = 0
    while True:
        await asyncio.sleep(chance.uniform(5.0, 45.0))
        match chance.choice(("history", "git", "server", "kill", "kill", "stop", "deaf")):
            case "history":
                there.world.sandbox.expire_history()
            case "git":
                there.world.host.down()
                await asyncio.sleep(chance.uniform(1.0, 60.0))
                there.world.host.heal()
            case "server":
                away = [each.transport for each in there.services if not each.killed]
                for transport in away:
                    transport.down = "the server is away"
                await asyncio.sleep(chance.uniform(1.0, 60.0))
                for transport in away:
                    transport.down = ""
            case "deaf":
                there.air.deaf = True
                await asyncio.sleep(chance.uniform(5.0, 150.0))
                there.air.deaf = False
            case end:
                number += 1
                there.start(f"process-{number}")
                await asyncio.sleep(chance.uniform(0.0, 20.0))
                old = chance.choice([each for each in there.services if not each.killed])
                await (old.kill() if end == "kill" else _stopped(old))


async def _stopped(service: Service) -> None:
    await service.stop()
    service.killed = True


async def _change(wish: Wish, chance: random.Random) -> None:
    """Commit what people commit: other counts, another image, the end of a game, a new one."""
    for _ in range(6):
        await asyncio.sleep(chance.uniform(10.0, 90.0))
        name = chance.choice(sorted(VOICES))
        rooms, image = wish.wanted.get(name, (0, 1))
        match chance.choice(("in", "out", "image", "end")):
            case "in":
                wish.change(name, max(1, rooms - 2), image)
            case "out":
                wish.change(name, min(6, rooms + 2), image)
            case "image":
                wish.change(name, max(1, rooms), image + 1)
            case "end" if len(wish.wanted) > 1 or not rooms:
                # The last spec of a repository is held until somebody approves its end.
                wish.change(name, 0 if rooms else 2, image)


def _is_as_wanted(there: Playhouse, wish: Wish) -> bool:
    """Whether there are exactly the wanted rooms, each ready, known idle and of its image."""
    spaces = there.world.namespaces()
    if any((name in spaces) != (name in wish.wanted) for name in VOICES):
        return False
    return all(_stands(there, name, *wish.wanted[name]) for name in wish.wanted)


def _stands(there: Playhouse, name: str, rooms: int, image: int) -> bool:
    pods = there.world.objects(f"/api/v1/namespaces/{name}/pods")
    images = {pod["spec"]["containers"][0]["image"] for pod in pods}
    marks = {pod["metadata"]["labels"].get("gamekeeper.dev/state") for pod in pods}
    stays = all("deletionTimestamp" not in pod["metadata"] for pod in pods)
    return (
        stays
        and len(pods) == rooms
        and images == {f"registry.example/game:{image}"}
        and marks == {"idle"}
    )


def _shown(there: Playhouse) -> str:
    """What there is, for whoever reads that it did not converge."""
    lines = []
    for name in VOICES:
        if name not in there.world.namespaces():
            continue
        for pod in there.world.objects(f"/api/v1/namespaces/{name}/pods"):
            metadata = pod["metadata"]
            actor = there.cast.named(f"{name}/{metadata['name']}")
            notes = {
                key.partition("/")[2]: text
                for key, text in metadata.get("annotations", {}).items()
                if "leaving" in key or "report" in key
            }
            lines.append(
                f"{name}/{metadata['name']} {metadata['labels'].get('gamekeeper.dev/state')} "
                f"{notes} {pod['spec']['containers'][0]['image'][-1:]} "
                f"{pod['status'].get('phase')} {'ends' if 'deletionTimestamp' in metadata else ''} "
                f"{actor and (actor.game.players, actor.game.hung, actor.statuses[-4:])}"
            )
    return "\n".join(lines)


async def play(seed: int) -> list[str]:
    """Play one seed; return its trace: all that was asked of the server, and what chance is left.

    The smallest difference on the way leaves another number to be drawn at the end.
    """
    chance = random.Random(seed)
    random.seed(seed)
    world = World(seed=seed)
    wish = Wish(world)
    weather = Weather(chance, fails=0.03, slow=0.03, wires=0.5)
    air = Air(chance, lost=0.03, slow=0.03, astray=0.05)
    maker = Matchmaker(random.Random(seed), chance.choice((QUIET_SECONDS - 1.0, 30.0)))
    quiet = dict.fromkeys(VOICES, QUIET_SECONDS)
    demands: dict[str, Demand] = {
        name: Tide(chance.uniform(5.0, 20.0), seed=seed, period_seconds=600.0) for name in VOICES
    }
    wanted = {
        name: (lambda demand=demand: demand.players(world.time.at))
        for name, demand in demands.items()
    }
    trouble = asyncio.Event()
    trouble.set()
    games = natures(chance, trouble)
    async with playhouse(world, weather, games, air, quiet, PINGS_SECONDS) as there:
        there.start("process-0")
        players = asyncio.create_task(there.send_players(maker, wanted))
        worse = asyncio.create_task(_worsen(there, chance))
        try:
            await _change(wish, chance)
        finally:
            worse.cancel()
            await asyncio.gather(worse, return_exceptions=True)
        trouble.clear()
        await _calm(there, players)
        await _converged(there, wish)
        there.judge()
        _count(there)
        calls = [call for each in there.services for call in each.transport.calls]
        trace = [f"{call.what} {json.dumps(call.body)}" for call in calls]
        return [*trace, f"{elapsed():.6f} s, {chance.random()}, {random.random()}"]


async def _converged(there: Playhouse, wish: Wish) -> None:
    try:
        await there.until("the wish", lambda: _is_as_wanted(there, wish), CONVERGED_SECONDS)
    except AssertionError as error:
        there.judge()
        raise AssertionError(f"{error}; wanted {wish.wanted}\n{_shown(there)}") from None


async def _calm(there: Playhouse, players: "asyncio.Task[None]") -> None:
    there.weather.calm()
    there.air.calm()
    there.world.host.heal()
    for service in there.services:
        service.transport.down = ""
    if all(service.killed for service in there.services):
        there.start("the last process")
    players.cancel()
    await asyncio.gather(players, return_exceptions=True)
    there.cast.end_all()


def _count(there: Playhouse) -> None:
    for what, times in there.weather.met.items():
        POINTS[what] += times
    POINTS["virtual minutes"] += int(elapsed() / 60)
    POINTS["players"] += there.arrivals
    POINTS["reports"] += sum(there.reports.values())
    POINTS["rooms removed"] += len(there.warden.removed_rooms)
    POINTS["rooms removed that ran"] += len(there.warden.removed_alive)


@pytest.fixture(autouse=True)
def _no_time_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    tame(monkeypatch)


@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: f"seed-{seed}")
def test_nobody_is_thrown_out_and_counts_converge_whatever_goes_wrong(seed: int) -> None:
    in_virtual_time(play(seed))
