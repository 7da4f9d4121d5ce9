"""How an answer is written: most in one piece, past what aiohttp does for every header.

A ping's answer is 16 bytes, and making its headers the general way cost more than reading it.
"""

import time
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus
from typing import Any

from aiohttp import web
from aiohttp.abc import AbstractStreamWriter

from reconciler.adapters.http.ask import Answer

NAMELESS = {"Server": "gamekeeper"}
"""Whoever asks need not know which versions of what answer: aiohttp would tell."""
MOST_UNREAD_BYTES = 64 * 1024
"""So much may wait for a reader before its next answer waits, too."""


class Piece(web.StreamResponse):
    """An answer whose bytes are known."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self._data = data

    @property
    def keep_alive(self) -> bool:
        """The connection stays: `written` sees to it that it may."""
        return True

    async def prepare(self, request: web.BaseRequest) -> AbstractStreamWriter | None:
        """Write everything."""
        if request.transport is not None:
            request.transport.write(self._data)
        return None

    async def write_eof(self, data: bytes = b"") -> None:
        """Nothing is left to write."""


def written(answer: Answer, request: web.BaseRequest) -> web.StreamResponse:
    """Return an answer without a stream as aiohttp writes it."""
    transport: Any = request.transport
    if answer.closes:
        return last(answer)
    if (
        request.version == (1, 1)
        and request.keep_alive
        and request.method != "HEAD"
        and transport is not None
        and transport.get_write_buffer_size() < MOST_UNREAD_BYTES
    ):
        return Piece(in_one_piece(answer, int(time.time())))
    return plain(answer)


def plain(answer: Answer) -> web.Response:
    """Return an answer that is written in the general way."""
    response = web.Response(status=answer.status, body=answer.body, headers=answer.headers)
    response.headers.update({"Content-Type": answer.content_type, **NAMELESS})
    return response


def last(answer: Answer) -> web.Response:
    """Return an answer after which the connection is closed."""
    response = plain(answer)
    response.force_close()
    return response


def in_one_piece(answer: Answer, now: int) -> bytes:
    """Return head and body; `now` is Unix seconds."""
    lines = "".join([f"{name}: {text}\r\n" for name, text in answer.headers.items()])
    head = _head(answer.status, answer.content_type, now)
    return f"{head}{lines}Content-Length: {len(answer.body)}\r\n\r\n".encode() + answer.body


@lru_cache(maxsize=64)
def _head(status: int, content_type: str, now: int) -> str:
    phrase = HTTPStatus(status).phrase
    date = formatdate(now, usegmt=True)
    return f"HTTP/1.1 {status} {phrase}\r\nContent-Type: {content_type}\r\nDate: {date}\r\n"
