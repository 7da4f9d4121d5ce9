"""When the bytes of a request leave, and what becomes of those that were not delivered."""

import asyncio
import gc
import socket
import sys
import weakref
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web

from reconciler.adapters.kubernetes import fence, sending, transport
from reconciler.adapters.kubernetes.calls import Call, Limits
from reconciler.adapters.kubernetes.client import KubernetesCluster, open_cluster
from reconciler.adapters.kubernetes.connect import connect
from reconciler.adapters.kubernetes.kubeconfig import ConnectionFlags
from reconciler.model.errors import PortError, Unanswered, Unavailable
from reconciler.model.refs import Followed, Json, ObjectRef
from tests.gitservers.certificates import make_certificate, server_context
from tests.listening import listening
from tests.unit.adapters_kubernetes.fault_server import faulty, says

POD = ObjectRef("v1", "Pod", "arena", "arena-1")
HELD_BYTES = 4096
"""What the receiver's kernel takes in while nobody reads there."""
SIZE = 200_000
"""Bytes of a request: what its receiver has no room for waits in our kernel."""


def config_map() -> Json:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "a", "namespace": "arena"},
        "data": {"text": "x" * SIZE},
    }


@asynccontextmanager
async def held(seconds: float) -> AsyncIterator[tuple[socket.socket, KubernetesCluster]]:
    """Listen without reading a byte; the client's requests may take so long."""
    with socket.socket() as held_back:
        held_back.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, HELD_BYTES)
        held_back.bind(("127.0.0.1", 0))
        held_back.listen()
        held_back.setblocking(False)
        server = f"http://127.0.0.1:{held_back.getsockname()[1]}"
        async with client(server, seconds) as cluster:
            yield held_back, cluster


@asynccontextmanager
async def client(
    server: str, seconds: float, authority: str = ""
) -> AsyncIterator[KubernetesCluster]:
    """Connect to a server; requests may take so long."""
    limits = Limits(qps=0, request_timeout_seconds=seconds)
    flags = ConnectionFlags(server=server, token="t", certificate_authority=authority)
    cluster = open_cluster(connect(flags, {"HOME": "/none"}), "test", limits=limits)
    try:
        yield cluster
    finally:
        await cluster.close()


async def delivered(server: socket.socket) -> int:
    """Read at last, as a line that heals delivers; return the bytes that came."""
    loop, came = asyncio.get_running_loop(), 0
    await asyncio.sleep(0.05)  # a socket is closed in the next turn of the loop
    connection, _ = await loop.sock_accept(server)
    with connection:
        connection.setblocking(False)
        try:
            while read := await loop.sock_recv(connection, 65_536):
                came += len(read)
        except ConnectionResetError:
            pass
    return came


async def test_what_is_given_up_is_not_delivered_later() -> None:
    async with held(seconds=0.3) as (server, cluster):
        with pytest.raises(Unanswered, match="said nothing"):
            await cluster.create(config_map())
        assert await delivered(server) < SIZE


async def test_what_was_not_answered_when_the_lease_ended_is_not_delivered_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fence, "LOOK_SECONDS", 0.01)
    leads = [True]
    async with held(seconds=60.0) as (server, cluster):
        writing = asyncio.create_task(cluster.fenced(lambda: bool(leads)).create(config_map()))
        await asyncio.wait((writing,), timeout=0.2)
        assert not writing.done()  # as long as it leads it is waited for
        leads.clear()
        with pytest.raises(Unanswered, match="when this process led no more"):
            await writing
        assert await delivered(server) < SIZE


async def test_what_nobody_takes_is_given_up_by_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "UNTAKEN_SECONDS", 0.5)
    async with held(seconds=600.0) as (server, cluster):
        with pytest.raises(Unanswered):
            await cluster.create(config_map())
        assert await delivered(server) < SIZE


def options_of(line: socket.socket) -> tuple[bool, int, int, int]:
    """Whether the kernel asks the other end, after and every how many seconds, and its patience."""
    names = socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL, socket.TCP_USER_TIMEOUT
    idle, again, patience = (line.getsockopt(socket.IPPROTO_TCP, name) for name in names)
    return line.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) != 0, idle, again, patience


def kept(monkeypatch: pytest.MonkeyPatch) -> list[socket.socket]:
    """Return the sockets that are made from now on."""
    made: list[socket.socket] = []

    def make(address: aiohttp.AddrInfoType) -> socket.socket:
        made.append(sending.make_socket(address))
        return made[-1]

    monkeypatch.setattr(transport, "make_socket", make)
    return made


async def waits_for_the_head(cluster: KubernetesCluster, *, follow: bool) -> None:
    async for _ in cluster.logs(POD, follow=follow):
        pass


linux_only = pytest.mark.skipif(sys.platform != "linux", reason="others name these otherwise")


@linux_only
@pytest.mark.parametrize("used", [True, False])
async def test_a_log_that_is_followed_is_looked_after_by_the_kernel_before_its_head_came(
    monkeypatch: pytest.MonkeyPatch, *, used: bool
) -> None:
    """It may say nothing for hours: who dropped the line would not say so."""
    made, came = kept(monkeypatch), asyncio.Event()

    async def silent(_: web.Request) -> web.StreamResponse:
        came.set()
        await asyncio.sleep(60)
        return web.Response()

    async with faulty(*[says(200)] * used, silent) as (_, cluster):
        if used:
            await cluster.raw_get("/version")
            assert not options_of(made[0])[0]
        reading = asyncio.create_task(waits_for_the_head(cluster, follow=True))
        await came.wait()
        (line,) = made
        # Asked at 30, 40 and 50 s, and given up at 60: one packet that is lost ends nothing.
        assert options_of(line) == (True, 30, 10, 60_000)
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)


