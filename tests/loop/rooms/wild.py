"""A playhouse in which everything may go wrong at once: Git, clocks, rooms that are refused.

Its processes can be frozen, and each has a clock of its own that may be fast or slow.
"""

import asyncio
import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from itertools import cycle
from typing import Any

from reconciler.adapters.http.ask import Answer, Ask
from reconciler.model.errors import Denied, PortError, Unavailable
from reconciler.model.labels import WORKLOAD
from reconciler.sandbox.kinds import BUDGET, POD
from tests.loop.failures import CLOSED
from tests.loop.injecting import INJECTORS
from tests.loop.rooms.frost import freezable
from tests.loop.rooms.house import PATIENCE_SECONDS, Playhouse
from tests.loop.rooms.lines import FarRepository, Line
from tests.loop.rooms.service import Player, RoomService
from tests.loop.scaling.house import Habits
from tests.loop.service import Service

DAY_SECONDS = 86_400.0
JUMPS = (-DAY_SECONDS, -90.0, 0.0, 90.0, DAY_SECONDS)


SLOWEST, FASTEST = 0.9, 1.1
FAST_OR_SLOW = "clocks that run fast or slow"
FROZEN_SECONDS = (5.0, 60.0)


class WildHouse(Playhouse):
    """A playhouse of which every process reads Git over one line; `commits` whether they push.

    `clocks` is the chance by which their clocks are fast or slow; `unguarded` are the budgets that
    a stranger deleted (0) or changed, `namespace/name`: the generation that they had then.
    """

    def __init__(self, commits: bool, clocks: random.Random, *parts: Any) -> None:
        super().__init__(*parts)
        self.commits, self.clocks = commits, clocks
        self.line = Line()
        self.pushed_back = ""
        """What the branch stood at before somebody pushed it back by force, "" where nobody did."""
        self.old_heads: set[str] = set()
        """The older commits that processes were told of as the head."""
        self.forward = asyncio.Event()
        """Cleared while it is: what people commit upon an old commit would be lost with it."""
        self.forward.set()
        self.unguarded: dict[str, int] = {}
        self._flows: dict[Service, asyncio.Event] = {}
        self.warden.is_bare = self._is_bare

    def _process(self, name: str) -> Service:
        far = FarRepository(self.world.host, self.line)
        service: Service
        if self.commits:
            service = Player(self.world, name, self.weather, Habits(repository=lambda *_: far))
        else:
            service = RoomService(self.world, name, self.weather)
            service.head.repository = far
        if self.clocks.random() < 0.5:
            service.clock.rate = self.clocks.uniform(SLOWEST, FASTEST)
            self.weather.met[FAST_OR_SLOW] += 1
        self._flows[service] = far.flows
        freezable(service.transport, far.flows)
        return service

    async def freeze(self, service: Service, seconds: float) -> None:
        """Let a process do nothing for so long; its clocks go on, as after `kill -STOP`."""
        self._flows[service].clear()
        try:
            await asyncio.sleep(seconds)
        finally:
            self._flows[service].set()

    async def ask(self, service: RoomService, ask: Ask) -> Answer:
        """Send a request to a process over a network that is not broken; one that is frozen waits.

        Nobody is answered by one that is dead by then.
        """
        await self._flows[service].wait()
        return await super().ask(service, ask)

    async def listed(self) -> list[str]:
        """The rooms that a matchmaker is told of now; [] when nobody says in time."""
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_SECONDS):
                return await super().listed()
        return []

    def _is_bare(self, room: str) -> bool:
        """Whether the budget that keeps a room is as a stranger left it."""
        shelves = self.world.sandbox.world.store.shelves
        pod = shelves[POD].objects.get(room)
        key = f"{pod.namespace}/{pod.labels.get(WORKLOAD)}" if pod is not None else ""
        if key not in self.unguarded:
            return False
        budget = shelves[BUDGET].objects.get(key)
        return budget is None or self.unguarded[key] >= budget.decode(BUDGET)["metadata"].get(
            "generation", 0
        )

    @property
    def places(self) -> list[str]:
        """The namespaces in which rooms are wanted, or were."""
        return sorted(self.warden.bounds)

    def push_back(self, commit: str) -> None:
        """Let somebody push the branch back to one of its commits by force."""
        host = self.world.host
        self.pushed_back = host.branches["main"]
        self.old_heads.add(commit)
        self.forward.clear()
        host.branch("main", commit)

    def heal(self) -> None:
        """Let Git be well again."""
        self.world.host.heal()
        self.world.host.lost_answers = 0
        self.line.calm()
        if self.pushed_back:
            self._push_forward()

    def _push_forward(self) -> None:
        """Let them push it forward again, with what we committed meanwhile merged into it.

        Else the head would lack what was accepted, and nothing may be removed for that until
        somebody approves it (`force-pushed`).
        """
        host, before, self.pushed_back = self.world.host, self.pushed_back, ""
        between = host.branches["main"]
        host.branch("main", before)
        self.forward.set()
        if between not in host.ancestors(before):
            merge = host.commit({}, "Merge what was committed meanwhile", now=self.world.time.at)
            host.commits[merge] = replace(host.commits[merge], parents=(before, between))


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
GONE, PUSHED_BACK = "the branch is gone", "the branch is pushed back and forward again"


