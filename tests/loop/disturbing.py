"""What goes wrong beyond one request, by chance: one list for every house that is disturbed."""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass

from tests.loop.service import Theatre

Span = tuple[float, float]
"""From so many seconds to so many."""


@dataclass(frozen=True)
class Disturbance:
    """Which mishaps happen, one after another, how far apart, and for how long."""

    mishaps: Sequence[str]
    apart: Span
    git: Span
    server: Span

    async def go_on(self, there: Theatre, chance: random.Random) -> None:
        """Let things go wrong now and then, until cancelled."""
        number = 0
        while True:
            await asyncio.sleep(chance.uniform(*self.apart))
            number += 1
            await self.happen(chance.choice(self.mishaps), there, chance, f"process-{number}")

    async def happen(self, what: str, there: Theatre, chance: random.Random, name: str) -> None:
        """Let one thing go wrong; a process that is killed is followed by one of that `name`."""
        match what:
            case "history":
                there.world.sandbox.expire_history()
            case "git":
                there.world.host.down()
                await asyncio.sleep(chance.uniform(*self.git))
                there.world.host.heal()
            case "server":
                there.services[-1].transport.down = "the server is away"
                await asyncio.sleep(chance.uniform(*self.server))
                there.services[-1].transport.down = ""
            case "process":
                await there.services[-1].kill()
                there.start(name)
            case _:
                raise AssertionError(f"nobody knows how {what} goes wrong")
