"""What several policies remember as one: the place and the bytes of each, one after the other.

Bytes stay as they are, since policies stand inside policies: as text each level would make them a
third longer.
"""

import struct
from collections.abc import Mapping

_HEAD = struct.Struct("<HI")


def pack(memories: Mapping[str, bytes]) -> bytes:
    """Return what each remembers, told by its place, as one memory."""
    parts: list[bytes] = []
    for place, memory in memories.items():
        name = place.encode()
        parts += (_HEAD.pack(len(name), len(memory)), name, memory)
    return b"".join(parts)


def unpack(memory: bytes) -> dict[str, bytes]:
    """Return what was packed; nothing where the memory is that of another policy."""
    found: dict[str, bytes] = {}
    at = 0
    try:
        while at < len(memory):
            named, size = _HEAD.unpack_from(memory, at)
            start = at + _HEAD.size
            at = start + named + size
            found[memory[start : start + named].decode()] = memory[start + named : at]
    except (struct.error, UnicodeDecodeError):
        return {}
    return found if at == len(memory) else {}
