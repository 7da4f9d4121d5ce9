"""A small real proxy: it takes CONNECT, and joins two sockets."""

import asyncio
import base64
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from tests.listening import listening


@dataclass(slots=True)
class ConnectProxy:
    """What it was asked for, and whom it lets through.

    `hosts` are names that only the proxy knows, as the address that they mean. With a `login`
    (`user:password`) it lets nobody else through. `status` other than 200 refuses everybody.
    """

    hosts: Mapping[str, str] = field(default_factory=dict)
    login: str = ""
    status: int = 200
    asked: list[str] = field(default_factory=list)
    logins: list[str] = field(default_factory=list)
    """What came as `user:password`."""
    url: str = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, where, _ = head[0].split(" ")
        self.asked.append(f"{method} {where}")
        status = self._verdict(head[1:])
        lines = [f"HTTP/1.1 {status} Verdict", "Content-Length: 0"]
        lines += ["Connection: close"] if status != 200 else []
        lines += ['Proxy-Authenticate: Basic realm="proxy"'] if status == 407 else []
        writer.write("\r\n".join([*lines, "", ""]).encode())
        if status == 200:
            await self._join(where, reader, writer)

    def _verdict(self, headers: list[str]) -> int:
        wanted = base64.b64encode(self.login.encode()).decode()
        given = dict(line.split(": ", 1) for line in headers if line)
        login = {name.lower(): text for name, text in given.items()}.get("proxy-authorization", "")
        if login:
            self.logins.append(base64.b64decode(login.partition(" ")[2]).decode())
        if self.login and login != f"Basic {wanted}":
            return 407
        return self.status

    async def _join(
        self, where: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        host, _, port = where.rpartition(":")
        there = await asyncio.open_connection(self.hosts.get(host, host), int(port))
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(_copy(reader, there[1]))
                group.create_task(_copy(there[0], writer))
        finally:
            there[1].close()


@asynccontextmanager
async def connect_proxy(
    hosts: Mapping[str, str] | None = None, login: str = "", status: int = 200
) -> AsyncIterator[ConnectProxy]:
    """Serve a proxy for the length of a block."""
    proxy = ConnectProxy(hosts or {}, login, status)
    async with listening(proxy.serve) as port:
        proxy.url = f"http://127.0.0.1:{port}"
        yield proxy


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while chunk := await reader.read(1 << 16):
            writer.write(chunk)
            await writer.drain()
        writer.close()
