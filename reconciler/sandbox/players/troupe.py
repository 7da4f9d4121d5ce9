"""Simulated games in the pods of a sandbox, in real time: each is a task that says how it is."""

from __future__ import annotations

import asyncio
import random
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from reconciler.model import labels
from reconciler.sandbox import clock
from reconciler.sandbox.players.games import Game
from reconciler.sandbox.players.natures import Voice, drawn
from reconciler.sandbox.players.sayings import Where
from reconciler.sandbox.players.wire import Wire
from reconciler.sandbox.requests import Json

_LINES = 200
_KILLED = 137


@dataclass(slots=True, eq=False)
class _Room:
    """One pod's game, and what it printed."""

    game: Game
    lines: deque[tuple[str, str]] = field(default_factory=lambda: deque(maxlen=_LINES))
    moved: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None

    def note(self, text: str) -> None:
        self.lines.append((clock.stamp(time.time()), text))


class Troupe:
    """A `Runtime` of simulated games, until it is closed.

    `odd` is the share of rooms, 0 to 1, that crash, hang or lie one day. `ended` is called with
    namespace and name of a pod whose game has ended by itself.
    """

    def __init__(
        self,
        wire: Wire,
        ended: Callable[[str, str], None],
        chance: random.Random,
        odd: float = 0.0,
    ) -> None:
        self._wire = wire
        self._ended = ended
        self._chance = chance
        self._odd = odd
        self._rooms: dict[str, _Room] = {}

    async def close(self) -> None:
        """End every game."""
        tasks = [room.task for room in self._rooms.values() if room.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    @property
    def players(self) -> int:
        """How many play now."""
        return sum(room.game.players for room in self._playing())

    def join(self, room: str, players: int) -> int:
        """Send players to a room, as `namespace/name`; return how many found a seat."""
        for each in self._playing():
            if f"{each.game.where.namespace}/{each.game.where.room}" == room:
                seated = each.game.join(players, time.time())
                each.moved.set()
                return seated
        return 0

    def start(self, pod: Json, now: float) -> None:
        """Begin a game in a pod."""
        metadata = pod["metadata"]
        namespace, name = metadata["namespace"], metadata["name"]
        workload = (metadata.get("labels") or {}).get(labels.WORKLOAD)
        where = Where(workload or name.rpartition("-")[0], namespace, name)
        others = [each.game.where for each in self._playing() if each.game.where != where]
        neighbour = self._chance.choice(others) if others else None
        # A Fleet's games speak as those of the collections, others as Maestro's.
        kind = (metadata.get("labels") or {}).get(labels.KIND)
        voice = Voice.COLLECTIONS if kind == "Fleet" else Voice.MAESTRO
        nature = drawn(self._chance, voice, self._odd)
        game = Game(where, nature, self._chance, now, neighbour)
        self._rooms[metadata["uid"]] = room = _Room(game)
        room.task = asyncio.create_task(self._live(room), name=f"game {name}")

    def runs(self, uid: str) -> bool:
        """Tell whether its game is played."""
        room = self._rooms.get(uid)
        return room is not None and not room.game.over

    def ended(self, uid: str) -> int | None:
        """Tell the exit code of a game that is over."""
        room = self._rooms.get(uid)
        return None if room is None else room.game.exit_code

    def stop(self, uid: str) -> None:
        """Tell a game to end."""
        room = self._rooms.get(uid)
        if room is not None:
            room.game.stop(time.time())
            room.moved.set()

    def kill(self, uid: str) -> None:
        """End a game at once."""
        room = self._rooms.get(uid)
        if room is None:
            return
        if room.task is not None:
            room.task.cancel()
        if not room.game.over:
            room.game.exit_code = _KILLED

    def forget(self, uid: str) -> None:
        """Forget a game whose pod is no more."""
        self.kill(uid)
        self._rooms.pop(uid, None)

    def printed(self, uid: str, container: str) -> Sequence[tuple[str, str]]:
        """List what happened in it."""
        room = self._rooms.get(uid)
        return () if room is None else list(room.lines)

    def _playing(self) -> Iterator[_Room]:
        return (room for room in list(self._rooms.values()) if not room.game.over)

    async def _live(self, room: _Room) -> None:
        """Play a game to its end, saying what it has to say."""
        game = room.game
        before = 0
        while not game.over:
            room.moved.clear()
            due, now = game.due, time.time()
            if due is None or due > now:
                with suppress(TimeoutError):
                    async with asyncio.timeout(None if due is None else due - now):
                        await room.moved.wait()
            for saying in game.step(time.time()):
                status = await self._wire.say(saying)
                game.answered(saying, status, time.time())
            if game.players != before:
                room.note(f"{game.players} players")
                before = game.players
        room.note(f"ends with {game.exit_code}")
        self._ended(game.where.namespace, game.where.room)