@linux_only
async def test_what_has_a_deadline_is_not_and_what_it_sends_is_given_up_soon(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A watch is bounded by its bookmarks; a packet that is lost is no reason to end it sooner."""
    made, seen = kept(monkeypatch), list[tuple[bool, int]]()

    async def look(request: web.Request) -> web.StreamResponse:
        asks, _, _, patience = options_of(made[-1])
        seen.append((asks, patience))
        return await says(200)(request)

    async with faulty(look) as (_, cluster):
        assert [event.type async for event in cluster.watch(Followed("v1", "Pod"), "5")]
        await waits_for_the_head(cluster, follow=False)
        await cluster.raw_get("/version")
    assert seen == 3 * [(False, round(sending.UNTAKEN_SECONDS * 1000))]


@linux_only
async def test_nothing_is_sent_over_the_line_of_a_log_that_was_to_be_followed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A write would be given up by the kernel much later there than `UNTAKEN_SECONDS`."""
    made = kept(monkeypatch)
    async with faulty(says(400), says(200)) as (_, cluster):
        with pytest.raises(PortError):
            await waits_for_the_head(cluster, follow=True)
        assert await cluster.delete(POD, "u-1", "7")
        assert len(made) == 2
        assert options_of(made[1])[0] is False


async def test_what_is_given_up_on_an_encrypted_line_is_over_at_once(tmp_path: Path) -> None:
    # A polite farewell waits for half a minute, in which a line that heals delivers what was sent.
    authority = make_certificate(tmp_path)
    asked, ended = asyncio.Event(), asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        asked.set()
        await ended.wait()
        writer.transport.abort()

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there_reader, there_writer = await asyncio.open_connection("127.0.0.1", port)
        back = asyncio.create_task(forward(there_reader, writer, asyncio.Event()))
        try:
            await forward(reader, there_writer, asked)
        except ConnectionResetError:
            ended.set()
        finally:
            back.cancel()
            there_writer.close()

    listening_there = await asyncio.start_server(
        serve, "127.0.0.1", 0, ssl=server_context(authority)
    )
    port = listening_there.sockets[0].getsockname()[1]
    async with listening_there, listening(relay) as relayed:
        server = f"https://127.0.0.1:{relayed}"
        async with client(server, 60.0, str(authority)) as cluster:
            writing = asyncio.create_task(cluster.create(config_map()))
            await asked.wait()
            writing.cancel()
            await asyncio.wait_for(ended.wait(), 10.0)


async def forward(
    source: asyncio.StreamReader, target: asyncio.StreamWriter, cut: asyncio.Event
) -> None:
    """Forward what comes until the line is cut, and read on."""
    while piece := await source.read(65_536):
        if not cut.is_set():
            target.write(piece)
            await target.drain()


async def test_a_write_that_waits_for_a_connection_is_looked_at_once_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(transport, "CONNECTIONS", 1)
    kept_back: list[str] = []

    def check() -> None:
        if kept_back:
            raise Unavailable(kept_back[0])

    came, goes = asyncio.Event(), asyncio.Event()

    async def answer(_: web.Request) -> web.StreamResponse:
        came.set()
        await goes.wait()
        return web.json_response({})

    async with faulty(answer, says(200)) as (server, cluster):
        first = asyncio.create_task(cluster.raw_get("/version"))
        await came.wait()
        second = asyncio.create_task(cluster.delete(POD, "u-1", "7", check))
        await asyncio.wait((second,), timeout=0.1)
        assert not second.done()
        kept_back.append("a room that plays")
        goes.set()
        await first
        with pytest.raises(Unavailable, match="a room that plays"):
            await second
        assert [method for _, method, _ in server.seen] == ["GET"]
        kept_back.clear()
        assert await cluster.delete(POD, "u-1", "7", check)


async def test_what_was_sent_once_is_not_told_as_never_sent_where_it_may_not_be_sent_again() -> (
    None
):
    # On a connection that was used before, a delete that got no answer is sent once more by itself.
    checks: list[str] = []

    def check() -> None:
        checks.append("asked")
        if len(checks) > 1:
            raise Unavailable("nothing is written here")

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        await reader.readuntil(b'Background"}')
        writer.close()

    async with listening(serve) as port, client(f"http://127.0.0.1:{port}", 60.0) as cluster:
        await cluster.raw_get("/version")
        with pytest.raises(Unanswered, match="nothing is written here"):
            await cluster.delete(POD, "u-1", "7", check)
        assert len(checks) == 2


async def test_under_a_request_that_has_ended_nothing_is_sent() -> None:
    async with faulty(says(200)) as (server, _):
        sending.Errand(Call("get", "GET", "", "/version", "read")).end(is_answered=True)
        async with aiohttp.ClientSession(request_class=sending.CheckedRequest) as session:
            with pytest.raises(Unanswered, match="after its request had ended"):
                await session.get(server.url)
        assert not server.seen


async def test_who_has_sent_a_request_and_what_was_begun_after_it_hold_no_part_of_it() -> None:
    class Check:
        def __call__(self) -> None:
            """Let it be sent."""

    async def wait(ended: asyncio.Event) -> None:
        await ended.wait()

    async with faulty(says(200)) as (_, cluster):
        check = Check()
        held, ended = weakref.ref(check), asyncio.Event()
        assert await cluster.delete(POD, "u-1", "7", check)
        goes_on = asyncio.create_task(wait(ended))  # it has whatever this task remembers
        del check
        gc.collect()
        assert held() is None
        ended.set()
        await goes_on
