"""What goes through the socket between us and a worker: length-prefixed JSON, never pickle.

A worker ran strangers' text, so what it says is checked for size and form before it is used.
"""

import json
import struct
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from asyncio import StreamReader  # a worker has no event loop: it starts without one

_LENGTH = struct.Struct(">I")
MAX_FRAME_BYTES = 16 * 1024 * 1024


class Garbled(Exception):
    """What arrived is no frame: the other side is broken, or not ours any more."""


def packed(value: Any) -> bytes:
    """Return `value` as one frame."""
    body = json.dumps(value, separators=(",", ":"), allow_nan=False).encode()
    return _LENGTH.pack(len(body)) + body


def receive(stream: BinaryIO) -> Any | None:
    """Read one frame, waiting for it; None where the stream ends.

    Raises Garbled.
    """
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    body = stream.read(_body_length(head))
    return _unpacked(body)


async def receive_from(reader: "StreamReader") -> Any | None:
    """Read one frame; None where the stream ends, in the middle of a frame too.

    Raises Garbled.
    """
    try:
        head = await reader.readexactly(_LENGTH.size)
        body = await reader.readexactly(_body_length(head))
    except (EOFError, ConnectionError):
        return None
    return _unpacked(body)


def _body_length(head: bytes) -> int:
    length: int = _LENGTH.unpack(head)[0]
    if length > MAX_FRAME_BYTES:
        raise Garbled(f"a frame of {length} bytes; at most {MAX_FRAME_BYTES} are taken")
    return length


def _unpacked(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Garbled("a frame that is no JSON") from error
