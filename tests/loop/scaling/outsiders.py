"""Others whom policies ask, in a process: they answer as a test says, and take their time."""

import asyncio
from collections.abc import Callable
from typing import Any

from reconciler.model.refs import Json, WorkloadKey
from reconciler.model.scaling import Signal
from reconciler.service.signals import Signals
from tests.loop.scaling.house import ScalingService, Scene
from tests.loop.virtual_time import elapsed


class Outsiders:
    """The port `Outside`; `tells` makes of a question and a time what is answered."""

    def __init__(self) -> None:
        self.tells: Callable[[Any, float], Signal] = lambda asked, now: Signal(
            now, trouble="silent"
        )
        self.seconds = 0.05
        self.asked: list[tuple[float, str]] = []
        self.bodies: list[Json] = []
        self.at_once = 0
        self.most_at_once: dict[str, int] = {}
        self.closed = False

    async def review(self, url: str, body: Json, now: float) -> Signal:
        """Answer a webhook."""
        self.bodies.append(body)
        return await self._answer(url, body, now)

    async def query(self, query: str, now: float) -> Signal:
        """Answer a query."""
        return await self._answer(query, query, now)

    async def close(self) -> None:
        """Be asked no more."""
        self.closed = True

    async def _answer(self, what: str, asked: Any, now: float) -> Signal:
        assert not self.closed
        self.asked.append((elapsed(), what))
        self.at_once += 1
        self.most_at_once[what] = max(self.at_once, self.most_at_once.get(what, 0))
        try:
            await asyncio.sleep(self.seconds)
        finally:
            self.at_once -= 1
        return self.tells(asked, now)


class Silence:
    """Hears what is told of signals, and keeps it."""

    def __init__(self) -> None:
        self.heard: list[Signal] = []

    def told(self, key: WorkloadKey, ask: Any, signal: Signal) -> None:
        """An answer came."""
        self.heard.append(signal)


class AskingService(ScalingService):
    """A process whose policies ask others."""

    def _signals(self) -> Signals | None:
        self.outsiders = Outsiders()
        self.outsiders.tells = lambda asked, now: self.told(asked, now)
        return Signals(self.outsiders, self.clock, Silence())

    def told(self, asked: Any, now: float) -> Signal:
        """Answer as the scene says."""
        return self.scene.tells(asked, now)

    scene: "AskingScene"


class AskingScene(Scene):
    """A scene with others to ask; `tells` may be changed at any time."""

    tells: Callable[[Any, float], Signal]

    def _process(self, name: str) -> AskingService:
        service = AskingService(self.world, name, self.weather)
        service.scene = self
        return service

    def counts(self) -> list[int]:
        """All counts that were decided, in order."""
        return [count for ledger in self.ledgers for _, count in ledger.decisions]


def number(value: float) -> Callable[[Any, float], Signal]:
    """Tell a number, of now."""
    return lambda asked, now: Signal(now, value)


def lost(why: str = "Prometheus did not answer within 5 s") -> Callable[[Any, float], Signal]:
    """Tell nothing."""
    return lambda asked, now: Signal(now, trouble=why)
