"""A crowd of games, each with a connection that it keeps, which finds who leads as a Service would.

A game that is answered 503, or hung up on, asks at the next address: a Service leads new
connections to whoever has the label, and leaves standing ones where they are. One that is told
Retry-After waits so long.
"""

import asyncio
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

AGAIN_SECONDS = 0.5
ANSWER_SECONDS = 10.0
GAMES_OF_A_NODE = 200

Ping = Callable[[bool], bytes]
"""The request by which a room says whether somebody plays there."""


@dataclass(slots=True, eq=False)
class Game:
    """One room's process. `heard_at` is when it was answered 200 last (time.monotonic)."""

    name: str
    ping: Ping
    busy: bool = False
    heard_at: float = 0.0
    told: int = 0
    """The 404 or 410 by which it was told that it is gone; 0 while it is not."""


@dataclass
class Crowd:
    """All of them. `answers` counts statuses and what befell connections."""

    addresses: Sequence[str]
    games: Mapping[str, Game]
    every_seconds: float
    answers: Counter[str] = field(default_factory=Counter)
    _place: int = 0

    def heard_since(self, at: float) -> float:
        """Return which share of the rooms that are not gone was answered 200 since then."""
        there = [game for game in self.games.values() if not game.told]
        return sum(game.heard_at > at for game in there) / len(there)

    def gone(self) -> list[Game]:
        """Return the rooms that were told to stop."""
        return [game for game in self.games.values() if game.told]

    async def play(self) -> None:
        """Ping until cancelled."""
        async with asyncio.TaskGroup() as group:
            for number, game in enumerate(self.games.values()):
                group.create_task(self._play(game, number))

    async def _play(self, game: Game, number: int) -> None:
        line = _Line(number)
        await asyncio.sleep(random.uniform(0.0, self.every_seconds))
        try:
            while not game.told:
                began = time.monotonic()
                place = self._place
                try:
                    async with asyncio.timeout(ANSWER_SECONDS):
                        status, again = await line.ask(self.addresses[place], game.ping(game.busy))
                except (OSError, asyncio.IncompleteReadError) as error:
                    line.hang_up()
                    self.answers[type(error).__name__] += 1
                    await self._elsewhere(place, AGAIN_SECONDS)
                    continue
                self.answers[str(status)] += 1
                if status == 200:
                    game.heard_at = time.monotonic()
                    await asyncio.sleep(max(0.0, self.every_seconds - (game.heard_at - began)))
                elif status in (404, 410):
                    game.told = status
                else:
                    await self._elsewhere(place, again)
        finally:
            line.hang_up()

    async def _elsewhere(self, place: int, seconds: float) -> None:
        """Let everybody ask at the next address, unless somebody moved on already."""
        await asyncio.sleep(seconds)
        if self._place == place:
            self._place = (place + 1) % len(self.addresses)


class _Line:
    """One kept connection, opened where it is needed."""

    def __init__(self, number: int) -> None:
        # Rooms of one node share an address.
        self._from = f"127.0.1.{1 + number // GAMES_OF_A_NODE}", 0
        self._to = ""
        self._ends: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, address: str, request: bytes) -> tuple[int, float]:
        """Send a request; return the status, and after how many seconds to ask again if refused.

        Raises OSError, IncompleteReadError.
        """
        if self._ends is None:
            self._to = address
            host, _, port = address.rpartition(":")
            self._ends = await asyncio.open_connection(host, int(port), local_addr=self._from)
        reader, writer = self._ends
        writer.write(request)
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        lines = head.lower().split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines[1:] if line)
        await reader.readexactly(int(headers["content-length"]))
        if headers.get("connection") == "close":
            self.hang_up()
        return int(head.split(" ", 2)[1]), float(headers.get("retry-after", AGAIN_SECONDS))

    def hang_up(self) -> None:
        """Close it."""
        if self._ends is not None:
            self._ends[1].transport.abort()
        self._ends = None


@contextmanager
def playing(crowd: Crowd) -> Iterator[None]:
    """Let a crowd play beside whatever else is done meanwhile."""
    loop = asyncio.new_event_loop()
    games = loop.create_task(crowd.play())

    def run() -> None:
        asyncio.set_event_loop(loop)
        try:
            loop.run_until_complete(games)
        except asyncio.CancelledError:
            return
        finally:
            loop.close()

    thread = threading.Thread(target=run, name="crowd")
    thread.start()
    try:
        yield
    finally:
        if thread.is_alive():
            loop.call_soon_threadsafe(games.cancel)
        thread.join()
