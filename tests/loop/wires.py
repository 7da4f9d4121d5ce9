"""The sandbox as a transport with watches: open wires, and what goes wrong on them, by chance.

All chance is a `random.Random`: the same seed is the same mishaps, at the same requests.
"""

import asyncio
import json
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from reconciler.adapters.kubernetes.calls import Call
from reconciler.adapters.kubernetes.fence import WRITES
from reconciler.adapters.kubernetes.refusals import refusal
from reconciler.model.checks import unchecked
from reconciler.model.errors import Unanswered, Unavailable
from reconciler.model.refs import Json
from reconciler.sandbox.cluster import Sandbox
from reconciler.sandbox.faults import Fault
from reconciler.sandbox.requests import Request, Response, Stream
from tests.loop.failures import (
    APPLIED,
    CUT_SHORT,
    GONE,
    LATE,
    LATE_SECONDS,
    LONG_SECONDS,
    NOTHING_THERE,
    REFUSED,
    STALLS,
    Failure,
    cut_short,
    failures_of,
    no_answer,
)
from tests.loop.injecting import injected
from tests.loop.transport import SandboxTransport

SILENCE_SECONDS = 75.0
OLD = frozenset({"Pod", "ConfigMap", "Lease"})
TOO_OLD = (
    b'{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","message":"old"}}\n'
)


@dataclass
class Weather:
    """What goes wrong: probabilities by request and by wire. `calm()` ends it."""

    chance: random.Random
    fails: float = 0.0
    """Of a request: refused with an error, or carried out with no answer."""
    slow: float = 0.0
    """Of a request: its answer takes up to 20 s."""
    wires: float = 0.0
    """Of a watch: one mishap of `WIRES`."""
    old: float = 0.0
    """Of a get or list of `OLD`: it tells what was there up to 34 revisions ago."""
    every: bool = False
    """Whether a request fails in any way that there is, or with 429, 500 or 503 alone."""
    closed: dict[str, Failure] = field(default_factory=dict)
    """How rooms of these namespaces are refused."""
    injected: dict[str, Iterator[str]] = field(default_factory=dict)
    """What is injected into each room that is made in these namespaces: of `INJECTORS`."""
    met: Counter[str] = field(default_factory=Counter)

    def calm(self) -> None:
        """Let nothing go wrong any more; wires that are open keep their mishap."""
        self.fails = self.slow = self.wires = self.old = 0.0
        self.closed.clear()
        self.injected.clear()

    def meets(self, what: str, probability: float) -> bool:
        """Whether something goes wrong now."""
        if probability and self.chance.random() < probability:
            self.met[what] += 1
            return True
        return False


