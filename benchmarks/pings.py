"""Pings on Maestro's path: `gamekeeper run` on one core, beside a handler that does nothing.

The rooms are those of a sandbox, each with its own bound token; nothing is left out on the way:
listener, door, desk and book are those of the service. The bare handler is aiohttp's low-level
server that reads the body and answers the same bytes, in a process of its own on the same core.
"""

import asyncio
import itertools
import json
import multiprocessing
import os
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import uvloop
from aiohttp import web

from benchmarks.results import Figure, Section, at_least, at_most, percentile
from tests.e2e.processes import Fleet, fleet, free_address, until
from tests.loop.world import CONFIG, spec

ROOMS = 200
CONNECTIONS = 50
SECONDS = 6.0
ROUNDS = 3
SERVER_CORE, CLIENT_CORE = 0, 1
LEAST_A_SECOND, LEAST_SHARE, MOST_P99_MS = 5_000.0, 0.7, 20.0
BODY = json.dumps(
    {"status": "ready", "timestamp": 1760000000, "runningMatches": 0, "metadata": {"map": "dust"}}
)
DONE = b'{"success":true}'


@dataclass(frozen=True, slots=True)
class Load:
    """What one round saw. `late_seconds` are from when a ping was due until its answer."""

    a_second: float
    late_seconds: Sequence[float]
    cpu_seconds_a_ping: float


def measure() -> Section:
    """Measure both in turns."""
    os.sched_setaffinity(0, {CLIENT_CORE})
    with (
        tempfile.TemporaryDirectory() as folder,
        fleet(Path(folder)) as made,
        _service(made) as (pid, address, requests),
        _bare() as (bare_pid, bare_address),
    ):
        ours, bare = [], []
        for _ in range(ROUNDS):
            bare.append(_full(bare_pid, bare_address, requests))
            ours.append(_full(pid, address, requests))
        most = statistics.median(load.a_second for load in ours)
        half = _half(pid, address, requests, most / 2)
        bare_most = statistics.median(load.a_second for load in bare)
        bare_half = _half(bare_pid, bare_address, requests, bare_most / 2)
    return _section(ours, bare, half, bare_half)


def _section(ours: list[Load], bare: list[Load], half: Load, bare_half: Load) -> Section:
    most = statistics.median(load.a_second for load in ours)
    bare_most = statistics.median(load.a_second for load in bare)
    share = most / bare_most
    passed = most >= LEAST_A_SECOND or share >= LEAST_SHARE
    must = f"≥ {LEAST_A_SECOND:,.0f}/s or ≥ {LEAST_SHARE:g} of the bare handler"
    cpu, bare_cpu = (
        statistics.median(load.cpu_seconds_a_ping for load in loads) * 1e6 for loads in (ours, bare)
    )
    p50, p99 = (percentile(half.late_seconds, percent) * 1e3 for percent in (50, 99))
    bare_p99 = percentile(bare_half.late_seconds, 99) * 1e3
    figures = [
        Figure("pings", f"{most:,.0f}/s, {share:.2f} of the bare handler", must, passed),
        Figure("the bare handler", f"{bare_most:,.0f}/s"),
        Figure("CPU of a ping", f"{cpu:.0f} µs; bare {bare_cpu:.0f} µs"),
        at_least("pings at half load", half.a_second, 0.48 * most, "/s", 0),
        Figure("p50 at half load", f"{p50:.1f} ms"),
        at_most("p99 at half load", p99, MOST_P99_MS, "ms"),
        Figure("p99 of the bare handler at half of its load", f"{bare_p99:.1f} ms"),
    ]
    notes = [
        f"{ROOMS} rooms, {CONNECTIONS} kept connections, {ROUNDS} turns of {SECONDS:.0f} s: "
        "medians. The server has one core, the client the other; at half load a ping is sent when "
        "it is due, whether those before were answered or not.",
        "Every ping carries its room's own bound token; none turns a room busy: what a flip costs "
        "is measured elsewhere.",
    ]
    return Section("pings", "pings on Maestro's path", figures, notes)


@contextmanager
def _service(made: Fleet) -> Iterator[tuple[int, tuple[str, int], list[bytes]]]:
    address = free_address()
    made.commit(
        gamekeeper=CONFIG,
        schedulers__arena=spec("arena", ROOMS).replace("reports: none", "reports: required"),
    )
    words = ("--no-lease", "--poll-seconds", "5", "--listen", "127.0.0.1:0")
    loop = made.start_loop("cache", *words, "--rooms-listen", address)
    os.sched_setaffinity(loop.pid, {SERVER_CORE})
    until("the rooms run", lambda: _run(made) == ROOMS, 120.0)
    host, _, port = address.rpartition(":")
    requests = [_ping(pod["metadata"]["name"], _token(made, pod)) for pod in made.pods("arena")]
    yield loop.pid, (host, int(port)), requests


def _run(made: Fleet) -> int:
    return sum(pod.get("status", {}).get("phase") == "Running" for pod in made.pods("arena"))


