"""What waits for one target, and its delivery: a target that is dead delays nobody but itself."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from reconciler.model.errors import PortError, Unavailable
from reconciler.model.notifications import Trouble
from reconciler.ports import Clock
from reconciler.service.retries import Retries

MOST_WAITING = 20
PACE_SECONDS = 1.0
"""Between messages: more than one a second is too many for Slack."""
FIRST_SECONDS = 1.0
LONGEST_SECONDS = 300.0

Result = Literal["sent", "failed", "given-up", "left-out"]

log = logging.getLogger("gamekeeper")


class Counting(Protocol):
    """Who counts deliveries: metrics."""

    def delivered(self, kind: str, result: Result) -> None:
        """A message was sent, an attempt failed, or it was given up or left out."""


@dataclass(frozen=True, slots=True)
class Item:
    """One message. `send` delivers it and is told how many older ones were left out."""

    place: str
    identity: str
    send: Callable[[int], Awaitable[None]]
    asked_at: float = 0.0


@dataclass(frozen=True, slots=True)
class Rules:
    """How a target is told. With `newest_only` an older message ends when a newer one waits."""

    name: str
    kind: str
    give_up_seconds: float
    newest_only: bool = False


class Line:
    """One target's messages, one after another; `told` hears of each that needs no more telling."""

    def __init__(
        self,
        rules: Rules,
        clock: Clock,
        may_send: Callable[[], bool],
        told: Callable[[Item], None],
        counting: Counting,
    ) -> None:
        self.rules = rules
        self.trouble: Trouble | None = None
        self._gave_up = 0
        self._clock = clock
        self._may_send = may_send
        self._told = told
        self._counting = counting
        self._waiting: deque[Item] = deque()
        self._sending: Item | None = None
        self._left_out = 0
        self._new = asyncio.Event()

    def awaits(self, place: str, identity: str) -> bool:
        """Whether this waits already, or is being sent."""
        there = [*self._waiting, *([self._sending] if self._sending else [])]
        return any((item.place, item.identity) == (place, identity) for item in there)

    def put(self, item: Item) -> None:
        """Let a message wait; of too many the oldest is left out, and counted in the next one."""
        if self.rules.newest_only:
            self._waiting.clear()
        elif len(self._waiting) >= MOST_WAITING:
            self._told(self._waiting.popleft())
            self._left_out += 1
            self._counting.delivered(self.rules.kind, "left-out")
        now = asyncio.get_running_loop().time()
        self._waiting.append(replace(item, asked_at=now))
        self._new.set()

    async def run(self) -> None:
        """Deliver until cancelled."""
        while True:
            while not self._waiting:
                self._new.clear()
                await self._new.wait()
            self._sending = self._waiting.popleft()
            await self._deliver(self._sending)
            self._sending = None
            await self._clock.sleep(PACE_SECONDS)

    async def _deliver(self, item: Item) -> None:
        retries, kind = Retries(FIRST_SECONDS, LONGEST_SECONDS), self.rules.kind
        while self._may_send() and not (self.rules.newest_only and self._waiting):
            left_out = self._left_out
            try:
                await item.send(left_out)
            except PortError as error:
                self._failed(str(error))
                asked = error.retry_after_seconds if isinstance(error, Unavailable) else None
            except Exception as error:
                log.exception("a defect in telling %s", self.rules.name)
                self._failed(f"a defect of Gamekeeper: {type(error).__name__}")
                asked = None
            else:
                self._left_out -= left_out
                self._counting.delivered(kind, "sent")
                self._reached()
                self._told(item)
                return
            if asyncio.get_running_loop().time() - item.asked_at > self.rules.give_up_seconds:
                self._give_up(item)
                return
            await self._clock.sleep(retries.failed(asked or 0.0))

    def _failed(self, why: str) -> None:
        self._counting.delivered(self.rules.kind, "failed")
        if self.trouble is None or self.trouble.error != why:
            log.warning("%s is not told: %s", self.rules.name, why)
        since = self.trouble.since if self.trouble else self._clock.now()
        self.trouble = Trouble(self.rules.name, since, why, self._gave_up)

    def _reached(self) -> None:
        if self.trouble is not None:
            log.info("%s is told again", self.rules.name)
        self.trouble, self._gave_up = None, 0

    def _give_up(self, item: Item) -> None:
        self._gave_up += 1
        self._counting.delivered(self.rules.kind, "given-up")
        log.error("%s was never told: %s", self.rules.name, item.place)
        if self.trouble is not None:
            self.trouble = replace(self.trouble, gave_up=self._gave_up)
        self._told(item)
