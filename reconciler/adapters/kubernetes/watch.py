"""Lines of a watch to events."""

import json
from collections.abc import AsyncIterator

import aiohttp

from reconciler.adapters.kubernetes.refusals import refusal
from reconciler.model.errors import Unavailable
from reconciler.ports import WatchEvent


async def events(stream: aiohttp.StreamReader, what: str) -> AsyncIterator[WatchEvent]:
    """Yield the events of a watch until the server ends it.

    Raises Expired when the position is too old, Unavailable when the server ends it in error.
    """
    rest = b""
    while chunk := await stream.readany():
        # A line may be of megabytes, so the stream's own limited `readline` will not do.
        *lines, rest = (rest + chunk).split(b"\n") if b"\n" in chunk else (rest + chunk,)
        for line in lines:
            if line:
                yield _event(line, what)


def _event(line: bytes, what: str) -> WatchEvent:
    try:
        event = json.loads(line)
        kind, body = event["type"], event["object"]
    except (ValueError, KeyError, TypeError) as error:
        raise Unavailable(f"{what}: a line of the watch is no event; it is opened again") from error
    if kind == "ERROR":
        raise refusal(what, int(body.get("code") or 500), body)
    return WatchEvent(kind, body)
