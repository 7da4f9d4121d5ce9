"""Who is connected: deadlines and caps, kept by one sweep and no timer for each.

A connection is reading (bytes of a request came, no whole head yet), serving (a request is being
answered) or idle. When there are too many the one that is idle for longest goes, never a new one.
"""

import asyncio
import ipaddress
import logging
from collections.abc import Callable
from typing import Any

from aiohttp import web
from aiohttp.web_protocol import RequestHandler

from reconciler.adapters.http.arrivals import Arrivals
from reconciler.adapters.http.pulse import Pulse
from reconciler.adapters.http.writing import NAMELESS
from reconciler.room_ports import AT_ONCE, Came

HEAD_SECONDS = 5.0
REQUEST_SECONDS = 10.0
IDLE_SECONDS = 75.0
HEAD_LIMIT_BYTES = 16 * 1024
SWEEP_SECONDS = 1.0
LEAVES_NOTHING_BYTES = 64 * 1024
"""Who reads fewer at once has read all that waited in the socket."""
_TOO_LATE = "HTTP/1.1 {} {}\r\nContent-Length: 0\r\nConnection: close\r\n{}\r\n"
_SLOW_SENDER = _TOO_LATE.format(408, "Request Timeout", "").encode()
_SLOW_SERVER = _TOO_LATE.format(503, "Service Unavailable", "Retry-After: 2\r\n").encode()

NO_REQUEST = (
    "this is no HTTP/1.1 request that can be read, or its head is too large\n"
    "Send the bytes that Content-Length says, and at most 16 KiB and 64 headers\n"
)

log = logging.getLogger(__name__)


