"""A playhouse in which everything may go wrong at once: Git, clocks, rooms that are refused."""

import asyncio
import random
from collections.abc import Callable
from typing import Any

from reconciler.model.errors import Denied, PortError, Unavailable
from tests.loop.failures import CLOSED
from tests.loop.rooms.house import Playhouse
from tests.loop.rooms.lines import FarRepository, Line
from tests.loop.rooms.service import Player, RoomService
from tests.loop.scaling.house import Habits
from tests.loop.service import Service

DAY_SECONDS = 86_400.0
JUMPS = (-DAY_SECONDS, -90.0, 0.0, 90.0, DAY_SECONDS)


class WildHouse(Playhouse):
    """A playhouse of which every process reads Git over one line; `commits` whether they push."""

    def __init__(self, commits: bool, *parts: Any) -> None:
        super().__init__(*parts)
        self.commits = commits
        self.line = Line()

    def _process(self, name: str) -> Service:
        far = FarRepository(self.world.host, self.line)
        if self.commits:
            return Player(self.world, name, self.weather, Habits(repository=lambda *_: far))
        service = RoomService(self.world, name, self.weather)
        service.head.repository = far
        return service

    @property
    def places(self) -> list[str]:
        """The namespaces in which rooms are wanted, or were."""
        return sorted(self.warden.bounds)

    def heal(self) -> None:
        """Let Git be well again."""
        self.world.host.heal()
        self.world.host.lost_answers = 0
        self.line.calm()


def _fails(fault: PortError) -> Callable[[WildHouse], None]:
    return lambda there: setattr(there.world.host, "fault", fault)


GIT: dict[str, Callable[[WildHouse], object]] = {
    "the host does not answer": lambda there: there.world.host.down(),
    "the credentials are refused": lambda there: there.world.host.denied(),
    "the repository is gone": lambda there: there.world.host.vanish(),
    "too many requests": _fails(Unavailable("too many requests", 20.0)),
    "a fetch hangs": lambda there: setattr(there.line, "stalls", True),
    "two looks of three fail": lambda there: setattr(there.line, "flaps", True),
    "what was fetched cannot be read": lambda there: setattr(there.line, "unreadable", True),
    "no push is taken": lambda there: setattr(there.world.host, "refusal", Denied("no push")),
    "the branch is protected": lambda there: there.world.host.protected.update(main="no"),
    "answers of pushes are lost": lambda there: setattr(there.world.host, "lost_answers", 3),
}
OLD_HEAD = "the host tells of an old head"


async def spoil_git(there: WildHouse, chance: random.Random) -> None:
    """Let Git fail in one way for a while."""
    way = chance.choice((*GIT, OLD_HEAD))
    there.weather.met[f"Git: {way}"] += 1
    if way == OLD_HEAD:
        host = there.world.host
        known = host.ancestors(host.branches["main"])
        there.line.old = chance.choice([each for each in host.commits if each in known])
    else:
        GIT[way](there)
    await asyncio.sleep(chance.uniform(1.0, 60.0))
    there.heal()


def set_clock(there: WildHouse, chance: random.Random) -> None:
    """Set the wall clock of one process's machine."""
    clock = chance.choice([each.clock for each in there.services if not each.killed])
    clock.ahead = chance.choice(JUMPS)
    there.weather.met["clocks set"] += 1


async def close(there: WildHouse, chance: random.Random) -> None:
    """Let a namespace take no rooms for a while."""
    place, way = chance.choice(there.places), chance.choice(list(CLOSED))
    there.weather.closed[place] = CLOSED[way]
    await asyncio.sleep(chance.uniform(5.0, 90.0))
    there.weather.closed.clear()
