"""A fleet in full play: ten thousand rooms that ping, thirty-three flips a second."""

import asyncio
import random
import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks import stage
from benchmarks.fleet import PULSE, ROOMS, Fleet, is_work
from benchmarks.results import Figure, Section, at_least, at_most, percentile
from benchmarks.rooms_flips import is_flip
from benchmarks.rooms_voices import SAYS_BUSY, SAYS_READY, Connection, Voice, connect, hang_up
from reconciler.service.reflector import RELIST_SECONDS

PING_EVERY_SECONDS = 10.0
FLIPS_A_SECOND = 33.0
PINGS_OF_A_MATCH, PINGS_OF_REST = 2, 1
WARM_SECONDS, LAST_SECONDS = 27.0, 7.0
MEASURED_SECONDS = RELIST_SECONDS + 20.0
"""Long enough that all is listed anew once, which costs the most of what comes by the clock."""
CPU_MOST_PERCENT, MEMORY_MOST_MIB, LAG_MOST_MS = 50.0, 400.0, 20.0
_BUCKET = re.compile(r'^gamekeeper_loop_lag_seconds_bucket\{le="([^"]+)"\} (\S+)$', re.M)


@dataclass(slots=True)
class Play:
    """Who plays: a match begins so often, in whichever room pings then, and lasts some pings.

    `left` are the pings until a room may begin another; it rests first, or it never turns idle.
    In rooms from the number ROOMS on nobody plays.
    """

    left: Counter[int] = field(default_factory=Counter)
    begun: int = 0

    def says(self, room: int, passed_seconds: float) -> str:
        """Return what a room says now."""
        due = room < ROOMS and self.begun < passed_seconds * FLIPS_A_SECOND / 2
        if due and not self.left[room]:
            self.begun += 1
            self.left[room] = PINGS_OF_A_MATCH + PINGS_OF_REST
        if not self.left[room]:
            return SAYS_READY
        self.left[room] -= 1
        return SAYS_BUSY if self.left[room] >= PINGS_OF_REST else SAYS_READY


@dataclass(frozen=True, slots=True)
class Seen:
    """What the process shows of itself at one instant; `lags` are beats, by at most how late."""

    at: float
    cpu_seconds: float
    lags: Mapping[float, float]
    pss_mib: Mapping[str, float]
    answered: int


def measure(fleet: Fleet) -> Section:
    """Let them play, and watch for a while."""
    voices = [voice for voice in fleet.voices if voice.namespace != PULSE]
    random.Random(10).shuffle(voices)
    # Nobody plays in the others; they would be given up if they were silent for so long.
    voices += [voice for voice in fleet.voices if voice.namespace == PULSE]
    with fleet.running(POLL_SECONDS="3600") as process:
        log = stage.AuditLog(fleet.cluster)
        late: list[float] = []
        seen = asyncio.run(_played(fleet, process, voices, late))
        requests = [e for e in log.more() if seen[0].at <= e.received < seen[1].at]
    return _section(seen, late[seen[0].answered : seen[1].answered], requests)


def _section(
    seen: tuple[Seen, Seen], late: Sequence[float], requests: Sequence[stage.Request]
) -> Section:
    before, after = seen
    passed = after.at - before.at
    cpu = (after.cpu_seconds - before.cpu_seconds) / passed * 100
    beats = {edge: after.lags[edge] - before.lags[edge] for edge in after.lags}
    most = max(beats.values())
    lag_ms = min(edge for edge, count in beats.items() if count >= 0.99 * most) * 1000
    flips = sum(map(is_flip, requests))
    others = Counter(f"{e.verb} {e.resource}" for e in requests if is_work(e) and not is_flip(e))
    lists = {what: others.pop(what) for what in sorted(others) if what.startswith("list ")}
    figures = [
        at_least("pings answered", len(late) / passed, 0.99 * ROOMS / PING_EVERY_SECONDS, "/s", 0),
        at_least("flips written", flips / passed, 0.95 * FLIPS_A_SECOND, "/s", 1),
        at_most("CPU of all its processes", cpu, CPU_MOST_PERCENT, "% of one core", 1),
        at_most("PSS of all its processes", sum(after.pss_mib.values()), MEMORY_MOST_MIB, "MiB", 0),
        at_most("loop lag, p99: at most", lag_ms, LAG_MOST_MS, "ms", 1),
        Figure("ping due → answered, p50", f"{percentile(late, 50) * 1000:.1f} ms"),
        Figure("ping due → answered, p99", f"{percentile(late, 99) * 1000:.1f} ms"),
        at_most("other calls but the lease, watches and lists", others.total(), 0, "", 0),
    ]
    sizes = ", ".join(f"`{what}` {size:.0f}" for what, size in after.pss_mib.items())
    notes = [
        f"{ROOMS:,} rooms, each on a connection that it keeps, with its own bound token; a ping"
        f" each every {PING_EVERY_SECONDS:.0f} s, and every match is two flips. Watched for"
        f" {passed:.0f} s, after {WARM_SECONDS:.0f} s of the same.",
        f"The lag is that of its own metric, {most:.0f} beats of 0.25 s.",
        f"Pages of what was listed anew meanwhile, as it is every {RELIST_SECONDS:.0f} s: {lists}.",
        f"PSS in MiB: {sizes}.",
    ]
    if others:
        notes.append(f"Other calls: {dict(others)}.")
    return Section("room-load", "10,000 rooms that ping, 33 flips a second", figures, notes)


async def _played(
    fleet: Fleet, process: stage.Running, voices: Sequence[Voice], late: list[float]
) -> tuple[Seen, Seen]:
    lines: list[Connection] = []
    try:
        for number, voice in enumerate(voices):
            lines.append(await connect(fleet.rooms_address, number, late))
            await lines[-1].say(voice.ping(SAYS_READY))
        playing = asyncio.create_task(_play(voices, lines))
        await _let_pass(WARM_SECONDS, playing)
        before = await _look(process, late)
        await _let_pass(MEASURED_SECONDS, playing)
        after = await _look(process, late)
        playing.cancel()
        await asyncio.gather(playing, return_exceptions=True)
        # All go home, so that what is measured next begins with empty rooms.
        for voice, line in zip(voices, lines, strict=True):
            await line.say(voice.ping(SAYS_READY))
        await asyncio.sleep(LAST_SECONDS)
    finally:
        await hang_up(lines)
    return before, after


async def _let_pass(seconds: float, playing: "asyncio.Task[None]") -> None:
    """Wait, unless playing ends before: that is by an error."""
    await asyncio.wait((playing,), timeout=seconds)
    if playing.done():
        await playing


async def _play(voices: Sequence[Voice], lines: Sequence[Connection]) -> None:
    play, began = Play(), time.perf_counter()
    sent, a_second = 0, len(voices) / PING_EVERY_SECONDS
    while True:
        passed = time.perf_counter() - began
        while sent < passed * a_second:
            room = sent % len(voices)
            lines[room].send(voices[room].ping(play.says(room, passed)), began + sent / a_second)
            sent += 1
        await asyncio.sleep(0.001)


async def _look(process: stage.Running, late: Sequence[float]) -> Seen:
    page = await asyncio.to_thread(process.metrics)
    lags = {float(edge): float(count) for edge, count in _BUCKET.findall(page)}
    sizes = await asyncio.to_thread(process.pss_mib)
    return Seen(time.time(), process.cpu_seconds(), lags, sizes, len(late))
