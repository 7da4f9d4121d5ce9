"""What goes into the sandbox and what comes out: plain values, no sockets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import parse_qsl, urlsplit

Json = dict[str, Any]

JSON_TYPE = "application/json"


def first_values(query: str) -> dict[str, str]:
    """Read a query string; of a name that stands twice the first counts."""
    return dict(reversed(parse_qsl(query, keep_blank_values=True)))


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request; header names are lower case, the query keeps its first value.

    Of a header that came twice the last value counts; of `impersonate-*` all do, a line each.
    """

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    @classmethod
    def of(
        cls,
        method: str,
        url: str,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
    ) -> Request:
        """Make a request from a path with its query string."""
        parts = urlsplit(url)
        query = first_values(parts.query)
        lowered = {name.lower(): value for name, value in (headers or {}).items()}
        return cls(method, parts.path, query, lowered, body)


def flag(request: Request, name: str) -> bool:
    """Read a yes-or-no parameter as Go does: whatever is not no is yes, also when it is empty."""
    return name in request.query and request.query[name].lower() not in ("false", "0")


@dataclass(frozen=True, slots=True)
class Response:
    """One whole answer; `delay_seconds` is how long the shell keeps it back.

    Of a `dropped` one the shell sends nothing: it ends the connection.
    """

    status: int
    body: bytes
    content_type: str = JSON_TYPE
    headers: tuple[tuple[str, str], ...] = ()
    delay_seconds: float = 0.0
    dropped: bool = False


class Stream(Protocol):
    """An answer that grows: a watch or a followed log.

    The shell takes what is ready, waits for `wake` or for `due`, and takes again.
    """

    content_type: str
    delay_seconds: float  # how long the shell keeps the whole answer back
    wake: Callable[[], None] | None

    @property
    def ended(self) -> bool:
        """Tell whether nothing more will come."""

    @property
    def due(self) -> float | None:
        """Tell when to take again though nothing woke (Unix seconds)."""

    def take(self, now: float) -> bytes:
        """Take everything that is ready."""

    def close(self) -> None:
        """Forget this stream: its reader has gone."""


Answer = Response | Stream
