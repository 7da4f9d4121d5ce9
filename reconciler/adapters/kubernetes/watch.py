"""Lines of a watch to events."""

import asyncio
from collections.abc import AsyncIterator

import aiohttp
import orjson

from reconciler.adapters.kubernetes.refusals import refusal
from reconciler.model.errors import Unavailable
from reconciler.model.refs import Json
from reconciler.ports import WatchEvent

LONGEST_LINE_BYTES = 32 << 20
"""More than any object that etcd holds."""
LINE_SECONDS = 75.0
"""The longest that a line may take: bookmarks come each minute, so drops of bytes are no life."""
_TYPES = frozenset({"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"})


async def events(stream: aiohttp.StreamReader, what: str) -> AsyncIterator[WatchEvent]:
    """Yield the events of a watch until the server ends it.

    Raises Expired when the position is too old, Unavailable when the server ends it in error.
    """
    rest = b""
    loop = asyncio.get_running_loop()
    begun = loop.time()
    while chunk := await stream.readany():
        # A line may be of megabytes, so the stream's own limited `readline` will not do.
        *lines, rest = (rest + chunk).split(b"\n") if b"\n" in chunk else (rest + chunk,)
        lines = [line for line in lines if line]  # an end of no line is a drop, too
        if lines:
            begun = loop.time()
        elif len(rest) > LONGEST_LINE_BYTES or loop.time() > begun + LINE_SECONDS:
            problem = "a line of the watch does not end" if rest else "the watch tells nothing"
            raise Unavailable(f"{what}: {problem}; it is opened again")
        for line in lines:
            yield _event(line, what)
            begun = loop.time()  # who reads may take their time


def _event(line: bytes, what: str) -> WatchEvent:
    try:
        event = orjson.loads(line)
        kind, body = event["type"], event["object"]
        if kind not in _TYPES or not isinstance(body, dict):
            raise ValueError(kind)
    except (ValueError, KeyError, TypeError) as error:
        raise Unavailable(f"{what}: a line of the watch is no event; it is opened again") from error
    if kind == "ERROR":
        raise refusal(what, _code(body), body)
    return WatchEvent(kind, body)


def _code(status: Json) -> int:
    code = status.get("code")
    return code if isinstance(code, int) and code >= 400 else 500
