"""Asks others beside the loop what policies want to know, and keeps what was told last.

A policy names what it asks each time that it is looked at; what it names no longer is asked no
longer. Nobody waits for an answer: it wakes the workload when it says something new. Only who
leads looks at workloads, so nobody else asks.
"""

import asyncio
import logging
import uuid
from collections.abc import Callable, Iterable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from typing import Any, Protocol
from weakref import WeakValueDictionary

from reconciler.core.egress import place_of
from reconciler.core.policies import reviews
from reconciler.core.policies.policy import Ask
from reconciler.core.policies.signals import number_doubt
from reconciler.model.refs import WorkloadKey
from reconciler.model.scaling import Bounds, Load, Signal
from reconciler.outside_ports import Outside
from reconciler.ports import Clock

MOST_AT_ONCE = 64
MOST_AT_ONCE_A_HOST = 8
"""A host that answers nobody holds up those who ask it, and no others."""
NOT_LEADING_SECONDS = 1.0

log = logging.getLogger("gamekeeper")


class SignalObserver(Protocol):
    """Who hears of answers: logs, metrics."""

    def told(self, key: WorkloadKey, ask: Ask, signal: Signal) -> None:
        """An answer came, or in its `trouble` why none did."""


@dataclass(slots=True, eq=False)
class _Line:
    """One thing that one workload asks, and what it is asked with."""

    key: WorkloadKey
    ask: Ask
    turn: asyncio.Semaphore
    load: Load
    bounds: Bounds
    signal: Signal | None = None
    work: "asyncio.Task[None] | None" = field(default=None, repr=False)


class Signals:
    """What is known of others, by workload and by the name under which it was asked for."""

    def __init__(self, outside: Outside, clock: Clock, observer: SignalObserver) -> None:
        """Ask by `outside`, which is closed when `run` ends."""
        self._outside = outside
        self._clock = clock
        self._observer = observer
        self._lines: dict[WorkloadKey, dict[str, _Line]] = {}
        self._turns: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        self._any_turn = asyncio.Semaphore(MOST_AT_ONCE)
        self._new = asyncio.Event()

    def of(
        self, key: WorkloadKey, asks: Iterable[Ask], load: Load, bounds: Bounds
    ) -> Mapping[str, Signal]:
        """Return what was told last of all that a workload asks; from now on it asks just this."""
        wanted = _by_name(asks)
        lines = self._lines.setdefault(key, {}) if wanted else self._lines.get(key, {})
        for name in [name for name, line in lines.items() if line.ask != wanted.get(name)]:
            _end(lines.pop(name))
        for name, ask in wanted.items():
            line = lines.get(name)
            if line is None:
                lines[name] = _Line(key, ask, self._turn_of(ask), load, bounds)
                self._new.set()
            else:
                line.load, line.bounds = load, bounds
        return {name: line.signal for name, line in lines.items() if line.signal is not None}

    def forget(self, key: WorkloadKey | None = None) -> None:
        """Ask nothing more for one workload, or for all of them: another process leads."""
        for one in [key] if key is not None else list(self._lines):
            for line in self._lines.pop(one, {}).values():
                _end(line)

    async def run(
        self, may_ask: Callable[[], bool], changed: Callable[[Iterable[WorkloadKey]], None]
    ) -> None:
        """Ask until cancelled, while `may_ask`; `changed` is told who has a new answer."""
        try:
            while True:
                await self._new.wait()
                self._new.clear()
                for line in [one for lines in self._lines.values() for one in lines.values()]:
                    if line.work is None:
                        work = self._follow(line, may_ask, changed)
                        line.work = asyncio.create_task(work, name=f"ask for {line.key}")
        finally:
            works = [one.work for lines in self._lines.values() for one in lines.values()]
            self.forget()
            await asyncio.gather(*filter(None, works), return_exceptions=True)
            await self._outside.close()

    async def _follow(
        self,
        line: _Line,
        may_ask: Callable[[], bool],
        changed: Callable[[Iterable[WorkloadKey]], None],
    ) -> None:
        while True:
            if not may_ask():
                await self._clock.sleep(NOT_LEADING_SECONDS)
                continue
            async with AsyncExitStack() as turns:
                # The host's own turn first: who waits for a slow one takes nobody else's.
                await turns.enter_async_context(line.turn)
                await turns.enter_async_context(self._any_turn)
                told = await self._asked(line)
            before, line.signal = line.signal, _newest(line.signal, told)
            try:
                self._observer.told(line.key, line.ask, told)
                if before is None or replace(before, at=0.0) != replace(line.signal, at=0.0):
                    changed((line.key,))
            except Exception:
                # Who fails to hear of one answer hears of the next.
                log.exception("a defect in telling of an answer", extra=_of(line.key))
            await self._clock.sleep(line.ask.every_seconds)

    async def _asked(self, line: _Line) -> Signal:
        now = self._clock.now()
        try:
            return await self._answered(line, now)
        except Exception as error:
            log.exception("a defect in asking", extra=_of(line.key))
            return Signal(now, trouble=f"asking failed: {type(error).__name__}")

    async def _answered(self, line: _Line, now: float) -> Signal:
        ask = line.ask
        if ask.kind == "metric":
            signal = await self._outside.query(ask.what, now)
            return _taken(signal, signal.value, number_doubt(signal))
        if ask.form == "agones":
            return await self._reviewed_as_agones(line, now)
        body = reviews.request_of(line.key, line.load, line.bounds)
        signal = await self._outside.review(ask.what, body, now)
        kept = reviews.pertinent(signal.value)
        count, why = reviews.answer_of(kept)
        return _taken(signal, kept, why if count is None else "")

    async def _reviewed_as_agones(self, line: _Line, now: float) -> Signal:
        uid = str(uuid.uuid4())
        body = reviews.agones_request_of(line.key, line.load, uid)
        signal = await self._outside.review(line.ask.what, body, now)
        kept = reviews.agones_pertinent(signal.value)
        count, why = reviews.agones_answer_of(kept, line.load.replicas)
        doubt = reviews.agones_doubt(signal.value, uid) or (why if count is None else "")
        return _taken(signal, kept, doubt)

    def _turn_of(self, ask: Ask) -> asyncio.Semaphore:
        place = place_of(ask.what) if ask.kind == "webhook" else None
        host = place.origin.written if place else ask.kind
        turn = self._turns.get(host)
        if turn is None:
            turn = self._turns[host] = asyncio.Semaphore(MOST_AT_ONCE_A_HOST)
        return turn


def _by_name(asks: Iterable[Ask]) -> dict[str, Ask]:
    """Return what is asked under each name, as often as the most impatient wants it."""
    found: dict[str, Ask] = {}
    for ask in asks:
        known = found.get(ask.name)
        if known is None or ask.every_seconds < known.every_seconds:
            found[ask.name] = ask
    return found


def _taken(signal: Signal, kept: Any, doubt: str) -> Signal:
    """Return what is kept of an answer; one that no room can be counted by is none."""
    if signal.trouble:
        return signal
    return Signal(signal.at, trouble=doubt) if doubt else replace(signal, value=kept)


def _newest(before: Signal | None, told: Signal) -> Signal:
    """Return what is known now: an answer stays until a newer one, with the trouble since."""
    if before is None or before.value is None or not told.trouble:
        return told
    return replace(before, trouble=told.trouble)


def _end(line: _Line) -> None:
    if line.work is not None:
        line.work.cancel()


def _of(key: WorkloadKey) -> dict[str, dict[str, str]]:
    return {"fields": {"workload": str(key)}}
