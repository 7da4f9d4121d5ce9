"""What is asked of an API server, and of whoever carries it there: requests are data."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

import aiohttp

from reconciler.model.checks import Check, unchecked
from reconciler.model.refs import Json

OnRequest = Callable[[str, str, int, float], None]
"""(verb, kind, HTTP status or 0 when there was no answer, seconds): called after each request."""

JSON_TYPE = "application/json"


@dataclass(frozen=True, slots=True)
class Call:
    """One request. `what` names it for people; a `repeatable` one may be sent twice, though not
    where it may make something and was not answered: whoever asked is to know that.

    `check` is asked after all waits, right before it is sent: what it raises keeps it back. One
    that `tries` is a dry run, which changes nothing. A stream of one that `may_say_nothing` is
    waited for without end: a log that nobody writes to has no sign of life, as a watch has in its
    bookmarks, and a kubelet sends the head of its answer with the first line.
    """

    verb: str
    method: str
    kind: str
    path: str
    what: str
    body: Json | Sequence[Json] | None = None
    content_type: str = JSON_TYPE
    repeatable: bool = False
    accept: str = JSON_TYPE
    check: Check = unchecked
    tries: bool = False
    may_say_nothing: bool = False


@dataclass(frozen=True, slots=True)
class Limits:
    """`qps` 0 is no limit; `burst` is in requests; a watch may be silent for `silence_seconds`."""

    qps: float = 50.0
    burst: int = 100
    request_timeout_seconds: float = 30.0
    silence_seconds: float = 75.0


class Sends(Protocol):
    """What the client needs of a transport: one answer, or a stream of bytes."""

    async def send(self, call: Call) -> tuple[int, Json]:
        """Send one request; return the status (below 300, or 404) and body of its answer."""

    def stream(self, call: Call) -> AbstractAsyncContextManager[aiohttp.StreamReader]:
        """Open a stream."""

    def apart(self) -> "Sends":
        """Return the same with connections and a pace of its own, not yet open."""

    async def close(self) -> None:
        """Close the connections."""
