"""Two processes that hear rooms, decide counts and commit them, each by the clocks of its machine.

They can be frozen: what one is about to send waits, what it is sent comes late, nobody hears it.
Where its clock stands meanwhile, as that of a virtual machine that is moved, it believes when it
goes on that it leads as it did before, whoever leads by then.
"""

import asyncio
import random
from typing import Any

from reconciler.adapters.http.ask import Answer, Ask
from reconciler.sandbox.kinds import LEASE as KIND
from reconciler.service.lease import NoLease
from tests.loop.rooms.frost import FrozenRepository, freezable
from tests.loop.rooms.house import Playhouse
from tests.loop.rooms.service import RoomService
from tests.loop.scaling.house import Habits, ScalingService
from tests.loop.service import LEASE, Service
from tests.loop.virtual_time import elapsed
from tests.loop.wires import Weather
from tests.loop.world import World

DAY_SECONDS = 86_400.0
JUMPS = (-DAY_SECONDS, 0.0, DAY_SECONDS)
RATES = (0.9, 1.0, 1.1)
PAUSE_SECONDS = 60.0
LOOK_SECONDS = 0.25


class Rival(RoomService, ScalingService):
    """One process; without a lease it leads for ever."""

    def __init__(self, world: World, name: str, weather: Weather, leased: bool = True) -> None:
        habits = Habits(repository=lambda world, name: FrozenRepository(world.host, world.path))
        super().__init__(world, name, weather, habits)
        self.name = name
        if not leased:
            self.lease: Any = NoLease(name)
            self.desk.share()
        assert isinstance(self.repository, FrozenRepository)
        self.flows = self.repository.flows
        self.stood = False
        """Whether its clock stood when it was frozen last."""
        freezable(self.transport, self.flows)

    @property
    def acts(self) -> bool:
        """Whether it believes that it leads, and is not frozen."""
        return self.flows.is_set() and self.may_act() and not self.killed

    async def freeze(self, seconds: float, clock_stands: bool) -> None:
        """Let it do nothing for so long."""
        self.flows.clear()
        if clock_stands:
            self.clock.stand()
        await asyncio.sleep(seconds)
        self.clock.go_on()
        self.stood = clock_stands
        self.flows.set()


class RivalHouse(Playhouse):
    """A playhouse in which such processes run; whoever asks one that is frozen waits.

    The rooms' Service leads to whoever holds the Lease; where there is none, to `labelled`.
    `together_seconds` is how long two acted as leaders at a time, `longest_seconds` at once.
    """

    leased = True
    labelled = 0

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        warden, judge = self.warden, self.warden.answered
        if self.leased:
            # One whose clock stood leads beside the next (ADR 35), and may set a mark back of what
            # that one heard, who sees it when its watch does, and may be frozen itself by then.
            # That mark alone is judged by how long it is wrong.
            setattr(warden, judge.__name__, lambda it: it.uid in warden.set_back or judge(it))
        else:
            # Each writes what it heard itself: a mark is judged by how long it is wrong.
            setattr(warden, judge.__name__, lambda actor: None)
        self.together_seconds = self.longest_seconds = 0.0

    def enter(self, service: Service) -> Service:
        """Start a process, and see which marks it sets back while another leads."""
        entered = super().enter(service)
        entered.transport.after = lambda number, call: self._look_after(entered)
        return entered

    def _look_after(self, service: Service) -> None:
        before = {*self.warden.unmarked}
        self._look()
        assert isinstance(service, Rival)
        if self.leased and service is not self.leader and service.stood:
            self.warden.set_back |= self.warden.unmarked.keys() - before

    def _process(self, name: str) -> Service:
        return Rival(self.world, name, self.weather, self.leased)

    @property
    def leader(self) -> RoomService | None:
        """To whom the rooms' Service leads, whether it is frozen or not."""
        if not self.leased:
            there = self.rivals[self.labelled]
            return None if there.killed else there
        lease = self.world.sandbox.world.store.shelves[KIND].objects.get(
            f"{LEASE.namespace}/{LEASE.name}"
        )
        holder = lease.decode(KIND)["spec"].get("holderIdentity") if lease is not None else ""
        return next((it for it in self.rivals if it.name == holder and not it.killed), None)

    async def ask(self, service: RoomService, ask: Ask) -> Answer:
        """Send a request to a process over a network that is not broken."""
        assert isinstance(service, Rival)
        await service.flows.wait()
        return await super().ask(service, ask)

    async def count_leaders(self) -> None:
        """Measure for ever how long two act as leaders at a time."""
        since: float | None = None
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            if sum(each.acts for each in self.rivals) < 2:
                since = None
                continue
            since = elapsed() if since is None else since
            self.together_seconds += LOOK_SECONDS
            self.longest_seconds = max(self.longest_seconds, elapsed() - since)

    @property
    def rivals(self) -> list[Rival]:
        """All processes."""
        return [each for each in self.services if isinstance(each, Rival)]


async def disturb(there: RivalHouse, chance: random.Random) -> None:
    """Freeze who leads for a minute now and then, or the other, and set their clocks, for ever."""
    while True:
        await asyncio.sleep(chance.uniform(20.0, 60.0))
        rival = chance.choice(there.rivals)
        rival.clock.ahead = chance.choice(JUMPS)
        there.weather.met["clocks set"] += 1
        if chance.random() < 0.7:
            leading = [each for each in there.rivals if each.acts]
            frozen = chance.choice(leading or there.rivals)
            stands = chance.random() < 0.5
            there.weather.met["pauses"] += 1
            there.weather.met["pauses of a leader"] += bool(leading)
            await frozen.freeze(PAUSE_SECONDS, stands)
