"""Who outside may be asked: addresses as repositories write them, and the operator's list.

A repository names whom to ask, the operator says who may be (DESIGN section 2 rule 7). An address
is read by one strict grammar, and what was read is what is connected to: two readers who
understand one text differently would let a host through that nobody allowed.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from reconciler.core.addresses import address_of, is_loopback, never_asked

USUAL_PORTS = {"https": 443, "http": 80}
_HOST = r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?|\[[0-9A-Fa-f:.]+\]"
_URL = re.compile(
    rf"(?P<scheme>https?)://(?P<host>{_HOST})\.?(?::(?P<port>[0-9]{{1,5}}))?"
    r"(?P<path>[/?][!$-\[\]_a-z{|}~]*)?"
)
_NEVER = re.compile(r"[^!$-\[\]_a-z{|}~]")
"""What stands in no address as it is."""
_ENTRY = re.compile(
    rf"(?:(?P<scheme>https?)://)?(?P<any>\*\.)?(?P<host>{_HOST})(?::(?P<port>[0-9]{{1,5}}))?/?"
)
_ENDS_IN_A_NUMBER = re.compile(r"(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)$")


@dataclass(frozen=True, slots=True)
class Origin:
    """Whom a connection is made to: `host` is a name in small letters or a bare address."""

    scheme: str
    host: str
    port: int

    @property
    def written(self) -> str:
        """How people write it: without what is usual."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == USUAL_PORTS[self.scheme] else f":{self.port}"
        return f"{host}{port}" if self.scheme == "https" else f"http://{host}{port}"

    @property
    def is_address(self) -> bool:
        """Whether no name has to be resolved."""
        return address_of(self.host) is not None


@dataclass(frozen=True, slots=True)
class Place:
    """An address of a webhook, taken apart; `path` holds the query too."""

    origin: Origin
    path: str

    @property
    def url(self) -> str:
        """The address again, in one form."""
        written = self.origin.written
        return f"{'' if '://' in written else 'https://'}{written}{self.path}"


@dataclass(frozen=True, slots=True)
class Allowed:
    """One entry of the operator's list; with `below` it is every name that ends in `.host`."""

    origin: Origin
    below: bool = False

    def covers(self, origin: Origin) -> bool:
        """Whether a connection to `origin` is allowed by this entry."""
        if not self.below:
            return origin == self.origin
        named = replace(origin, host=self.origin.host) == self.origin
        return named and origin.host.endswith(f".{self.origin.host}")


def place_of(url: str) -> Place | None:
    """Return an address of a webhook; None for what is none, or could mean two."""
    found = _URL.fullmatch(url)
    origin = _origin(found, found["scheme"]) if found else None
    if found is None or origin is None:
        return None
    path = found["path"] or "/"
    return Place(origin, path if path.startswith("/") else f"/{path}")


def strange_in(url: str) -> str:
    """Return the first character for which a text is no address, "" where there is none."""
    found = _NEVER.search(url)
    return found[0] if found else ""


def allowed_of(entry: str) -> Allowed | None:
    """Return an entry of the operator's list as `host`, `*.host` or `http://host:port`."""
    found = _ENTRY.fullmatch(entry.strip())
    origin = _origin(found, found["scheme"] or "https") if found else None
    if found is None or origin is None or (found["any"] and origin.is_address):
        return None
    return Allowed(origin, bool(found["any"]))


def is_allowed(origin: Origin, entries: Iterable[Allowed]) -> bool:
    """Whether the operator's list has somebody."""
    return any(entry.covers(origin) for entry in entries)


def never_allowed(origin: Origin) -> str:
    """Say what an address is that no list opens to webhooks, "" where one may.

    A name is judged by where it leads, once it is asked for. It never leads to this machine; an
    address of this machine that the operator wrote out may be asked.
    """
    if not origin.is_address or is_loopback(origin.host):
        return ""
    return never_asked(origin.host)


def _origin(found: re.Match[str], scheme: str) -> Origin | None:
    host = found["host"].strip("[]").lower()
    address = address_of(host)
    port = int(found["port"]) if found["port"] else USUAL_PORTS[scheme]
    # 127.1, 0x7f.1 and 2130706433 are addresses to some readers and names to others.
    odd = (":" in host or _ENDS_IN_A_NUMBER.search(host)) and address is None
    if odd or ".." in host or not 0 < port <= 65_535:
        return None
    return Origin(scheme, str(address or host), port)
