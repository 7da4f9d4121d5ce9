"""How a request leaves this process: looked at once more before its bytes go, and called back.

A line that is cut keeps what was sent in our kernel, and delivers it when it heals: by then another
process may lead. Whoever gives a request up throws away what of it is on its way yet, and so does
the kernel of a process that was killed.
"""

import asyncio
import socket
import struct
import sys
from contextvars import ContextVar

import aiohttp
from aiohttp.connector import Connection

from reconciler.adapters.kubernetes.calls import Call
from reconciler.model.errors import Unanswered

_NO_LINGER = struct.pack("ii", 1, 0)
UNTAKEN_SECONDS = 10.0
"""After so long without a sign of it at the other end our kernel gives up what we sent, and the
connection: also for a process that stands still, which could give up nothing."""
QUIET_SECONDS, ASK_AGAIN_SECONDS = 30, 10
"""After so long without a byte of a log that is followed our kernel asks the other end whether it
is there, and then again and again."""
GONE_SECONDS = 60.0
"""After so long without a byte or an answer it gives the connection up. It looks at this time
alone, not at how often it asked: with `UNTAKEN_SECONDS` one packet that is lost would end a log."""
_NOW: ContextVar["Errand"] = ContextVar("the request that is being sent")


class Errand:
    """One request on its way: the next that this task sends.

    A task remembers its last one for as long as it lives, and so does whatever it begins: when it
    ends an errand lets go of what it was to send, and over which connection.
    """

    def __init__(self, call: Call) -> None:
        self.kept_back = False
        """Whether its check kept it back, so that nothing was sent."""
        self._call: Call | None = call
        self._transport: asyncio.Transport | None = None
        _NOW.set(self)

    def check(self, connection: Connection) -> None:
        """Look whether it may be sent still, over this connection.

        Raises what its check does, and Unanswered where it was sent before: what a used connection
        lost aiohttp sends once more. Unanswered as well where it has ended and its check is gone,
        for a request that has no errand of its own: none of ours.
        """
        if self._call is None:
            raise Unanswered("it was to be sent after its request had ended, without a check")
        try:
            self._call.check()
        except Exception as error:
            if self._transport is not None:
                raise Unanswered(f"{error}; it was sent once, without an answer") from error
            self.kept_back = True
            raise
        self._transport = connection.transport
        if self._call.may_say_nothing:
            _look_after(connection)

    def end(self, *, is_answered: bool) -> None:
        """Let go of the request.

        What of one without an answer is not delivered yet is thrown away: a polite farewell would
        deliver it first.
        """
        if self._transport is not None and not is_answered:
            self._transport.abort()
        self._call = self._transport = None


class CheckedRequest(aiohttp.ClientRequest):
    """A request that is checked when it has its connection: opening one may take long."""

    async def send(self, conn: Connection) -> aiohttp.ClientResponse:
        """Send it, or raise what its check raises."""
        _NOW.get().check(conn)
        return await super().send(conn)


def make_socket(address: aiohttp.AddrInfoType) -> socket.socket:
    """Return a socket which forgets what it has not delivered when it is closed, or in time."""
    family, kind, protocol, _, _ = address
    made = socket.socket(family=family, type=kind, proto=protocol)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
    if sys.platform == "linux":
        _give_up_after(made, UNTAKEN_SECONDS)
    return made


def _look_after(connection: Connection) -> None:
    """Have our kernel notice that nobody is at the other end any more, for who waits without end.

    What lies between may have dropped the line, and of a log that nobody writes to nothing else
    tells. Behind a proxy or a load balancer it is theirs that answers, not the server's kernel.
    Nothing else is sent over this connection, for what writes is given up after `UNTAKEN_SECONDS`.
    """
    if connection.protocol is None or connection.transport is None:
        return  # it is lost already, and sending says so
    connection.protocol.force_close()
    line = connection.transport.get_extra_info("socket")
    line.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    if sys.platform == "linux":
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, QUIET_SECONDS)
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, ASK_AGAIN_SECONDS)
        _give_up_after(line, GONE_SECONDS)


def _give_up_after(line: socket.socket, seconds: float) -> None:
    line.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, round(seconds * 1000))
