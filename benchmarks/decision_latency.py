"""How soon a room that fills is followed by another one, while the Git host takes nothing."""

import asyncio
import random
import statistics
import time

import yaml

from benchmarks import stage
from benchmarks.fleet import PULSE, Fleet, is_work
from benchmarks.results import Figure, Section, at_most, percentile
from benchmarks.rooms_reactions import EVENTS, LONGEST_SECONDS, MOST_MS, first_create
from benchmarks.rooms_voices import SAYS_BUSY, SAYS_READY, connected, say_all
from benchmarks.webhooks import send_webhook
from tests.gitservers.http import Fault

STALL_SECONDS = 3600.0


def measure(fleet: Fleet) -> Section:
    """Measure it, one event at a time."""
    rooms = [voice for voice in fleet.voices if voice.namespace == PULSE]
    try:
        with fleet.running(POLL_SECONDS="5", RESYNC_SECONDS="3600") as process:
            say_all(fleet.rooms_address, rooms, SAYS_READY)
            _scale(fleet, process, len(rooms))
            fleet.host.break_with(Fault(stall_seconds=STALL_SECONDS))
            made = asyncio.run(_filled(fleet))
            landed = fleet.bare.git("log", "--format=%s", "main").count("Scale")
    finally:
        fleet.host.heal()
        files = {"gamekeeper.yaml": stage.CONFIG, f"schedulers/{PULSE}.yaml": _plain(len(rooms))}
        fleet.bare.commit(files, "No policy")
    figures = [
        at_most(
            "room says it is full → create received, p99", percentile(made, 99), MOST_MS, "ms", 0
        ),
        Figure("the same, p50", f"{statistics.median(made):.0f} ms"),
        at_most("commits that came through", landed, 0, "", 0),
    ]
    notes = [
        f"{EVENTS} times, one after the other, with {fleet.shape} beside. The policy is"
        " fixedBuffer; each decision is on record before it acts. `quietSeconds: 1`, and every"
        " answer of the Git host is stalled: the committer and the fetch wait for it all the time.",
        f"Longest: {max(made):.0f} ms.",
    ]
    return Section("decision-latency", "a room that fills", figures, notes)


def _scale(fleet: Fleet, process: stage.Running, rooms: int) -> None:
    """Let a policy keep as many empty rooms as there are, and commit each count soon."""
    document = yaml.safe_load(_plain(rooms))
    document["spec"]["autoscaling"] = {
        "min": 1,
        "max": 10 * rooms,
        "policy": {"fixedBuffer": {"amount": rooms}},
    }
    config = yaml.safe_load(stage.CONFIG)
    config["spec"]["writeBack"] = {"quietSeconds": 1}
    log = stage.AuditLog(fleet.cluster)
    files = {
        "gamekeeper.yaml": yaml.safe_dump(config),
        f"schedulers/{PULSE}.yaml": yaml.safe_dump(document, sort_keys=False),
    }
    fleet.bare.commit(files, "A policy")
    send_webhook(process.address)
    stage.until(lambda: any(map(is_work, log.more())), "the commit is taken in", LONGEST_SECONDS)
    time.sleep(2.0)


def _plain(rooms: int) -> str:
    return stage.scheduler(PULSE, rooms, "required")


async def _filled(fleet: Fleet) -> list[float]:
    """Let rooms fill; return the ms until each has another one made for it."""
    chance, found = random.Random(40), []
    log = stage.AuditLog(fleet.cluster)
    rooms = [voice for voice in fleet.voices if voice.namespace == PULSE]
    async with connected(fleet.rooms_address, 1) as (line,):
        for room in rooms[:EVENTS]:
            await asyncio.sleep(chance.uniform(0.2, 0.5))
            log.more()
            sent = time.time()
            await line.say(room.ping(SAYS_BUSY))
            found.append((await first_create(log, PULSE) - sent) * 1000)
    return found
