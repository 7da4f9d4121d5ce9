"""How soon what a room says is acted upon, with ten thousand rooms."""

import asyncio
import random
import statistics
import time
from collections.abc import Sequence

from benchmarks import stage
from benchmarks.fleet import PULSE, Fleet, is_work
from benchmarks.results import Figure, Section, at_most, percentile
from benchmarks.rooms_flips import is_flip
from benchmarks.rooms_voices import (
    SAYS_BUSY,
    SAYS_READY,
    SAYS_TERMINATED,
    Voice,
    connected,
    say_all,
)
from benchmarks.webhooks import send_webhook

EVENTS = 100
MOST_MS = 250.0
IDLE_AFTER_SECONDS = 5.0
LONGEST_SECONDS = 60.0


def measure(fleet: Fleet) -> Section:
    """Measure both, some events one after the other."""
    with fleet.running(POLL_SECONDS="3600", RESYNC_SECONDS="3600") as process:
        made = _ends(fleet)
        drained = _empties(fleet, process)
    figures = [
        at_most("room says it ended → first create, p99", percentile(made, 99), MOST_MS, "ms", 0),
        Figure("the same, p50", f"{statistics.median(made):.0f} ms"),
        at_most(
            "room above the count is empty for 5 s → patch to draining, p99",
            percentile(drained, 99),
            MOST_MS,
            "ms",
            0,
        ),
        Figure("the same, p50", f"{statistics.median(drained):.0f} ms"),
        Figure("peer: Maestro, which looks now and then", "up to 60 s"),
        Figure("peer: Agones, which syncs", "up to 30 s"),
    ]
    notes = [
        f"{EVENTS} of each, with {fleet.shape} beside. The event is when the room sends its ping"
        " (for the second, and 5 s later); the answer is the request as the API server receives"
        " it. The ends come one at a time, the empty rooms ten a second.",
        f"Longest: {max(made):.0f} ms and {max(drained):.0f} ms.",
    ]
    return Section("room-reactions", "what a room says, and what follows", figures, notes)


def _ends(fleet: Fleet) -> list[float]:
    """Let rooms say that they ended; return the ms until each has its replacement."""
    chance = random.Random(30)
    inside = [voice for voice in fleet.voices if voice.namespace != PULSE]
    return asyncio.run(_ended(fleet, chance.sample(inside, EVENTS), chance))


async def _ended(fleet: Fleet, rooms: Sequence[Voice], chance: random.Random) -> list[float]:
    found = []
    log = stage.AuditLog(fleet.cluster)
    async with connected(fleet.rooms_address, 1) as (line,):
        for room in rooms:
            await asyncio.sleep(chance.uniform(0.05, 0.2))
            log.more()
            sent = time.time()
            await line.say(room.ping(SAYS_TERMINATED))
            made = await first_create(log, room.namespace)
            found.append((made - sent) * 1000)
    return found


async def first_create(log: stage.AuditLog, namespace: str) -> float:
    """Wait for a room to be made in a namespace, and return when the API server was asked."""
    deadline = time.monotonic() + LONGEST_SECONDS
    while time.monotonic() < deadline:
        made = stage.creates(log.more(), namespace)
        if made:
            return min(each.received for each in made)
        await asyncio.sleep(0.02)
    raise stage.TookTooLong(f"a room is made in {namespace}: not within {LONGEST_SECONDS:.0f} s")


def _empties(fleet: Fleet, process: stage.Running) -> list[float]:
    """Fill a workload, want fewer of its rooms, and let them empty; return the ms beyond 5 s."""
    rooms = [voice for voice in fleet.voices if voice.namespace == PULSE]
    say_all(fleet.rooms_address, rooms, SAYS_BUSY)
    log = stage.AuditLog(fleet.cluster)
    spec = stage.scheduler(PULSE, len(rooms) - EVENTS, "required")
    fleet.bare.commit({f"schedulers/{PULSE}.yaml": spec}, "Fewer")
    send_webhook(process.address)
    stage.until(lambda: any(map(is_work, log.more())), "the commit is taken in", LONGEST_SECONDS)
    time.sleep(2.0)
    log.more()
    leaving = rooms[:EVENTS]
    sent = asyncio.run(_emptied(fleet, leaving))
    time.sleep(IDLE_AFTER_SECONDS + 1.0)
    patches: dict[str, list[float]] = {room.name: [] for room in leaving}
    for each in filter(is_flip, log.more()):
        if each.namespace == PULSE and each.name in patches:
            patches[each.name].append(each.received)
    # The first patch says that it is idle, the second that it drains.
    late = [sorted(patches[name])[1] - at - IDLE_AFTER_SECONDS for name, at in sent.items()]
    return [seconds * 1000 for seconds in late]


async def _emptied(fleet: Fleet, rooms: Sequence[Voice]) -> dict[str, float]:
    sent = {}
    async with connected(fleet.rooms_address, 1) as (line,):
        for room in rooms:
            sent[room.name] = time.time()
            await line.say(room.ping(SAYS_READY))
            await asyncio.sleep(0.1)
    return sent
