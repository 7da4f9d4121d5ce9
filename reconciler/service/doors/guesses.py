"""Who guesses: failures of the last minute by network address, in a table that cannot grow."""

from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address

MOST_FAILURES = 10
WINDOW_SECONDS = 60.0
MOST_PEERS = 10_000

Address = IPv4Address | IPv6Address


@lru_cache(maxsize=16_384)
def address_of(peer: str) -> Address | None:
    """Read the address that somebody speaks from; an IPv4 one in IPv6 clothes is IPv4."""
    try:
        address = ip_address(peer.partition("%")[0])
    except ValueError:
        return None
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address


def household(peer: str) -> str:
    """Return whom an address stands for: whoever has one of IPv6 has its whole /64."""
    address = address_of(peer)
    if isinstance(address, IPv6Address):
        return f"{int(address) >> 64:016x}::/64"
    return str(address) if address is not None else peer


class Guesses:
    """Counts failures; `elapsed` is a monotonic clock in seconds."""

    def __init__(self, elapsed: Callable[[], float]) -> None:
        self._elapsed = elapsed
        self._failures: OrderedDict[str, tuple[tuple[float, int], ...]] = OrderedDict()

    def wait_seconds(self, peer: str) -> float:
        """Return for how long this peer may guess no more, 0 where it may."""
        return self._wait(household(peer)) if self._failures else 0.0

    def failed(self, peer: str, secret: str) -> float:
        """Count a wrong secret; return how long to wait where there were too many, else 0.

        What fails while the peer has to wait is not counted: so the wait has an end.
        """
        who = household(peer)
        wait = self._wait(who)
        if wait:
            return wait
        self._failures[who] = (*self._recent(who), (self._elapsed(), hash(secret)))
        self._failures.move_to_end(who)
        if len(self._failures) > MOST_PEERS:
            self._failures.popitem(last=False)
        return 0.0

    def forgive(self, peer: str, secret: str) -> None:
        """Take back what was counted for a secret that is good for something else."""
        if self._failures:
            who, known = household(peer), hash(secret)
            self._failures[who] = tuple(one for one in self._recent(who) if one[1] != known)
            if not self._failures[who]:
                del self._failures[who]

    def _wait(self, who: str) -> float:
        recent = self._recent(who)
        if len(recent) < MOST_FAILURES:
            return 0.0
        return recent[0][0] + WINDOW_SECONDS - self._elapsed()

    def _recent(self, who: str) -> tuple[tuple[float, int], ...]:
        since = self._elapsed() - WINDOW_SECONDS
        return tuple(one for one in self._failures.get(who, ()) if one[0] > since)
