"""Frames between parent and child: a JSON header and raw bytes, both with their length before."""

import json
import struct
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from asyncio import StreamReader  # the child has no event loop: it starts without one

_LENGTHS = struct.Struct(">II")

Header = Mapping[str, Any]


def packed(header: Header, body: bytes = b"") -> bytes:
    """Return one frame."""
    text = json.dumps(header, separators=(",", ":")).encode()
    return b"".join((_LENGTHS.pack(len(text), len(body)), text, body))


def receive(stream: BinaryIO) -> tuple[Header, bytes] | None:
    """Read one frame; None when the other side is gone."""
    lengths = stream.read(_LENGTHS.size)
    if len(lengths) < _LENGTHS.size:
        return None
    header_length, body_length = _LENGTHS.unpack(lengths)
    header = stream.read(header_length)
    body = stream.read(body_length)
    if len(header) < header_length or len(body) < body_length:
        return None
    return json.loads(header), body


async def receive_raw(stream: "StreamReader") -> tuple[bytes, bytes]:
    """Read one frame, header not yet parsed. Raises asyncio.IncompleteReadError at the end."""
    header_length, body_length = _LENGTHS.unpack(await stream.readexactly(_LENGTHS.size))
    return await stream.readexactly(header_length), await stream.readexactly(body_length)
