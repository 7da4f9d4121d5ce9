"""A proxy between git and a real Git host that breaks answers on their way, byte for byte.

The host behind it does what it is asked. What the proxy does is what networks, balancers and
captive portals do: it stalls or cuts at a byte, leaves the end of a pack out, flips a bit, drips,
asks twice, sends elsewhere, and answers for the host.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from tests.listening import listening

_LONGEST_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Meddling:
    """One way of breaking the answers to requests whose path has `only` in it.

    `stall_at` bytes of the answer pass and then nothing more, `cut_at` and the connection is
    closed; negative ones count from the end. `lost_end` bytes of the body are left out and
    `flipped` is the byte of it that is changed, both with a head that says nothing of it. With
    `drip_seconds` it comes byte by byte. `twice` asks the host twice. `status`, `page` and
    `elsewhere`, which is an address to go to, are answered in the host's place; `retry_after` goes
    with them.
    """

    only: str = ""
    stall_at: int | None = None
    cut_at: int | None = None
    lost_end: int = 0
    flipped: int | None = None
    drip_seconds: float = 0.0
    twice: bool = False
    status: int = 0
    retry_after: str = ""
    page: bytes = b""
    elsewhere: str = ""


@dataclass(slots=True)
class Meddler:
    """The proxy; `asked` are the requests that came, as method, path and whether with a login."""

    host: str
    port: int
    url: str = ""
    meddling: Meddling | None = None
    asked: list[tuple[str, str, bool]] = field(default_factory=list)
    met: int = 0
    """How many answers were broken."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection, which is one request."""
        request = await _request(reader)
        method, path, _ = request.decode("latin-1").split("\r\n")[0].split(" ")
        self.asked.append((method, path, b"\r\nauthorization: " in request.lower()))
        now = self.meddling
        if now is None or now.only not in path:
            writer.write(await self._answer(request))
        else:
            self.met += 1
            await self._broken(now, request, writer)
        await writer.drain()

    async def _broken(self, how: Meddling, request: bytes, writer: asyncio.StreamWriter) -> None:
        if how.status or how.page or how.elsewhere:
            writer.write(_own_answer(how))
            return
        answer = await self._answer(request)
        if how.twice:
            answer = await self._answer(request)
        head, _, body = answer.partition(b"\r\n\r\n")
        if how.lost_end or how.flipped is not None:
            answer = _lying(head, _changed(body, how))
        if how.drip_seconds:
            for byte in answer:
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(how.drip_seconds)
        elif how.cut_at is not None:
            writer.write(answer[: how.cut_at])
        elif how.stall_at is not None:
            writer.write(answer[: how.stall_at])
            await writer.drain()
            await asyncio.sleep(_LONGEST_SECONDS)
        else:
            writer.write(answer)

    async def _answer(self, request: bytes) -> bytes:
        """Ask the host, which closes the connection after each answer."""
        reader, writer = await asyncio.open_connection(self.host, self.port)
        try:
            writer.write(request)
            return await reader.read()
        finally:
            writer.close()


@asynccontextmanager
async def meddler(host_url: str) -> AsyncIterator[Meddler]:
    """Serve a proxy before the repository at `host_url`, plain http, for the length of a block."""
    parts = urlsplit(host_url)
    assert parts.hostname is not None
    assert parts.port is not None
    proxy = Meddler(parts.hostname, parts.port)
    login = f"{parts.netloc.rpartition('@')[0]}@" if "@" in parts.netloc else ""
    async with listening(proxy.serve) as port:
        proxy.url = f"http://{login}127.0.0.1:{port}{parts.path}"
        yield proxy


async def _request(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length: "):
            return head + await reader.readexactly(int(line.partition(b": ")[2]))
    return head


def _own_answer(how: Meddling) -> bytes:
    lines = [f"HTTP/1.1 {how.status or (302 if how.elsewhere else 200)} Meddled"]
    if how.elsewhere:
        lines.append(f"Location: {how.elsewhere}")
    if how.retry_after:
        lines.append(f"Retry-After: {how.retry_after}")
    lines += ["Content-Type: text/html", "Connection: close", f"Content-Length: {len(how.page)}"]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + how.page


def _changed(body: bytes, how: Meddling) -> bytes:
    changed = bytearray(body[: len(body) - how.lost_end])
    if how.flipped is not None:
        changed[how.flipped] ^= 0x10
    return bytes(changed)


def _lying(head: bytes, body: bytes) -> bytes:
    kept = [line for line in head.split(b"\r\n") if not line.lower().startswith(b"content-length")]
    return b"\r\n".join([*kept, b"Content-Length: %d" % len(body)]) + b"\r\n\r\n" + body
