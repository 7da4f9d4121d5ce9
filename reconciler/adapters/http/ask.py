"""What comes in and what goes out, without a framework: so that tests need no socket."""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qs, unquote

from reconciler.room_ports import AT_ONCE, Came, Credential

BODY_LIMIT_BYTES = 16 * 1024
"""The largest body of any request here: a report is some hundred bytes."""
MOST_PARAMETERS = 100
"""The most parameters of a query."""

JSON = "application/json"
TEXT = "text/plain; charset=utf-8"
HTML = "text/html; charset=utf-8"
EVENTS = "text/event-stream"

NOTHING_SHOWN = Credential("none")
_BEARER = "bearer "


@dataclass(frozen=True, slots=True)
class Ask:
    """One request. `path` and `query` are as they came, still percent-encoded.

    `headers` are named in lower case, or do not mind the case. `peer` is the address of the other
    end of the connection; what headers say of it is never believed. `came` is when its first
    byte did.
    """

    method: str
    path: str
    query: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    peer: str = ""
    came: Came = AT_ONCE

    def asked(self, name: str) -> str:
        """Return the first value of a query parameter, "" where there is none."""
        if not self.query:
            return ""
        values = parse_qs(self.query, keep_blank_values=True).get(name)
        return values[0] if values else ""


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer. With a `stream`, `body` is not looked at.

    `endless` is whether the stream goes on until somebody hangs up: no deadline holds for it.
    `closes` is whether the connection ends with it: who asks again is to reach another process.
    """

    status: int
    body: bytes = b""
    content_type: str = JSON
    headers: Mapping[str, str] = field(default_factory=dict)
    stream: AsyncGenerator[bytes, None] | None = field(default=None, repr=False)
    endless: bool = False
    closes: bool = False


def shown_by(ask: Ask) -> Credential:
    """Return what somebody shows: a bearer token, else the collections' `code`, else nothing."""
    header = ask.headers.get("authorization", "")
    if header[:7].lower() == _BEARER:
        return Credential("bearer", header[7:].strip())
    code = ask.asked("code")
    return Credential("code", code) if code else NOTHING_SHOWN


def decoded(segment: str) -> str:
    """Return a segment of a path as text; what is no UTF-8 names nothing that there is."""
    return unquote(segment, errors="replace") if "%" in segment else segment
