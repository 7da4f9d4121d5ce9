"""A theatre with rooms in it: simulated games report to whoever leads, a matchmaker sends players.

What goes wrong between rooms and us is by chance, as what goes wrong between us and the cluster.
"""

import asyncio
import json
import random
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from reconciler.adapters.http.ask import Answer, Ask
from reconciler.sandbox.kinds import POD
from reconciler.sandbox.players.natures import Nature
from reconciler.sandbox.players.sayings import Saying
from tests.loop.rooms.cast import OK, Actor, Cast
from tests.loop.rooms.parties import Parties, Party
from tests.loop.rooms.service import RoomService
from tests.loop.rooms.truth import Laws, Warden
from tests.loop.safety import Bounds, Unsafe
from tests.loop.service import Service, Theatre
from tests.loop.virtual_time import LoopTime, elapsed
from tests.loop.wires import Weather
from tests.loop.world import World

PATIENCE_SECONDS = 5.0
"""How long a game waits for its answer."""
EVERYTHING = Bounds(1000)
ORDINARY = Laws()
COME_AGAIN = 503
"""The one failure that a room may be told of: come again."""


@dataclass
class Air:
    """What goes wrong between rooms and us, as probabilities of a report."""

    chance: random.Random
    lost: float = 0.0
    """It never comes here, or its answer never comes there."""
    slow: float = 0.0
    """It takes longer than a game waits."""
    astray: float = 0.0
    """It goes to a replica that does not lead."""
    deaf: bool = False
    """Nothing comes here at all."""

    def calm(self) -> None:
        """Let nothing go wrong any more."""
        self.lost = self.slow = self.astray = 0.0
        self.deaf = False


