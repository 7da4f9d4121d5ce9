"""Strangers at the rooms' door: slow connections, hostile bodies, guesses, and what they can tell.

One `gamekeeper run` over a sandbox; everything goes over real connections from addresses of this
machine. Games are believed from 127.0.0.2 alone, so all others need a token that they do not have.
"""

import asyncio
import json
import multiprocessing
import random
import resource
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.request import urlopen

from benchmarks.results import Figure, Section, at_most, percentile
from tests.e2e.processes import fleet, free_address, until
from tests.loop.world import CONFIG, spec

GAME = "127.0.0.2"
ROOMS = 20
SLOW_CONNECTIONS, SLOW_SECONDS, DRIP_SECONDS, COME_SECONDS = 5_000, 30.0, 2.0, 5.0
REQUESTS, AT_ONCE, A_LINE = 1_000_000, 40, 50
"""So many bodies and as many guesses; each connection sends some, then another address comes."""
SAMPLES, SAMPLES_OF_AN_ADDRESS = 2_000, 5
PING_MOST_MS, GROWTH_MOST_MIB, TELLS_MOST = 250.0, 16.0, 3.0
FILES = 16_384
_TOKEN = "eyJhbGciOiJSUzI1NiIsImtpZCI6IngifQ.eyJzdWIiOiJzb21lYm9keSJ9.c29tZXRoaW5n"
_PING = b'{"status":"ready","timestamp":1760000000,"runningMatches":0}'
HOSTILE: Sequence[bytes] = (
    b"",
    b"{",
    b"\xff\xfe",
    b"null",
    b'{"status":NaN}',
    b'{"status":"ready","status":"occupied"}',
    b'{"status":"ready","timestamp":1e999}',
    b'{"status":"ready","runningMatches":1.5}',
    b'{"status":"ready","runningMatches":' + b"9" * 400 + b"}",
    b"[" * 2_000,
    b'{"a":' * 400 + b"1" + b"}" * 400,
    b'{"status":"\\ud800"}',
    b'{"status":{"$ne":1}}',
    b'{"metadata":{' + b",".join(b'"k%d":"v"' % n for n in range(100)) + b"}}",
)