def _token(made: Fleet, pod: Any) -> str:
    """Ask the cluster for the token that the pod's volume would hold."""
    metadata = pod["metadata"]
    account = pod["spec"]["serviceAccountName"]
    path = f"/api/v1/namespaces/arena/serviceaccounts/{account}/token"
    bound = {
        "apiVersion": "v1",
        "kind": "Pod",
        "name": metadata["name"],
        "uid": metadata["uid"],
    }
    body = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "spec": {
            "audiences": ["gamekeeper.dev/main"],
            "expirationSeconds": 3600,
            "boundObjectRef": bound,
        },
    }
    asked = Request(made.url + path, json.dumps(body).encode(), method="POST")
    asked.add_header("Content-Type", "application/json")
    with urlopen(asked, timeout=10) as answer:
        found: str = json.load(answer)["status"]["token"]
    return found


def _ping(room: str, token: str) -> bytes:
    lines = [
        f"PUT /scheduler/arena/rooms/{room}/ping HTTP/1.1",
        "Host: gamekeeper-rooms",
        "User-Agent: game/1",
        "Accept: */*",
        f"Authorization: Bearer {token}",
        "Content-Type: application/json",
        f"Content-Length: {len(BODY)}",
    ]
    return ("\r\n".join(lines) + "\r\n\r\n" + BODY).encode()


@contextmanager
def _bare() -> Iterator[tuple[int, tuple[str, int]]]:
    address = free_address()
    host, _, port = address.rpartition(":")
    process = multiprocessing.get_context("spawn").Process(
        target=_serve_bare, args=(host, int(port)), daemon=True
    )
    process.start()
    try:
        assert process.pid is not None
        until("the bare handler serves", lambda: _answers(host, int(port)), 30.0)
        yield process.pid, (host, int(port))
    finally:
        process.kill()
        process.join()


def _answers(host: str, port: int) -> bool:
    with urlopen(f"http://{host}:{port}/", timeout=5) as answer:
        return bool(answer.status == 200)


def _serve_bare(host: str, port: int) -> None:
    os.sched_setaffinity(0, {SERVER_CORE})

    async def answer(request: web.BaseRequest) -> web.Response:
        await request.read()
        return web.Response(body=DONE, content_type="application/json")

    async def serve() -> None:
        await asyncio.get_running_loop().create_server(web.Server(answer), host, port)
        await asyncio.Event().wait()

    # The loop of the service.
    uvloop.run(serve())


def _full(pid: int, address: tuple[str, int], requests: Sequence[bytes]) -> Load:
    """Send the next ping of a connection as soon as the one before was answered."""
    return asyncio.run(_loaded(pid, address, requests, None))


def _half(pid: int, address: tuple[str, int], requests: Sequence[bytes], a_second: float) -> Load:
    """Send so many pings a second, each when it is due."""
    return asyncio.run(_loaded(pid, address, requests, a_second))


class _Room(asyncio.Protocol):
    """One connection; answers come in the order of the pings."""

    def __init__(self, late: list[float]) -> None:
        self._late = late
        self._seen = b""
        self._due: list[float] = []
        self._transport: asyncio.WriteTransport | None = None
        self.again: Iterator[bytes] | None = None
        """The pings to send, one upon each answer; None sends no more."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport

    def send(self, ping: bytes, due: float) -> None:
        """Send a ping that is due at `due`."""
        self._due.append(due)
        assert self._transport is not None
        self._transport.write(ping)

    def data_received(self, data: bytes) -> None:
        seen = self._seen + data
        count = seen.count(DONE)
        self._seen = seen[seen.rfind(DONE) + len(DONE) :] if count else seen
        if b" 200 " not in seen and b"HTTP/1.1 " in seen:
            raise RuntimeError(f"a ping was refused: {seen[:300]!r}")
        for _ in range(count):
            now = time.perf_counter()
            self._late.append(now - self._due.pop(0))
            if self.again is not None:
                self.send(next(self.again), now)

    def close(self) -> None:
        """Hang up."""
        if self._transport is not None:
            self._transport.close()


async def _loaded(
    pid: int, address: tuple[str, int], requests: Sequence[bytes], a_second: float | None
) -> Load:
    loop = asyncio.get_running_loop()
    late: list[float] = []
    rooms = [
        (await loop.create_connection(lambda: _Room(late), *address))[1] for _ in range(CONNECTIONS)
    ]
    cpu, begun = _cpu_seconds(pid), time.perf_counter()
    if a_second is None:
        for number, room in enumerate(rooms):
            room.again = itertools.cycle(requests[number :: len(rooms)])
            room.send(next(room.again), time.perf_counter())
        await asyncio.sleep(SECONDS)
        for room in rooms:
            room.again = None
    else:
        await _send_when_due(rooms, requests, a_second, begun)
    answered, spent = len(late), _cpu_seconds(pid) - cpu
    passed = time.perf_counter() - begun
    await asyncio.sleep(0.2)
    for room in rooms:
        room.close()
    if not answered:
        raise RuntimeError("no ping was answered")
    return Load(answered / passed, late, spent / answered)


async def _send_when_due(
    rooms: Sequence[_Room], requests: Sequence[bytes], a_second: float, begun: float
) -> None:
    sent = 0
    while (passed := time.perf_counter() - begun) < SECONDS:
        while sent < passed * a_second:
            ping = requests[sent % len(requests)]
            rooms[sent % len(rooms)].send(ping, begun + sent / a_second)
            sent += 1
        await asyncio.sleep(0.001)


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