class Connection(RequestHandler):
    """One connection; its ledger knows what it does and since when."""

    __slots__ = ("answering", "arrivals", "begun", "came", "head_bytes", "held", "ledger", "peer")

    def __init__(self, server: Any, ledger: "Ledger", **options: Any) -> None:
        super().__init__(server, **options)
        self.ledger = ledger
        self.peer = ""
        self.begun = 0.0
        """Since when the request in hand has its deadlines, on the loop's clock."""
        self.came = AT_ONCE
        """When the first byte of it came."""
        self.arrivals = Arrivals()
        self.held: Came | None = None
        """Since when it is not read, for too much is unanswered: what comes next may be so old."""
        self.head_bytes = 0
        self.answering = False
        """Whether the whole request was read, and it is we who take time."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Let it in, or hang up at once."""
        super().connection_made(transport)
        self.peer = peer_of(transport)
        self.ledger.came(self)

    def connection_lost(self, exc: BaseException | None) -> None:
        """Forget it."""
        self.ledger.went(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on; from the first byte of a request the clock runs."""
        # aiohttp calls this without data too, to go on with what it has.
        if data:
            self.ledger.read(self, data)
        super().data_received(data)
        self.ledger.look(self)

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Refuse what is no HTTP, without a line in the log for each that a stranger sends."""
        if status >= 500:
            log.error("an answer failed", exc_info=exc)
        response = web.Response(status=status, text=NO_REQUEST, headers=NAMELESS)
        response.force_close()
        return response

    def hang_up(self, last_words: bytes = b"") -> None:
        """Close, whatever is in hand."""
        transport = self.transport
        if transport is None or transport.is_closing():
            return
        if last_words:
            transport.write(last_words)
            transport.close()
        else:
            transport.abort()


class Ledger:
    """All connections by what they do. `now` is a clock that never jumps (seconds)."""

    def __init__(self, most: int, most_of_peer: int, now: Callable[[], float]) -> None:
        self.pulse = Pulse(now)
        self._most, self._most_of_peer = most, most_of_peer
        self._now = now
        self._reading: dict[Connection, None] = {}
        self._serving: dict[Connection, None] = {}
        self._streaming: set[Connection] = set()
        self._idle: dict[Connection, float] = {}
        """Since when; the first has waited longest."""
        self._of_peer: dict[str, dict[Connection, None]] = {}

    def __len__(self) -> int:
        return len(self._reading) + len(self._serving) + len(self._streaming) + len(self._idle)

    def came(self, connection: Connection) -> None:
        """Take in a new connection; where there are too many another one goes for it."""
        peers = self._of_peer.setdefault(connection.peer, {})
        if len(peers) >= self._most_of_peer and not is_this_machine(connection.peer):
            self._make_room(next((each for each in peers if each in self._idle), None), connection)
        elif len(self) >= self._most:
            self._make_room(next(iter(self._idle), None), connection)
        peers[connection] = None
        connection.begun, connection.came = self._now(), self.pulse.came()
        self._reading[connection] = None

    def _make_room(self, idle: Connection | None, connection: Connection) -> None:
        """Hang up on the one that is idle; where none is, on the one that came."""
        victim = idle or connection
        log.debug("too many connections: hanging up on %s", victim.peer)
        victim.hang_up()
        if idle is not None:
            self.went(idle)

    def went(self, connection: Connection) -> None:
        """Forget a connection."""
        self._reading.pop(connection, None)
        self._serving.pop(connection, None)
        self._streaming.discard(connection)
        self._idle.pop(connection, None)
        peers = self._of_peer.get(connection.peer)
        if peers is not None:
            peers.pop(connection, None)
            if not peers:
                del self._of_peer[connection.peer]

    def read(self, connection: Connection, data: bytes) -> None:
        """Some bytes came."""
        came = self.pulse.came()
        since = self._idle.pop(connection, None)
        if since is not None:
            connection.begun, connection.head_bytes = self._now(), 0
            # Who waits for an answer sends the next request after it, whatever pause was between.
            came = Came(max(came.begun, since), came.sent)
            connection.answering = False
            self._reading[connection] = None
        elif not connection.head_bytes:
            # Nobody knows how long it waited to be let in; since then it said nothing until now.
            # What it sends now it has as long for as any other.
            connection.begun, first = self._now(), connection.came
            came = first if first.in_pause else first._replace(begun=came.begun)
        connection.arrivals.read(data, connection.held or came)
        if len(data) < LEAVES_NOTHING_BYTES:
            connection.held = None
        connection.head_bytes += len(data)

    def look(self, connection: Connection) -> None:
        """Note whether it is read on: what it sends meanwhile waits, and is older than it looks."""
        transport = connection.transport
        if connection.held is None and transport is not None and not transport.is_reading():
            connection.held = self.pulse.came()

    def serve(self, connection: Connection) -> None:
        """A request has its whole head."""
        if connection.transport is None:
            return  # it went before anybody looked at what it sent, and would stay here for ever
        if self._reading.pop(connection, 0) is not None:
            # It was sent right behind the one before, perhaps together with it.
            self._idle.pop(connection, None)
            connection.begun = self._now()
        self.look(connection)
        connection.came = connection.arrivals.came
        connection.answering = False
        self._serving[connection] = None

    def whole(self, connection: Connection, body_bytes: int, in_chunks: bool) -> None:
        """The request was read whole: what comes now may begin the next one."""
        connection.answering = True
        connection.arrivals.end(body_bytes, in_chunks)

    def stream(self, connection: Connection) -> None:
        """The answer goes on for as long as somebody reads it."""
        self._serving.pop(connection, None)
        self._streaming.add(connection)

    def done(self, connection: Connection) -> None:
        """The request was answered."""
        self._streaming.discard(connection)
        if self._serving.pop(connection, 0) is None or connection.transport is not None:
            self._idle[connection] = self._now()

    def idle(self) -> list[tuple["Connection", bytes]]:
        """Return who asks nothing now, to be hung up on without a word."""
        return [(each, b"") for each in self._idle]

    def late(self) -> list[tuple[Connection, bytes]]:
        """Return who takes too long, with what to say before hanging up."""
        now = self._now()
        found = [
            (each, _SLOW_SENDER if each.head_bytes else b"")
            for each in self._reading
            if now - each.begun > HEAD_SECONDS
        ]
        found += [
            (each, _SLOW_SERVER if each.answering else _SLOW_SENDER)
            for each in self._serving
            if now - each.begun > REQUEST_SECONDS
        ]
        for connection, since in self._idle.items():
            if now - since <= IDLE_SECONDS:
                break
            found.append((connection, b""))
        return found


def peer_of(transport: asyncio.BaseTransport) -> str:
    """Return the address of the other end; an IPv4 address looks like one, whatever the socket."""
    name = transport.get_extra_info("peername")
    address = str(name[0]) if isinstance(name, tuple) and name else ""
    return address.removeprefix("::ffff:") if "." in address else address


def is_this_machine(peer: str) -> bool:
    """Whether the other end is on this machine: many rooms of a sandbox share that address."""
    try:
        return ipaddress.ip_address(peer).is_loopback
    except ValueError:
        return False