@dataclass(frozen=True, slots=True)
class Server:
    """The process under attack."""

    pid: int
    rooms: tuple[str, int]
    health: str

    def rss_mib(self) -> float:
        """Return its resident memory."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        line = next(each for each in status.splitlines() if each.startswith("VmRSS:"))
        return int(line.split()[1]) / 1024


def measure() -> Section:
    """Let all of them come, one kind after the other."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(FILES, hard), hard))
    with tempfile.TemporaryDirectory() as folder, _serving(Path(folder)) as server:
        beside = asyncio.run(_beside_slow_ones(server))
        # Once beforehand, for what is made once is no growth.
        asyncio.run(_flood(server, REQUESTS // 20, _bodies))
        asyncio.run(_flood(server, REQUESTS // 20, _guesses))
        sizes = [server.rss_mib()]
        answers = []
        for asked in (_bodies, _guesses):
            answers.append(asyncio.run(_flood(server, REQUESTS, asked)))
            sizes.append(server.rss_mib())
        tells = asyncio.run(_tells(server))
    return _section(beside, sizes, answers, tells)


def _section(
    beside: "Beside",
    sizes: Sequence[float],
    answers: Sequence[Counter[int]],
    tells: tuple[float, float],
) -> Section:
    bodies, guesses = answers
    p99_ms = percentile(beside.took, 99) * 1e3
    ratio = max(tells) / min(tells)
    broken = sum(count for each in answers for status, count in each.items() if status >= 500)
    taken = sum(count for each in answers for status, count in each.items() if status < 400)
    figures = [
        at_most("p99 of a ping beside slow connections", p99_ms, PING_MOST_MS, "ms"),
        at_most("pings that failed meanwhile", beside.failed, 0, "", 0),
        at_most("/healthz that failed meanwhile", beside.sick, 0, "", 0),
        at_most("memory grown by hostile bodies", sizes[1] - sizes[0], GROWTH_MOST_MIB, "MiB", 1),
        at_most("memory grown by guesses", sizes[2] - sizes[1], GROWTH_MOST_MIB, "MiB", 1),
        at_most("of all these answered with 5xx", broken, 0, "", 0),
        at_most("of all these let in", taken, 0, "", 0),
        at_most("an unknown room beside a wrong token, time", ratio, TELLS_MOST, "times"),
        Figure("- each, median", f"{tells[0] * 1e6:.0f} µs and {tells[1] * 1e6:.0f} µs"),
    ]
    notes = [
        f"{SLOW_CONNECTIONS:,} connections that send a byte every {DRIP_SECONDS:.0f} s and come "
        f"again when they are hung up on, for {SLOW_SECONDS:.0f} s; {len(beside.took):,} pings "
        "beside, every other one on a new connection.",
        f"{REQUESTS:,} bodies in turn of {len(HOSTILE)} kinds from the address that is believed: "
        f"{dict(sorted(bodies.items()))}. {REQUESTS:,} wrong tokens and codes from ever new "
        f"addresses: {dict(sorted(guesses.items()))}.",
        f"Times are of {SAMPLES:,} requests each, in turns, {SAMPLES_OF_AN_ADDRESS} from an "
        "address: below what it may guess.",
    ]
    return Section("hostile-rooms", "strangers at the rooms' door", figures, notes)


@contextmanager
def _serving(folder: Path) -> Iterator[Server]:
    with fleet(folder) as made:
        rooms, health = free_address(), free_address()
        made.commit(gamekeeper=CONFIG, schedulers__arena=spec("arena", ROOMS, reports="required"))
        words = ["--no-lease", "--poll-seconds", "5", "--listen", health, "--rooms-listen", rooms]
        loop = made.start_loop("cache", *words, "--rooms-without-token", f"{GAME}/32")
        running = "status.phase=Running"
        path = f"/api/v1/namespaces/arena/pods?fieldSelector={running}"
        until("the rooms run", lambda: len(made.ask(path)["items"]) == ROOMS, 120.0)
        host, _, port = rooms.rpartition(":")
        yield Server(loop.pid, (host, int(port)), f"http://{health}/healthz")


def request(room: str, body: bytes, token: str = "") -> bytes:
    """Return a ping of a room as bytes."""
    shown = f"Authorization: Bearer {token}\r\n" if token else ""
    head = (
        f"PUT /scheduler/arena/rooms/{room}/ping HTTP/1.1\r\nHost: gamekeeper-rooms\r\n{shown}"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


class _Line:
    """A connection from an address of this machine."""

    def __init__(self, server: Server, address: str) -> None:
        self._to, self._from = server.rooms, (address, 0)
        self._ends: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def __aenter__(self) -> "_Line":
        self._ends = await asyncio.open_connection(*self._to, local_addr=self._from)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._ends is not None:
            self._ends[1].transport.abort()

    async def ask(self, text: bytes) -> int:
        """Send a request and return the status. Raises OSError, IncompleteReadError."""
        assert self._ends is not None
        reader, writer = self._ends
        writer.write(text)
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        length = next(x for x in head.lower().split("\r\n") if x.startswith("content-length:"))
        await reader.readexactly(int(length.partition(":")[2]))
        return int(head.split(" ", 2)[1])

    async def drip(self) -> None:
        """Send a byte now and then until it is hung up on. Raises OSError."""
        assert self._ends is not None
        reader, writer = self._ends
        for byte in request("arena-0", _PING):
            writer.write(bytes([byte]))
            with suppress(TimeoutError):
                async with asyncio.timeout(DRIP_SECONDS):
                    await reader.read(4096)
                    return  # hung up on, with or without a last word


@dataclass(slots=True)
class Beside:
    """What honest ones saw meanwhile: how long pings took, how many failed, /healthz too."""

    took: list[float] = field(default_factory=list)
    failed: int = 0
    sick: int = 0


async def _beside_slow_ones(server: Server) -> Beside:
    """Let pings come in beside slow connections, which a process of their own opens."""
    apart = multiprocessing.get_context("spawn").Process(target=_be_slow, args=(server,))
    apart.start()
    try:
        await asyncio.sleep(COME_SECONDS)
        return await _pings(server)
    finally:
        apart.kill()
        apart.join()


def _be_slow(server: Server) -> None:
    asyncio.run(_all_slow(server))


async def _all_slow(server: Server) -> None:
    async def slow(number: int) -> None:
        await asyncio.sleep(random.uniform(0.0, COME_SECONDS))
        while True:
            with suppress(OSError):
                async with _Line(server, f"127.0.3.{1 + number // 200}") as line:
                    await line.drip()
            await asyncio.sleep(random.uniform(0.0, DRIP_SECONDS))

    await asyncio.gather(*(slow(number) for number in range(SLOW_CONNECTIONS)))


async def _pings(server: Server) -> Beside:
    seen, ends_at = Beside(), time.monotonic() + SLOW_SECONDS
    while time.monotonic() < ends_at:
        rooms = iter(range(ROOMS))
        for room in rooms:
            with suppress(OSError, asyncio.IncompleteReadError):
                async with _Line(server, GAME) as line:
                    await _ping(seen, line, room)
                    # The second on the connection that is kept.
                    await _ping(seen, line, next(rooms))
        seen.sick += not await asyncio.to_thread(_is_well, server.health)
    return seen


async def _ping(seen: Beside, line: "_Line", room: int) -> None:
    began, status = time.perf_counter(), 0
    try:
        status = await line.ask(request(f"arena-{room}", _PING))
    finally:
        seen.took.append(time.perf_counter() - began)
        seen.failed += status != 200


def _is_well(url: str) -> bool:
    with suppress(OSError), urlopen(url, timeout=5) as answer:
        return bool(answer.status == 200)
    return False


Asked = Callable[[int], tuple[str, bytes]]
"""From a number the address that asks, and what it asks."""


def _bodies(number: int) -> tuple[str, bytes]:
    return GAME, request(f"arena-{number % ROOMS}", HOSTILE[number % len(HOSTILE)])


def _guesses(number: int) -> tuple[str, bytes]:
    at = number // A_LINE
    address = f"127.{4 + at // 62_500}.{at // 250 % 250}.{1 + at % 250}"
    if number % 2:
        return address, request(f"arena-{number % ROOMS}", _PING, f"{_TOKEN}{number}")
    told = {"serverName": f"arena-{number % ROOMS}", "namespace": "arena", "playerCount": 1}
    body = json.dumps(told).encode()
    head = (
        f"POST /setactiveplayers?code={number:032x} HTTP/1.1\r\nHost: gamekeeper-rooms\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return address, head.encode() + body


async def _flood(server: Server, number: int, asked: Asked) -> Counter[int]:
    """Ask so many times, and return the answers; 0 is a connection that was hung up on."""
    answers: Counter[int] = Counter()
    left = iter(range(0, number, A_LINE))

    async def some() -> None:
        for first in left:
            texts = [asked(each) for each in range(first, min(first + A_LINE, number))]
            await _ask_all(server, texts, answers)

    await asyncio.gather(*(some() for _ in range(AT_ONCE)))
    return answers


async def _ask_all(
    server: Server, texts: Sequence[tuple[str, bytes]], answers: Counter[int]
) -> None:
    waiting = list(texts)
    while waiting:
        try:
            async with _Line(server, waiting[0][0]) as line:
                while waiting:
                    answers[await line.ask(waiting[0][1])] += 1
                    waiting.pop(0)
        except (OSError, asyncio.IncompleteReadError):
            answers[0] += 1
            waiting.pop(0)


async def _tells(server: Server) -> tuple[float, float]:
    """Return the median seconds of a wrong token for an unknown room, and for a room there is."""
    unknown, wrong = list[float](), list[float]()
    for number in range(0, SAMPLES, SAMPLES_OF_AN_ADDRESS):
        for took, room, net in ((unknown, "arena-77777", 100), (wrong, "arena-3", 101)):
            address = f"127.{net}.{number // 250}.{1 + number % 250}"
            async with _Line(server, address) as line:
                for each in range(SAMPLES_OF_AN_ADDRESS):
                    began = time.perf_counter()
                    await line.ask(request(room, _PING, f"{_TOKEN}{number + each}"))
                    took.append(time.perf_counter() - began)
    return statistics.median(unknown), statistics.median(wrong)
