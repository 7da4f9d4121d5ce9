"""The demo's players: matches that look for a room, and games that say who plays in theirs."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from reconciler.cli.demo_stage import Stage, is_ready
from reconciler.model import labels
from reconciler.model.errors import PortError
from reconciler.model.refs import Json
from reconciler.model.rooms import Mark

if TYPE_CHECKING:
    import aiohttp

PING_SECONDS = 0.25
ARRIVAL_SECONDS = 1.0
ANSWER_SECONDS = 5.0
PLAYERS = 8
"""In each match."""


class Players:
    """People who want to play in the rooms of one namespace; each room speaks at `url` for itself.

    `matches` is how many want to be played now, `waited` whether one ever found no room.
    """

    def __init__(self, stage: Stage, url: str, namespace: str) -> None:
        self._stage = stage
        self._url = f"{url}/v1/rooms/{namespace}"
        self._namespace = namespace
        self._playing: set[str] = set()
        self.matches = 0
        self.waited = False

    async def arrive(self, matches: int) -> None:
        """Let so many more matches come, one after the other."""
        for _ in range(matches):
            self.matches += 1
            await asyncio.sleep(ARRIVAL_SECONDS)

    async def run(self) -> None:
        """Play until cancelled."""
        import aiohttp  # late: `demo --help` asks nobody

        timeout = aiohttp.ClientTimeout(total=ANSWER_SECONDS)
        async with aiohttp.ClientSession(timeout=timeout) as session:
            while True:
                with suppress(PortError, aiohttp.ClientError, TimeoutError):
                    rooms = await self._stage.ready_rooms(self._namespace)
                    self._seat(rooms)
                    await asyncio.gather(*(self._say(session, room) for room in rooms))
                await asyncio.sleep(PING_SECONDS)

    def _seat(self, rooms: list[Json]) -> None:
        """Give every match that waits a room that is ready and does not leave."""
        self._playing &= {_name(room) for room in rooms}
        free = [_name(room) for room in rooms if is_free(room)]
        free = [name for name in free if name not in self._playing]
        while len(self._playing) < self.matches and free:
            self._playing.add(free.pop(0))
        self.waited = self.waited or len(self._playing) < self.matches

    async def _say(self, session: aiohttp.ClientSession, room: Json) -> None:
        plays = _name(room) in self._playing
        report = {"state": "occupied" if plays else "ready", "players": PLAYERS if plays else 0}
        async with session.put(f"{self._url}/{_name(room)}/report", json=report):
            """What is answered matters to games that are asked to leave."""


def _name(room: Json) -> str:
    return str(room["metadata"]["name"])


def is_free(room: Json) -> bool:
    """Whether a match may be sent to a room: it is ready, said so, and does not leave."""
    marks = room["metadata"].get("labels") or {}
    return is_ready(room) and marks.get(labels.STATE) == Mark.IDLE
