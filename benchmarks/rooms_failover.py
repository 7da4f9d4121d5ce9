"""The leader dies, or is told to go, under ten thousand rooms that ping and a scale-in.

Two replicas and one Lease. Each room's game keeps a connection and finds the next address when it
is answered 503 or hung up on, as by the rooms' Service. Half of the rooms have players.
"""

import os
import re
import signal
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from benchmarks import stage
from benchmarks.fleet import PULSE, Fleet
from benchmarks.results import Figure, Section, at_most
from benchmarks.rooms_voices import SAYS_BUSY, SAYS_READY, Voice
from tests.controlplane.processes import free_ports
from tests.e2e.crowd import Crowd, Game, Ping, playing

PING_EVERY_SECONDS = 10.0
HEARD_SHARE = 0.99
MOST_SECONDS = {"killed": 19.0 + PING_EVERY_SECONDS, "told to go": 6.0 + PING_EVERY_SECONDS}
"""The Lease's 15 s and two looks at it, or three looks; and for one ping of every room."""
TAKEN_SECONDS = 300.0
SCALE_IN_PERCENT = 10
_BUCKET = re.compile(r'^gamekeeper_loop_lag_seconds_bucket\{le="([^"]+)"\} (\S+)$', re.M)


@dataclass(frozen=True, slots=True)
class Replica:
    """One `gamekeeper run`: where its metrics are, and where rooms report."""

    process: "subprocess.Popen[bytes]"
    address: str
    rooms_address: str

    def page(self, path: str) -> str:
        """Read a page of it. Raises OSError."""
        with urllib.request.urlopen(f"http://{self.address}{path}", timeout=10) as answer:
            return str(answer.read().decode())

    def lags(self) -> Mapping[float, float]:
        """Return how many beats of its loop were at most so late, by seconds."""
        return {float(edge): float(count) for edge, count in _BUCKET.findall(self.page("/metrics"))}


Start = Callable[[str], Replica]
"""Starts one whose rooms report at an address, or at a new one ("")."""


@dataclass(frozen=True, slots=True)
class Handover:
    """What one end of a leader cost: `lag_ms` is the next leader's p99 in that time."""

    heard_seconds: float
    lag_ms: float
    removed: int


def measure(fleet: Fleet) -> Section:
    """End the leader twice; each time while rooms are being removed."""
    there = _pods(fleet)
    # Others of this fleet ended before.
    voices = [
        each for each in fleet.voices if there.get(f"{each.namespace}/{each.name}") == each.uid
    ]
    games = {f"{v.namespace}/{v.name}": Game(v.name, _ping(v)) for v in voices}
    busy = list(games)[::2]
    for name in busy:
        games[name].busy = True
    log = stage.AuditLog(fleet.cluster)
    found: dict[str, Handover] = {}
    with _replicas(fleet) as (start, running):
        one, two = start(""), start("")
        crowd = Crowd((one.rooms_address, two.rooms_address), games, PING_EVERY_SECONDS)
        with playing(crowd):
            stage.until(lambda: _busy(fleet) >= len(busy), "half of the rooms are busy", 120, 1.0)
            for what, how in (("killed", signal.SIGKILL), ("told to go", signal.SIGTERM)):
                found[what] = _handover(fleet, crowd, running, how)
                if what == "killed":
                    start(one.rooms_address)
            lost = _lost(fleet, busy, games, crowd)
    deleted = {
        f"{each.namespace}/{each.name}"
        for each in log.more()
        if (each.verb, each.resource) == ("delete", "pods") and each.code == 200
    }
    return _section(len(games), found, crowd, len(lost | (deleted & set(busy))))


def _section(rooms: int, found: Mapping[str, Handover], crowd: Crowd, lost: int) -> Section:
    figures = [at_most("rooms with players removed, or told to stop", lost, 0, "", 0)]
    for what, seen in found.items():
        most = MOST_SECONDS[what]
        figures += [
            at_most(f"{what}: until 99 % are heard", seen.heard_seconds, most, "s", 1),
            # Some sixty beats: the worst of them, so no demand is made of it.
            Figure(f"{what}: loop lag of the next, p99", f"at most {seen.lag_ms:.0f} ms"),
            Figure(f"{what}: idle rooms removed by both", f"{seen.removed:,}"),
        ]
    others = {name: count for name, count in crowd.answers.items() if name.isdecimal()}
    odd = sum(count for name, count in others.items() if name not in ("200", "404", "410", "503"))
    figures.append(at_most("answers but 200, 503, and 404 or 410 of rooms removed", odd, 0, "", 0))
    notes = [
        f"{rooms:,} rooms, half of them with players, a ping each every "
        f"{PING_EVERY_SECONDS:.0f} s; the count of every workload falls by {SCALE_IN_PERCENT} % "
        "right before each end. A ping each is in the time until 99 % are heard.",
        f"Answers, and what befell connections: {dict(sorted(crowd.answers.items()))}.",
    ]
    return Section("room-failover", "the leader ends under rooms that ping", figures, notes)