async def spoil_git(there: WildHouse, chance: random.Random) -> None:
    """Let Git fail in one way for a while."""
    way = chance.choice((*GIT, OLD_HEAD))
    if way == OLD_HEAD:
        there.line.old = _old_head(there, chance)
        there.old_heads.add(there.line.old)
    else:
        GIT[way](there)
    await _while_spoilt(there, chance, way)


async def lose_branch(there: WildHouse, chance: random.Random) -> None:
    """Let the tracked branch be gone for a while."""
    there.line.gone = True
    await _while_spoilt(there, chance, GONE)


async def push_back(there: WildHouse, chance: random.Random) -> None:
    """Let the tracked branch be pushed back by force for a while, and then forward again."""
    there.push_back(_old_head(there, chance))
    await _while_spoilt(there, chance, PUSHED_BACK)


def _old_head(there: WildHouse, chance: random.Random) -> str:
    host = there.world.host
    known = host.ancestors(host.branches["main"])
    return chance.choice([each for each in host.commits if each in known])


async def _while_spoilt(there: WildHouse, chance: random.Random, way: str) -> None:
    there.weather.met[f"Git: {way}"] += 1
    await asyncio.sleep(chance.uniform(1.0, 60.0))
    there.heal()


async def set_clock(there: WildHouse, chance: random.Random) -> None:
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


async def inject(there: WildHouse, chance: random.Random) -> None:
    """Let something be injected into the rooms that are made for a while: into each the next."""
    injectors = cycle(chance.sample(list(INJECTORS), len(INJECTORS)))
    there.weather.injected.update(dict.fromkeys(there.places, injectors))
    await asyncio.sleep(chance.uniform(30.0, 150.0))
    there.weather.injected.clear()


SPOILS = {
    "git": spoil_git,
    "branch gone": lose_branch,
    "branch back": push_back,
    "clock": set_clock,
    "closed": close,
    "inject": inject,
}


async def freeze(there: WildHouse, chance: random.Random, other: str) -> None:
    """Let who leads stand still for up to a minute and go on, beside another or alone."""
    if chance.random() < 0.5:
        there.start(other)
    await asyncio.sleep(chance.uniform(0.0, 10.0))
    leader, alive = there.leader, [each for each in there.services if not each.killed]
    frozen = leader or chance.choice(alive)
    where = "alone" if len(alive) == 1 else "beside another"
    there.weather.met[f"{'leaders' if leader else 'others'} frozen {where}"] += 1
    await there.freeze(frozen, chance.uniform(*FROZEN_SECONDS))
    await asyncio.sleep(chance.uniform(0.0, 20.0))
    alive = [each for each in there.services if not each.killed]
    if len(alive) > 1:
        await chance.choice(alive).kill()
