"""Simulated rooms as what runs in the pods of a world, each a task that reports in virtual time."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from reconciler.model.refs import Json
from reconciler.sandbox.players.games import Game
from reconciler.sandbox.players.natures import Lie, Nature, Voice
from reconciler.sandbox.players.sayings import COUNT, Saying, Where
from tests.loop.rooms.parties import Guest
from tests.loop.rooms.words import Tongue, tells_of_a_match, tells_of_failure
from tests.loop.service import Service
from tests.loop.virtual_time import elapsed
from tests.loop.world import World

OK = 200


@dataclass
class Actor:
    """One container that runs a game.

    `trusted` is whether it always says what is true. `told` is what we last answered 200 to: how
    many players, and when (virtual seconds); `unsaid` whether it was handed to us since that
    nobody is there, which we may have taken in though nobody waited for the answer; `heard_at`
    when we answered 200 to whatever it said last, `handed_at` when that it is empty was handed to
    us last, and `said_at` when it had said so; `noted_by` who turned its last count away, and
    knows its pod, None where it told of nobody; `coming_at` when it said first that a match is
    given to it, of which no count has come to us since, 0 where it is not so; `gave_up` whether
    that it has failed was handed to us.
    """

    uid: str
    address: str
    game: Game
    trusted: bool
    told: tuple[int, float] | None = None
    unsaid: bool = False
    heard_at: float = 0.0
    handed_at: float = 0.0
    said_at: float = 0.0
    noted_by: Service | None = None
    coming_at: float = 0.0
    gave_up: bool = False
    tongue: Tongue | None = None
    moved: asyncio.Event = field(default_factory=asyncio.Event)
    task: "asyncio.Task[None] | None" = None
    statuses: list[tuple[int, int | None, int]] = field(default_factory=list)
    guests: list[Guest] = field(default_factory=list)

    @property
    def told_busy(self) -> bool:
        """Whether the last that we took in was that players are there."""
        return self.told is not None and self.told[0] > 0 and not self.unsaid


Say = Callable[[Actor, Saying], Awaitable[int]]
"""Sends what a room says; the status of the answer, 0 for none."""


class Cast:
    """A `sandbox.runtime.Runtime` of games. `nature_of` says by namespace what is played there."""

    def __init__(
        self,
        world: World,
        chance: random.Random,
        nature_of: Callable[[str], Nature],
        say: Say,
        changed: Callable[[], None],
    ) -> None:
        self.actors: dict[str, Actor] = {}
        self.tongues: random.Random | None = None
        """Where it is set, games say more than how many play there, by this chance."""
        self.beside = 0
        """How often they did."""
        self._world = world
        self._chance = chance
        self._nature_of = nature_of
        self._say = say
        self._changed = changed

    def start(self, pod: Json, now: float) -> None:
        """Begin a game in a pod."""
        metadata, uid = pod["metadata"], pod["metadata"]["uid"]
        namespace, name = metadata["namespace"], metadata["name"]
        where = Where(name.rpartition("-")[0], namespace, name)
        neighbours = [each.game.where for each in self.playing() if each.game.where != where]
        neighbour = self._chance.choice(neighbours) if neighbours else None
        chance = random.Random(self._chance.random())
        game = Game(where, self._nature_of(namespace), chance, now, neighbour)
        actor = Actor(uid, pod["status"]["podIP"], game, trusted=game.nature.honest)
        before = self.actors.get(uid)
        if before is not None and game.nature.voice is Voice.COLLECTIONS:
            # What the container before it said on change stays valid until the pod is replaced.
            actor.heard_at = before.heard_at
        if self.tongues is not None:
            actor.tongue = Tongue(game, random.Random(self.tongues.random()))
        self.actors[uid] = actor
        actor.task = asyncio.create_task(self._play(actor))

    def runs(self, uid: str) -> bool:
        """Whether a game is played there."""
        actor = self.actors.get(uid)
        return actor is not None and not actor.game.over

    def ended(self, uid: str) -> int | None:
        """Its exit code, None while it is played."""
        actor = self.actors.get(uid)
        return actor.game.exit_code if actor is not None else None

    def stop(self, uid: str) -> None:
        """Send SIGTERM."""
        actor = self.actors.get(uid)
        if actor is not None:
            actor.game.stop(self._world.time.at)
            actor.moved.set()

    def kill(self, uid: str) -> None:
        """Send SIGKILL."""
        actor = self.actors.get(uid)
        if actor is not None and actor.task is not None:
            actor.task.cancel()

    def forget(self, uid: str) -> None:
        """The pod is no more."""
        self.kill(uid)
        self.actors.pop(uid, None)

    def printed(self, uid: str, container: str) -> Sequence[tuple[str, str]]:
        """Nothing is printed."""
        return ()

    def playing(self, namespace: str = "") -> Iterator[Actor]:
        """Every game that is played now."""
        for actor in list(self.actors.values()):
            if not actor.game.over and namespace in ("", actor.game.where.namespace):
                yield actor

    def named(self, room: str) -> Actor | None:
        """The game of a room, as `namespace/name`."""
        for actor in self.playing():
            if f"{actor.game.where.namespace}/{actor.game.where.room}" == room:
                return actor
        return None

    def join(self, actor: Actor, players: int, list_seconds: float | None = None) -> int:
        """Let players in, who may come by a list that is so old; how many found a seat."""
        game = actor.game
        before = {id(match): match.players for match in game.matches}
        seated = game.join(players, self._world.time.at)
        actor.guests = [guest for guest in actor.guests if guest.plays(game)]
        if list_seconds is not None:
            grown = [each for each in game.matches if each.players != before.get(id(each), 0)]
            actor.guests += [Guest(match, list_seconds) for match in grown]
        actor.moved.set()
        return seated

    def end_all(self) -> None:
        """Let everybody go home, who hangs go on, and liars speak the truth from now on."""
        for actor in self.playing():
            game = actor.game
            game.nature = replace(
                game.nature,
                lie=Lie.NONE,
                crash_after_seconds=None,
                hang_after_seconds=None,
                gives_up_after=None,
            )
            game.recover(self._world.time.at)
            game.insist()
            game.empty(self._world.time.at)
            if actor.tongue is not None:
                actor.tongue.is_calm = True
            actor.moved.set()

    def close(self) -> None:
        """End every task."""
        for actor in self.actors.values():
            if actor.task is not None:
                actor.task.cancel()

    async def _play(self, actor: Actor) -> None:
        game = actor.game
        while not game.over:
            actor.moved.clear()
            due = game.due
            wait = None if due is None else max(0.0, due - self._world.time.at)
            if wait is None or wait > 0:
                with suppress(TimeoutError):
                    async with asyncio.timeout(wait):
                        await actor.moved.wait()
            said = game.step(self._world.time.at)
            if actor.tongue is not None:
                usual, said = len(said), actor.tongue.says(said, self._world.time.at)
                self.beside += len(said) - usual
            for saying in said:
                status = await self._say(actor, saying)
                actor.statuses.append((int(elapsed()), saying.players, status))
                game.answered(saying, status, self._world.time.at)
                if actor.tongue is not None:
                    actor.tongue.answered(saying, status)
        where = game.where
        self._world.sandbox.notice(where.namespace, where.room)
        self._changed()

    def handed(self, actor: Actor, saying: Saying, said_at: float) -> None:
        """What a room said then has come to us; what becomes of it is not known."""
        actor.gave_up |= tells_of_failure(saying)
        if saying.players is not None:
            actor.coming_at = 0.0
        if saying.players == 0:
            actor.unsaid, actor.handed_at, actor.said_at = True, elapsed(), said_at

    def turned_away(self, actor: Actor, saying: Saying, service: Service) -> None:
        """Somebody answered 503 to what a room said."""
        where = actor.game.where
        if saying.path == COUNT:
            known = service.view.room(where.namespace, where.room) is not None
            actor.noted_by = service if known and saying.players else None

    def heard(self, actor: Actor, saying: Saying) -> None:
        """We answered 200 to what a room said."""
        actor.heard_at = elapsed()
        if tells_of_a_match(saying) and not actor.coming_at:
            actor.coming_at = elapsed()
        if saying.players is not None:
            actor.told, actor.noted_by = (saying.players, elapsed()), None
            actor.unsaid = saying.players == 0
