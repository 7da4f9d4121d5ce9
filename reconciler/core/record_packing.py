"""What is large in a record, as text: compressed, and unpacked no further than it may be."""

import base64
import zlib
from typing import Any

from reconciler.core import demand

MOST_SPEC_BYTES = 16 * 1024 * 1024
"""A few bytes unpack to gigabytes where somebody wants that."""


def packed(text: str) -> str:
    """Return what `unpacked` reads, as small as it gets: it is written once a commit."""
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def unpacked(text: str) -> str:
    """Return the text of an accepted spec. Raises ValueError."""
    unpacking = zlib.decompressobj()
    try:
        data = unpacking.decompress(base64.b64decode(text), MOST_SPEC_BYTES)
    except (TypeError, ValueError, zlib.error) as error:
        raise ValueError(f"the accepted spec cannot be read: {error}") from error
    if not unpacking.eof:
        raise ValueError("the accepted spec cannot be read: it is cut off, or too large")
    return data.decode()


def squeezed(data: bytes) -> str:
    """Return what `restored` reads: a third as large, and quickly; each change writes it."""
    return base64.b64encode(zlib.compress(data, 1)).decode()


def restored(text: Any) -> bytes:
    """Return what `squeezed` wrote; a demand that cannot be read holds no workload: it is lost."""
    try:
        unpacking = zlib.decompressobj()
        data = unpacking.decompress(base64.b64decode(text, validate=True), demand.MOST_BYTES)
    except (TypeError, ValueError, zlib.error):
        return b""
    return data if demand.is_history(data) else b""
