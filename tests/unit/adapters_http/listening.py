"""A listener over real sockets, and who connects to it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from reconciler.adapters.http.server import Caps, serving_rooms
from tests.unit.adapters_http.office import TOKEN, Office

PING = "PUT /scheduler/arena/rooms/arena-7/ping HTTP/1.1"
READY = '{"status":"ready"}'
CAPS = Caps()


def request(line: str = PING, body: str = READY, **headers: str) -> bytes:
    named = {"Host": "rooms", "Authorization": f"Bearer {TOKEN}"} | headers
    named |= {"Content-Length": str(len(body))} if "Content_Length" not in headers else {}
    lines = [line, *(f"{name.replace('_', '-')}: {text}" for name, text in named.items())]
    return ("\r\n".join(lines) + "\r\n\r\n" + body).encode()


class Line:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def answer(self) -> tuple[int, dict[str, str], bytes]:
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode()
        first, *rest = head.strip().split("\r\n")
        headers = {name.lower(): text for name, text in (one.split(": ", 1) for one in rest)}
        body = await self.reader.readexactly(int(headers.get("content-length", 0)))
        return int(first.split(" ")[1]), headers, body

    async def ask(self, data: bytes) -> int:
        await self.send(data)
        return (await self.answer())[0]

    async def is_over(self) -> bool:
        """Wait until the other end has hung up."""
        try:
            while await self.reader.read(65_536):
                pass
        except ConnectionError:
            return True
        return True


class Listener:
    def __init__(self, office: Office, host: str, port: int) -> None:
        self.office, self.host, self.port = office, host, port
        self._lines: list[Line] = []

    async def connect(self) -> Line:
        line = Line(*await asyncio.open_connection(self.host, self.port))
        self._lines.append(line)
        return line

    def close(self) -> None:
        for line in self._lines:
            line.writer.close()


@asynccontextmanager
async def listening(office: Office, caps: Caps = CAPS) -> AsyncIterator[Listener]:
    async with asyncio.timeout(30), serving_rooms(office.api, "127.0.0.1", 0, caps) as address:
        listener = Listener(office, *address)
        try:
            yield listener
        finally:
            listener.close()


def hasty(deadline: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("impatient", [deadline], indirect=True)