def _ping(voice: Voice) -> Ping:
    return lambda busy: voice.ping(SAYS_BUSY if busy else SAYS_READY)


def _handover(fleet: Fleet, crowd: Crowd, running: list[Replica], how: signal.Signals) -> Handover:
    """Begin a scale-in, end whoever leads in the midst of it, and let the other finish it."""
    leader = next(each for each in running if _leads(each))
    other = next(each for each in running if each is not leader)
    pods = _pods(fleet)
    left = round(len(pods) / len(fleet.workloads) * (100 - SCALE_IN_PERCENT) / 100)
    counts = {**dict.fromkeys(fleet.workloads, left), PULSE: _of(fleet, PULSE)}
    fleet.bare.commit(stage.files(counts, "required"), f"{left} rooms each")
    fleet.until_marked("draining", 1)
    before, ended_at = other.lags(), time.monotonic()
    leader.process.send_signal(how)
    leader.process.wait(timeout=60)
    running.remove(leader)
    stage.until(lambda: crowd.heard_since(ended_at) >= HEARD_SHARE, "99 % are heard", 120)
    heard_seconds = time.monotonic() - ended_at
    lag_ms = _p99_ms(before, other.lags())
    wanted = left * len(fleet.workloads)
    stage.until(lambda: len(_pods(fleet)) <= wanted, "the scale-in ends", TAKEN_SECONDS, 1.0)
    return Handover(heard_seconds, lag_ms, len(pods) - len(_pods(fleet)))


def _leads(replica: Replica) -> bool:
    return re.search(r"^gamekeeper_leader 1", replica.page("/metrics"), re.M) is not None


def _p99_ms(before: Mapping[float, float], after: Mapping[float, float]) -> float:
    beats = {edge: after[edge] - before.get(edge, 0.0) for edge in after}
    most = max(beats.values())
    return min(edge for edge, count in beats.items() if count >= 0.99 * most) * 1000


def _pods(fleet: Fleet) -> dict[str, str]:
    """Return the uids of the rooms of all workloads that are not on their way out, by name."""
    path = "/api/v1/pods?resourceVersion=0&labelSelector=gamekeeper.dev/workload"
    return {
        f"{pod['metadata']['namespace']}/{pod['metadata']['name']}": pod["metadata"]["uid"]
        for pod in fleet.cluster.api.demand("GET", path)["items"]
        if pod["metadata"]["namespace"] != PULSE and "deletionTimestamp" not in pod["metadata"]
    }


def _busy(fleet: Fleet) -> int:
    """Return how many rooms of all workloads are marked busy."""
    path = "/api/v1/pods?resourceVersion=0&labelSelector=gamekeeper.dev/state%3Dbusy"
    found = fleet.cluster.api.demand("GET", path)["items"]
    return sum(pod["metadata"]["namespace"] != PULSE for pod in found)


def _of(fleet: Fleet, namespace: str) -> int:
    return sum(voice.namespace == namespace for voice in fleet.voices)


def _lost(fleet: Fleet, busy: Sequence[str], games: Mapping[str, Game], crowd: Crowd) -> set[str]:
    there = _pods(fleet)
    told = {name for name, game in games.items() if game.told}
    return {name for name in busy if name not in there or name in told}


@contextmanager
def _replicas(fleet: Fleet) -> Iterator[tuple[Start, list[Replica]]]:
    """Return how to start a replica, and those that run."""
    running: list[Replica] = []
    started: list[subprocess.Popen[bytes]] = []

    def start(rooms_address: str) -> Replica:
        ports = free_ports(2)
        replica = _started(fleet, f"127.0.0.1:{ports[0]}", rooms_address or f"127.0.0.1:{ports[1]}")
        started.append(replica.process)
        running.append(replica)
        stage.until(lambda: _is_ready(replica), "a replica is ready", 120)
        return replica

    try:
        yield start, running
    finally:
        for process in started:
            process.kill()
            process.wait()


def _started(fleet: Fleet, address: str, rooms_address: str) -> Replica:
    folder = fleet.folder / f"replica-{address.rpartition(':')[2]}"
    folder.mkdir()
    settings = {
        **fleet.settings,
        "LISTEN": address,
        "ROOMS_LISTEN": rooms_address,
        "INSTANCE": "bench",
        "CACHE_DIR": str(folder / "cache"),
        "POLL_SECONDS": "1",
    }
    named = {f"GAMEKEEPER_{name}": text for name, text in settings.items()}
    with (folder / "run.log").open("ab") as out:
        process = subprocess.Popen(
            [str(stage.PROGRAM), "run"], env={**os.environ, **named}, stdout=out, stderr=out
        )
    return Replica(process, address, rooms_address)


def _is_ready(replica: Replica) -> bool:
    with suppress(OSError):
        replica.page("/readyz")
        return True
    return False
