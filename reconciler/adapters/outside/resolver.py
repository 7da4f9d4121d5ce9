"""Names to addresses, of which every one may be asked, or none of them is."""

import asyncio
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from aiohttp.abc import AbstractResolver, ResolveResult

_LOOKUPS = 8
_NUMERIC = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV


class LedAstray(OSError):
    """A name leads to where nobody is asked."""


class CheckedResolver(AbstractResolver):
    """Resolves in threads of its own: a dead name server must not hold up others' threads.

    What it returns is connected to as it is, so a name cannot lead elsewhere between the check
    and the connection.
    """

    def __init__(self, refusal_of: Callable[[str], str]) -> None:
        """Refuse a name of which `refusal_of` says something about any address."""
        self._refusal_of = refusal_of
        self._threads = ThreadPoolExecutor(_LOOKUPS, thread_name_prefix="outside")

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Return the addresses of a name. Raises LedAstray, OSError."""
        loop = asyncio.get_running_loop()
        found = await loop.run_in_executor(self._threads, _looked_up, host, port, family)
        for address, _ in found:
            refusal = self._refusal_of(address)
            if refusal:
                raise LedAstray(f"leads to {address}, {refusal}")
        return [
            ResolveResult(
                hostname=host, host=address, port=port, family=of, proto=0, flags=_NUMERIC
            )
            for address, of in found
        ]

    async def close(self) -> None:
        """Wait for no name any more."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _looked_up(
    host: str, port: int, family: socket.AddressFamily
) -> list[tuple[str, socket.AddressFamily]]:
    found = socket.getaddrinfo(host, port, family, socket.SOCK_STREAM, 0, socket.AI_ADDRCONFIG)
    return [(str(place[0]), of) for of, _, _, _, place in found]