class Playhouse(Theatre):
    """A theatre whose rooms play."""

    def __init__(
        self,
        world: World,
        weather: Weather,
        natures: Mapping[str, Callable[[], Nature]],
        air: Air,
        laws: Laws,
    ) -> None:
        self.warden = Warden(world, dict.fromkeys(natures, EVERYTHING), laws=laws)
        super().__init__(world, weather, self.warden)
        self.air = air
        self.cast = Cast(
            world,
            air.chance,
            lambda namespace: natures[namespace](),
            self._say,
            self._changed.set,
        )
        self.warden.cast, self.warden.leads = self.cast, lambda: self.leader
        world.sandbox.run_with(self.cast)
        self._labelled: RoomService | None = None
        self.reports: dict[int, int] = {}
        self.arrivals = 0

    def _process(self, name: str) -> Service:
        return RoomService(self.world, name, self.weather)

    @property
    def leader(self) -> RoomService | None:
        """Whoever leads, as the rooms' Service would choose; who was started last, of several."""
        for service in reversed(self.services):
            assert isinstance(service, RoomService)
            if service.app.leading and not service.killed:
                return service
        return None

    @property
    def reached(self) -> RoomService | None:
        """To whom the rooms' Service leads: who leads, or led last while nobody does, if alive."""
        self._labelled = self.leader or self._labelled
        return None if self._labelled is None or self._labelled.killed else self._labelled

    def changed(self) -> None:
        """Let the cluster act: somebody else changed something."""
        self._changed.set()

    async def ask(self, service: RoomService, ask: Ask) -> Answer:
        """Send a request to a process over a network that is not broken."""
        await asyncio.sleep(0.001)
        return await service.api.answer(ask)

    async def _say(self, actor: Actor, saying: Saying) -> int:
        """Carry what a room says to us; the status of the answer, 0 for none."""
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                status = await self._carried(actor, saying)
        except TimeoutError:
            status = 0
        self.reports[status] = self.reports.get(status, 0) + 1
        return status

    async def _carried(self, actor: Actor, saying: Saying) -> int:
        air, chance, said_at = self.air, self.air.chance, elapsed()
        there = [each for each in self.services if not each.killed]
        service: Service | None = self.reached
        if there and chance.random() < air.astray:
            service = chance.choice(there)
        cut_off = air.deaf or self._is_cut_off(actor)
        if cut_off or service is None or chance.random() < air.lost:
            await asyncio.sleep(PATIENCE_SECONDS)
            return 0
        if chance.random() < air.slow:
            await asyncio.sleep(chance.uniform(0.1, 2.0 * PATIENCE_SECONDS))
        assert isinstance(service, RoomService)
        ask = Ask(saying.method, saying.path, body=saying.body, peer=actor.address)
        self.cast.handed(actor, saying, said_at)
        answer = await self.ask(service, ask)
        if answer.status >= 500 and answer.status != COME_AGAIN:
            self.unsafe.append(Unsafe(f"{saying} was answered {answer.status}"))
        if answer.status == COME_AGAIN:
            self.cast.turned_away(actor, saying, service)
        if answer.status == OK and not service.killed:
            self.cast.heard(actor, saying)
            try:
                self.warden.answered(actor)
            except Unsafe as error:
                self.unsafe.append(error)
        return 0 if chance.random() < air.lost else answer.status

    def _is_cut_off(self, actor: Actor) -> bool:
        """Whether its node is lost to everybody."""
        where, world = actor.game.where, self.world.sandbox.world
        if not world.silent:
            return False
        pod = world.store.shelves[POD].objects.get(f"{where.namespace}/{where.room}")
        return pod is not None and pod.fields[0] in world.silent

    async def listed(self) -> list[str]:
        """The rooms that a matchmaker is told of now, as `namespace/name`; [] when nobody says."""
        leader = self.leader
        if leader is None or leader.transport.down or self.air.deaf:
            return []
        answer = await self.ask(leader, Ask("GET", "/running", peer="192.0.2.1"))
        body = answer.body
        if answer.stream is not None:
            body = b"".join([piece async for piece in answer.stream])
        if answer.status != OK:
            return []
        servers = [each["metadata"] for each in json.loads(body)]
        return [f"{each['namespace']}/{each['name']}" for each in servers]

    async def send_players(self, parties: Parties, wanted: Mapping[str, Callable[[], int]]) -> None:
        """Let a matchmaker fill every workload up to what is wanted there, for ever."""
        async with asyncio.TaskGroup() as on_their_way:
            while True:
                await asyncio.sleep(1.0)
                rooms = await self.listed()
                if rooms:
                    parties.listed(rooms, elapsed())
                for namespace, number in wanted.items():
                    there = sum(actor.game.players for actor in self.cast.playing(namespace))
                    lack = number() - there - parties.coming[namespace]
                    for _ in range(min(3, lack)):
                        party = parties.set_out(namespace, elapsed())
                        if party is not None:
                            on_their_way.create_task(self._bring(parties, party))

    async def _bring(self, parties: Parties, party: Party) -> None:
        """Seat a party when it comes, if its room is there yet."""
        await asyncio.sleep(party.comes_at - elapsed())
        parties.coming[party.namespace] -= party.players
        actor = self.cast.named(party.room)
        if actor is not None:
            list_seconds = elapsed() - party.listed_at
            seated = self.cast.join(actor, party.players, list_seconds)
            self.arrivals += seated
            self.weather.met["players sent by an old list"] += seated if list_seconds > 1.0 else 0


@asynccontextmanager
async def playhouse(
    world: World,
    weather: Weather,
    natures: Mapping[str, Callable[[], Nature]],
    air: Air,
    laws: Laws = ORDINARY,
    made: Callable[..., Playhouse] = Playhouse,
) -> AsyncIterator[Playhouse]:
    """Open a playhouse; all services and games end with it."""
    world.time = LoopTime()
    there = made(world, weather, natures, air, laws)
    living = asyncio.create_task(there.live())
    try:
        yield there
    finally:
        for service in there.services:
            if service.task is not None and not service.task.done():
                await service.kill()
        there.cast.close()
        living.cancel()
        await asyncio.gather(living, return_exceptions=True)
