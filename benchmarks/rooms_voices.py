"""The voices of rooms: each speaks with its own bound token, on a connection that it keeps.

Rooms of one node share an address: the connections come from 127.0.1.1 and on, 200 from each.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from benchmarks.raw import IN_FLIGHT
from tests.controlplane.cluster import ControlPlane

ROOMS_OF_A_NODE = 200
ANSWER_SECONDS = 30.0
AUDIENCE = "gamekeeper.dev/bench"
SAYS_READY, SAYS_BUSY, SAYS_TERMINATED = "ready", "occupied", "terminated"


@dataclass(frozen=True, slots=True)
class Voice:
    """One room and what it shows at the door."""

    namespace: str
    name: str
    uid: str
    token: str = field(repr=False)

    def ping(self, says: str) -> bytes:
        """Return a ping on Maestro's path, as its clients write it."""
        told = {
            "status": says,
            "timestamp": int(time.time()),
            "runningMatches": int(says == SAYS_BUSY),
            "metadata": {"map": "dust"},
        }
        body = json.dumps(told)
        return (
            f"PUT /scheduler/{self.namespace}/rooms/{self.name}/ping HTTP/1.1\r\n"
            "Host: gamekeeper-rooms\r\nUser-Agent: game/1\r\nAccept: */*\r\n"
            f"Authorization: Bearer {self.token}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n{body}"
        ).encode()


class Connection(asyncio.Protocol):
    """One connection. `late` takes the seconds from when a ping was due until its answer."""

    def __init__(self, late: list[float]) -> None:
        self._late = late
        self._seen = b""
        self._due: list[float] = []
        self._transport: asyncio.WriteTransport | None = None
        self._waiting: asyncio.Future[None] | None = None
        self.refused: bytes = b""
        """The first answer that was no 200, b"" while there is none."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """It stands."""
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        """Whoever waits, or speaks again, is told."""
        self.refused = self.refused or b"the connection was closed"
        self._answered()

    def send(self, ping: bytes, due: float) -> None:
        """Send a ping that is due at `due` (`time.perf_counter`). Raises RuntimeError."""
        assert self._transport is not None
        if self.refused:
            raise RuntimeError(f"a ping was refused: {self.refused[:300]!r}")
        self._due.append(due)
        self._transport.write(ping)

    async def say(self, ping: bytes) -> None:
        """Send a ping and wait for its answer. Raises RuntimeError, TimeoutError."""
        self._waiting = asyncio.get_running_loop().create_future()
        self.send(ping, time.perf_counter())
        async with asyncio.timeout(ANSWER_SECONDS):
            await self._waiting
        if self.refused:
            raise RuntimeError(f"a ping was refused: {self.refused[:300]!r}")

    def data_received(self, data: bytes) -> None:
        """Take the answers, in the order of the pings."""
        self._seen += data
        while True:
            head, found, rest = self._seen.partition(b"\r\n\r\n")
            if not found:
                return
            length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0])
            if len(rest) < length:
                return
            self._seen = rest[length:]
            if b" 200 " not in head.split(b"\r\n", 1)[0] and not self.refused:
                self.refused = head + rest[:length]
            self._late.append(time.perf_counter() - self._due.pop(0))
            self._answered()

    def _answered(self) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None and not waiting.done():
            waiting.set_result(None)

    def close(self) -> None:
        """Hang up."""
        if self._transport is not None:
            self._transport.abort()


@asynccontextmanager
async def connected(address: str, number: int) -> AsyncIterator[Sequence[Connection]]:
    """Open so many connections."""
    found = [await connect(address, each, []) for each in range(number)]
    try:
        yield found
    finally:
        await hang_up(found)


async def connect(address: str, number: int, late: list[float]) -> Connection:
    """Open a connection, 200 from each address of ours; who then says nothing is hung up on."""
    host, _, port = address.rpartition(":")
    ours = (f"127.0.1.{1 + number // ROOMS_OF_A_NODE}", 0)
    _, connection = await asyncio.get_running_loop().create_connection(
        lambda: Connection(late), host, int(port), local_addr=ours
    )
    return connection


async def hang_up(connections: Iterable[Connection]) -> None:
    """Close connections."""
    for connection in connections:
        connection.close()
    await asyncio.sleep(0.1)


def say_all(address: str, voices: Iterable[Voice], says: str, connections: int = 50) -> None:
    """Let every room say one thing, some at a time. Raises RuntimeError where one is refused."""
    asyncio.run(_say_all(address, voices, says, connections))


async def _say_all(address: str, voices: Iterable[Voice], says: str, connections: int) -> None:
    left = iter(voices)

    async def speak(connection: Connection) -> None:
        for voice in left:
            await connection.say(voice.ping(says))

    async with connected(address, connections) as lines, asyncio.TaskGroup() as group:
        for line in lines:
            group.create_task(speak(line))


def voices_of(cluster: ControlPlane, namespaces: Iterable[str]) -> tuple[Voice, ...]:
    """Ask the API server for the token that each room's volume would hold."""
    pods: list[Any] = []
    for namespace in namespaces:
        path = f"/api/v1/namespaces/{namespace}/pods?resourceVersion=0"
        pods += cluster.api.demand("GET", path)["items"]
    return tuple(asyncio.run(_voices(cluster, pods)))


async def _voices(cluster: ControlPlane, pods: Sequence[Any]) -> list[Voice]:
    headers = {"Authorization": f"Bearer {cluster.admin_token}", "User-Agent": "raw"}
    connector = aiohttp.TCPConnector(ssl=cluster.api.trust, limit=IN_FLIGHT)
    left, found = iter(enumerate(pods)), dict[int, Voice]()

    async def ask(session: aiohttp.ClientSession) -> None:
        for number, pod in left:
            found[number] = await _voice(session, cluster.url, pod)

    async with aiohttp.ClientSession(connector=connector, headers=headers) as session:
        await asyncio.gather(*(ask(session) for _ in range(IN_FLIGHT)))
    return [found[number] for number in sorted(found)]


async def _voice(session: aiohttp.ClientSession, url: str, pod: Any) -> Voice:
    marks = pod["metadata"]
    place = f"/api/v1/namespaces/{marks['namespace']}/serviceaccounts/"
    bound = {"apiVersion": "v1", "kind": "Pod", "name": marks["name"], "uid": marks["uid"]}
    spec = {"audiences": [AUDIENCE], "expirationSeconds": 3600, "boundObjectRef": bound}
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
    path = f"{url}{place}{pod['spec']['serviceAccountName']}/token"
    async with session.post(path, json=body) as answer:
        answer.raise_for_status()
        token = (await answer.json())["status"]["token"]
    return Voice(marks["namespace"], marks["name"], marks["uid"], token)