class Wire:
    """A watch's bytes, as `aiohttp.StreamReader` gives them."""

    def __init__(self, stream: Stream, now: Callable[[], float], mishap: str, at: int) -> None:
        self._stream = stream
        self._now = now
        self._mishap = mishap
        self._left = at
        self._seen: list[bytes] = []
        self._met: list[bytes] = []
        self._held: list[bytes] = []
        self._is_cut = False
        self._ready = asyncio.Event()
        stream.wake = self._ready.set

    async def readany(self) -> bytes:
        """Return what has come, b"" at the end. Raises Unavailable as the real transport."""
        while True:
            if self._is_cut:
                raise Unavailable("the connection was reset")
            if self._met:
                met, self._met = self._met, []
                spoilt = b"".join(await self._spoilt(met))
                if spoilt or self._mishap == "ends":
                    return spoilt
            self._ready.clear()
            lines = self._stream.take(self._now()).splitlines(keepends=True)
            well, self._met = lines[: self._left], lines[self._left :]
            self._left -= len(well)
            self._seen += well
            if well:
                return b"".join(well)
            if not self._met:
                if self._stream.ended:
                    return b""
                await self._wait()

    def cut(self) -> None:
        """Break it here and now."""
        self._is_cut = True
        self._ready.set()

    async def _wait(self) -> None:
        due = self._stream.due
        patience = SILENCE_SECONDS
        if due is not None:
            patience = min(patience, max(0.0, due - self._now()))
        try:
            async with asyncio.timeout(patience):
                await self._ready.wait()
        except TimeoutError:
            if patience == SILENCE_SECONDS:
                raise Unavailable("the server said nothing for 75 s") from None

    async def _spoilt(self, lines: list[bytes]) -> list[bytes]:
        """Return what arrives instead of some lines."""
        match self._mishap:
            case "falls silent":
                await asyncio.sleep(SILENCE_SECONDS)
                raise Unavailable("the server said nothing for 75 s")
            case "is cut":
                raise Unavailable("the connection was reset")
            case "ends":
                return []
            case "breaks a line":
                return [lines[0][: len(lines[0]) // 2], b"\n"]
            case "is too old":
                return [TOO_OLD]
            case "repeats":
                self._seen += lines
                return [*self._seen[-20:], *lines]
            case "is late":
                await asyncio.sleep(20.0)
                self._left = 10
            case "loses some":
                self._left = 10
                return lines[3:]
            case "swaps two":
                return self._swapped(lines)
        return lines

    def _swapped(self, lines: list[bytes]) -> list[bytes]:
        """Return them with the first two the other way round; one alone waits for the next."""
        lines = [*self._held, *lines]
        self._held = lines if len(lines) == 1 else []
        if self._held:
            return []
        self._left = 10
        return [lines[1], lines[0], *lines[2:]]


WIRES = (
    "falls silent",
    "is cut",
    "ends",
    "breaks a line",
    "is too old",
    "repeats",
    "is late",
    "loses some",
    "swaps two",
)


class WatchedTransport(SandboxTransport):
    """Answers calls and opens wires, in the weather that there is."""

    def __init__(self, sandbox: Sandbox, now: Callable[[], float], weather: Weather) -> None:
        super().__init__(sandbox, now)
        self.weather = weather
        self.wires: list[Wire] = []
        """Those that are open."""
        self.down = ""
        """Why nothing is answered, "" when it is."""
        self.changed: Callable[[], None] = lambda: None
        self.refuse: Callable[[Call], None] = lambda call: None
        """Called before each request, and raises where it is to be refused."""
        self.sends: Callable[[Call], None] = lambda call: None
        """Told of each request that is on its way: nothing holds it back any more."""
        self._late: list[asyncio.Task[None]] = []

    async def send(self, call: Call) -> tuple[int, Json]:
        """Answer one call; raises the errors of ports."""
        weather = self.weather
        # What comes between the check and the server is nobody's to know.
        call.check()
        call = replace(call, check=unchecked)
        self.sends(call)
        await asyncio.sleep(0.002)
        if weather.meets("slow answer", weather.slow):
            await asyncio.sleep(weather.chance.uniform(0.1, 20.0))
        self._check(call)
        if weather.meets("refused request", weather.fails):
            if weather.every:
                return await self._failed(call, weather.chance.choice(failures_of(call)))
            raise refusal(call.what, weather.chance.choice((429, 500, 503)), {}, None)
        lost = call.verb in WRITES and weather.meets("lost answer", weather.fails)
        answer = await super().send(call)
        self.changed()
        if lost:
            raise Unanswered(f"{call.what}: the connection was lost")
        return answer

    async def _failed(self, call: Call, way: str) -> tuple[int, Json]:
        """Let a request fail in one way; raises the errors of ports."""
        self.weather.met[f"failure: {way}"] += 1
        if way == GONE:
            return 404, NOTHING_THERE  # the client says what that means, and to whom
        if way == LATE:
            self._late.append(asyncio.create_task(self._carry_out_late(call)))
        if way in (STALLS, LATE):
            await asyncio.sleep(LONG_SECONDS)
            raise no_answer(call)
        if way in REFUSED:
            raise REFUSED[way](call)
        await super().send(call)
        self.changed()
        raise cut_short(call) if way == CUT_SHORT else APPLIED[way](call)

    async def _carry_out_late(self, call: Call) -> None:
        """Let the server carry out a request when nobody waits for it any more."""
        await asyncio.sleep(LATE_SECONDS)
        self._numbered(call)
        self.changed()

    def deliver(self, call: Call) -> Response:
        """Let a server carry out a call, or answer from what it knew a while ago."""
        weather, faults = self.weather, self.sandbox.faults
        injectors = weather.injected.get(namespace_of(call)) if weather.injected else None
        if injectors is not None and (call.kind, call.verb) == ("Pod", "create"):
            injector = next(injectors)
            weather.met[f"injected: {injector}"] += 1
            call = replace(call, body=injected(call, injector))
        reads = call.verb in ("get", "list") and call.kind in OLD
        if not reads or not weather.meets("old read", weather.old):
            return super().deliver(call)
        faults.plant(Fault(stale_revisions=weather.chance.randint(1, 34)))
        try:
            return super().deliver(call)
        finally:
            faults.clear()

    def _check(self, call: Call) -> None:
        if self.down:
            raise Unavailable(f"{call.what}: {self.down}")
        self.refuse(call)
        if self.weather.closed and (call.kind, call.verb) == ("Pod", "create"):
            refused = self.weather.closed.get(namespace_of(call))
            if refused is not None:
                self.weather.met["rooms that a namespace does not take"] += 1
                raise refused(call)

    @asynccontextmanager
    async def stream(self, call: Call) -> AsyncIterator[Any]:
        """Open a wire."""
        weather = self.weather
        await asyncio.sleep(0.002)
        self._check(call)
        if weather.meets("watch refused", weather.wires / 4):
            await self._unopened(call)
        request = Request.of(call.method, call.path, b"", {"accept": call.accept})
        answer = self.sandbox.handle(request, self.now())
        if isinstance(answer, Response):
            content = json.loads(answer.body) if answer.body else {}
            raise refusal(call.what, answer.status, content, None)
        mishap = (
            weather.chance.choice(WIRES) if weather.meets("broken watch", weather.wires) else ""
        )
        wire = Wire(answer, self.now, mishap, weather.chance.randrange(12))
        self.wires.append(wire)
        try:
            yield wire
        finally:
            self.wires.remove(wire)
            answer.close()

    async def _unopened(self, call: Call) -> None:
        """Let the opening of a wire fail; raises the errors of ports."""
        chance = self.weather.chance
        if not self.weather.every:
            raise refusal(call.what, chance.choice((410, 429, 500)), {}, None)
        way = chance.choice((*REFUSED, STALLS))
        if way in REFUSED:
            raise REFUSED[way](call)
        await asyncio.sleep(LONG_SECONDS)
        raise no_answer(call)


def namespace_of(call: Call) -> str:
    """Return the namespace that a call is about, "" for none."""
    return call.path.partition("/namespaces/")[2].partition("/")[0].partition("?")[0]


class Late:
    """A wire on which nothing comes while `flows` is not set."""

    def __init__(self, wire: Any, flows: asyncio.Event) -> None:
        self._wire, self._flows = wire, flows

    async def readany(self) -> bytes:
        met: bytes = await self._wire.readany()
        await self._flows.wait()
        return met


def held_wires(transport: WatchedTransport) -> asyncio.Event:
    """Let what is told of pods from now on come only while the event is set, as it is at first.

    To be called before the wires are opened.
    """
    flows, opened = asyncio.Event(), transport.stream
    flows.set()

    @asynccontextmanager
    async def stream(call: Call) -> AsyncIterator[Any]:
        async with opened(call) as wire:
            yield Late(wire, flows) if call.kind == "Pod" else wire

    method = "stream"
    setattr(transport, method, stream)
    return flows
